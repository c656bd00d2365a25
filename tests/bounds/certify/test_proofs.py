"""Proofs of prefix lengths: float64 inside its enclosure over all options, and what must not be provable."""

import dataclasses
import math
import random

import mpmath as mp
import pytest

from bounds import prefix_length
from bounds.certify import THEOREMS, CertificationError, certified
from bounds.records.problem import Problem


def problems(seed, count):
    """Random problems, with the options that each theorem takes."""
    pick = random.Random(seed)
    for name in THEOREMS:
        for _ in range(count):
            dim, eps = pick.choice([1, 2, 3, 5, 8, 24, 64]), 10.0 ** pick.uniform(-5.0, 0.5)
            options = {"lipschitz": 10.0 ** pick.uniform(-6, 6), "slack": pick.choice([0.0, 1e-3, 1e-6])}
            options["sup_norm"] = options["lipschitz"] * 10.0 ** pick.uniform(0, 6)
            options["covering"] = pick.choice(["best", "best", "greedy", "volume"])
            options["exponent"] = 1.0 if name.startswith("thesis") else pick.choice([1.0, 0.5])
            if pick.random() < 0.4:
                options["concentration"] = (
                    dim * 10.0 ** pick.uniform(-1, 3) / min(eps, 1.0) ** (2 / options["exponent"])
                )
            if "smoothness" in THEOREMS[name].constants:
                options |= {"exponent": 1.0, "smoothness": options["lipschitz"] * 10.0 ** pick.uniform(-2, 3)}
            if name in ("sharp-core-spectral", "sharp-core-interpolation"):
                options |= pick.choice([{}, {"degree": 12}, {"sobolev_order": dim / 2 + 1.5}])
            yield name, Problem.checked(eps * options["lipschitz"], dim, **options)


def test_float64_results_lie_in_their_enclosures_over_all_options():
    proved = 0
    for name, problem in problems(seed=7, count=3):
        bound = THEOREMS[name].count(problem)
        if bound.holds and math.isfinite(bound.log):
            enclosed = certified(bound, problem)
            assert enclosed.contains(bound.log), (name, problem)
            assert enclosed.relative_width < 1e-8, (name, problem)
            proved += enclosed.relative_width < 1e-12
    assert proved > 36


@pytest.mark.parametrize(
    "theorem",
    ["thesis-core", "sharp-core", "sharp-split-equal", "sharp-core-quadrature", "sharp-core-smooth", "lower",
     "lower-smooth"],
)  # fmt: skip
def test_more_digits_lie_inside_fewer(theorem):
    problem = Problem.checked(0.3, 8, smoothness=1.0)
    bound = THEOREMS[theorem].count(problem)
    coarse, fine = certified(bound, problem), certified(bound, problem, digits=25)
    assert coarse.contains(fine)
    assert 0 < fine.relative_width < 1e-24
    assert 1e-13 < coarse.relative_width < 1e-11


@pytest.mark.parametrize(
    "theorem", ["sharp-core", "sharp-core-centroid", "sharp-split-mean", "sharp-split-equal", "sharp-split-pack"]
)
@pytest.mark.parametrize("factor", [1 - 1e-5, 1 + 1e-5])
def test_a_radius_that_is_no_root_cannot_be_certified(theorem, factor):
    problem = Problem.checked(0.3, 3)
    bound = THEOREMS[theorem].count(problem)
    wrong = dataclasses.replace(bound, radius=bound.radius * factor)
    with pytest.raises(CertificationError):
        certified(wrong, problem)


@pytest.mark.parametrize(
    "theorem",
    ["sharp-core-quadrature", "sharp-core-smooth", "sharp-core-spectral", "sharp-core-interpolation",
     "sharp-core-rank"],
)  # fmt: skip
def test_a_degree_too_low_cannot_be_certified(theorem):
    problem = Problem.checked(0.1, 4, smoothness=1.0)
    bound = THEOREMS[theorem].count(problem)
    lower = {"degree": 4.0, "tail degree": 4.0, "exactness": 8.0}
    wrong = dataclasses.replace(
        bound, constants=tuple((name, lower.get(name, value)) for name, value in bound.constants)
    )
    with pytest.raises(CertificationError, match="cannot be proved enough"):
        certified(wrong, problem)


def test_a_concentration_too_low_cannot_be_certified():
    problem = Problem.checked(0.1, 8, concentration=1e3)
    with pytest.raises(CertificationError, match="concentration 1000"):
        certified(dataclasses.replace(THEOREMS["thesis-core"].count(problem), hypotheses=()), problem)


def test_counts_on_the_circle_are_whole():
    for theorem in ("sharp-core", "sharp-split-mean", "sharp-split-equal", "sharp-split-nearest", "lower"):
        for eps in (0.01, 0.37, 1.1):
            bound = prefix_length(eps, dim=1, theorem=theorem, sup_norm=2.0, certified=True)
            count = round(math.exp(bound.log))
            with mp.workdps(30):
                assert bound.enclosure.contains(mp.log(count))
            assert bound.enclosure.relative_width < 1e-12


def test_few_tokens_are_proved_too():
    for eps, count in ((3.2, 1), (1.6, 2)):
        for theorem in ("sharp-split-mean", "sharp-split-equal", "sharp-split-pack", "sharp-split-random"):
            enclosed = prefix_length(eps, dim=4, theorem=theorem, certified=True).enclosure
            if theorem != "sharp-split-mean" or count == 1:
                with mp.workdps(30):
                    assert enclosed.contains(mp.log(count))
    assert prefix_length(2.0, dim=4, theorem="sharp-core", certified=True).enclosure.contains(0)
    # a float that is a little below pi: the claim of one token cannot be proved, that of at most two can
    assert prefix_length(math.pi, dim=4, theorem="sharp-split-mean", certified=True).enclosure.upper > 0.69
