"""The sums of `evaluate` and their logarithms: digits, layouts, interruptions."""

import os
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from processes import peak_memory, run
from sums import exact, sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox.summation import angle_mean, evaluate_log, explain_sum, numpy_tiles, show_progress

CONCENTRATIONS = (0.0, 1e-3, 1.0, 20.0, 1e3, 1e5, 1e8)


def near_pairs(dim, concentration, n=700, m=30):
    """Control points, and points of which each is within a few exponents of one of them."""
    b = sphere(n, dim, 1)
    shift = np.random.default_rng(2).standard_normal((m, dim + 1)) / np.sqrt(2.0 * max(concentration, 1.0) * (dim + 1))
    return unit(b[:m] + shift), b


def relative(got, expected):
    return float(np.max(np.abs(np.asarray(got) - expected) / np.abs(expected)))


@wide
@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 2e-15), (np.float32, 5e-7)])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 8, 64])
def test_positive_values_keep_their_digits_at_every_concentration(method, dim, normalize, dtype, limit):
    for concentration in CONCENTRATIONS:
        x, b = (a.astype(dtype) for a in near_pairs(dim, concentration))
        values = (np.random.default_rng(3).random((len(b), 3)) + 0.1).astype(dtype)
        exact_table, _ = truth(x, b, values, concentration, normalize)
        for v, expected in ((values[:, 0], exact_table[:, 0]), (values, exact_table)):
            got, plan = explain_sum(x, b, v, concentration, normalize=normalize, method=method)
            assert plan.method == method
            assert (got.dtype, got.shape) == (dtype, expected.shape)
            assert relative(got.astype(np.float64), expected) <= min(limit, plan.rtol)


def test_one_control_point_gives_its_value_and_its_exponential(method):
    x, b = sphere(20, 2, 10), sphere(1, 2, 11)
    np.testing.assert_array_equal(evaluate(x, b, [3.5], 1e9, normalize=True, method=method), np.full(20, 3.5))
    chord = ((x - b) ** 2).sum(axis=1)
    np.testing.assert_allclose(evaluate(x, b, [3.5], 7.0, method=method), 3.5 * np.exp(-3.5 * chord), rtol=5e-15)
    x, b = sphere(3, 4, 12), sphere(1000, 4, 13)  # without concentration, sum and mean
    values = np.arange(1000.0)
    np.testing.assert_allclose(evaluate(x, b, values, 0.0, method=method), 499500.0, rtol=1e-15)
    np.testing.assert_allclose(evaluate(x, b, values, 0.0, normalize=True, method=method), 499.5, rtol=1e-15)


def test_equal_neighbours_of_an_antipode_share_the_weight(method):
    # From the south pole all three are far, at any concentration: the two at the equator share the weight.
    b = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.array([[0.0, 0.0, -1.0]])
    for concentration in (1e2, 1e6, 1e12, 1e300):
        np.testing.assert_allclose(
            evaluate(x, b, [9.0, 1.0, 2.0], concentration, normalize=True, method=method), [1.5], rtol=1e-15
        )
    assert evaluate(x, b, [9.0, 1.0, 2.0], 1e6, method=method)[0] == 0.0
    np.testing.assert_allclose(evaluate_log(x, b, [9.0, 1.0, 2.0], 1e6, method=method), [np.log(3.0) - 1e6], rtol=1e-15)


@pytest.mark.parametrize("concentration", [50.0, 1e4, 1e8])
def test_far_points_keep_their_digits(method, concentration):
    b, x = sphere(30, 2, 14), sphere(5, 2, 15)
    values = np.random.default_rng(16).random(30) + 0.5
    nearest = ((x[:, None] - b) ** 2).sum(axis=2).min(axis=1) * concentration / 2
    split = evaluate(x, b, values, concentration, normalize=True, method=method)
    logs = evaluate_log(x, b, values, concentration, method=method)
    for i, row in enumerate(x):
        expected = exact(row, b, values, concentration, normalize=True)
        assert abs(mp.mpf(float(split[i])) - expected) <= (1.0 + nearest[i]) * 2e-15 * expected
        expected = mp.log(exact(row, b, values, concentration))
        assert abs(mp.mpf(float(logs[i])) - expected) <= (1.0 + nearest[i]) * 2e-15


@wide
def test_parts_of_the_control_points_are_merged():
    for concentration in (1.0, 1e6):
        x, b = near_pairs(2, concentration, 100_000, 60)
        order = np.argsort(-b[:, 0])  # the nearest come late for some, early for others
        values = np.random.default_rng(29).random(len(b)) + 0.1
        got = evaluate(x, b[order], values, concentration, normalize=True)
        assert relative(got[::6], truth(x[::6], b[order], values, concentration, True)[0]) <= 2e-15


def test_the_layout_of_input_changes_no_bit(method, tmp_path):
    x, b = sphere(40, 2, 32), sphere(60, 2, 33)
    values = np.random.default_rng(34).standard_normal((60, 2))
    plain = evaluate(x, b, values, 9.0, method=method)
    mapped = np.memmap(tmp_path / "x", dtype=np.float64, mode="w+", shape=x.shape)
    mapped[:] = x
    frozen = b.copy()
    frozen.flags.writeable = False
    np.testing.assert_array_equal(evaluate(mapped, frozen, np.asfortranarray(values), 9.0, method=method), plain)
    turned = evaluate(np.asfortranarray(x)[::-1], np.repeat(b, 2, axis=0)[::2], values, 9.0, method=method)
    np.testing.assert_array_equal(turned[::-1], plain)
    np.testing.assert_array_equal(evaluate(x.tolist(), b.tolist(), values.tolist(), 9.0, method=method), plain)
    assert plain.dtype == evaluate(x.astype(np.float32), b, values, 9.0, method=method).dtype == np.float64


def test_silent_unless_progress_is_wanted(method, capsys):
    b = sphere(300, 2, 36)
    evaluate(b, b, np.ones(300), 2.0, method=method)
    assert capsys.readouterr() == ("", "")
    with show_progress():
        evaluate(b, b, np.ones(300), 2.0, method=method)
    assert "90.0k/90.0k" in capsys.readouterr().err


INTERRUPTED = """
import os, signal, threading, time
import numpy as np
from spherapprox import evaluate

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored here
b = np.random.default_rng(37).standard_normal((100_000, 3))
b /= np.linalg.norm(b, axis=1, keepdims=True)
evaluate(b[:10], b[:10], np.ones(10), 2.0)
for workers in (1, 2):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.perf_counter()
    try:
        evaluate(np.tile(b, (10, 1)), b, np.ones(100_000), 2.0, method="dense", workers=workers)
    except KeyboardInterrupt:
        assert time.perf_counter() - start < 3.0
        assert evaluate(b[:3], b[:1], [1.0], 0.0).tolist() == [1.0, 1.0, 1.0]
        print("interrupted")
"""


# In a process of its own: a callback of the garbage collector, of which Hypothesis has one, swallows interruptions.
@pytest.mark.once
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals between processes")
def test_an_interruption_ends_the_sum_soon():
    assert run(INTERRUPTED) == "interrupted\ninterrupted"


def test_memory_does_not_grow_with_the_product(method):
    x, b = sphere(3000, 2, 38), sphere(3000, 2, 39)
    evaluate(x[:5], b[:5], np.ones(5), 2.0, method=method)
    assert peak_memory(lambda: evaluate(x, b, np.ones(3000), 2.0, method=method))[1] < 6e6  # all pairs: 72e6


def test_sums_by_numpy_in_a_fresh_process_load_no_compiler():
    run(
        "import sys, numpy as np, spherapprox; b = np.tile(np.eye(3), (300, 1)); "
        "spherapprox.evaluate(b, b, np.ones(900), 2.0, method='numpy', normalize=True); "
        "spherapprox.evaluate(b, b, 1e200 * b, 2e3, method='numpy'); "
        "spherapprox.summation.distributed.evaluate; assert not {'numba', 'scipy', 'dask'} & {*sys.modules}"
    )


def test_mean_angles_are_those_of_all_pairs():
    x, b = near_pairs(3, 100.0, 200, 30)
    for concentration in (1.0, 100.0, 1e7):
        t = ((x[:, None] - b) ** 2).sum(axis=2)
        angle = 2.0 * np.arcsin(np.sqrt(t) / 2.0)
        e = np.exp(-concentration / 2.0 * (t - t.min(axis=1, keepdims=True)))
        expected = (e * angle).sum(axis=1) / e.sum(axis=1)
        rtol = 1e-8 if concentration > 1e4 else 1e-13
        np.testing.assert_allclose(angle_mean(x, b, concentration), expected, rtol=rtol)
    poles = np.array([[0.0, 1.0], [0.0, -1.0]])
    np.testing.assert_allclose(angle_mean(poles, poles[:1], 3.0), [0.0, np.pi], rtol=1e-15)
    np.testing.assert_array_equal(angle_mean(poles, poles, 1e300), [0.0, 0.0])


def test_concentrations_beyond_single_precision_are_summed_in_double():
    x, b = near_pairs(2, 1e5)
    single = [a.astype(np.float32) for a in (x, b, np.arange(1.0, 701.0))]
    result = evaluate(*single, 1e5)
    wide = evaluate(*(a.astype(np.float64) for a in single), 1e5)
    np.testing.assert_array_equal(result, wide.astype(np.float32))


@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_concentrations_of_any_float_type(kind, dtype):
    x, values = np.eye(3, dtype=dtype), np.ones(3, dtype)
    assert np.array_equal(evaluate(x, x, values, kind(2)), evaluate(x, x, values, 2.0))
    assert np.array_equal(angle_mean(x, x, kind(2)), angle_mean(x, x, 2.0))


@wide
@pytest.mark.parametrize("dim", [2, 12, 40])
def test_rows_count_as_they_are_given(dim):
    scales = 1.0 + 9e-7 * np.random.default_rng(1).uniform(-1.0, 1.0, (2, 100, 1))
    x, b = sphere(100, dim, 1) * scales[0], sphere(100, dim, 2) * scales[1]
    values = np.random.default_rng(2).random(100)
    for method in ("auto", "dense", "numpy"):
        got, plan = explain_sum(x, b, values, 50.0, method=method)
        assert relative(got, truth(x, b, values, 50.0)[0]) <= min(plan.rtol, 3e-14)


def test_half_defects_are_right_far_below_the_rounding_of_1():
    rows = sphere(50, 7, 3)
    for row, got in zip(rows, numpy_tiles.half_defects(rows), strict=True):
        exact = (1 - sum(Fraction(float(v)) ** 2 for v in row)) / 2
        assert abs(Fraction(float(got)) - exact) < Fraction(2) ** -58


@pytest.mark.once
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


@pytest.mark.parametrize("concentration", [3.0, 3e3, 1e7, np.geomspace(1.0, 1e9, 7)])
def test_what_underflows_raises_nothing_where_numpy_is_told_to_raise(concentration, method):
    x, b, numbers = sphere(5, 2, 1), sphere(7, 2, 2), np.linspace(1.0, 2.0, 7)
    with np.errstate(all="raise"):
        for values in (numbers, np.full(7, 1e-310), np.geomspace(1e-300, 1e300, 7), np.zeros(7)):
            for normalize in (False, True):
                evaluate(x, b, values, concentration, normalize=normalize, method=method)
                evaluate_log(x, b, values, concentration, normalize=normalize, method=method)
