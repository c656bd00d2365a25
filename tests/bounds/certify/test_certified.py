"""Certified bounds: every float64 result lies in its enclosure, and every printed number agrees with one."""

import math
from decimal import Decimal

import mpmath as mp
import pytest
from statements import with_options

from bounds import prefix_length
from bounds.certify import THEOREMS
from bounds.theorems import state

PRINTED = {"covering": "greedy", "jackson_constant": 1.0, "harmonic_constant": 1.0, "slack": 0.0}
BEST = {"covering": "best"}


def lies_inside(bound):
    return bound.enclosure.lower <= mp.mpf(bound.log) <= bound.enclosure.upper


@pytest.mark.parametrize(("dim", "eps"), [(1, 0.1), (2, 1e-6), (8, 0.1), (16, 0.5), (300, 0.3)])
@pytest.mark.parametrize("theorem", THEOREMS)
def test_float64_lies_in_the_enclosure(theorem, dim, eps):
    bound = prefix_length(eps, dim=dim, theorem=with_options(theorem, smoothness=1.0), certified=True)
    assert lies_inside(bound)
    if math.isfinite(bound.log):
        assert bound.enclosure.width <= 1e-11 * max(1.0, abs(bound.log))


@pytest.mark.parametrize(("dim", "eps", "concentration"), [(4, 1.0, 8.0), (1, 0.05, 400.0)])
def test_separated_points_at_low_concentrations_are_proved_by_their_voronoi_cells(dim, eps, concentration):
    # the nearest point alone would need a smaller radius
    bound = prefix_length(eps, dim=dim, theorem=state("sharp-split-pack", concentration=concentration), certified=True)
    assert lies_inside(bound)
    assert bound.enclosure.width <= 1e-11 * bound.log


def test_a_wrong_float64_result_would_be_noticed():
    bound = prefix_length(0.1, dim=8, theorem="sharp-core", certified=True)
    for wrong in (bound.log * (1 + 1e-10), bound.log * (1 - 1e-10)):
        assert not bound.enclosure.lower <= mp.mpf(wrong) <= bound.enclosure.upper


# theorem, options beyond those of the printed tables, log10 N with its printed digits at dim and eps
TABLE = [
    ("thesis-core", {}, {(8, 0.5): "414.957100276", (8, 0.1): "667.988569422", (16, 0.1): "2119.50725921"}),
    ("thesis-split", {}, {(8, 0.5): "382.7398687", (8, 0.1): "632.6029591", (16, 0.1): "1992.763569"}),
    ("thesis-split-corrected", {}, {(8, 0.5): "659.7276244", (8, 0.1): "914.3072189", (16, 0.1): "3105.458717"}),
    ("sharp-core", {}, {(8, 0.5): "19.5", (8, 0.1): "30.4", (16, 0.1): "63.9", (2, 0.1): "7.16"}),
    ("sharp-split-mean", {}, {(8, 0.5): "22.67", (8, 0.1): "28.29", (16, 0.1): "60.59", (2, 0.1): "6.31"}),
    ("sharp-split-nearest", {}, {(8, 0.5): "5.01", (8, 0.1): "10.511", (16, 0.1): "19.0", (2, 0.1): "3.52"}),
    ("sharp-split-nearest", {"covering": "volume"}, {(2, 0.1): "3.20"}),
    ("lower", {}, {(8, 0.5): "3.37", (8, 0.1): "8.87", (16, 0.1): "17.0", (2, 0.1): "2.60"}),
    ("sharp-core-centroid", {}, {(8, 0.1): "23.91"}),
    ("sharp-split-nearest", {"concentration": 37000.0}, {(8, 0.1): "10.88"}),
    ("sharp-split-nearest", {"concentration": 370000.0}, {(8, 0.1): "10.55"}),
    ("sharp-split-nearest", {"concentration": 440000000.0}, {(8, 0.1): "10.511"}),
    ("sharp-split-pack", {"concentration": 12800.0}, {(8, 0.1): "11.45"}),
    ("sharp-split-pack", {"concentration": 3200.0}, {(8, 0.1): "12.48", (2, 0.1): "3.24"}),
    ("sharp-split-pack", {"concentration": 512.0}, {(8, 0.5): "5.88"}),
    ("sharp-split-pack", {"concentration": 128.0}, {(8, 0.5): "6.86"}),
    ("sharp-split-pack", {"concentration": 25600.0}, {(16, 0.1): "22.25"}),
    ("sharp-split-pack", {"concentration": 800.0}, {(2, 0.1): "3.38"}),
    ("sharp-core-quadrature", {}, {(8, 0.1): "15.1", (16, 0.1): "30.3"}),
    ("sharp-core-smooth", {"smoothness": 1.0}, {(2, 0.1): "2.18", (8, 0.1): "9.28", (8, 0.01): "13.75",
     (16, 0.01): "27.53"}),
    ("lower", BEST, {(8, 0.1): "9.2775443724", (8, 0.01): "17.27", (3, 0.1): "3.83", (16, 0.1): "17.66",
     (24, 0.01): "49.88"}),
    ("lower-smooth", BEST | {"smoothness": 1.0}, {(2, 0.1): "1.10", (2, 0.01): "2.08", (8, 0.1): "2.98",
     (8, 0.01): "6.88", (16, 0.1): "5.15", (16, 0.01): "12.87"}),
    ("lower-smooth", {"smoothness": 1.0}, {(8, 0.1): "2.62", (8, 0.01): "6.47", (16, 0.1): "4.58",
     (16, 0.01): "12.23"}),
    ("lower-any", {}, {(8, 0.1): "4.99", (16, 0.1): "10.40"}),
    ("lower-continuous", {}, {(8, 0.1): "6.12", (16, 0.1): "11.56"}),
    ("lower-continuous", BEST, {(8, 0.1): "6.75", (16, 0.1): "13.42", (2, 0.6): "0.176091", (2, 0.1): "1.7889",
     (8, 0.001): "23.227", (2, 0.01): "3.88", (4, 0.3): "1.48", (8, 0.01): "15.07", (24, 0.01): "44.54",
     (24, 0.1): "20.24", (71, 0.1): "57.33", (100, 0.01): "170.977"}),
    ("lower-bits", BEST, {(11, 0.01): "18.532", (71, 0.001): "197.568"}),
]  # fmt: skip


@pytest.mark.parametrize(("theorem", "options", "printed"), TABLE)
def test_printed_numbers_are_proved(theorem, options, printed):
    statement, ten = with_options(theorem, **PRINTED | options), mp.log(10)
    for (dim, eps), log10 in printed.items():
        bound = prefix_length(eps, dim=dim, theorem=statement, certified=True)
        assert lies_inside(bound)
        half = Decimal(1).scaleb(Decimal(log10).as_tuple().exponent) * Decimal("0.501")
        assert mp.mpf(str(Decimal(log10) - half)) <= bound.enclosure.lower / ten
        assert bound.enclosure.upper / ten <= mp.mpf(str(Decimal(log10) + half))


def test_integers_come_from_the_enclosure():
    plain = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1.0))
    proved = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1.0), certified=True)
    with mp.workdps(700):
        truth = mp.exp((proved.enclosure.lower + proved.enclosure.upper) / 2)
        assert truth <= proved.as_integer() <= plain.as_integer()


def test_a_bound_that_does_not_hold_is_trivial_when_certified_too():
    bound = prefix_length(0.1, dim=2, theorem="thesis-core", certified=True)
    assert bound.enclosure.lower == bound.enclosure.upper == mp.inf
