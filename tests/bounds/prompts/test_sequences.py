"""Bounds of sequences: reference numbers, containment against measured heads, volumes by sampling, and edges."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds import covering_number, error_bound, prefix_length
from bounds.prompts import sequences
from bounds.prompts.sequences import Lower, Sharp
from bounds.records import Prefix
from spherapprox import EqualMeasurePartition, special, sphere
from spherapprox.prompts.sequences import mean_distance


@pytest.mark.parametrize(
    ("dim", "length", "eps", "upper", "lower"),
    [(2, 2, 0.1, 5.632, 5.205), (2, 3, 0.1, 8.449, 7.807), (1, 5, 0.1, 7.526, 7.486), (8, 2, 0.5, 9.859, 6.748)],
)
def test_reference_numbers(dim, length, eps, upper, lower):
    result = sequences.prefix_length(eps, dim=dim, length=length)
    assert round(result.log10, 3) == upper
    assert result.log == length * covering_number(0.999 * eps, dim=dim).log
    needed = sequences.prefix_length(eps, dim=dim, length=length, theorem="lower")
    assert round(needed.log10, 3) == lower
    assert needed.side == "lower"


def test_the_a_priori_bound():
    bound = sequences.error_bound(dim=2, length=2, n=400, concentration=5e4, radius=0.1400961077)
    assert bound.value == pytest.approx(0.1426084, abs=1e-6)
    assert (bound.side, bound.quantity) == ("upper", "sup error")


def test_one_token_is_the_theorem_of_one_token():
    for eps in (0.3, 0.05):
        for metric in ("max", "sum"):
            ours = sequences.prefix_length(eps, dim=3, length=1, metric=metric)
            theirs = prefix_length(eps, dim=3, theorem="sharp-split-nearest")
            assert ours.log == pytest.approx(theirs.log, rel=1e-12)
            assert ours.concentration == pytest.approx(theirs.concentration, rel=1e-9)
    ours = sequences.error_bound(dim=2, length=1, lipschitz=2.0, concentration=300.0, radius=0.1, n=500)
    theirs = error_bound(
        theorem="sharp-split-nearest", dim=2, lipschitz=2.0, concentration=300.0, points=Prefix(500, 0.1)
    )
    assert ours.value == pytest.approx(theirs.value, rel=1e-12)


@pytest.mark.parametrize("metric", ["max", "sum"])
@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_error_of_a_head_is_below_its_bound(metric, length):
    rng = np.random.default_rng(length)
    cells = EqualMeasurePartition(2, 150)
    x = sphere.uniform(2, 300 * length, rng=rng).reshape(300, length, 3)
    lipschitz = 1.3 if metric == "max" else list(rng.random(length) + 0.1)
    for lam in (50.0, 500.0, 1e5):
        worst = mean_distance(x, cells, lam, metric=metric, lipschitz=lipschitz).max()
        options = {"dim": 2, "length": length, "metric": metric, "lipschitz": lipschitz, "n": 150}
        bound = sequences.error_bound(concentration=lam, radius=cells.cell_radius(), **options)
        assert worst <= bound.value
        if lam == 1e5:
            assert bound.value <= 1.6 * worst + 0.05


@pytest.mark.parametrize("metric", ["max", "sum"])
def test_the_promised_concentration_is_enough(metric):
    for length, eps in ((2, 0.4), (3, 0.6)):
        bound = sequences.prefix_length(eps, dim=2, length=length, metric=metric, theorem=Sharp(slack=0.05))
        n = round(math.exp(bound.log / length))
        options = {"dim": 2, "length": length, "metric": metric, "n": n, "radius": bound.radius}
        there = sequences.error_bound(concentration=bound.concentration, **options).value
        assert there <= eps * (1.0 + 1e-9)
        assert sequences.error_bound(concentration=0.9 * bound.concentration, **options).value > eps * (1.0 - 1e-9)


def test_tokens_with_constants_of_their_own():
    bound = sequences.prefix_length(0.1, dim=2, length=3, metric="sum", lipschitz=[0.5, 0.001, 1.0])
    constants = dict(bound.constants)
    assert constants["radius_2"] == math.pi
    assert constants["concentration_2"] == 0.0
    assert constants["radius_1"] == pytest.approx(2.0 * constants["radius_3"], rel=1e-12)
    total = sum(covering_number(constants[f"radius_{i}"], dim=2).log for i in (1, 3))
    assert bound.log == pytest.approx(total, rel=1e-12)
    spent = 0.5 * constants["radius_1"] + 0.001 * math.pi + constants["radius_3"]
    assert spent <= 0.1
    assert spent + 1e-3 * 0.1 >= 0.1 * (1.0 - 1e-9)
    # constants may be 0, and a token of constant 0 costs nothing
    alone = sequences.prefix_length(0.1, dim=2, length=1, metric="sum")
    pair = sequences.prefix_length(0.1, dim=2, length=2, metric="sum", lipschitz=[0.0, 1.0])
    assert pair.log == pytest.approx(alone.log, rel=1e-12)


@settings(max_examples=60, deadline=None)
@given(
    dim=st.integers(1, 6), length=st.integers(1, 4), log_eps=st.floats(-4.0, 0.0), log_lip=st.floats(-2.0, 2.0),
    metric=st.sampled_from(["max", "sum"]),
)  # fmt: skip
def test_lower_is_below_upper_and_the_forms_are_inverse(dim, length, log_eps, log_lip, metric):
    eps, options = 10.0**log_eps, {"dim": dim, "length": length, "metric": metric, "lipschitz": 10.0**log_lip}
    below = sequences.prefix_length(eps, theorem=Lower(10.0), **options)
    assert below.log <= sequences.prefix_length(eps, **options).log * (1.0 + 1e-12)
    if 0.0 < below.log < 600.0:
        n = math.exp(below.log / length)
        error = sequences.error_bound(n=n, theorem="lower", **options)
        assert error.value == pytest.approx(eps, rel=1e-6)


@pytest.mark.parametrize(("dim", "length"), [(1, 2), (2, 2), (3, 3)])
def test_the_measure_of_balls_of_the_sum(dim, length):
    lips, eps = np.array([1.0, 0.7, 2.0][:length]), 1.5
    rng = np.random.default_rng(0)
    cosines = sphere.uniform(dim, 200_000 * length, rng=rng)[:, 0].reshape(-1, length)
    share = np.mean(np.arccos(cosines) @ lips <= eps)
    options = {"dim": dim, "length": length, "metric": "sum", "lipschitz": list(lips)}
    bound = sequences.prefix_length(eps, theorem=Lower(10.0), **options)
    assert math.exp(-bound.log) >= share * 0.98
    item = -special.log_cap_measure(dim, min(eps / lips.max(), math.pi))
    assert bound.log >= item - 1e-12
    # a target may depend on some tokens only
    options["lipschitz"] = [1.0] + [1e-9] * (length - 1)
    alone = sequences.prefix_length(eps, dim=dim, length=1, metric="sum", theorem=Lower(10.0))
    assert sequences.prefix_length(eps, theorem=Lower(10.0), **options).log == alone.log > 0.0


def test_very_many_tokens():
    options = {"dim": 2, "length": 10**6, "metric": "sum"}
    needed = sequences.prefix_length(0.1, theorem="lower", **options)
    assert 0.0 < needed.log < sequences.prefix_length(0.1, **options).log
    assert sequences.error_bound(n=4, theorem="lower", **options).value > 0.0
    lipschitz = list(np.linspace(0.0, 1.0, 10**5))
    needed = sequences.prefix_length(10.0, dim=1, length=10**5, metric="sum", lipschitz=lipschitz, theorem=Lower(99.0))
    assert needed.log > 0.0


def test_sup_norm_and_require():
    bound = sequences.prefix_length(0.5, dim=2, length=2, theorem=Lower(0.4))
    assert bound.failed == ("eps < sup_norm",)
    assert bound.log == 0.0
    capped = sequences.error_bound(dim=2, length=2, n=2, lipschitz=100.0, theorem=Lower(0.4))
    assert capped.value == pytest.approx(0.4)


def test_large_errors_and_no_slack():
    for metric in ("max", "sum"):
        assert sequences.prefix_length(20.0, dim=2, length=3, metric=metric).as_integer() == 1
        assert (
            sequences.error_bound(dim=2, length=3, n=1, metric=metric, concentration=0.0, radius=math.pi).value <= 10.0
        )
    bound = sequences.prefix_length(0.1, dim=2, length=2, theorem=Sharp(slack=0.0))
    assert bound.concentration == math.inf
    assert bound.log == 2 * covering_number(0.1, dim=2).log


def test_the_bottleneck():
    values = [sequences.bottleneck(2 * t - 1, dim=2, length=t).value for t in (1, 2, 3, 4)]
    assert [round(value, 6) for value in values] == [1.0, 0.896019, 0.787597, 0.707107]
    for length in (1, 2, 50):
        assert sequences.bottleneck(1, dim=2, length=length).value == 1.0
        assert sequences.bottleneck(2, dim=2, length=length).value == 1.0
    # no more tokens than are needed move
    assert sequences.bottleneck(3, dim=2, length=50).value == pytest.approx(math.sin(math.pi / (2.0 * math.sqrt(2.0))))
    lossless = sequences.bottleneck(6, dim=2, length=3)
    assert (lossless.value, lossless.failed) == (0.0, ("channels < dim * length",))
    assert sequences.bottleneck(5, dim=2, length=3, domain="cube").value == 0.5
    assert sequences.bottleneck(6, dim=2, length=3, domain="cube").value == 0.0
    assert [b.value for b in sequences.bottleneck([0, 2], dim=2)] == [1.0, 1.0]
