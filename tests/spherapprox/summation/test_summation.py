import itertools
import os
import re
import tracemalloc
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import run
from sums import exact, problem, sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox.summation import (
    Plan,
    angle_mean,
    dense,
    dense_numpy,
    evaluate_log,
    explain_sum,
    partial,
    show_progress,
)  # fmt: skip

CONCENTRATIONS = (0.0, 1e-3, 1.0, 20.0, 1e3, 1e5, 1e8)
property_test = settings(derandomize=True, deadline=None, max_examples=40)


def near_pairs(dim, concentration, n=700, m=60):
    """Control points, and points of which each is within a few exponents of one of them."""
    b = sphere(n, dim, 1)
    shift = np.random.default_rng(2).standard_normal((m, dim + 1)) / np.sqrt(2.0 * max(concentration, 1.0) * (dim + 1))
    x = b[:m] + shift
    return unit(x), b


def relative(got, expected):
    return float(np.max(np.abs(np.asarray(got) - expected) / np.abs(expected)))


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 8, 64])
def test_positive_values_keep_their_digits_at_every_concentration(path, dim, normalize):
    for concentration in CONCENTRATIONS:
        x, b = near_pairs(dim, concentration)
        values = np.random.default_rng(3).random((len(b), 3)) + 0.1
        exact_table, _ = truth(x, b, values, concentration, normalize)
        for v, expected in ((values[:, 0], exact_table[:, 0]), (values, exact_table)):
            got, plan = explain_sum(x, b, v, concentration, normalize=normalize)
            assert plan.path == path
            assert got.shape == expected.shape
            assert relative(got, expected) <= 2e-15
            assert relative(got, expected) <= plan.rtol


@wide
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 8])
def test_float32_keeps_its_digits_at_every_concentration(path, dim, normalize):
    for concentration in CONCENTRATIONS:
        x, b = (a.astype(np.float32) for a in near_pairs(dim, concentration))
        values = np.random.default_rng(3).random((len(b), 2)).astype(np.float32) + np.float32(0.1)
        got, plan = explain_sum(x, b, values, concentration, normalize=normalize)
        assert got.dtype == np.float32
        assert plan.path == path
        assert relative(got.astype(np.float64), truth(x, b, values, concentration, normalize)[0]) <= 5e-7


def test_one_control_point_gives_its_value_and_its_exponential(path):
    x, b = sphere(20, 2, 10), sphere(1, 2, 11)
    np.testing.assert_array_equal(evaluate(x, b, [3.5], 1e9, normalize=True), np.full(20, 3.5))
    chord = ((x - b) ** 2).sum(axis=1)
    np.testing.assert_allclose(evaluate(x, b, [3.5], 7.0), 3.5 * np.exp(-3.5 * chord), rtol=5e-15)


def test_zero_concentration_is_sum_and_mean(path):
    x, b = sphere(3, 4, 12), sphere(1000, 4, 13)
    values = np.arange(1000.0)
    np.testing.assert_allclose(evaluate(x, b, values, 0.0), 499500.0, rtol=1e-15)
    np.testing.assert_allclose(evaluate(x, b, values, 0.0, normalize=True), 499.5, rtol=1e-15)


def test_equal_neighbours_of_an_antipode_share_the_weight(path):
    # From the south pole all three are far, at any concentration: the two at the equator share the weight.
    b = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.array([[0.0, 0.0, -1.0]])
    for concentration in (1e2, 1e6, 1e12, 1e300):
        np.testing.assert_allclose(evaluate(x, b, [9.0, 1.0, 2.0], concentration, normalize=True), [1.5], rtol=1e-15)
    assert evaluate(x, b, [9.0, 1.0, 2.0], 1e6)[0] == 0.0
    np.testing.assert_allclose(evaluate_log(x, b, [9.0, 1.0, 2.0], 1e6), [np.log(3.0) - 1e6], rtol=1e-15)


@pytest.mark.parametrize("concentration", [50.0, 1e4, 1e8])
def test_far_points_keep_their_digits(path, concentration):
    b, x = sphere(30, 2, 14), sphere(5, 2, 15)
    values = np.random.default_rng(16).random(30) + 0.5
    nearest = ((x[:, None] - b) ** 2).sum(axis=2).min(axis=1) * concentration / 2
    split = evaluate(x, b, values, concentration, normalize=True)
    logs = evaluate_log(x, b, values, concentration)
    for i, row in enumerate(x):
        expected = exact(row, b, values, concentration, normalize=True)
        assert abs(mp.mpf(float(split[i])) - expected) <= (1.0 + nearest[i]) * 2e-15 * expected
        expected = mp.log(exact(row, b, values, concentration))
        assert abs(mp.mpf(float(logs[i])) - expected) <= (1.0 + nearest[i]) * 2e-15


def test_huge_values_do_not_overflow_on_the_way(path):
    b = sphere(8, 2, 17)
    values = np.array([1.5e308] * 7 + [-1.5e308])
    np.testing.assert_allclose(evaluate(b[:1], b, values, 0.0, normalize=True), [1.125e308], rtol=1e-15)
    values[-1] = 0.0
    np.testing.assert_allclose(evaluate(b[:1], b, -values - 1.0, 0.0, normalize=True), [-1.3125e308], rtol=1e-15)
    balanced = np.array([1.5e308, 1.5e308, -1.5e308, -1.5e308, 1e300, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(evaluate(b[:1], b, balanced, 0.0), [1e300], rtol=1e-6)


@pytest.mark.parametrize("concentration", [0.0, 1e-300, 5.0, 70.0, 1e4])
def test_log_takes_any_range_of_values(path, concentration):
    b, x = sphere(20, 2, 19), sphere(3, 2, 20)
    values = 10.0 ** np.random.default_rng(21).uniform(-300.0, 300.0, 20)
    values[3] = 0.0
    table = np.stack([values, values[::-1]], axis=1)
    for normalize in (False, True):
        got = evaluate_log(x, b, table, concentration, normalize=normalize)
        for i, row in enumerate(x):
            for j in (0, 1):
                expected = mp.log(exact(row, b, table[:, j], concentration, normalize))
                assert abs(mp.mpf(float(got[i, j])) - expected) <= 1e-15 * (1000.0 + 2.0 * concentration)


def test_log_of_nothing_is_minus_infinity(path):
    b = sphere(4, 2, 22)
    for concentration in (1.0, 1e4):
        got = evaluate_log(b, b, np.array([[0.0, 1.0]] * 4), concentration)
        assert (got[:, 0] == -np.inf).all()
        assert np.isfinite(got[:, 1]).all()


@wide
def test_parts_of_the_control_points_are_merged(compiled):
    for concentration in (1.0, 1e6):
        x, b = near_pairs(2, concentration, n=100_000)
        order = np.argsort(-b[:, 0])  # the nearest come late for some, early for others
        values = np.random.default_rng(29).random(len(b)) + 0.1
        got = evaluate(x, b[order], values, concentration, normalize=True)
        assert relative(got, truth(x, b[order], values, concentration, True)[0]) <= 2e-15


def partials(seed, parts, rate):
    n = 40
    x, b = sphere(5, 2, seed), sphere(n, 2, seed + 1)
    w = np.random.default_rng(seed).random((n, 2))
    cuts = np.sort(np.random.default_rng(seed + 2).choice(np.arange(1, n), parts - 1, replace=False))
    return [
        dense_numpy.tile_sums(x, b[part], np.zeros(len(part)), w[part], rate) for part in np.split(np.arange(n), cuts)
    ], dense_numpy.tile_sums(x, b, np.zeros(n), w, rate)


@property_test
@given(seed=st.integers(0, 10**6), log_rate=st.floats(-3.0, 8.0))
def test_merge_is_associative_and_commutative(seed, log_rate):
    (a, b, c), total = partials(seed, 3, 10.0**log_rate)
    rate = 10.0**log_rate
    for other in (
        partial.merge(partial.merge(a, b, rate), c, rate),
        partial.merge(a, partial.merge(b, c, rate), rate),
        partial.merge(partial.merge(c, a, rate), b, rate),
    ):
        np.testing.assert_array_equal(other.shift, total.shift)
        np.testing.assert_allclose(other.numerators, total.numerators, rtol=1e-13, atol=1e-300)
        np.testing.assert_allclose(other.denominator, total.denominator, rtol=1e-13)


def test_results_have_the_type_of_the_input_and_fill_out(path):
    x, b = sphere(10, 2, 30), sphere(20, 2, 31)
    values = np.arange(20)
    plain = evaluate(x, b, values, 3.0)
    assert plain.dtype == np.float64
    assert evaluate(x.astype(np.float32), b, values, 3.0).dtype == np.float64


def test_the_layout_of_input_changes_no_bit(path, tmp_path):
    x, b = sphere(40, 2, 32), sphere(60, 2, 33)
    values = np.random.default_rng(34).standard_normal((60, 2))
    plain = evaluate(x, b, values, 9.0)
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=x.shape)
    mapped[:] = x
    frozen = b.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(evaluate(mapped, frozen, np.asfortranarray(values), 9.0), plain)
    np.testing.assert_array_equal(
        evaluate(np.asfortranarray(x)[::-1], np.repeat(b, 2, axis=0)[::2], values, 9.0)[::-1], plain
    )
    np.testing.assert_array_equal(evaluate(x.tolist(), b.tolist(), values.tolist(), 9.0), plain)


def test_explain_gives_the_plan_beside_the_result(path):
    b = sphere(5, 2, 35)
    result, plan = explain_sum(b, b, np.ones(5), 2.0)
    assert isinstance(plan, Plan)
    assert (plan.method, plan.path) == ("dense", path)
    assert 1e-16 < plan.rtol < 1e-12
    assert plan.reason
    assert explain_sum(b, b, np.ones(5), 2.0, method="dense", rtol=None)[1].reason == "asked for"
    with pytest.raises(AttributeError):
        plan.method = "other"
    np.testing.assert_array_equal(result, evaluate(b, b, np.ones(5), 2.0))


def test_silent_unless_progress_is_wanted(path, capsys):
    b = sphere(300, 2, 36)
    evaluate(b, b, np.ones(300), 2.0)
    assert capsys.readouterr() == ("", "")
    with show_progress():
        evaluate(b, b, np.ones(300), 2.0)
    assert "90.0k/90.0k" in capsys.readouterr().err


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from spherapprox import evaluate
from spherapprox.summation import dense

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
dense.COMPILE_WORTH = -1.0
b = np.random.default_rng(37).standard_normal((100_000, 3))
b /= np.linalg.norm(b, axis=1, keepdims=True)
evaluate(b[:10], b[:10], np.ones(10), 2.0)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.perf_counter()
try:
    evaluate(np.tile(b, (10, 1)), b, np.ones(100_000), 2.0, method="dense", workers=int(sys.argv[1]))
except KeyboardInterrupt:
    assert time.perf_counter() - start < 3.0
    assert evaluate(b[:3], b[:1], [1.0], 0.0).tolist() == [1.0, 1.0, 1.0]
    print("interrupted")
"""


# In a process of its own: a callback of the garbage collector, of which Hypothesis has one, swallows interruptions.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals between processes")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_interruption_ends_the_sum_soon(workers):
    assert run(INTERRUPTED, workers) == "interrupted"


def test_memory_does_not_grow_with_the_product(path):
    x, b = sphere(3000, 2, 38), sphere(3000, 2, 39)
    evaluate(x[:5], b[:5], np.ones(5), 2.0)
    tracemalloc.start()
    evaluate(x, b, np.ones(3000), 2.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6  # all pairs: 72e6


def test_small_sums_in_a_fresh_process_load_no_compiler():
    code = (
        "import sys, numpy as np, spherapprox; b = np.eye(3); "
        "spherapprox.evaluate(np.tile(b, (300, 1)), np.tile(b, (300, 1)), np.ones(900), 2.0); "
        "assert 'numba' not in sys.modules and 'scipy' not in sys.modules"
    )
    run(code)


def test_mean_angles_agree_by_both_paths(path):
    x, b = near_pairs(3, 100.0, 200, 30)
    for concentration in (1.0, 100.0, 1e7):
        t = ((x[:, None] - b) ** 2).sum(axis=2)
        angle = 2.0 * np.arcsin(np.sqrt(t) / 2.0)
        e = np.exp(-concentration / 2.0 * (t - t.min(axis=1, keepdims=True)))
        expected = (e * angle).sum(axis=1) / e.sum(axis=1)
        np.testing.assert_allclose(
            angle_mean(x, b, concentration), expected, rtol=1e-8 if concentration > 1e4 else 1e-13
        )
    poles = np.array([[0.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(angle_mean(poles, poles[:1], 3.0), [0.0, np.pi], rtol=1e-15)
    np.testing.assert_array_equal(angle_mean(poles, poles, 1e300), [0.0, 0.0])


B = np.eye(3)


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_concentrations_of_any_float_type(kind, dtype):
    x, values = B.astype(dtype), np.ones(3, dtype)
    assert np.array_equal(evaluate(x, x, values, kind(2)), evaluate(x, x, values, 2.0))
    assert np.array_equal(angle_mean(x, x, kind(2)), angle_mean(x, x, 2.0))


def test_values_over_hundreds_of_decades_are_summed_to_their_last_digits(path):
    x, b = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    with mp.workdps(30):
        far = float(mp.mpf(1e300) * mp.exp(-800))
    for near in (0.0, 1e-300, 1e-40, 1.0):
        for method in ("dense", "truncated", "auto"):
            got = evaluate(x, b, [near, 1e300], 400.0, method=method)
            np.testing.assert_allclose(got, [near + far], rtol=1e-11)
            table = np.array([[near, 1.0, 0.0], [1e300, 2.0, 1e300]])
            got, plan = explain_sum(x, b, table, 400.0, method=method)
            np.testing.assert_allclose(got, [[near + far, 1.0, far]], rtol=1e-11)
            assert plan.atol < 1e-290
            got, plan = explain_sum(x, b, table, 400.0, method=method, normalize=True)
            np.testing.assert_allclose(got, [[near + far, 1.0, far]], rtol=1e-11)
            assert plan.atol < 1e-90


def test_huge_values_count_where_the_nearest_points_have_none(path):
    x, b = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [-1.0, 0.0]])
    with mp.workdps(30):
        far = float(mp.mpf(1e100) * mp.exp(-860))
    for method in ("dense", "truncated"):
        got = evaluate(x, b, [[0.0, 1.0], [1e100, 1e100]], 430.0, method=method)
        np.testing.assert_allclose(got, [[far, 1.0]], rtol=1e-11)


def test_what_a_quotient_loses_to_underflow_is_stated(compiled):
    angles = np.array([0.0, np.arccos(0.53), -np.arccos(0.23)])  # of x, and of points at exponents 470 and 770
    x, near, far = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    b = np.stack([near, far])
    for method in ("dense", "truncated"):
        got, plan = explain_sum(x[None], b, [0.0, 1.0], 1000.0, normalize=True, method=method)
        expected = np.exp(500.0 * (((x - near) ** 2).sum() - ((x - far) ** 2).sum()))
        assert abs(got[0] - expected) <= plan.rtol * expected + plan.atol < 1e-80


@wide
@pytest.mark.parametrize("dim", [2, 12, 40])
def test_rows_count_as_they_are_given(path, dim):
    scales = 1.0 + 4e-7 * np.random.default_rng(1).uniform(-1.0, 1.0, (2, 100, 1))
    x, b = sphere(100, dim, 1) * scales[0], sphere(100, dim, 2) * scales[1]
    values = np.random.default_rng(2).random(100)
    got, plan = explain_sum(x, b, values, 30.0)
    assert relative(got, truth(x, b, values, 30.0)[0]) <= min(plan.rtol, 1e-13)


def test_half_defects_are_right_far_below_the_rounding_of_1():
    rows = sphere(50, 7, 3)
    for row, got in zip(rows, dense_numpy.half_defects(rows), strict=True):
        exact = (1 - sum(Fraction(float(v)) ** 2 for v in row)) / 2
        assert abs(Fraction(float(got)) - exact) < Fraction(2) ** -58


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
def test_the_bound_of_a_logarithm_counts_its_rounding(path):
    x, b = sphere(40, 2, 1), sphere(3, 2, 2)
    for concentration in (1e-3, 70.0, 1e4, 1e9):
        got, plan = explain_sum(x, b, np.ones(3), concentration, log=True)
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
    assert re.match(
        r"it expects to prove an error of \S+ of the largest row, \"dense\" \S+ of each:", record.excluded["lowrank"]
    )
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
    x = sphere(12_000, 3, 1)
    evaluate(x[:5], x[:5], np.ones(5), 1.0, method="lowrank")  # loads the kernels
    count = 0
    for concentration, rtol, normalize in itertools.product((1.0, 3.0, 8.0), (1e-15, 1e-13), (False, True)):
        options = {"normalize": normalize}
        excluded = explain_sum(x, x, np.ones(12_000), concentration, rtol=rtol, **options)[1].excluded
        named = re.search(r"rtol=(\S+) would admit it", excluded.get("lowrank", ""))
        if named:
            again = explain_sum(x, x, np.ones(12_000), concentration, rtol=float(named[1]), **options)[1]
            assert "lowrank" not in again.excluded
            count += 1
    assert count >= 4


def test_results_beyond_the_floats_are_warned_of(path):
    x, b = np.eye(2)[:1], np.tile(np.eye(2)[:1], (2, 1))
    with pytest.warns(RuntimeWarning, match="results beyond the largest float64 are infinite"):
        assert evaluate(x, b, [1.7e308, 1.7e308], 1.0) == np.inf
    with pytest.warns(RuntimeWarning, match="results beyond the largest float32 are infinite"):
        assert evaluate_log(x.astype("f4"), -b.astype("f4"), np.ones(2, "f4"), 1e40) == -np.inf


def test_the_first_use_from_several_threads_at_once():
    code = """
import threading
import numpy as np
from spherapprox import evaluate
b = np.random.default_rng(0).normal(size=(2500, 3))
b /= np.linalg.norm(b, axis=1, keepdims=True)
barrier, done = threading.Barrier(6), []
def go(method):
    barrier.wait()
    evaluate(b, b, b[:, 0], 3.0 if method == "lowrank" else 40.0, method=method, rtol=1e-10)
    done.append(method)
threads = [threading.Thread(target=go, args=(m,)) for m in ("dense", "truncated", "harmonic", "lowrank") * 2][:6]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(done))
"""
    assert run(code) == "6"


def test_an_empty_part_leaves_the_other_as_it_is():
    empty, other = (
        partial.Partial(np.array([s]), np.array([[n]]), np.array([d])) for s, n, d in ((0.0, 0.0, 0.0), (4.0, 2.0, 3.0))
    )
    for pair in ((empty, other), (other, empty)):
        union = partial.merge(*pair, 750.0)
        assert (union.shift, union.numerators, union.denominator) == (4.0, 2.0, 3.0)
