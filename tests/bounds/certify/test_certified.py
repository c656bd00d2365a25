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


# dim, eps, theorem, log10 N with its printed digits, and options beyond those of the printed tables
TABLE = [
    (8, 0.5, "thesis-core", "414.957100276", {}),
    (8, 0.1, "thesis-core", "667.988569422", {}),
    (16, 0.1, "thesis-core", "2119.50725921", {}),
    (8, 0.5, "thesis-split", "382.7398687", {}),
    (8, 0.1, "thesis-split", "632.6029591", {}),
    (16, 0.1, "thesis-split", "1992.763569", {}),
    (8, 0.5, "thesis-split-corrected", "659.7276244", {}),
    (8, 0.1, "thesis-split-corrected", "914.3072189", {}),
    (16, 0.1, "thesis-split-corrected", "3105.458717", {}),
    (8, 0.5, "sharp-core", "19.5", {}),
    (8, 0.1, "sharp-core", "30.4", {}),
    (16, 0.1, "sharp-core", "63.9", {}),
    (2, 0.1, "sharp-core", "7.16", {}),
    (8, 0.5, "sharp-split-mean", "22.67", {}),
    (8, 0.1, "sharp-split-mean", "28.29", {}),
    (16, 0.1, "sharp-split-mean", "60.59", {}),
    (2, 0.1, "sharp-split-mean", "6.31", {}),
    (8, 0.5, "sharp-split-nearest", "5.01", {}),
    (8, 0.1, "sharp-split-nearest", "10.511", {}),
    (16, 0.1, "sharp-split-nearest", "19.0", {}),
    (2, 0.1, "sharp-split-nearest", "3.52", {}),
    (2, 0.1, "sharp-split-nearest", "3.20", {"covering": "volume"}),
    (8, 0.5, "lower", "3.37", {}),
    (8, 0.1, "lower", "8.87", {}),
    (16, 0.1, "lower", "17.0", {}),
    (2, 0.1, "lower", "2.60", {}),
    (8, 0.1, "sharp-core-centroid", "23.91", {}),
    (8, 0.1, "sharp-split-nearest", "10.88", {"concentration": 3.7e4}),
    (8, 0.1, "sharp-split-nearest", "10.55", {"concentration": 3.7e5}),
    (8, 0.1, "sharp-split-nearest", "10.511", {"concentration": 4.4e8}),
    (8, 0.1, "sharp-split-pack", "11.45", {"concentration": 12800.0}),
    (8, 0.1, "sharp-split-pack", "12.48", {"concentration": 3200.0}),
    (8, 0.5, "sharp-split-pack", "5.88", {"concentration": 512.0}),
    (8, 0.5, "sharp-split-pack", "6.86", {"concentration": 128.0}),
    (16, 0.1, "sharp-split-pack", "22.25", {"concentration": 25600.0}),
    (2, 0.1, "sharp-split-pack", "3.24", {"concentration": 3200.0}),
    (2, 0.1, "sharp-split-pack", "3.38", {"concentration": 800.0}),
    (8, 0.1, "sharp-core-quadrature", "15.1", {}),
    (16, 0.1, "sharp-core-quadrature", "30.3", {}),
    (2, 0.1, "sharp-core-smooth", "2.18", {"smoothness": 1.0}),
    (8, 0.1, "sharp-core-smooth", "9.28", {"smoothness": 1.0}),
    (8, 0.01, "sharp-core-smooth", "13.75", {"smoothness": 1.0}),
    (16, 0.01, "sharp-core-smooth", "27.53", {"smoothness": 1.0}),
    (2, 0.1, "lower-smooth", "1.10", BEST | {"smoothness": 1.0}),
    (2, 0.01, "lower-smooth", "2.08", BEST | {"smoothness": 1.0}),
    (8, 0.1, "lower-smooth", "2.62", {"smoothness": 1.0}),
    (8, 0.01, "lower-smooth", "6.47", {"smoothness": 1.0}),
    (16, 0.1, "lower-smooth", "4.58", {"smoothness": 1.0}),
    (16, 0.01, "lower-smooth", "12.23", {"smoothness": 1.0}),
    (8, 0.1, "lower-any", "4.99", {}),
    (16, 0.1, "lower-any", "10.40", {}),
    (8, 0.1, "lower-continuous", "6.12", {}),
    (16, 0.1, "lower-continuous", "11.56", {}),
    (8, 0.1, "lower-continuous", "6.75", BEST),
    (16, 0.1, "lower-continuous", "13.42", BEST),
    (2, 0.6, "lower-continuous", "0.176091", BEST),
    (2, 0.1, "lower-continuous", "1.7889", BEST),
    (8, 0.001, "lower-continuous", "23.227", BEST),
    (11, 0.01, "lower-bits", "18.532", BEST),
    (2, 0.01, "lower-continuous", "3.88", BEST),
    (4, 0.3, "lower-continuous", "1.48", BEST),
    (8, 0.01, "lower-continuous", "15.07", BEST),
    (24, 0.01, "lower-continuous", "44.54", BEST),
    (24, 0.1, "lower-continuous", "20.24", BEST),
    (71, 0.1, "lower-continuous", "57.33", BEST),
    (71, 0.001, "lower-bits", "197.568", BEST),
    (100, 0.01, "lower-continuous", "170.977", BEST),
]


@pytest.mark.parametrize(("dim", "eps", "theorem", "printed", "options"), TABLE)
def test_printed_numbers_are_proved(dim, eps, theorem, printed, options):
    bound = prefix_length(eps, dim=dim, theorem=with_options(theorem, **PRINTED | options), certified=True)
    assert lies_inside(bound)
    half = Decimal(1).scaleb(Decimal(printed).as_tuple().exponent) * Decimal("0.501")
    ten = mp.log(10)
    assert mp.mpf(str(Decimal(printed) - half)) <= bound.enclosure.lower / ten
    assert bound.enclosure.upper / ten <= mp.mpf(str(Decimal(printed) + half))


def test_integers_come_from_the_enclosure():
    plain = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1.0))
    proved = prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1.0), certified=True)
    with mp.workdps(700):
        truth = mp.exp((proved.enclosure.lower + proved.enclosure.upper) / 2)
        assert truth <= proved.as_integer() <= plain.as_integer()


def test_a_bound_that_does_not_hold_is_trivial_when_certified_too():
    bound = prefix_length(0.1, dim=2, theorem="thesis-core", certified=True)
    assert bound.enclosure.lower == bound.enclosure.upper == mp.inf
