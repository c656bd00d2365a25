"""Errors of chains of thought: of executors that run them, and geometric sums."""

import math

import mpmath as mp
import numpy as np
import pytest

from bounds import prompts
from spherapprox.prompts.executor import ReluNetwork

PARITY = ReluNetwork(
    [[[1.0, -1.0], [-1.0, 1.0]], [[2.0, 2.0], [2.0, 2.0]], [[1.0, -1.0]]], [[0.0, 0.0], [-0.5, -1.5], [0.0]]
)
"""z = |s - b|, and then 2 z - 1/2, cut off at 0 and 1: the parity s of bits b."""


def test_the_parity_of_two_thousand_bits():
    budget = prompts.executor_budget(PARITY.sizes, 0.05, weight_bound=PARITY.largest, row_bound=4.0, radius=1.05)
    assert PARITY.row_sums == (2.0, 4.0, 2.0)
    executor = budget.executor()
    bits = np.random.default_rng(0).integers(0, 2, 2001)
    seen = []

    def following(outputs, step):
        seen.append(float(outputs[0, 0]))
        return [[seen[-1], bits[step]]]

    last = executor.run(executor.encode(PARITY), [[0.0, bits[0]]], steps=2001, feedback=following)
    expected = np.cumsum(bits) % 2
    far = np.abs(np.array([*seen, last[0, 0]]) - expected).max()
    bound = prompts.chain_error(budget.bound.value, 2001, lipschitz=16.0, snap_radius=0.25)
    assert far <= bound.value == pytest.approx(budget.bound.value, rel=1e-12)
    assert far <= 2e-3
    assert len(seen) == 2000


def test_chains_of_thought_stay_below_their_bound():
    rng = np.random.default_rng(3)
    angle = 0.3
    turn = 0.9 * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    network = ReluNetwork([np.vstack([np.eye(2), -np.eye(2)]), np.hstack([turn, -turn])], [np.zeros(4), [0.02, -0.01]])
    bounds_of = {"row_bound": network.row_sums, "radius": 2.5}
    budget = prompts.executor_budget((2, 4, 2), 1e-2, **bounds_of)
    executor = budget.executor()
    prompt, x = executor.encode(network), rng.uniform(-1.0, 1.0, (10, 2))
    slope = float(np.abs(turn).sum(axis=1).max())
    exact = x
    for steps in range(1, 9):
        exact = network(exact)
        bound = prompts.chain_error(budget.bound.value, steps, lipschitz=slope)
        assert np.abs(executor.run(prompt, x, steps=steps) - exact).max() <= bound.value


@pytest.mark.parametrize("rate", [0.0, 0.5, 1.0 - 1e-12, 1.0, 1.0 + 1e-12, 1.0 + 1e-7, 1.5, 40.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 1000])
def test_errors_of_chains_are_geometric_sums(rate, steps):
    with mp.workdps(50):
        expected = float(mp.log(mp.mpf(0.01)) + mp.log(mp.fsum(mp.mpf(rate) ** s for s in range(steps))))
    result = prompts.chain_error(0.01, steps, lipschitz=rate)
    assert result.log == pytest.approx(expected, rel=1e-13, abs=1e-10)
    assert result.holds


def test_chains_that_do_not_snap():
    bound = prompts.chain_error(0.3, 5, snap_radius=0.25)
    assert bound.value == math.inf
    assert not bound.holds
    many = prompts.chain_error(0.01, [1, 2, 3])
    assert [round(item.value, 12) for item in many] == [0.01, 0.02, 0.03]
