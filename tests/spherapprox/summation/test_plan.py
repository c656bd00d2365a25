"""The choice of a method, the tolerances that plans name, and their bounds."""

import itertools
import re

import numpy as np
import pytest
from processes import peak_memory
from sums import problem, sphere, truth, wide

from spherapprox import evaluate
from spherapprox.summation import (
    Plan,
    dense,
    evaluate_log,
    explain_attention,
    explain_sum,
    harmonic,
    lowrank,
    numpy_tiles,
    plan_sum,
    show_progress,
    truncated,
)


def test_explain_gives_the_plan_beside_the_result():
    b = sphere(5, 2, 35)
    result, plan = explain_sum(b, b, np.ones(5), 2.0)
    assert isinstance(plan, Plan)
    assert plan.method == "dense"
    assert 1e-16 < plan.rtol < 1e-12
    assert plan.reason
    assert explain_sum(b, b, np.ones(5), 2.0, method="dense", rtol=None)[1].reason == "asked for"
    with pytest.raises(AttributeError):
        plan.method = "other"
    np.testing.assert_array_equal(result, evaluate(b, b, np.ones(5), 2.0))


def test_what_is_written_into_a_plan_is_in_no_other():
    b = sphere(5, 2, 35)
    calls = (
        lambda: explain_sum(b, b, np.ones(5), 2.0)[1],
        lambda: plan_sum(b, b, np.ones(5), 2.0),
        lambda: explain_attention(b, b, b)[1].heads[()],
    )
    before = [(dict(plan.costs), dict(plan.excluded)) for plan in (call() for call in calls)]
    for call in calls:
        plan = call()
        plan.costs["own"], plan.excluded["own"] = 1.0, "own"
    assert [(plan.costs, plan.excluded) for plan in (call() for call in calls)] == before


def test_what_a_quotient_loses_to_underflow_is_stated():
    angles = np.array([0.0, np.arccos(0.53), -np.arccos(0.23)])  # of x, and of points at exponents 470 and 770
    x, near, far = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    b = np.stack([near, far])
    for method in ("dense", "truncated"):
        got, plan = explain_sum(x[None], b, [0.0, 1.0], 1000.0, normalize=True, method=method)
        expected = np.exp(500.0 * (((x - near) ** 2).sum() - ((x - far) ** 2).sum()))
        assert abs(got[0] - expected) <= plan.rtol * expected + plan.atol < 1e-80


@wide
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("concentration", [1e3, 1e5])
def test_the_bound_counts_the_rounding_to_single_precision(concentration, log):
    x, b = (sphere(n, 2, n).astype(np.float32) for n in (40, 300))
    values = (np.random.default_rng(1).random(300) + 0.1).astype(np.float32)
    expected, _ = truth(x, b, values, concentration)
    for method in ("dense", "truncated"):
        got, plan = explain_sum(x, b, values, concentration, log=log, method=method)
        error = np.abs(got - np.log(expected)) if log else (np.abs(got - expected) - plan.atol) / expected
        worst = np.max(error)
        assert got.dtype == np.float32
        assert 1e-9 < worst <= plan.rtol


@wide
def test_the_bound_of_a_logarithm_counts_its_rounding(method):
    x, b = sphere(40, 2, 1), sphere(3, 2, 2)
    for concentration in (1e-3, 70.0, 1e4, 1e9):
        got, plan = explain_sum(x, b, np.ones(3), concentration, log=True, method=method)
        t = ((x[:, None].astype(np.longdouble) - b) ** 2).sum(axis=2) * concentration / 2.0
        expected = np.log(np.exp(t.min(axis=1, keepdims=True) - t).sum(axis=1)) - t.min(axis=1)
        error = np.max(np.abs(got - expected))
        assert 2.0**-56 * np.max(np.abs(expected)) < error <= plan.rtol


def test_default_calls_take_the_harmonic_method_where_its_bound_is_no_worse():
    x, b = sphere(30_000, 2, 1), sphere(30_000, 2, 2)
    values = np.random.default_rng(3).standard_normal(30_000)
    evaluate(x[:5], b[:5], values[:5], 10.0, method="harmonic")  # loads the kernels
    for concentration in (1.0, 10.0, 100.0):
        got, record = explain_sum(x, b, values, concentration)
        promise = dense.promise(problem(x, b, values, concentration, normalize=False))
        assert (record.method, record.scale) == ("harmonic", "largest row")
        assert record.rtol <= promise + 1e-14
        few, row = explain_sum(x[:300], b, values, concentration, method="dense")
        size = evaluate(x[:300], b, np.abs(values), concentration, method="dense")
        assert np.max(np.abs(got[:300] - few)) <= (record.rtol + row.rtol) * np.max(size) * 1.1
        assert row.scale == "each row"


def test_the_plan_names_the_tolerance_that_admits_a_method():
    x = sphere(20_000, 4, 1)
    values = np.ones(len(x))
    evaluate(x[:5], x[:5], values[:5], 1.0, method="lowrank")  # loads the kernels
    record = explain_sum(x, x, values, 3.0, method="auto")[1]
    assert record.method == "dense"
    assert "lowrank" not in record.costs
    assert record.excluded["harmonic"] == "it is for points of S^1 and S^2, not of S^4"
    assert record.excluded["truncated"] == "no pair is far enough to be left out"
    words = r"it expects to prove an error of \S+ of the largest row, \"dense\" \S+ of each:"
    assert re.match(words, record.excluded["lowrank"])
    enough = float(re.search(r"rtol=(\S+) would admit it", record.excluded["lowrank"])[1])
    # it is compared then; which one is faster is the machine's
    admitted = explain_sum(x, x, values, 3.0, rtol=enough)[1]
    assert "lowrank" in admitted.costs
    assert admitted.rtol <= enough + dense.promise(problem(x, x, values, 3.0, normalize=False))
    assert "lowrank" in explain_sum(x, x, values, 3.0, rtol=0.8 * enough)[1].excluded


def test_the_choice_of_a_method_does_not_depend_on_the_workers(monkeypatch):
    x, b = sphere(20_000, 2, 1), sphere(20_000, 2, 2)
    for concentration in (10.0, 1e5):
        plans = []
        for workers in ("1", "2"):
            monkeypatch.setenv("SPHERAPPROX_WORKERS", workers)
            plans.append(explain_sum(x, b, np.ones(20_000), concentration))
        assert len({record.method for _, record in plans}) == 1
        assert all(np.array_equal(got, plans[0][0]) for got, _ in plans)


@pytest.mark.parametrize("rtol", [5e-324, 1e-320, 1e-100, 0.9, 1.0, 1e30, 1e300])
def test_any_tolerance_is_kept(rtol):
    x = sphere(9000, 2, 1)
    evaluate(x[:5], x[:5], np.ones(5), 10.0, method="harmonic")  # loads the kernels
    expected = evaluate(x[:50], x, np.ones(9000), 50.0, rtol=None)
    got, plan = explain_sum(x, x, np.ones(9000), 50.0, rtol=rtol)
    assert np.max(np.abs(got[:50] - expected)) <= (plan.rtol + 1e-12) * expected.max()
    for method, normalize in itertools.product(("harmonic", "lowrank"), (False, True)):
        refusal = ""
        try:
            evaluate(x[:50], x[:50], np.ones(50), 30.0, rtol=rtol, method=method, normalize=normalize)
        except ValueError as error:
            refusal = str(error)
        assert not refusal or re.search(r"to prove an error of \d", refusal)


def test_every_tolerance_that_a_plan_names_admits_its_method():
    x = sphere(6_000, 3, 1)
    evaluate(x[:5], x[:5], np.ones(5), 1.0, method="lowrank")  # loads the kernels
    count = 0
    for concentration, rtol, normalize in itertools.product((1.0, 3.0, 8.0), (1e-15, 1e-13), (False, True)):
        options = {"normalize": normalize}
        excluded = explain_sum(x, x, np.ones(6_000), concentration, rtol=rtol, **options)[1].excluded
        named = re.search(r"rtol=(\S+) would admit it", excluded.get("lowrank", ""))
        if named:
            again = explain_sum(x, x, np.ones(6_000), concentration, rtol=float(named[1]), **options)[1]
            assert "lowrank" not in again.excluded
            count += 1
    assert count >= 4


MODULES = {"dense": dense, "numpy": numpy_tiles, "truncated": truncated, "harmonic": harmonic, "lowrank": lowrank}


@pytest.mark.parametrize("method", MODULES)
@pytest.mark.parametrize("normalize", [False, True])
def test_a_sum_is_planned_without_being_evaluated(method, normalize, monkeypatch):
    x, b, values = sphere(6000, 2, 1), sphere(4000, 2, 2), np.random.default_rng(3).random((4000, 2))
    options = {"normalize": normalize, "method": method, "rtol": 1e-9}
    concentration = 1e4 if method == "truncated" else 2.0
    evaluate(x, b, values, concentration, **options)  # loads the kernels
    _, explained = explain_sum(x, b, values, concentration, **options)
    _, peak = peak_memory(lambda: evaluate(x, b, values, concentration, workers=1, **options))
    monkeypatch.setattr(MODULES[method], "sums", None)  # not called
    planned = plan_sum(x, b, values, concentration, **options)
    assert (planned.method, planned.reason, planned.scale) == (method, "asked for", explained.scale)
    assert (planned.seconds, planned.memory) == (explained.seconds, explained.memory)
    assert 1e-4 < planned.seconds < 5.0
    assert 0.4 < peak / planned.memory < 2.5
    assert explained.rtol <= planned.rtol * 3.0


def test_plans_of_sums_in_parts_count_all_of_them():
    x, b = sphere(300, 2, 1), sphere(200, 2, 2)
    single = plan_sum(x, b, np.ones(200), 400.0)
    decades = plan_sum(x, b, np.geomspace(1e-300, 1e300, 200), 400.0)
    assert "values of very different size" in decades.reason
    assert decades.seconds > 1.5 * single.seconds > 0.0
    columns = np.ones((200, 4))
    ordinary = plan_sum(x, b, columns[:, :3], 400.0)
    columns[:, 3] = np.geomspace(1e-300, 1e300, 200)
    assert plan_sum(x, b, columns, 400.0).memory >= ordinary.memory
    logs = plan_sum(x, b, np.ones((200, 3)), 400.0, log=True)
    assert logs.seconds == pytest.approx(3.0 * plan_sum(x, b, np.ones(200), 400.0, log=True).seconds)
    keyed = plan_sum(x, b, np.ones(200), np.linspace(1.0, 1e4, 200), normalize=True)
    assert "of 5 sizes" in keyed.reason
    assert keyed.memory > 0.0


def test_what_cannot_be_evaluated_cannot_be_planned():
    x = sphere(20, 3, 1)
    with pytest.raises(ValueError, match="it is for points of S\\^1 and S\\^2, not of S\\^3"):
        plan_sum(x, x, np.ones(20), 2.0, method="harmonic")
    with pytest.raises(TypeError, match="'log' must be True or False"):
        plan_sum(x, x, np.ones(20), 2.0, log=1)


def test_a_plan_shows_no_progress(capsys):
    x = sphere(20, 2, 1)
    with show_progress():
        plan_sum(x, x, np.ones(20), 2.0)
        assert capsys.readouterr().err == ""
        explain_sum(x, x, np.ones(20), 2.0)
    assert "400/400" in capsys.readouterr().err


def test_a_plan_holds_no_rows():
    m = 10**6
    x, values = np.broadcast_to(sphere(1, 2, 1), (m, 3)), np.broadcast_to(1.0, (50, 4))
    for concentration, log in ((20.0, False), (np.linspace(1.0, 1e5, 50), False), (1e4, True)):
        options = {"normalize": True, "method": "dense", "log": log}
        planned, peak = peak_memory(lambda c=concentration, o=options: plan_sum(x, x[:50], values, c, **o))
        assert planned.memory > 5 * 8 * m
        assert peak < 8 * m


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("concentration", [5000.0, np.geomspace(1.0, 1e5, 3000)], ids=["one", "own"])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_memory_of_sums_in_parts_is_that_of_all(concentration, log, normalize):
    x, b, values = sphere(20_000, 2, 1), sphere(3000, 2, 2), np.random.default_rng(3).random((3000, 5))
    function = evaluate_log if log else evaluate
    function(x[:3], b, values, concentration, normalize=normalize)  # loads the kernels
    _, peak = peak_memory(lambda: function(x, b, values, concentration, normalize=normalize, workers=1))
    planned = plan_sum(x, b, values, concentration, normalize=normalize, log=log)
    assert 0.4 < peak / planned.memory < 1.1


def test_columns_of_zeros_are_planned():
    x, values = sphere(300, 2, 1), np.ones((300, 3))
    values[:, ::2] = 0.0
    for plan in (plan_sum(x, x, values, 400.0, log=True), explain_sum(x, x, values, 400.0, log=True)[1]):
        single = plan_sum(x, x, np.ones(300), 400.0, log=True)
        assert plan.seconds == pytest.approx(single.seconds)
        assert plan.memory >= single.memory
    assert plan_sum(x, x, np.zeros(300), 400.0, log=True).seconds == 0.0


def test_the_rounding_of_logarithms_to_single_precision_is_planned():
    x, values = sphere(2, 2, 1).astype(np.float32), np.ones(2, np.float32)
    x[1] = x[0]
    for concentration in (1e4, np.array([9e3, 1e4])):
        explained = explain_sum(x, -x, values, concentration, log=True)[1]
        planned = plan_sum(x, -x, values, concentration, log=True)
        assert 0.99 * explained.rtol <= planned.rtol <= 2.0 * explained.rtol
    for number in (1e-30, 1e30):
        explained = explain_sum(x, x, number * values, 0.1, log=True)[1]
        assert explained.rtol <= 1.1 * plan_sum(x, x, number * values, 0.1, log=True).rtol <= 3.0 * explained.rtol
