"""The fused kernel, as it is compiled here, and both kernels as they are compiled without AVX-512."""

import numpy as np
import pytest
from sums import sphere, truth, unit, wide

from spherapprox import evaluate
from spherapprox._kernels.simd import alignment
from spherapprox._kernels.summation import layout, packing
from spherapprox.summation import explain_sum
from spherapprox.summation.dense import all_pairs

LIMIT = {np.float64: 2e-15, np.float32: 5e-7}


def near(b, concentration, dtype):
    """Points within an exponent or so of the first control points."""
    shift = np.random.default_rng(5).standard_normal((30, b.shape[1])) / np.sqrt(2 * max(concentration, 4) * b.shape[1])
    x = b[:30] + shift
    return (unit(x)).astype(dtype)


def worst(result, expected):
    return float(np.max(np.abs(result - expected) / np.abs(expected)))


def deviation(dtype, d, columns, concentration, normalize, spread=None, n=230):
    """Return the largest error, of values of each of these numbers of columns."""
    b = sphere(n, d - 1, 1)
    b = (b if spread is None else unit(np.eye(1, d) + spread * b)).astype(dtype)  # around one point
    x = near(b, concentration, dtype)
    w = (np.random.default_rng(3).random((len(b), max(columns))) + 0.1).astype(dtype)
    expected, _ = truth(x, b, w, concentration, normalize)
    results = [evaluate(x, b, w[:, :p], concentration, normalize=normalize, method="dense") for p in columns]
    assert all(result.dtype == dtype for result in results)
    return max(worst(result, expected[:, : result.shape[1]]) for result in results)


CASES = [(d, (1, 2, 3, 4, 9, *{130: (71,), 3: (201,)}.get(d, ()))) for d in (2, 3, 12, 13, 14, 25, 49, 130)]


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("concentration", [0.0, 1e-3, 1.0, 20.0, 1e3, 1e8])
def test_near_pairs_keep_their_digits(dtype, normalize, concentration):
    for d, columns in CASES:
        assert deviation(dtype, d, columns, concentration, normalize) <= LIMIT[dtype], d


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exponents_of_five_keep_their_digits(dtype):
    """Rates that round badly, in float32: half a unit in the last place above 8 log2(e)."""
    angle = np.linspace(0.3, 1.25, 200)
    b = np.array([[1.0, 0.0, 0.0]], dtype)
    x = np.stack([np.cos(angle), np.sin(angle), np.zeros(200)], axis=1).astype(dtype)
    for concentration in np.linspace(11.0903555, 11.0903566, 12):
        e = concentration / 2 * ((x.astype(float) - b) ** 2).sum(axis=1)
        near = x[e < 5.0]
        result = evaluate(near, b, np.ones(1, dtype), concentration, method="dense")
        assert worst(result, truth(near, b, np.ones(1), concentration)[0]) <= LIMIT[dtype]


def test_single_precision_keeps_more_digits_of_a_rate_than_it_has():
    x, b = np.eye(3, dtype=np.float32)[:1], np.eye(3, dtype=np.float32)[1:2]  # |x - b|^2 is 2 exactly
    for concentration in np.random.default_rng(4).uniform(40.0, 60.0, 50):
        result = evaluate(x, b, np.ones(1, np.float32), concentration, method="dense")
        assert abs(result[0] / np.exp(-concentration) - 1.0) <= LIMIT[np.float32]


@wide
@pytest.mark.parametrize("spread", [1e-6, 1e-3, 0.1, 0.7, 1.0])
def test_clusters_keep_their_digits_in_high_dimension(spread):
    for d in (14, 65):
        assert deviation(np.float64, d, (1,), 30.0 / spread**2, False, spread) <= 3e-15


def test_rows_that_underflow_are_summed_again():
    b = sphere(40, 2, 1)
    x = np.concatenate([b[:5], -b[:5], sphere(30, 2, 2)])
    w = np.random.default_rng(4).random((40, 2))
    result = evaluate(x, b, w, 3e4, normalize=True, method="dense")
    np.testing.assert_allclose(result, truth(x, b, w, 3e4, True)[0].astype(float), rtol=1e-11)


def test_many_parts_keep_their_digits():
    for d, p, n in ((3, 3, 40_000), (14, 3, 20_000), (14, 190, 3000)):
        assert deviation(np.float64, d, (p,), 10.0, True, n=n) <= 2e-15


@wide
@pytest.mark.parametrize(("dtype", "limit"), [(np.float64, 1e-14), (np.float32, 6e-6)])
def test_products_keep_fewer_digits_of_exponents_up_to_five(dtype, limit):
    for d in (14, 24, 48, 130):
        x, b = sphere(3000, d - 1, 1), sphere(1, d - 1, 2)
        b = b.astype(dtype)
        x -= (x @ b.T) * b
        x = (0.74 * b + np.sqrt(1.0 - 0.74**2) * unit(x)).astype(dtype)  # squared distances of 0.52
        result = evaluate(x, b, np.ones(1, dtype), 19.0, method="dense")
        assert worst(result, truth(x, b, np.ones(1), 19.0)[0]) <= limit, d


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("rtol", [1e-14, 0.1])
def test_columns_in_chunks_are_as_accurate_as_a_few(dtype, rtol):
    x, b = sphere(700, 13, 1).astype(dtype), sphere(1001, 13, 2).astype(dtype)
    values = np.random.default_rng(3).standard_normal((1001, 2 * layout.MANY)).astype(dtype)
    for normalize in (False, True):
        options = {"normalize": normalize, "method": "dense", "rtol": rtol}
        together = evaluate(x, b, values, 3.0, **options)
        few = np.concatenate([evaluate(x, b, part, 3.0, **options) for part in np.split(values, 8, axis=1)], axis=1)
        assert 0.0 < np.abs(together - few).max() <= LIMIT[dtype] * np.abs(few).max()


def test_accuracy_does_not_depend_on_the_number_of_parts():
    x, b = sphere(1, 2), sphere(1_300_000, 2, 1)  # 200 parts
    w = np.random.default_rng(2).random(len(b))
    assert worst(evaluate(x, b, w, 2.0, method="dense"), truth(x, b, w, 2.0)[0]) <= 3e-16


def dots_deviation(dtype, d, p, concentration, normalize):
    """The largest error of exponents from products alone, over what the plan allows."""
    b, x = sphere(530, d - 1, 1).astype(dtype), sphere(3000, d - 1, 2).astype(dtype)
    x[-30:] = near(b, concentration, dtype)
    x[-31] = -b[0]
    if dtype == np.float64:
        x[-60:-31] *= 1.0 - 9e-7  # lengths count as they are
    w = np.random.default_rng(3).standard_normal((len(b), p)).astype(dtype)
    options = {"normalize": normalize, "method": "dense"}
    result, plan = explain_sum(x, b, w, concentration, rtol=0.1, **options)
    assert plan.rtol < explain_sum(x[-100:], b, w, concentration, rtol=None, **options)[1].rtol
    expected, size = truth(x[-60:], b, w, concentration, normalize)
    return float(np.max(np.abs(result[-60:] - expected) / (plan.rtol * size + plan.atol)))


@wide
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("concentration", [0.5, 8.0, 100.0])
def test_products_alone_keep_to_a_smaller_bound(dtype, normalize, concentration):
    for d, p in ((2, 1), (3, 3), (25, 1), (60, 2), (25, 180)):
        assert dots_deviation(dtype, d, p, concentration, normalize) <= 0.5, (d, p)


@pytest.mark.parametrize(("concentration", "rtol"), [(20.0, None), (20.0, 1e-13), (1e8, 1e-9)])
def test_products_alone_need_a_tolerance(concentration, rtol):
    b = sphere(3000, 2, 1)
    x, w = near(b, concentration, np.float64), np.random.default_rng(3).random(3000)
    x = np.tile(x, (30, 1))
    result, expected = (evaluate(x, b, w, concentration, method="dense", rtol=tol) for tol in (rtol, 1e-14))
    assert np.array_equal(result, expected)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("method", ["dense", "truncated"])
def test_numbers_below_the_normal_range_are_as_before_afterwards(method, p):
    b = sphere(2000, 2, 1)
    evaluate(b, b, np.ones((2000, p)), 1e3, method=method, workers=1)
    tiny = np.full(3, 1e-310)
    assert np.array_equal(tiny * 0.5, np.full(3, 5e-311))
    assert (tiny + 0.0 > 0.0).all()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sum_in_the_midst_of_another_changes_nothing(workers, monkeypatch):
    x, b, values = sphere(2000, 2, 1), sphere(3000, 2, 2), np.random.default_rng(3).standard_normal(3000)
    expected, half = (evaluate(x, b, v, 20.0, method="dense", workers=workers) for v in (values, values[::-1]))
    run, inner = all_pairs.run_tasks, []

    def interrupted(task, parts, workers, report):
        """Sum in the midst of the first sum, as a handler of signals may."""
        if not inner:
            inner.append(None)
            inner[0] = evaluate(x, b, values[::-1], 20.0, method="dense", workers=workers)
        run(task, parts, workers, report)

    monkeypatch.setattr(all_pairs, "run_tasks", interrupted)
    np.testing.assert_array_equal(evaluate(x, b, values, 20.0, method="dense", workers=workers), expected)
    np.testing.assert_array_equal(inner[0], half)


def test_rooms_are_taken_again_once_they_are_free():
    first = alignment.aligned_room((1000, 16), np.dtype(np.float64))
    at, second = first.ctypes.data, alignment.aligned_room((1000, 16), np.dtype(np.float64))
    assert not np.shares_memory(first, second)
    later, second = second.ctypes.data, None
    assert alignment.aligned_room((900, 16), np.dtype(np.float64)).ctypes.data == later != at


def test_the_parts_of_a_sum_have_one_room(monkeypatch):
    places, make = [], packing.aligned_room

    def noted(*arguments):
        room = make(*arguments)
        places.append(room.ctypes.data)
        return room

    monkeypatch.setattr(packing, "aligned_room", noted)
    evaluate(sphere(75, 2, 1), sphere(120_000, 2, 2), np.ones(120_000), 20.0, method="dense", workers=1, rtol=None)
    assert len(places) == 5
    assert len(set(places[1:])) == 1


def test_distant_rows_are_in_the_bound_of_products_alone():
    """Rows that are summed again, by differences, whose exponents are larger than products allow for."""
    angle = np.random.default_rng(1).uniform(-0.2, 0.2, 4000)
    b, x = np.stack([np.cos(angle), np.sin(angle)], axis=1), np.stack([-np.cos(angle), np.sin(angle)], axis=1)
    for rtol in (1e-6, None):
        plan = explain_sum(x, b, np.ones(4000), 1e6, normalize=True, method="dense", rtol=rtol)[1]
        assert plan.rtol >= 4e-9


def test_rows_of_any_layout_are_summed_by_one_form_of_the_kernel():
    from spherapprox._kernels.summation.fused import fused_sums

    b = sphere(3000, 2, 1)
    expected = evaluate(b, b, np.ones(3000), 20.0, method="dense")
    before, read_only = len(fused_sums.signatures), b.copy()
    read_only.flags.writeable = False
    for x in (np.asfortranarray(b), np.repeat(b, 2, axis=0)[::2], read_only):
        np.testing.assert_array_equal(evaluate(x, b, np.ones(3000), 20.0, method="dense"), expected)
    assert len(fused_sums.signatures) == before
