"""dim to 1e4, eps from 1e-12 to 2, L and F over 12 decades: finite and monotone where hypotheses hold, else trivial."""

import itertools
import math
import re

import numpy as np
import pytest
from statements import with_options

from bounds import concentration, prefix_length
from bounds.api import COUNTED
from bounds.theorems import state

EPS = [
    *np.geomspace(1e-12, 0.1, 10),
    0.1 + 1e-9,
    *np.linspace(0.3, 1.5, 12),
    *(math.pi / 2 + np.linspace(-1e-8, 1e-8, 7)),
    2.0,
]
SMOOTH = 1e-9
"""What the search of free parameters may leave, relative to log N."""


SMOOTHS = ("sharp-core-smooth", "lower-smooth")
"""The theorems that need a bound of second derivatives."""
PROVED = [name for name in COUNTED if not name.startswith("thesis")]
"""Those that hold for every dimension."""


def falls(bounds, side):
    """Whether N does not rise along a sequence, as far as the hypotheses hold, and is finite there."""
    for bound in bounds:
        assert not math.isnan(bound.log)
        assert bound.log >= 0.0
        if not bound.holds:
            assert bound.log == (math.inf if side == "upper" else 0.0)
    logs = [bound.log for bound in bounds if bound.holds]
    assert np.isfinite(logs).all()
    return all(a >= b - SMOOTH * max(1.0, abs(b)) for a, b in itertools.pairwise(logs))


@pytest.mark.parametrize("dim", [1, 8, 10_000])
@pytest.mark.parametrize("theorem", COUNTED)
def test_prefixes_shorten_as_eps_grows(theorem, dim):
    bounds = prefix_length(EPS, dim=dim, theorem=with_options(theorem, smoothness=1.0), sup_norm=3.0)
    assert falls(bounds, bounds[0].side)
    assert theorem.startswith("thesis") or any(bound.holds for bound in bounds)


@pytest.mark.parametrize(("dim", "relative"), [(1, 1e40), (8, 1.5), (10_000, 1e40)])
@pytest.mark.parametrize("theorem", [name for name in PROVED if "lower" not in name])
def test_prefixes_of_a_given_concentration_shorten_as_eps_grows(theorem, dim, relative):
    statement = with_options(theorem, concentration=relative * 16 * dim / 1e-24, smoothness=1.0)
    assert falls(prefix_length(EPS, dim=dim, theorem=statement, sup_norm=3.0), "upper")


@pytest.mark.parametrize("options", [{"sobolev_order": 9.0}, {}, {"concentration": 1e5}], ids=str)
@pytest.mark.parametrize("theorem", ["sharp-core-interpolation", "sharp-core-rank", "sharp-core-spectral"])
def test_prefixes_of_other_classes_shorten_as_eps_grows(theorem, options):
    for dim in (1, 2, 8, 15):
        exponent = 1.0 if options else 0.5
        statement = state(theorem, **options)
        bounds = prefix_length(np.geomspace(0.01, 2.0, 30), dim=dim, theorem=statement, sup_norm=3.0, exponent=exponent)
        assert falls(bounds, "upper")
        assert all(bound.holds for bound in bounds) or "concentration" in options


@pytest.mark.parametrize("theorem", COUNTED)
def test_prefixes_lengthen_with_the_constants(theorem):
    for dim in (2, 8):
        options = {"dim": dim, "theorem": with_options(theorem, smoothness=1.0)}
        by_slope = [prefix_length(0.3, lipschitz=lip, **options) for lip in np.geomspace(1e6, 1e-6, 9)]
        if theorem != "thesis-split":  # as printed, Lambda(2 eps L / (2 L + F)) rises again as L falls
            assert falls(by_slope, by_slope[0].side)
        for name in ("harmonic_constant", "jackson_constant") if theorem.startswith("thesis") else ():
            stated = [state(theorem, **{name: factor}) for factor in np.geomspace(1e10, 1e-2, 9)]
            by_factor = [prefix_length(0.3, **options | {"theorem": statement}) for statement in stated]
            assert falls(by_factor, by_factor[0].side)
        by_size = [prefix_length(0.3, sup_norm=sup, **options) for sup in np.geomspace(1e6, 1e-6, 9)]
        assert falls(by_size, by_size[0].side)
        if theorem in SMOOTHS:
            bent = [state(theorem, smoothness=bend) for bend in np.geomspace(1e6, 1e-2, 9)]
            by_bend = [prefix_length(0.3, dim=dim, lipschitz=1e3, theorem=stated) for stated in bent]
            assert falls(by_bend, by_bend[0].side)


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-split", "sharp-core-interpolation", "lower", "lower-any"])
def test_hoelder_classes_need_more_as_the_exponent_falls(theorem):
    bounds = [prefix_length(0.1, dim=3, theorem=theorem, exponent=a) for a in (0.1, 0.3, 0.7, 0.9, 1.0)]
    assert falls(bounds, bounds[0].side)


@pytest.mark.parametrize("exponent", [0.3, 1.0])
@pytest.mark.parametrize("dim", [1, 2, 8, 10_000])
def test_concentration_falls_to_zero(dim, exponent):
    values = concentration(EPS, dim=dim, exponent=exponent)
    assert all(a > b or a == b == 0.0 for a, b in itertools.pairwise(values))
    assert np.isfinite(values).all()
    if exponent < 1.0:
        return
    assert ((np.array(values) == 0.0) == (np.array(EPS) >= math.pi / 2)).all()
    scaled = concentration(np.multiply(EPS, 1e6), dim=dim, lipschitz=1e6)
    assert scaled == pytest.approx(values, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(
    ("eps", "dim", "sup_norm"),
    [(1e-60, 1, 1e10), (1e-60, 1, 1e-59), (1e-60, 2, 1.0), (1e-60, 10**6, 1e10), (1e-12, 10**4, 1.0),
     (1e-3, 10**6, 1.0), (1.5, 10**6, 1e90), (50.0, 2, 51.0), (1e60, 5, 1e61)],
)  # fmt: skip
@pytest.mark.parametrize("theorem", COUNTED)
def test_bounds_are_finite_at_the_ends_of_the_ranges(theorem, eps, dim, sup_norm):
    bound = prefix_length(eps, dim=dim, sup_norm=sup_norm, theorem=with_options(theorem, smoothness=1.0))
    assert bound.holds or theorem not in PROVED
    assert bound.holds == (0.0 <= bound.log < math.inf)


@pytest.mark.parametrize("theorem", [name for name in COUNTED if "concentration" in COUNTED[name].options])
def test_too_small_a_concentration_promises_nothing(theorem):
    if theorem in ("sharp-core-spectral", "sharp-core-interpolation"):
        return  # they are the better the smaller it is
    needed = concentration(0.1, dim=8)
    exact = ("sharp-core", "sharp-core-centroid", "sharp-split-mean", "sharp-split-equal", "sharp-split-random")
    for lam in (7.0, 0.99 * needed) if theorem not in SMOOTHS else (7.0,):
        bound = prefix_length(0.1, dim=8, theorem=with_options(theorem, concentration=lam, smoothness=1.0))
        assert (bound.value, bound.holds) == (math.inf, False)
        assert "concentration" in bound.failed[0]
        assert theorem not in exact or bound.failed[0] == f"concentration > {needed:.6g}"


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-split-mean", "sharp-split-nearest"])
@pytest.mark.parametrize("dim", [1, 2, 100])
def test_prefixes_shorten_where_the_constant_becomes_good_enough(theorem, dim):
    # at eps = pi/2 the needed concentration reaches 0, the best one does not
    eps = [1.5, math.pi / 2 - 1e-9, math.pi / 2, math.pi / 2 + 1e-9, 1.6, 2.0, 3.2]
    bounds = prefix_length(eps, dim=dim, theorem=theorem, sup_norm=10.0)
    assert falls(bounds, "upper")
    assert bounds[3].log == pytest.approx(bounds[1].log, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("theorem", [name for name in PROVED if name.startswith("sharp-split")])
def test_split_heads_know_of_a_target_only_an_angle(theorem):
    wide = [prefix_length(eps, dim=4, sup_norm=9.0, theorem=theorem).value for eps in (1.57, 1.6, 3.15)]
    assert wide[0] > wide[1]
    assert wide[1:] == [2.0, 1.0] or theorem == "sharp-split-mean"
    assert wide[2] == 1.0
    rough = prefix_length(0.2, dim=3, lipschitz=2.0, exponent=0.5, theorem=theorem)
    assert rough.log == pytest.approx(prefix_length(0.01, dim=3, theorem=theorem).log, rel=1e-14)


@pytest.mark.parametrize("theorem", [name for name in PROVED if name not in SMOOTHS and "lower" not in name])
def test_angles_and_degrees_out_of_range_are_said(theorem):
    if theorem in ("sharp-core", "sharp-core-centroid") or theorem.startswith("sharp-split"):
        assert math.isfinite(prefix_length(1e-12, dim=8, theorem=theorem, exponent=0.1).log)
    fine = prefix_length(1e-60, dim=3, theorem=theorem, exponent=0.1)
    assert fine.log == math.inf
    assert re.search(r"\(eps/lipschitz\)\^\(1/exponent\) >=|degrees? that promise|exponent/2", fine.failed[0])
