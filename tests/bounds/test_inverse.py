"""Errors promised for given tokens, and the concentration at which they are least."""

import math

import numpy as np
import pytest

from bounds import best_concentration, covering_radius, error_bound, prefix_length, tokens_within
from bounds.inverse import FREE
from spherapprox import EqualMeasurePartition

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


def test_arrays():
    table = error_bound(dim=[[2], [5]], theorem="convolution", lipschitz=1.0, concentration=[1.0, 10.0, 100.0])
    assert table.shape == (2, 3)
    assert table[1, 2].log == error_bound(dim=5, theorem="convolution", lipschitz=1.0, concentration=100.0).log
    errors = [b.value for b in error_bound(dim=2, theorem="lower", lipschitz=1.0, n=[10, 100, 1000])]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("theorem", FREE)
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_best_concentration_beats_its_neighbours(theorem, dim):
    arguments = {"dim": dim, "theorem": theorem, "lipschitz": 1.0, "radius": 0.01, "n": 1e6, "sup_norm": 1.0}
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
def test_tokens_within(memory, dim, outputs, count):
    assert tokens_within(memory, dim, outputs) == count


def test_bad_budgets():
    with pytest.raises(ValueError, match="'memory' must be at least 40 bytes, one token for dim = 3, got 39"):
        tokens_within(39, 3)
    with pytest.raises(TypeError, match="'memory' is in place of 'n'"):
        best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, n=10, memory=1e6)
    with pytest.raises(TypeError, match="needs the argument 'radius'"):
        best_concentration(dim=2, theorem="sharp-core", lipschitz=1.0, sup_norm=1.0)
    with pytest.raises(ValueError, match="'theorem' must be one of 'sharp-core'"):
        best_concentration(dim=2, theorem="lower", lipschitz=1.0, n=10)


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
