"""Errors promised for given tokens, and the concentration at which they are least."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statements import with_options

from bounds import best_concentration, error_bound, prefix_length
from bounds.covering import covering_radius
from bounds.error import FREE, tokens_within
from bounds.records import Prefix
from bounds.records.problem import LARGEST_CONCENTRATION
from bounds.theorems import LADDER, state
from spherapprox import EqualMeasurePartition, Target, points

ALL = {"lipschitz": 1.0, "sup_norm": 1.0}
BEST = ("sharp-core", "sharp-core-centroid", "sharp-core-quadrature", "sharp-core-smooth", "sharp-split-mean")
"""Theorems whose prefix lengths are the least over all concentrations."""


TOLERANCES = dict.fromkeys(("sharp-core", "sharp-core-centroid", "sharp-split-mean"), 1e-11)
TOLERANCES["sharp-core-quadrature"] = 1e-10
"""How far promises at the best concentration may be off, relative to eps; 1e-9 elsewhere."""


@pytest.mark.parametrize("theorem", [*BEST, "sharp-split-equal", "sharp-split-pack"])
@settings(max_examples=25)
@given(
    dim=st.sampled_from([1, 2, 3, 8, 60, 1000, 10**4]), log_share=st.floats(-12, 0.49), log_lip=st.floats(-3, 3),
    log_ratio=st.floats(1e-3, 12), log_bend=st.floats(-2, 6), exponent=st.sampled_from([1.0, 1.0, 0.5, 0.2]),
)  # fmt: skip
def test_a_prefix_length_promises_its_eps_and_is_the_best(
    theorem, dim, log_share, log_lip, log_ratio, log_bend, exponent
):
    eps, bend = 10.0 ** (log_share + log_lip), 10.0 ** (log_bend + log_lip) if "smooth" in theorem else None
    target = {"dim": dim, "lipschitz": 10.0**log_lip, "exponent": 1.0 if bend else exponent}
    target["sup_norm"] = 10.0**log_ratio * eps

    def length(concentration):
        statement = with_options(theorem, concentration=concentration, smoothness=bend)
        return prefix_length(eps, theorem=statement, **target)

    def error(bound, concentration, fewer=0):
        degree = dict(bound.constants).get("degree")
        known = Prefix(radius=bound.radius, separation=bound.radius, exactness=degree and degree - fewer)
        statement = with_options(theorem, smoothness=bend)
        return error_bound(theorem=statement, points=known, concentration=concentration, **target).value

    bound, best = length(None), TOLERANCES.get(theorem, 1e-9)
    widest = 0.49 if theorem == "sharp-split-mean" else 0.17  # from where on it is one token, or two antipodes
    if bound.log == 0.0 or log_share / target["exponent"] > widest:
        return
    assert bound.holds
    degree = dict(bound.constants).get("degree", 0.0)
    for factor in (1.0, 0.1, 0.9, 0.999, 1.001, 1.1, 10.0, 1e4, 1e60):
        if factor * bound.concentration > LARGEST_CONCENTRATION:
            continue
        near = length(factor * bound.concentration)
        assert near.log >= bound.log * (1.0 - 1e-13) - 1e-11 or theorem not in BEST
        assert math.isfinite(near.log) == near.holds
        assert factor != 1.0 or near.log == pytest.approx(bound.log, rel=1e-12)
        if near.holds and (degree < 1e29 and factor == 1.0 if degree else near.radius >= 1e-60 and factor < 1e5):
            promised, rel = error(near, factor * bound.concentration), best if factor == 1.0 else 1e-9
            assert promised <= eps * (1.0 + rel)
            assert degree or promised == pytest.approx(eps, rel=rel)  # a whole degree leaves some
    if 4.0 < degree < 1e6:
        for factor in (0.5, 0.9, 0.999, 1.0, 1.001, 1.01, 1.1, 2.0):
            assert error(bound, factor * bound.concentration, fewer=1) > eps


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-core-centroid", "sharp-split-mean", "sharp-split-equal"])
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_the_radius_follows_from_this_theorem_s_own_count(theorem, dim):
    bound = prefix_length(0.4, dim=dim, theorem=theorem)
    room = Prefix(n=1.001 * bound.value)  # for rounding
    again = error_bound(dim=dim, theorem=theorem, concentration=bound.concentration, points=room, **ALL)
    assert again.value <= 0.4 * (1 + 1e-6)


def test_radius_follows_from_n():
    at_3 = partial(error_bound, dim=3, lipschitz=1.0, concentration=1e4)
    cover = at_3(theorem="sharp-split-nearest", points=Prefix(n=5000))
    assert cover.radius == covering_radius(5000, dim=3).value
    cells = at_3(theorem="sharp-split-equal", points=Prefix(n=5000))
    # what exists for every N is coarser than what is built
    assert cells.radius > EqualMeasurePartition(3, 5000).cell_radius()
    assert at_3(theorem="sharp-split-nearest", points=Prefix(n=5000, radius=0.4)).radius == 0.4


def test_sharp_split_is_the_smaller_one():
    options, separated = {"dim": 2, "lipschitz": 1.0, "concentration": 300.0}, Prefix(2000, 0.05, separation=0.05)
    nearest = error_bound(theorem="sharp-split-nearest", points=separated, **options)
    pack = error_bound(theorem="sharp-split-pack", points=separated, **options)
    pair = error_bound(theorem="sharp-split", points=separated, **options)
    assert pair.log == min(nearest.log, pack.log)
    assert pack.log < nearest.log
    assert error_bound(theorem="sharp-split", points=Prefix(2000, 0.05), **options).log == nearest.log
    names = [theorem.name for theorem in LADDER if theorem.joins == "sharp-split"]
    for lam in (None, 50.0, 1e4):
        parts = [prefix_length(0.5, dim=3, theorem=state(name, concentration=lam)).log for name in names]
        assert prefix_length(0.5, dim=3, theorem=state("sharp-split", concentration=lam)).log == min(parts)


@pytest.mark.parametrize("theorem", FREE)
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_best_concentration_beats_its_neighbours(theorem, dim):
    promise = state(theorem, smoothness=1.0) if "smoothness" in FREE[theorem].options else theorem
    arguments = {"dim": dim, "theorem": promise, "lipschitz": 1.0, "sup_norm": 1.0}
    arguments["points"] = Prefix(1e6, 0.01, exactness=300)
    best = best_concentration(**arguments)
    slack = 1e-3 if theorem in ("sharp-split", "sharp-split-nearest", "sharp-split-equal") else 0.0  # an infimum
    for factor in np.logspace(-4, 4, 33):
        second = error_bound(**arguments, concentration=best.concentration * factor)
        assert best.log <= second.log + slack + 1e-9
        assert not slack or factor >= 1 or second.log > math.log((1 + slack) * 0.01)


def test_best_concentration_is_zero_where_nothing_helps():
    # 4.3 at a radius of 0.5 in dim 8: any kernel's variation costs more than the constant's distance
    best = best_concentration(dim=8, theorem="sharp-core", lipschitz=1.0, sup_norm=3.0, points=Prefix(radius=0.5))
    assert best.concentration == 0.0
    assert best.value == pytest.approx(math.pi / 2 + 0.5, rel=1e-14)


def test_more_memory_is_a_smaller_error():
    n = [tokens_within(memory, dim=3) for memory in (1e4, 1e6, 1e9)]
    errors = best_concentration(dim=3, theorem="sharp-split", lipschitz=1.0, points=Prefix(n=n))
    assert errors[0].log > errors[1].log > errors[2].log


@pytest.mark.parametrize(
    ("memory", "dim", "outputs", "count"), [(40, 3, 1, 1), (79, 3, 1, 1), (80, 3, 1, 2), (96, 8, 3, 1)]
)
def test_tokens_that_fit_into_the_memory(memory, dim, outputs, count):
    assert tokens_within(memory, dim, outputs) == count


@pytest.mark.parametrize("eps", [1e-59, 1e-22, 1e-9])
def test_nearest_is_inverse_at_any_scale(eps):
    bound = prefix_length(eps, dim=2, theorem="sharp-split-nearest")
    options = {"concentration": bound.concentration, "points": Prefix(math.exp(bound.log), bound.radius)}
    promised = error_bound(theorem="sharp-split-nearest", dim=2, lipschitz=1.0, **options)
    assert promised.value == pytest.approx(eps, rel=1e-6)


def test_equal_measure_cells_have_a_least_sufficient_concentration():
    theorem = state("sharp-split-equal", slack=0.01)
    best = best_concentration(dim=3, theorem=theorem, lipschitz=1.0, points=Prefix(radius=0.1))
    assert 0.101 * (1.0 - 1e-4) <= best.value <= 0.101


@pytest.mark.parametrize("theorem", ["sharp-split-equal", "sharp-split-pack", "sharp-split-mean", "sharp-core"])
def test_the_smallest_concentrations_are_nearly_uniform(theorem):
    options = {"dim": 2, "theorem": theorem, "points": Prefix(radius=0.1, separation=0.1), **ALL}
    uniform = error_bound(**options, concentration=0.0).value
    for concentration in (5e-324, 1e-308, 1e-200, 1e-100):
        assert error_bound(**options, concentration=concentration).value == pytest.approx(uniform, rel=1e-14)


@pytest.mark.parametrize("theorem", ["sharp-split", "sharp-split-equal"])
def test_the_least_slack_and_the_most_points(theorem):
    best = best_concentration(dim=2, theorem=state(theorem, slack=1e-12), lipschitz=1.0, points=Prefix(n=1e6))
    assert best.value == pytest.approx(best.radius, rel=1e-11)
    far = best_concentration(dim=4, theorem=theorem, lipschitz=1.0, points=Prefix(n=1e300))
    assert far.concentration <= 1e150
    assert far.value < 1e-73


HEIGHT = Target(lambda x: 2.0 * x[:, -1], dim=2, lipschitz=2.0, sup_norm=2.0)
CELLS = EqualMeasurePartition(2, 300)


@pytest.mark.parametrize("theorem", ["sharp-split-equal", "sharp-split", "sharp-core"])
def test_a_target_and_a_partition_stand_for_their_numbers(theorem):
    options = {
        "dim": 2,
        "lipschitz": 2.0,
        "sup_norm": 2.0,
        "points": Prefix(300, CELLS.cell_radius()),
        "theorem": theorem,
    }
    assert best_concentration(target=HEIGHT, points=CELLS, theorem=theorem) == best_concentration(**options)
    held = error_bound(target=HEIGHT, points=CELLS, theorem=theorem, concentration=50.0)
    assert held == error_bound(**options, concentration=50.0)


def test_a_point_set_stands_for_its_radius_separation_and_degree():
    spiral = points.fibonacci(300)
    options = {"dim": 2, "lipschitz": 2.0, "sup_norm": 2.0, "concentration": 50.0}
    for theorem in ("sharp-split", "sharp-split-pack"):
        promise = error_bound(
            theorem=theorem,
            points=Prefix(n=300, radius=spiral.covering_bound(), separation=spiral.smallest_distance()),
            **options,
        )
        assert error_bound(target=HEIGHT, points=spiral, theorem=theorem, concentration=50.0) == promise
    rule = points.gauss_product(2, 30)
    promise = error_bound(theorem="sharp-core-quadrature", points=Prefix(exactness=30), **options)
    assert error_bound(target=HEIGHT, points=rule, theorem="sharp-core-quadrature", concentration=50.0) == promise
    spectral = {"theorem": state("sharp-core-spectral", degree=1), "concentration": 5.0}
    promise = error_bound(points=Prefix(exactness=30), **options | spectral)
    assert error_bound(target=HEIGHT, points=rule, **spectral) == promise


def test_what_is_given_takes_the_place_of_what_the_target_says():
    options = {"theorem": "sharp-split", "concentration": 50.0, "points": Prefix(300, 1.0), "lipschitz": 3.0}
    assert error_bound(target=HEIGHT, **options) == error_bound(dim=2, sup_norm=2.0, **options)
