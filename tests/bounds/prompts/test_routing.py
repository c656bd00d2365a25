"""Reading by attention: numbers of the page, softmax itself, compositions that are run, keys that are counted."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bounds import prompts
from bounds.prompts import routing
from spherapprox import points
from spherapprox.prompts.executor import key_margin


def softmax(logits):
    masses = np.exp(logits - logits.max())
    return masses / masses.sum()


def test_numbers_of_the_page():
    assert routing.impurity(33, 0.7482, 0.0556) == pytest.approx(4.5803757240933845e-05, rel=1e-13)
    assert routing.impurity(33, 0.7482, 0.0556, sharp=False) == pytest.approx(4.580585532121119e-05, rel=1e-13)
    assert routing.temperature(33, 0.7482, 1e-3) == pytest.approx(0.0721331089106875, rel=1e-14)
    assert routing.compose_errors((0.1, 0.2, 0.3), (2, 3, 0.5)) == pytest.approx(0.55, rel=1e-15)
    assert prompts.impurity is routing.impurity
    assert np.array_equal(
        prompts.impurity([2, 33], 0.5, 0.1), [routing.impurity(2, 0.5, 0.1), routing.impurity(33, 0.5, 0.1)]
    )


@example(19, 1.65625, 0.005000000000000001, 0)
@given(st.integers(2, 50), st.floats(0.01, 2.0), st.floats(0.005, 5.0), st.integers(0, 99))
def test_softmax_is_as_impure_at_most(n, margin, temperature, seed):
    rng = np.random.default_rng(seed)
    logits = rng.uniform(-3.0, 0.0, n) - margin
    target = rng.integers(n)
    logits[target] = 0.0
    missed = 1.0 - softmax(logits / temperature)[target]
    assert missed <= routing.impurity(n, margin, temperature) + 1e-15
    assert routing.impurity(n, margin, temperature) <= routing.impurity(n, margin, temperature, sharp=False)
    logits[np.arange(n) != target] = -margin  # which attains it
    rivals = np.delete(softmax(logits / temperature), target).sum()
    assert rivals == pytest.approx(routing.impurity(n, margin, temperature), rel=1e-12)


@given(st.integers(2, 9), st.floats(0.05, 1.0), st.integers(0, 99))
def test_a_slot_is_written_and_no_other_token(n, temperature, seed):
    # 9.2 (write): token 0 asks for the last one, at a margin of 1; the others ask for anything
    rng = np.random.default_rng(seed)
    values, held, named = rng.uniform(-1.0, 1.0, n), rng.standard_normal(n), np.arange(n) == 0
    queries, keys = rng.standard_normal((n, n)), np.eye(n)
    queries[0] = keys[-1]
    read = np.array([softmax(row) @ values for row in queries @ keys.T / temperature])
    gate = 1.5 * named - 1.5
    after = held + np.maximum(read + gate, 0.0) - np.maximum(-read + gate, 0.0)
    error = prompts.read_error(prompts.impurity(n, 1.0, temperature), values, n - 1)
    assert abs(after[0] - held[0] - values[-1]) <= error + 1e-15
    assert np.array_equal(after[1:], held[1:])


@given(st.integers(1, 6), st.floats(0.05, 0.5), st.integers(0, 99))
def test_steps_whose_fragments_are_read(steps, temperature, seed):
    # 9.2 (step): s <- sin(theta s), of states in [-1, 1], with theta read from a memory and the sine off by 0.01
    rng = np.random.default_rng(seed)
    thetas = rng.uniform(-2.0, 2.0, steps)
    share = prompts.impurity(steps, 1.0, temperature)
    errors = [0.01 + prompts.read_error(share, thetas, t) for t in range(steps)]  # K = max |s| = 1
    weights = np.array([softmax(row) for row in np.eye(steps) / temperature])
    exact = near = rng.uniform(-1.0, 1.0)
    for theta, read in zip(thetas, weights @ thetas, strict=True):
        exact, near = math.sin(theta * exact), min(1.0, math.sin(read * near) + 0.01)
    assert abs(near - exact) <= prompts.compose_errors(errors, np.abs(thetas)) + 1e-15


def test_impurity_at_its_ends():
    assert routing.impurity(1, 1.0, 1.0) == 0.0
    assert routing.impurity(10**15, 1e-9, 1.0) <= 1.0
    assert all(0.0 < routing.impurity(2, 1.0, 1e-60, sharp=sharp) < 1e-300 for sharp in (True, False))
    with mp.workdps(40):
        x = 999 * mp.exp(mp.mpf(-600))
        assert routing.impurity(1000, 600.0, 1.0) == pytest.approx(float(x / (1 + x)), rel=1e-13)


@given(st.integers(2, 10**6), st.floats(1e-3, 1.0), st.floats(1e-12, 0.4))
def test_a_temperature_gives_its_impurity(n, margin, impurity):
    result = routing.temperature(n, margin, impurity)
    assert routing.impurity(n, margin, result) == pytest.approx(impurity, rel=1e-11)


@given(st.integers(2, 20), st.integers(1, 4), st.integers(0, 99))
def test_what_is_read_is_near_the_value(n, p, seed):
    rng = np.random.default_rng(seed)
    values, logits = rng.standard_normal((n, p)), 2.0 * rng.standard_normal(n)
    weights = softmax(logits)
    target = int(weights.argmax())
    missed = weights @ values - values[target]
    impurity = float(np.delete(weights, target).sum())
    for norm, order in (("max", np.inf), ("euclidean", 2)):
        size = float(np.linalg.norm(missed, ord=order))
        assert size <= routing.read_error(impurity, values, target, norm=norm) * (1.0 + 1e-12) + 1e-15
    if n == 2:  # attained
        assert np.abs(missed).max() == pytest.approx(routing.read_error(impurity, values, target), rel=1e-12)


@given(st.integers(1, 6), st.integers(0, 99))
def test_errors_of_compositions(n, seed):
    rng = np.random.default_rng(seed)
    slopes, errors = rng.uniform(-2.0, 2.0, n), rng.uniform(0.0, 0.1, n)
    exact = approximate = rng.uniform(-1.0, 1.0)
    for slope, error in zip(slopes, errors, strict=True):
        exact, approximate = math.sin(slope * exact), math.sin(slope * approximate) + rng.choice([-1, 1]) * error
    assert abs(exact - approximate) <= routing.compose_errors(errors, abs(slopes)) + 1e-15
    # linear maps attain it
    total = 0.0
    for slope, error in zip(abs(slopes), errors, strict=True):
        total = slope * total + error
    assert routing.compose_errors(errors, abs(slopes)) == total


@given(st.integers(2, 12), st.integers(2, 60), st.integers(0, 99))
def test_no_more_keys_than_caps(columns, n, seed):
    keys = points.uniform(columns - 1, n, rng=seed)
    margin = key_margin(keys)
    assert n <= prompts.key_count(margin, dim=columns - 1).value * (1.0 + 1e-9)


def test_reads_of_values_of_any_size():
    assert prompts.read_error(0.0, [1e308, -1e308], 0) == 0.0
    assert prompts.read_error(0.5, [1e308, -1e308], 0) == 1e308
    result = prompts.read_error(0.5, [[1e200, 1e200], [0.0, 0.0]], 0, norm="euclidean")
    assert result == pytest.approx(math.sqrt(0.5) * 1e200, rel=1e-15)
    assert prompts.read_error(0.5, [0.0, 0.0], 1) == 0.0


def test_counts_of_keys():
    # on the circle caps fit without gaps
    for n in (4, 5, 12, 100):
        margin = 1.0 - math.cos(2.0 * math.pi / n)
        assert prompts.key_count(min(margin, 1.0), dim=1).value == pytest.approx(n, rel=1e-12)
    assert prompts.key_count(1e-300, dim=3).log == pytest.approx(450.0 * math.log(10.0), rel=0.01)  # margin^(-3/2)
    bound = prompts.key_count(0.391, dim=3)
    assert (bound.quantity, bound.side, bound.as_integer()) == ("keys", "upper", 52)
    assert prompts.key_count(1e-3, dim=10**6).log > 1e5
