"""The dispatcher: every theorem by name, arrays, and clear errors."""

import math
import pickle
import warnings

import numpy as np
import pytest

import bounds
from bounds.api import PREFIX_LENGTH
from bounds.theorems._ladder import table
from spherapprox import Target


def test_ladder_has_every_theorem_in_order():
    rungs = bounds.ladder(0.1, dim=8, ragozin=1.0)
    assert tuple(b.theorem for b in rungs) == tuple(PREFIX_LENGTH)
    assert [b.log for b in rungs] == [
        bounds.prefix_length(0.1, dim=8, ragozin=1.0, theorem=name).log for name in PREFIX_LENGTH
    ]
    assert rungs[-1].side == "lower"


def test_arrays_of_eps_and_dim():
    table = bounds.prefix_length([0.1, 0.5, 0.9], dim=[[2], [8]], theorem="lower")
    assert table.shape == (2, 3)
    assert table[1, 1].log == bounds.prefix_length(0.5, dim=8, theorem="lower").log
    lam = bounds.concentration(np.array([0.1, 0.2]), dim=3)
    assert lam.dtype == float
    assert lam[0] > lam[1] == bounds.concentration(0.2, dim=3)


def test_default_constant_is_the_explicit_one():
    explicit = bounds.prefix_length(0.1, dim=8, theorem="thesis-core")
    assert dict(explicit.constants)["ragozin"] == pytest.approx(10.834, abs=0.0005)
    assert explicit.log > bounds.prefix_length(0.1, dim=8, theorem="thesis-core", ragozin=1.0).log


@pytest.mark.parametrize("lip", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("dim", [1, 2, 64, 1000])
def test_everything_is_finite_and_silent(dim, lip):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rungs = bounds.ladder(0.01 * lip, dim=dim, lipschitz=lip, sup_norm=lip, smoothness=lip)
    for bound in rungs:
        assert not math.isnan(bound.log)
        assert bound.holds == math.isfinite(bound.log)


def test_scaling_the_target_changes_nothing():
    for theorem in PREFIX_LENGTH:
        one = bounds.prefix_length(0.1, dim=8, theorem=theorem).log
        other = bounds.prefix_length(100.0, dim=8, lipschitz=1e3, sup_norm=1e3, harmonic=1e3, theorem=theorem).log
        assert one == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize(
    ("theorem", "given", "missing"),
    [
        ("convolution", {}, "concentration"),
        ("sharp-core", {"concentration": 1.0, "radius": 0.1}, "sup_norm"),
        ("sharp-core", {"concentration": 1.0, "sup_norm": 1.0}, "radius"),
        ("sharp-split-mean", {"concentration": 1.0}, "radius"),
        ("sharp-split", {"concentration": 1.0, "radius": 0.1}, "n"),
        ("lower", {}, "n"),
        ("thesis-core", {"radius": 0.1, "sup_norm": 1.0}, "concentration"),
    ],
)
def test_error_bound_names_what_is_missing(theorem, given, missing):
    with pytest.raises(TypeError, match=f"theorem='{theorem}' needs the argument '{missing}'"):
        bounds.error_bound(dim=8, theorem=theorem, lipschitz=1.0, **given)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"eps": 0.0}, ValueError, "'eps' must be greater than 0.0, got 0"),
        ({"eps": -1.0}, ValueError, "'eps' must be greater than 0.0, got -1"),
        ({"eps": math.nan}, ValueError, "'eps' must be a number"),
        ({"eps": "x"}, TypeError, "'eps' must be a real number, got 'x'"),
        ({"eps": True}, TypeError, "'eps' must be a real number"),
        ({"dim": 0}, ValueError, "'dim' must be at least 1, got 0"),
        ({"dim": 1.5}, ValueError, "'dim' must be an integer, got 1.5"),
        ({"lipschitz": 0.0}, ValueError, "'lipschitz' must be greater than 0"),
        ({"sup_norm": math.inf}, ValueError, "'sup_norm' must be finite"),
        ({"theorem": "thesis-cores"}, ValueError, "'theorem' must be one of 'thesis-core'"),
        ({"concentration": -1.0}, ValueError, "'concentration' must be at least 0.0, got -1"),
        ({"covering": "none"}, ValueError, "'covering' must be one of"),
        ({"ragozin": 0.0}, ValueError, "'ragozin' must be greater than 0"),
        ({"harmonic": -1.0}, ValueError, "'harmonic' must be greater than 0"),
        ({"eps": 1e-320}, ValueError, "'eps' must be between 1e-60 and 1e\\+100, got"),
        ({"eps": 1.0, "lipschitz": 1e300}, ValueError, "'lipschitz' must be between"),
        ({"eps": 1e-30, "lipschitz": 1e40}, ValueError, "'eps' must be between .* times lipschitz = 1e\\+40"),
        ({"dim": 10**30}, ValueError, "'dim' must be at most 1000000"),
        ({"slack": 1e-320}, ValueError, "'slack' must be 0 or at least 1e-12"),
        ({"slack": 1.0}, ValueError, "'slack' must be less than 1.0, got 1"),
    ],
)
def test_refusals_name_argument_value_and_remedy(change, error, message):
    with pytest.raises(error, match=message):
        bounds.prefix_length(**({"eps": 0.1, "dim": 8} | change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"radius": 0.0}, "'radius' must be greater than 0"),
        ({"n": 0.5}, "'n' must be at least 1.0, got 0.5"),
        ({"exponent": 1.5}, "'exponent' must be at most 1.0, got 1.5"),
        ({"theorem": "best"}, "'theorem' must be one of 'convolution'"),
    ],
)
def test_refusals_of_error_bound_name_the_argument(change, message):
    arguments = {"dim": 2, "theorem": "sharp-split", "lipschitz": 1.0, "concentration": 1.0, "radius": 0.1, "n": 10}
    with pytest.raises(ValueError, match=message):
        bounds.error_bound(**(arguments | change))


@pytest.mark.parametrize("dim", [None, "a", math.inf, 0])
def test_best_concentration_checks_dim_first(dim):
    with pytest.raises((TypeError, ValueError), match="'dim' must be"):
        bounds.best_concentration(dim=dim, theorem="sharp-core", lipschitz=1.0, radius=0.1, sup_norm=1.0)


def test_too_small_a_concentration_promises_nothing():
    for theorem in ("sharp-split", "sharp-core", "sharp-split-mean", "sharp-split-nearest", "thesis-core"):
        bound = bounds.prefix_length(0.1, dim=8, concentration=7.0, theorem=theorem)
        assert bound.value == math.inf
        assert any("concentration" in reason for reason in bound.failed)


def test_the_ends_of_the_ranges():
    for eps, dim in ((1e-60, 1), (1e-60, 10**6), (1.5, 10**6), (1e-12, 10**4)):
        for bound in bounds.ladder(eps, dim=dim, ragozin=1.0):
            assert not math.isnan(bound.log)
    for theorem in ("sharp-core", "sharp-split-mean", "sharp-split"):
        best = bounds.best_concentration(dim=2, theorem=theorem, lipschitz=1.0, radius=1e-60, n=1e9, sup_norm=1.0)
        assert 0.0 < best.value < 1e-9


def test_a_theorem_without_a_concentration_is_refused():
    with pytest.raises(ValueError, match="'theorem' must be one of 'thesis-core', 'sharp-core'"):
        bounds.concentration(0.1, dim=2, theorem="sharp-split")
    with pytest.raises(ValueError, match="'theorem' must be one of"):
        bounds.best_concentration(dim=2, theorem="lower", lipschitz=1.0, radius=0.1)
    with pytest.raises(TypeError, match="needs the argument 'n'"):
        bounds.best_concentration(dim=2, theorem="sharp-split", lipschitz=1.0, radius=0.1)


def test_lower_error_is_capped_by_the_sup_norm_only_when_given():
    free = bounds.error_bound(dim=2, theorem="lower", lipschitz=1000.0, n=100).value
    assert free == pytest.approx(1000.0 * 0.22058331, rel=1e-6)
    assert bounds.error_bound(dim=2, theorem="lower", lipschitz=1000.0, n=100, sup_norm=5.0).value == pytest.approx(5.0)


@pytest.mark.parametrize("lip", [1e-60, 1e70, 1e100])
def test_any_lipschitz_constant_will_do(lip):
    for theorem in ("convolution", "sharp-core", "sharp-split-mean", "sharp-split", "lower", "thesis-core"):
        arguments = {"dim": 8, "theorem": theorem, "concentration": 50.0, "radius": 0.1, "n": 1e9}
        one = bounds.error_bound(**arguments, lipschitz=1.0, sup_norm=2.0)
        other = bounds.error_bound(**arguments, lipschitz=lip, sup_norm=2.0 * lip)
        if theorem != "thesis-core":  # its C_H is not scaled along
            assert other.log == pytest.approx(one.log + math.log(lip), rel=1e-12)
        assert math.isfinite(other.log)
    with pytest.raises(TypeError, match="'lipschitz' must be a real number"):
        bounds.error_bound(dim=2, theorem="lower", lipschitz="a", n=3)


def test_nearest_at_the_largest_radius():
    assert bounds.error_bound(
        dim=2, theorem="sharp-split", lipschitz=2.0, concentration=5.0, radius=math.pi, n=3
    ).value == pytest.approx(2.0 * math.pi)


def test_classes_are_not_mixed():
    with pytest.raises(ValueError, match="'degree' and 'smoothness' name two classes: give one, got 2 and 3"):
        bounds.prefix_length(0.1, dim=2, degree=2, smoothness=3, theorem="sharp-core-rank")
    with pytest.raises(ValueError, match="'degree' belongs to theorem=sharp-core-spectral"):
        bounds.prefix_length(0.1, dim=2, degree=2)
    with pytest.raises(TypeError, match="'strict' must be True or False"):
        bounds.prefix_length(0.1, dim=2, strict="x")
    # polynomials of degree 10 and size 1e6: no Lipschitz constant is said to hold, so no constant will do
    wide = bounds.prefix_length(1.6, dim=2, sup_norm=1e6, degree=10, theorem="sharp-core-spectral")
    assert wide.value == bounds.prefix_length(1.5, dim=2, sup_norm=1e6, degree=10, theorem="sharp-core-spectral").value


@pytest.mark.parametrize("bad", [-1, 1.5, math.nan, "x"])
def test_approximation_error_checks_its_degree(bad):
    with pytest.raises((ValueError, TypeError), match="'degree' must be"):
        bounds.jackson.approximation_error(bad, 2)


def test_one_vocabulary_of_theorems():
    for short, name in (("thesis", "thesis-core"), ("sharp", "sharp-core")):
        for theorem in (short, name):
            assert bounds.prefix_length(0.1, dim=8, theorem=theorem) == bounds.prefix_length(0.1, dim=8, theorem=name)
            assert bounds.concentration(0.1, dim=8, theorem=theorem) == bounds.concentration(0.1, dim=8, theorem=name)
            known = {"dim": 8, "lipschitz": 1.0, "concentration": 50.0, "radius": 0.1, "sup_norm": 1.0}
            assert bounds.error_bound(theorem=theorem, **known) == bounds.error_bound(theorem=name, **known)
    assert bounds.concentration(0.1, dim=8) == bounds.concentration(0.1, dim=8, theorem="sharp")


def test_a_target_stands_for_its_class():
    target = Target(lambda x: x[:, 0], dim=3, lipschitz=2.0, exponent=0.5, sup_norm=3.0)
    known = {"dim": 3, "lipschitz": 2.0, "exponent": 0.5}
    assert bounds.prefix_length(0.4, target=target) == bounds.prefix_length(0.4, **known, sup_norm=3.0)
    assert bounds.ladder(0.4, target=target) == bounds.ladder(0.4, **known, sup_norm=3.0)
    assert bounds.concentration([0.4, 0.5], target=target)[0] == bounds.concentration(0.4, **known)
    other = bounds.prefix_length(0.4, target=target, lipschitz=1.0, exponent=1.0)
    assert other == bounds.prefix_length(0.4, dim=3, sup_norm=3.0)
    constant = Target(lambda x: x[:, 0] * 0.0, dim=3, lipschitz=0.0, sup_norm=0.0)
    assert bounds.prefix_length(0.4, target=constant).value == 1.0


def test_a_target_without_constants_is_not_taken_for_one_of_constants_1():
    unknown = Target(lambda x: x[:, 0], dim=3, lipschitz=2.0)
    assert bounds.prefix_length(0.4, target=unknown) == bounds.prefix_length(0.4, dim=3, lipschitz=2.0)
    with pytest.raises(TypeError, match="'sup_norm' is not known of the target"):
        bounds.prefix_length(0.4, target=unknown, theorem="lower")
    with pytest.raises(TypeError, match="'lipschitz' is not known of the target"):
        bounds.concentration(0.4, target=Target(lambda x: x[:, 0], dim=3))
    with pytest.raises(TypeError, match="'lipschitz' must be given beside 'smoothness'"):
        bounds.prefix_length(0.4, target=unknown, smoothness=4.0, theorem="sharp-core-spectral")
    with pytest.raises(TypeError, match="'dim' must be given"):
        bounds.prefix_length(0.4)


def test_concentrations_beyond_the_largest_float_are_infinite():
    assert bounds.concentration(0.1, dim=2, exponent=1e-3) == math.inf
    assert bounds.concentration(1e-59, dim=2, exponent=0.3) == math.inf
    assert 1e290 < bounds.concentration(1e-59, dim=2, exponent=0.4) < 1e300
    with pytest.raises(ValueError, match="'exponent' must be 1 for theorem='thesis-core'"):
        bounds.concentration(0.1, dim=8, theorem="thesis", exponent=0.5)
    assert bounds.concentration(1e60, dim=8, lipschitz=1e61) == pytest.approx(bounds.concentration(0.1, dim=8))


@pytest.mark.parametrize("theorem", PREFIX_LENGTH)
def test_tiny_concentrations_and_exponents(theorem):
    for concentration in (5e-324, 1e-308):
        tiny = bounds.prefix_length(0.1, dim=2, theorem=theorem, concentration=concentration)
        if theorem not in ("sharp-core-spectral", "sharp-core-interpolation"):  # they divide by it
            assert tiny.log == bounds.prefix_length(0.1, dim=2, theorem=theorem, concentration=0.0).log
    for eps, dim, exponent in ((1.0, 908, 0.0026), (0.1, 64, 0.008), (0.5, 2, 1e-16)):
        bound = bounds.prefix_length(eps, dim=dim, theorem=theorem, exponent=exponent)
        assert not math.isnan(bound.log)
        assert bound.holds == math.isfinite(bound.log) or bound.side == "lower"


def test_a_ladder_prints_as_a_table():
    rungs = bounds.ladder(0.1, dim=8)
    assert str(rungs) == repr(rungs) == table(rungs)
    assert rungs == tuple(rungs)
    assert pickle.loads(pickle.dumps(rungs)) == rungs
    assert isinstance(bounds.ladder([0.1, 0.2], dim=8)[1], tuple)
