"""The dispatcher: every theorem by name, arrays, and clear errors."""

import math
import pickle
from functools import partial

import numpy as np
import pytest

import bounds
from bounds.api import COUNTED
from bounds.records import Prefix
from bounds.theorems import state, state_all
from bounds.theorems._ladder import table
from spherapprox import Target


def test_ladder_has_every_theorem_in_order():
    rungs = bounds.ladder(0.1, dim=8, theorems=state_all(jackson_constant=1.0))
    assert [*(b.theorem for b in rungs), "sharp-split"] == list(COUNTED)
    statements = state_all(jackson_constant=1.0)
    assert [b.log for b in rungs] == [
        bounds.prefix_length(0.1, dim=8, theorem=statement).log for statement in statements
    ]
    assert bounds.ladder(0.1, dim=8, theorems=["lower", statements[0]])[1] == rungs[0]
    assert rungs[-1].side == "lower"


@pytest.mark.parametrize(
    ("call", "first", "second"),
    [
        (partial(bounds.prefix_length, theorem="lower"), {"eps": [0.1, 0.5, 0.9]}, {"dim": [2, 8]}),
        (bounds.concentration, {"eps": [0.1, 0.2]}, {"dim": [2, 3]}),
        (partial(bounds.error_bound, theorem="convolution", lipschitz=1.0), {"concentration": [1.0, 9.0]},
         {"dim": [2, 5]}),
        (partial(bounds.covering_number, method="volume"), {"radius": [0.1, 0.2]}, {"dim": [2, 8]}),
        (bounds.covering.covering_radius, {"n": [10, 100]}, {"dim": [2, 8]}),
        (bounds.prompts.sequences.prefix_length, {"eps": [0.1, 0.2], "dim": [2, 2]}, {"length": [2, 3]}),
        (bounds.prompts.recurrent.prompt_length, {"eps": [0.1, 0.05]}, {"dim": [1, 2]}),
        (lambda n, dim: bounds.best_concentration(dim=dim, theorem="sharp-split", lipschitz=1.0, points=Prefix(n=n)),
         {"n": [10, 1000]}, {"dim": [2, 3]}),
    ],
)  # fmt: skip
def test_arrays_of_arguments_broadcast(call, first, second):
    columns = {name: np.array(values)[:, None] for name, values in second.items()}
    table = call(**first, **columns)
    assert isinstance(table, np.ndarray)
    assert table.dtype in (float, object)
    assert table.shape == (2, len(next(iter(first.values()))))
    single = {name: values[1] for name, values in (first | second).items()}
    assert table[1, 1] == call(**single)


def test_scaling_the_target_changes_nothing():
    for theorem in COUNTED:
        bound = bounds.prefix_length(0.1, dim=8, theorem=theorem).log
        scaled = state(theorem, harmonic_constant=1e3) if theorem.startswith("thesis") else theorem
        second = bounds.prefix_length(100.0, dim=8, lipschitz=1e3, sup_norm=1e3, theorem=scaled).log
        assert bound == pytest.approx(second, rel=1e-9)


@pytest.mark.parametrize("theorem", ["sharp-core", "sharp-split-mean", "sharp-split"])
def test_best_concentrations_at_the_end_of_the_ranges(theorem):
    cover = Prefix(radius=1e-60, n=1e9)
    best = bounds.best_concentration(dim=2, theorem=theorem, lipschitz=1.0, sup_norm=1.0, points=cover)
    assert 0.0 < best.value < 1e-9


def test_default_constant_is_the_explicit_one():
    explicit = bounds.prefix_length(0.1, dim=8, theorem="thesis-core")
    assert dict(explicit.constants)["jackson_constant"] == pytest.approx(10.834, abs=0.0005)
    assert explicit.log > bounds.prefix_length(0.1, dim=8, theorem=state("thesis-core", jackson_constant=1.0)).log


def test_lower_error_is_capped_by_the_sup_norm_only_when_given():
    lower = partial(bounds.error_bound, dim=2, theorem="lower", lipschitz=1000.0, points=Prefix(n=100))
    assert lower().value == pytest.approx(1000.0 * 0.22058331, rel=1e-6)
    assert lower(sup_norm=5.0).value == pytest.approx(5.0)


@pytest.mark.parametrize("lip", [1e-60, 1e70, 1e100])
def test_any_lipschitz_constant_will_do(lip):
    for theorem in ("convolution", "sharp-core", "sharp-split-mean", "sharp-split", "lower", "thesis-core"):
        arguments = {"dim": 8, "theorem": theorem, "concentration": 50.0, "points": Prefix(1e9, 0.1)}
        bound = bounds.error_bound(**arguments, lipschitz=1.0, sup_norm=2.0)
        second = bounds.error_bound(**arguments, lipschitz=lip, sup_norm=2.0 * lip)
        if theorem != "thesis-core":  # its C_H is not scaled along
            assert second.log == pytest.approx(bound.log + math.log(lip), rel=1e-12)
        assert math.isfinite(second.log)


def test_nearest_at_the_largest_radius():
    assert bounds.error_bound(
        dim=2, theorem="sharp-split", lipschitz=2.0, concentration=5.0, points=Prefix(radius=math.pi, n=3)
    ).value == pytest.approx(2.0 * math.pi)


def test_classes_are_not_mixed():
    # polynomials of degree 10 and size 1e6: no Lipschitz constant is said to hold, so no constant will do
    bandlimited = state("sharp-core-spectral", degree=10)
    wide, narrow = (bounds.prefix_length(eps, dim=2, sup_norm=1e6, theorem=bandlimited) for eps in (1.6, 1.5))
    assert wide.value == narrow.value


def test_one_vocabulary_of_theorems():
    for short, name in (("thesis", "thesis-core"), ("sharp", "sharp-core")):
        for theorem in (short, name):
            assert bounds.prefix_length(0.1, dim=8, theorem=theorem) == bounds.prefix_length(0.1, dim=8, theorem=name)
            assert bounds.concentration(0.1, dim=8, theorem=theorem) == bounds.concentration(0.1, dim=8, theorem=name)
            options = {"dim": 8, "lipschitz": 1.0, "concentration": 50.0, "points": Prefix(radius=0.1), "sup_norm": 1.0}
            assert bounds.error_bound(theorem=theorem, **options) == bounds.error_bound(theorem=name, **options)
    assert bounds.concentration(0.1, dim=8) == bounds.concentration(0.1, dim=8, theorem="sharp")


def test_a_target_stands_for_its_class():
    target = Target(lambda x: x[:, 0], dim=3, lipschitz=2.0, exponent=0.5, sup_norm=3.0)
    options = {"dim": 3, "lipschitz": 2.0, "exponent": 0.5}
    assert bounds.prefix_length(0.4, target=target) == bounds.prefix_length(0.4, **options, sup_norm=3.0)
    assert bounds.ladder(0.4, target=target) == bounds.ladder(0.4, **options, sup_norm=3.0)
    assert bounds.concentration([0.4, 0.5], target=target)[0] == bounds.concentration(0.4, **options)
    second = bounds.prefix_length(0.4, target=target, lipschitz=1.0, exponent=1.0)
    assert second == bounds.prefix_length(0.4, dim=3, sup_norm=3.0)
    constant = Target(lambda x: x[:, 0] * 0.0, dim=3, lipschitz=0.0, sup_norm=0.0)
    assert bounds.prefix_length(0.4, target=constant).value == 1.0
    unknown = Target(lambda x: x[:, 0], dim=3, lipschitz=2.0)  # whose sup norm is not taken for 1
    assert bounds.prefix_length(0.4, target=unknown) == bounds.prefix_length(0.4, dim=3, lipschitz=2.0)


def test_concentrations_beyond_the_largest_float_are_infinite():
    assert bounds.concentration(0.1, dim=2, exponent=1e-3) == math.inf
    assert bounds.concentration(1e-59, dim=2, exponent=0.3) == math.inf
    assert 1e290 < bounds.concentration(1e-59, dim=2, exponent=0.4) < 1e300
    assert bounds.concentration(1e60, dim=8, lipschitz=1e61) == pytest.approx(bounds.concentration(0.1, dim=8))


@pytest.mark.parametrize("theorem", [name for name in COUNTED if "concentration" in COUNTED[name].options])
def test_tiny_concentrations_and_exponents(theorem):
    for concentration in (5e-324, 1e-308):
        tiny = bounds.prefix_length(0.1, dim=2, theorem=state(theorem, concentration=concentration))
        if theorem not in ("sharp-core-spectral", "sharp-core-interpolation"):  # they divide by it
            assert tiny.log == bounds.prefix_length(0.1, dim=2, theorem=state(theorem, concentration=0.0)).log
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
