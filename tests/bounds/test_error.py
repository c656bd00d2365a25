"""Errors promised for given tokens, and the concentration at which they are least."""

import math

import numpy as np
import pytest

from bounds import best_concentration, error_bound, prefix_length
from bounds.covering import covering_radius
from bounds.error import FREE, tokens_within
from spherapprox import EqualMeasurePartition, Target, points

ALL = {"lipschitz": 1.0, "sup_norm": 1.0}


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-core-centroid", "sharp-split-mean", "sharp-split-equal"])
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_a_prefix_length_promises_its_eps(theorem, dim):
    bound = prefix_length(0.4, dim=dim, theorem=theorem)
    again = error_bound(dim=dim, theorem=theorem, concentration=bound.concentration, radius=bound.radius, **ALL)
    assert again.value == pytest.approx(0.4, rel=1e-9)
    # and given N instead of the radius: this theorem's own count, with room for rounding
    by_n = error_bound(dim=dim, theorem=theorem, concentration=bound.concentration, n=1.001 * bound.value, **ALL)
    assert by_n.value <= 0.4 * (1 + 1e-6)


def test_radius_follows_from_n():
    cover = error_bound(dim=3, theorem="sharp-split-nearest", lipschitz=1.0, concentration=1e4, n=5000)
    assert cover.radius == covering_radius(5000, dim=3).value
    cells = error_bound(dim=3, theorem="sharp-split-equal", lipschitz=1.0, concentration=1e4, n=5000)
    assert (
        cells.radius > EqualMeasurePartition(3, 5000).cell_radius()
    )  # what exists for every N is coarser than what is built
    given = error_bound(dim=3, theorem="sharp-split-nearest", lipschitz=1.0, concentration=1e4, n=5000, radius=0.4)
    assert given.radius == 0.4


def test_sharp_split_is_the_smaller_one():
    known = {"dim": 2, "lipschitz": 1.0, "concentration": 300.0, "radius": 0.05}
    nearest = error_bound(theorem="sharp-split-nearest", n=2000, **known)
    pack = error_bound(theorem="sharp-split-pack", separation=0.05, **known)
    both = error_bound(theorem="sharp-split", n=2000, separation=0.05, **known)
    assert both.log == min(nearest.log, pack.log)
    assert pack.log < nearest.log
    assert error_bound(theorem="sharp-split", n=2000, **known).log == nearest.log


def test_arrays_of_arguments_broadcast():
    table = error_bound(dim=[[2], [5]], theorem="convolution", lipschitz=1.0, concentration=[1.0, 10.0, 100.0])
    assert table.shape == (2, 3)
    assert table[1, 2].log == error_bound(dim=5, theorem="convolution", lipschitz=1.0, concentration=100.0).log
    errors = [b.value for b in error_bound(dim=2, theorem="lower", lipschitz=1.0, n=[10, 100, 1000])]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("theorem", FREE)
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_best_concentration_beats_its_neighbours(theorem, dim):
    arguments = {"dim": dim, "theorem": theorem, "lipschitz": 1.0, "radius": 0.01, "n": 1e6, "sup_norm": 1.0}
    arguments |= {"smoothness": 1.0, "degree": 300}  # of the theorems that need them
    best = best_concentration(**arguments)
    slack = 1e-3 if theorem in ("sharp-split", "sharp-split-nearest", "sharp-split-equal") else 0.0  # an infimum
    for factor in np.logspace(-4, 4, 33):
        other = error_bound(**arguments, concentration=best.concentration * factor)
        assert best.log <= other.log + slack + 1e-9
        assert not slack or factor >= 1 or other.log > math.log((1 + slack) * 0.01)


def test_best_concentration_is_zero_where_nothing_helps():
    # 4.3 at a radius of 0.5 in dim 8: any kernel's variation costs more than the constant's distance
    best = best_concentration(dim=8, theorem="sharp-core", lipschitz=1.0, radius=0.5, sup_norm=3.0)
    assert best.concentration == 0.0
    assert best.value == pytest.approx(math.pi / 2 + 0.5, rel=1e-14)


def test_more_memory_is_a_smaller_error():
    errors = [best_concentration(dim=3, theorem="sharp-split", lipschitz=1.0, memory=m) for m in (1e4, 1e6, 1e9)]
    assert errors[0].log > errors[1].log > errors[2].log
    assert errors[1] == best_concentration(dim=3, theorem="sharp-split", lipschitz=1.0, n=25_000)


@pytest.mark.parametrize(
    ("memory", "dim", "outputs", "count"), [(40, 3, 1, 1), (79, 3, 1, 1), (80, 3, 1, 2), (96, 8, 3, 1)]
)
def test_tokens_that_fit_into_the_memory(memory, dim, outputs, count):
    assert tokens_within(memory, dim, outputs) == count


@pytest.mark.parametrize("eps", [1e-59, 1e-22, 1e-9])
def test_nearest_is_inverse_at_any_scale(eps):
    bound = prefix_length(eps, dim=2, theorem="sharp-split-nearest")
    promised = error_bound(
        dim=2, theorem="sharp-split-nearest", lipschitz=1.0, concentration=bound.concentration, radius=bound.radius,
        n=math.exp(bound.log),
    ).value  # fmt: skip
    assert promised == pytest.approx(eps, rel=1e-6)


def test_best_concentration_over_arrays():
    found = best_concentration(dim=[[2], [3]], theorem="sharp-split", lipschitz=1.0, n=[10, 1000])
    assert found.shape == (2, 2)
    assert found[1, 0] == best_concentration(dim=3, theorem="sharp-split", lipschitz=1.0, n=10)


def test_equal_measure_cells_have_a_least_sufficient_concentration():
    best = best_concentration(dim=3, theorem="sharp-split-equal", lipschitz=1.0, radius=0.1, slack=0.01)
    assert best.value == pytest.approx(0.101, rel=1e-4)
    assert best.value <= 0.101


@pytest.mark.parametrize("theorem", ["sharp-split-equal", "sharp-split-pack", "sharp-split-mean", "sharp-core"])
def test_the_smallest_concentrations_are_nearly_uniform(theorem):
    known = {"dim": 2, "theorem": theorem, "separation": 0.1, "radius": 0.1, **ALL}
    uniform = error_bound(**known, concentration=0.0).value
    for concentration in (5e-324, 1e-308, 1e-200, 1e-100):
        assert error_bound(**known, concentration=concentration).value == pytest.approx(uniform, rel=1e-14)


@pytest.mark.parametrize("exactness", [0, 2])
def test_spectral_correction_needs_exactness_of_twice_the_degree(exactness):
    bound = error_bound(
        dim=2, theorem="sharp-core-spectral", sup_norm=1.0, concentration=10.0, degree=4, exactness=exactness
    )
    assert bound.value == math.inf
    assert bound.failed == ("exactness >= 2 degree",)


@pytest.mark.parametrize("theorem", ["sharp-split", "sharp-split-equal"])
def test_the_least_slack_and_the_most_points(theorem):
    best = best_concentration(dim=2, theorem=theorem, lipschitz=1.0, n=1e6, slack=1e-12)
    assert best.value == pytest.approx(best.radius, rel=1e-11)
    far = best_concentration(dim=4, theorem=theorem, lipschitz=1.0, n=1e300)
    assert far.concentration <= 1e150
    assert far.value < 1e-73


HEIGHT = Target(lambda x: 2.0 * x[:, -1], dim=2, lipschitz=2.0, sup_norm=2.0)
CELLS = EqualMeasurePartition(2, 300)


@pytest.mark.parametrize("theorem", ["sharp-split-equal", "sharp-split", "sharp-core"])
def test_a_target_and_a_partition_stand_for_their_numbers(theorem):
    known = {"dim": 2, "lipschitz": 2.0, "sup_norm": 2.0, "radius": CELLS.cell_radius(), "n": 300, "theorem": theorem}
    assert best_concentration(target=HEIGHT, points=CELLS, theorem=theorem) == best_concentration(**known)
    held = error_bound(target=HEIGHT, points=CELLS, theorem=theorem, concentration=50.0)
    assert held == error_bound(**known, concentration=50.0)


def test_a_point_set_stands_for_its_radius_separation_and_degree():
    spiral = points.fibonacci(300)
    known = {"dim": 2, "lipschitz": 2.0, "sup_norm": 2.0, "concentration": 50.0}
    for theorem in ("sharp-split", "sharp-split-pack"):
        stated = error_bound(
            **known, theorem=theorem, n=300, radius=spiral.covering_bound(), separation=spiral.smallest_distance()
        )
        assert error_bound(target=HEIGHT, points=spiral, theorem=theorem, concentration=50.0) == stated
    rule = points.gauss_product(2, 30)
    stated = error_bound(**known, theorem="sharp-core-quadrature", degree=30)
    assert error_bound(target=HEIGHT, points=rule, theorem="sharp-core-quadrature", concentration=50.0) == stated
    spectral = {"theorem": "sharp-core-spectral", "concentration": 5.0, "degree": 1}
    stated = error_bound(**known | spectral, exactness=30)
    assert error_bound(target=HEIGHT, points=rule, **spectral) == stated


def test_what_is_given_takes_the_place_of_what_target_and_points_say():
    rough = error_bound(target=HEIGHT, points=CELLS, theorem="sharp-split", concentration=50.0, lipschitz=3.0, radius=1)
    stated = error_bound(dim=2, theorem="sharp-split", concentration=50.0, lipschitz=3.0, radius=1, n=300, sup_norm=2.0)
    assert rough == stated
    vector = Target(lambda x: x, dim=2, lipschitz=1.0, sup_norm=1.0, n_outputs=3)
    by_memory = best_concentration(target=vector, memory=4800, theorem="sharp-split")
    assert by_memory == best_concentration(target=vector, n=100, theorem="sharp-split")


def test_an_unknown_covering_radius_is_no_radius():
    far = points.uniform(7, 50, rng=0)
    target = Target(lambda x: x[:, 0], dim=7, lipschitz=1.0)
    with pytest.raises(ValueError, match="theorem='sharp-split' needs the covering radius of the points"):
        best_concentration(target=target, points=far, theorem="sharp-split")
    given = best_concentration(target=target, points=far, theorem="sharp-split", radius=1.4)
    assert given.radius == 1.4
