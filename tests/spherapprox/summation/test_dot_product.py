"""Dot-product attention: its error bounds against mpmath and long double, masks, shapes, methods and plans."""

import mpmath as mp
import numpy as np
import pytest
from attention_cases import checked, draw
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sums import wide

from spherapprox import attention, evaluate
from spherapprox.summation import AttentionSolver, explain_attention, plan
from spherapprox.summation.dot_product import cholesky, methods

METHODS = ("auto", "dense", "lifted", "truncated", "lowrank", "cholesky", "numpy")


@pytest.fixture
def compared(monkeypatch):
    """Compare the methods, however short the sums are."""
    monkeypatch.setattr(plan, "SMALL_WORK", 0.0)
    monkeypatch.setattr(methods, "SHORT", -1.0)


def softmax(query, key, value, scale=None):
    """Compute attention in the precision of the arguments, for logits that are not large."""
    z = (query.shape[-1] ** -0.5 if scale is None else scale) * (query @ np.swapaxes(key, -1, -2))
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    return weights @ value / weights.sum(axis=-1, keepdims=True)


def errors(output, query, key, value, scale, logs=None):
    """Return the largest error of each query, by mpmath, and those of logarithms of sums if these are given."""
    q, k, v, record = (np.vectorize(mp.mpf, otypes=[object])(a.astype(float)) for a in (query, key, value, output))
    worst, log_errors = [], []
    with mp.workdps(50):
        for row, own in zip(q, record, strict=True):
            logits = [mp.mpf(scale) * mp.fdot(row, key_row) for key_row in k]
            top = max(logits)
            weights = [mp.exp(z - top) for z in logits]
            below = mp.fsum(weights)
            exact = [mp.fdot(weights, column) / below for column in v.T]
            worst.append(float(max(abs(a - b) for a, b in zip(own, exact, strict=True))))
            if logs is not None:
                log_errors.append(float(abs(mp.mpf(float(logs[len(log_errors)])) - top - mp.log(below))))
    return np.array(worst) if logs is None else (np.array(worst), np.array(log_errors))


def gaussian(rng, n, s, size=1.0):
    """Draw queries, keys and values."""
    query, key = size * rng.normal(size=(n, s)), size * rng.normal(size=(n, s))
    return query, key, rng.uniform(-1.0, 1.0, (n, 4))


@pytest.mark.parametrize(
    ("s", "n", "size", "concentration"), [(3, 1000, 1.0, 12.5), (6, 1000, 0.6, 3.6), (16, 500, 1.0, 11.0)]
)
def test_all_pairs_keep_all_digits(s, n, size, concentration):
    rows = gaussian(np.random.default_rng(0), n, s, size)
    output, record = explain_attention(*rows, solver=AttentionSolver("dense", None))
    assert np.abs(output - softmax(*rows)).max() <= 4e-16
    assert 1.0 < record.concentration < concentration
    assert record.error.max() < 1e-12


def test_lowrank_takes_the_columns_alone():
    rng = np.random.default_rng(0)
    for s, size, largest, error in ((3, 1.0, 11.95, 6e-7), (6, 0.6, 3.49, 6e-7)):  # the first refused on S^(s+1)
        rows = gaussian(rng, 4000, s, size)
        output, record = explain_attention(*rows, solver=AttentionSolver("lowrank", 1e-4))
        assert record.method == "lowrank"
        assert record.concentration < largest
        assert np.abs(output - softmax(*rows)).max() < error
        assert record.error.max() < 1e-4
    part = [a[:50] for a in gaussian(rng, 4000, 3)]
    with pytest.raises(ValueError, match="has too many coefficients"):
        evaluate(*lifted(*part[:2]), part[2], 11.9, normalize=True, method="lowrank", rtol=1e-4)


@pytest.mark.parametrize(
    ("method", "s", "size", "rtol", "bound"),
    [("harmonic", 1, 0.5, 1e-12, 1e-11), ("lowrank", 2, 1.0, 1e-6, 1e-5), ("truncated", 2, 6.0, 1e-9, 1e-8),
     ("cholesky", 2, 1.0, 1e-7, 1e-7), ("lifted", 3, 1.0, 1e-14, 1e-11)],
)  # fmt: skip
def test_all_methods_say_the_logarithms_of_sums(method, s, size, rtol, bound):
    query, key, value = gaussian(np.random.default_rng(0), 1000, s, size)
    key += 5.0  # which logits have, relative to a centre or not
    logits = s**-0.5 * query.astype(np.longdouble) @ key.T
    top = logits.max(axis=1)
    exact = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
    for values in (value, np.zeros_like(value)):
        _, record = explain_attention(query, key, values, solver=AttentionSolver(method, rtol))
        assert record.method == method
        assert (np.abs(record.log_sum_exp - exact) <= record.log_sum_exp_error).all()
        assert record.log_sum_exp_error.max() < bound


@pytest.mark.parametrize(("dtype", "size"), [("float64", 1e-14), ("float32", 3e-6)])
def test_few_columns_are_lifted_where_that_is_faster(dtype, size):
    query, key, value = (a.astype(dtype) for a in gaussian(np.random.default_rng(0), 3000, 2))
    output, record = explain_attention(query, key, value)
    assert record.method == "lifted"
    assert output.dtype == dtype
    error = np.abs(output - softmax(*(a.astype(np.float64) for a in (query, key, value)))).max(axis=1)
    assert (error <= record.error + 1e-15).all()
    assert error.max() < size
    wide = np.repeat(value, 50, axis=1)[:, :150]
    assert explain_attention(query[:1500], key, wide)[1].method == "dense"


def lifted(query, key):
    """Return the lift as the page states it."""
    q, k = (rows / np.linalg.norm(rows, axis=1).max() for rows in (query, key))
    pads = [np.sqrt(np.maximum(1.0 - np.square(rows).sum(axis=1), 0.0)) for rows in (q, k)]
    none = np.zeros(len(q))
    return np.column_stack([q, none, pads[0]]), np.column_stack([k, pads[1], none])


@pytest.mark.parametrize(
    ("s", "size", "n", "rank", "error", "certificate"),
    [
        pytest.param(3, 1.0, 4000, 200, 8.5e-5, 5.12e-2, marks=pytest.mark.once),
        (3, 1.0, 4000, 600, 4.21e-9, 2.23e-6),
        (6, 0.6, 4000, 600, 2.2e-5, 1.92e-2),
        (16, 1.0, 2000, 600, 3.2e-2, np.inf),
    ],
)
def test_the_certificate_holds(s, size, n, rank, error, certificate):
    query, key, value = gaussian(np.random.default_rng(0), n, s, size)
    root = s**-0.25
    record = cholesky.attention(root * query, root * key, value, 0.0, rank)
    distances = np.abs(record.output - softmax(query, key, value)).max(axis=1)
    assert record.rank == rank
    assert (distances <= record.certificate).all()
    assert distances.max() <= error
    assert record.certificate.max() <= certificate
    assert (s == 16) == (np.median(record.certificate) > 2.0)  # none that says more than the values do


@st.composite
def heads(draw):
    """Draw queries, keys and values of one head: ragged, huge, tiny, equal, zero, far from 0."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    s, m, n, p = (draw(st.sampled_from(sizes)) for sizes in ((1, 2, 3, 5, 20), (1, 2, 7), (1, 2, 10, 40), (1, 3)))
    query, key, value = rng.normal(size=(m, s)), rng.normal(size=(n, s)), rng.normal(size=(n, p))
    kind = draw(st.sampled_from(["plain", "equal", "zero", "ragged", "sizes", "centre", "outlier", "large", "values"]))
    if kind == "equal":
        key[:] = key[0]
    elif kind == "zero":
        query[:] = 0.0
        key[-1] = 0.0
    elif kind == "ragged":
        query *= np.exp(5.0 * rng.normal(size=(m, 1)))
        key *= np.exp(5.0 * rng.normal(size=(n, 1)))
    elif kind == "sizes":
        query *= 10.0 ** rng.uniform(-200.0, 150.0)
        key *= 10.0 ** rng.uniform(-200.0, 100.0)
    elif kind == "centre":
        key += 1e3 * rng.normal(size=s)
    elif kind == "outlier":
        key[0] *= 1e6
        query[0] *= 1e4
    elif kind == "large":
        query *= 30.0
        key *= 30.0
    elif kind == "values":
        value *= 10.0 ** rng.uniform(-300.0, 300.0, size=(n, 1))
    if kind not in ("sizes", "values") and draw(st.booleans()):
        query, key, value = (a.astype(np.float32) for a in (query, key, value))
    return query, key, value


@settings(max_examples=150, deadline=None)
@given(heads(), st.sampled_from((*METHODS, "harmonic")), st.sampled_from([1e-14, 1e-8, 1e-3]))
@example((np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))), "lowrank", 1e-14)
def test_no_error_is_above_its_bound(rows, method, rtol):
    query, key, value = rows
    scale = query.shape[1] ** -0.5
    assume(method != "harmonic" or scale * np.abs(query).max() * np.ptp(key) < 1e3)  # of more it is slow
    try:
        output, record = explain_attention(query, key, value, solver=AttentionSolver(method, rtol))
    except ValueError as error:
        assert method in ("harmonic", "lowrank")
        assert "cannot be used here" in str(error)  # noqa: PT017
        return
    assert output.dtype == np.result_type(query, key, value)
    assert record.error.shape == (len(query),)
    distances, log_distances = errors(output, query, key, value, scale, record.log_sum_exp)
    assert (distances <= record.error).all()
    assert (log_distances <= record.log_sum_exp_error).all()
    assert (record.error <= 2.1 * np.abs(value).max() + 1e-300).all()


@settings(max_examples=60, deadline=None)
@given(heads())
def test_short_rows_do_not_pay_for_long_ones(rows):
    query, key, value = rows
    output = attention(query, key, value)
    q, k = query.astype(np.float64), key.astype(np.float64)
    scale = query.shape[1] ** -0.5
    sizes = scale * np.linalg.norm(q, axis=1) * np.linalg.norm(k - k.mean(axis=0), axis=1).max()
    unit, least = (3e-16, 5.0) if output.dtype == np.float64 else (2e-7, 1.0)
    limit = unit * (least + sizes)
    assert (errors(output, query, key, value, scale) <= limit * np.abs(value).max()).all()


@wide
def test_values_of_one_sign_keep_their_digits():
    rng = np.random.default_rng(0)
    for n in (300, 10_000):
        query, key = rng.standard_normal((130, 3)), rng.standard_normal((n, 3))
        value = 100.0 + rng.standard_normal((n, 1))
        output = attention(query, key, value, scale=0.01, solver="dense")
        limit = 3e-16 * (5.0 + 0.01 * np.linalg.norm(query, axis=1).max() * np.linalg.norm(key, axis=1).max())
        exact = softmax(*(a.astype(np.longdouble) for a in (query, key, value)), np.longdouble(0.01))
        assert np.abs(output - exact).max() <= limit * np.abs(value).max()


@pytest.mark.parametrize("solver", ["dense", "lifted"])
def test_values_that_float32_has_hardly_are_summed(solver):
    rng = np.random.default_rng(0)
    query, key, value = (rng.standard_normal((size, 3)).astype(np.float32) for size in (60, 2, 2))
    value *= np.float32(2.0**-126)
    distances = errors(attention(query, key, value, solver=solver), query, key, value, 3**-0.5)
    assert (distances <= 1e-6 * np.abs(value).max() + 2.0**-149).all()


def test_an_outlier_leaves_the_digits_of_the_others_in_float32_too():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(6, 4)), rng.normal(size=(30, 4)), rng.normal(size=(30, 2))
    query[:, 0] = -1.0
    exact = softmax(query, key[1:], value[1:])
    key[0] = 1e8 * np.eye(4)[0]  # which no query attends to
    query[0] *= 1e6
    output, record = explain_attention(query, key, value)
    assert record.concentration > 1e13
    assert np.abs(output - exact)[1:].max() < 1e-14
    assert (errors(output, query, key, value, 0.5) <= record.error).all()
    zero = attention(np.zeros_like(query), key, value)
    assert np.abs(zero - value.mean(axis=0)).max() < 1e-15
    query, key, value = (rng.normal(size=(30, 4)).astype(np.float32) for _ in range(3))
    query[0] *= 1e3
    assert errors(attention(query, key, value), query, key, value, 0.5)[1:].max() < 2.0**-23 * np.abs(value).max()


def test_keys_are_about_the_nearest_centre_and_a_common_vector_costs_nothing():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(50, 8)), rng.normal(size=(60, 8)), rng.normal(size=(60, 3))
    far = key + 2.0**20 * np.array([1.0, -1.0] * 4)
    key = far - 2.0**20 * np.array([1.0, -1.0] * 4)  # as rounded
    output, record = explain_attention(query, far, value)
    assert record.concentration < 20.0
    assert np.abs(output - softmax(query, key, value)).max() < 1e-14
    key = np.array([[0.0, 0.0]] * 9 + [[2.0, 0.0]])
    one = [[1.0, 0.0]], key, np.ones((10, 1))
    for solver, radius in (("dense", 1.8), ("lowrank", 1.0)):  # about the mean, or the middle of the ranges
        _, record = explain_attention(*one, scale=1.0, solver=AttentionSolver(solver, 1e-6))
        assert record.concentration == pytest.approx(radius, rel=1e-12)


def test_batches_and_heads():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(2, 3, 5, 4)), rng.normal(size=(3, 7, 4)), rng.normal(size=(2, 1, 7, 6))
    output, record = explain_attention(query, key, value)
    assert output.shape == (2, 3, 5, 6)
    assert record.heads.shape == record.concentration.shape == (2, 3)
    assert np.abs(output - softmax(query, key, value)).max() < 1e-15
    head_output, alone = explain_attention(query[1, 2], key[2], value[1, 0])
    assert np.array_equal(head_output, output[1, 2])
    assert np.array_equal(alone.error, record.error[1, 2])


@wide
@pytest.mark.parametrize("first", range(0, 120, 40))
def test_masks_groups_lengths_and_sizes_keep_their_bounds(first):
    for seed in range(first, first + 40):
        checked(draw(np.random.default_rng(seed)))


def visible(query, key, value, seen):
    """Compute attention to the keys that are seen; queries that see none have zeros."""
    weights = np.exp(query.shape[-1] ** -0.5 * (query @ np.swapaxes(key, -1, -2))) * seen
    total = weights.sum(axis=-1, keepdims=True)
    return weights @ value / np.where(total > 0.0, total, 1.0)


def test_a_query_that_sees_no_key_has_zeros():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(5, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 2))
    causal = np.arange(3) <= np.arange(5)[:, None] - 2
    for mask, options in ((None, {"is_causal": True}), (causal, {}), (np.where(causal, 0.0, -np.inf), {})):
        output, record = explain_attention(query, key, value, mask, **options)
        assert (output[:2] == 0.0).all()
        assert (record.log_sum_exp[:2] == -np.inf).all()
        assert (record.error[:2] == 0.0).all()
        assert np.abs(output - visible(query, key, value, causal)).max() < 1e-15
    upper = attention(query, key, value, is_causal="upper_left")
    assert np.abs(upper - visible(query, key, value, np.arange(3) <= np.arange(5)[:, None])).max() < 1e-15
    both = attention(query, key, value, [True, False, True], is_causal=True)  # a key that none sees
    assert np.abs(both - visible(query, key, value, causal & [True, False, True])).max() < 1e-15


def test_masks_of_several_tiles_are_those_of_their_parts():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(600, 8)), rng.normal(size=(1200, 8)), rng.normal(size=(1200, 3))
    place = np.arange(600)[:, None] + 600 - np.arange(1200)
    for seen in (place >= 0, (place >= 0) & (place < 70), (place < 700) & (place > -900), np.abs(place) % 511 > 2):
        output, record = explain_attention(query, key, value, seen, solver=AttentionSolver(workers=2))
        error = np.abs(output - visible(query, key, value, seen)).max()
        assert error <= record.error.max() < 1e-12
        assert np.array_equal(output, attention(query, key, value, seen, solver=AttentionSolver(workers=1)))
    lowest = np.where(place >= 0, 0.0, np.finfo(np.float64).min)  # as transformers hides keys
    assert np.array_equal(attention(query, key, value, lowest), attention(query, key, value, is_causal=True))


def test_heads_share_keys_and_masks_broadcast():
    rng = np.random.default_rng(0)
    query, key, value = rng.normal(size=(2, 6, 5, 4)), rng.normal(size=(2, 2, 7, 4)), rng.normal(size=(2, 3, 7, 3))
    mask = rng.random((6, 1, 7)) < 0.6
    output = attention(query, key, value, mask, enable_gqa=True)
    expected = visible(query, np.repeat(key, 3, axis=1), np.repeat(value, 2, axis=1), mask)
    assert np.abs(output - expected).max() < 1e-15


def test_biases_as_large_as_those_of_models_keep_the_digits_of_logits():
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(9, 4)) for _ in range(3))
    output, record = explain_attention(query, key, value, np.full((9, 9), np.finfo(np.float64).min))
    assert np.abs(output - softmax(query, key, value)).max() <= record.error.max() < 1e-13


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("s", [8, 64])
def test_torch_agrees(dtype, s):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(s)
    rows = [rng.normal(size=(2, 2, 40, s)).astype(dtype) for _ in range(3)]
    tensors = [torch.tensor(a, requires_grad=True) for a in rows]
    expected = torch.nn.functional.scaled_dot_product_attention(*tensors).detach().numpy()
    output, record = explain_attention(*tensors)
    assert output.dtype == dtype
    limit = 1e-14 if dtype == "float64" else 5e-6
    assert np.abs(output - expected).max() < limit
    assert record.error.max() < (1e-11 if dtype == "float64" else 1e-2)


@pytest.mark.parametrize("method", METHODS)
def test_workers_change_nothing(method):
    rows = gaussian(np.random.default_rng(1), 600, 3)
    rows[0][::7] *= 100.0 if method in ("dense", "auto") else 1.0  # octaves of lengths
    one, three = (attention(*rows, solver=AttentionSolver(method, 1e-3, workers=w)) for w in (1, 3))
    assert np.array_equal(one, three)


@pytest.mark.usefixtures("compared")
def test_the_plan_says_where_low_rank_does_not_pay():
    rng = np.random.default_rng(0)
    rows = [3.0 * rng.normal(size=(300, 64)) for _ in range(3)]
    _, wide_record = explain_attention(*rows, solver=AttentionSolver(rtol=1e-3))
    assert wide_record.method == "dense"
    assert "beyond 16 columns" in wide_record.heads[()].excluded["lowrank"]
    _, record = explain_attention(*(a[:, :16] for a in rows), solver=AttentionSolver(rtol=1e-3))
    excluded = record.heads[()].excluded
    assert "too many coefficients" in excluded["lowrank"]
    assert "S^1 and S^2" in excluded["harmonic"]
    assert "ask for it by name" in excluded["cholesky"]
    exact = softmax(*rows)
    output, record = explain_attention(*rows, solver=AttentionSolver("cholesky", 1e-3))
    assert record.method == "dense"
    assert "300 of 300 queries by all pairs" in record.reason
    assert record.reason.endswith("low rank does not pay")
    assert np.abs(output - exact).max() <= record.error.max() < 1e-9


def test_few_queries_without_a_certificate_are_computed_by_all_pairs():
    rng = np.random.default_rng(0)
    query, key, value = 0.5 * rng.normal(size=(200, 2)), 0.5 * rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    query[:3] *= 40.0
    output, record = explain_attention(query, key, value, solver=AttentionSolver("cholesky", 1e-6, 100))
    assert record.method == "cholesky"
    assert "queries by all pairs" in record.reason
    assert "does not pay" not in record.reason
    error = np.abs(output - softmax(query, key, value)).max(axis=1)
    assert (error <= record.error).all()
    assert record.error.max() <= 1.001e-6 * np.abs(value).max()
    _, more = explain_attention(query[3:], key, value, solver=AttentionSolver("cholesky", 1e-2, 100))
    assert int(more.reason.split("rank ")[1].split(";")[0]) < 40  # it stops at the tolerance


@pytest.mark.usefixtures("compared")
def test_large_concentrations_may_be_truncated_where_the_lift_costs_little(monkeypatch):
    rng = np.random.default_rng(0)
    query, key, value = 40.0 * rng.normal(size=(3000, 2)), 40.0 * rng.normal(size=(3000, 2)), rng.normal(size=(3000, 1))
    costs = {"dense": 1e9, "truncated": 1e-9}
    monkeypatch.setattr(plan, "compare", lambda *_, **__: (costs, {}))
    _, loose = explain_attention(query, key, value, solver=AttentionSolver(rtol=1e-6))
    _, tight = explain_attention(query, key, value)
    assert loose.concentration > 1e4
    assert loose.method == "truncated"
    assert tight.method == "dense"  # the lift's roundings exceed 1e-14
    assert loose.error.max() < 2e-6 * np.abs(value).max()
