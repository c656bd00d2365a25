"""What arguments of every kind of public function have in common: how wrong ones are refused."""

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bounds
import spherapprox
from spherapprox import CoreHead, EqualMeasurePartition, VonMisesFisher, _checks, evaluate, special, sphere, targets


@pytest.mark.parametrize("dim", [2, 2.0, np.int8(2), np.float16(2), np.array(2)])
def test_integral_numbers_are_integers(dim):
    assert EqualMeasurePartition(dim, 10).dim == 2


ROWS = {
    "fit": VonMisesFisher.fit,
    "evaluate": lambda x: evaluate(x, np.eye(3), np.ones(3), 1.0),
    "control points": lambda x: CoreHead(x, np.ones(3), 1.0),
    "point set": spherapprox.PointSet,
    "target": targets.bump(2, 4.0),
    "coordinates": sphere.to_polar,
    "logpdf": lambda x: VonMisesFisher(2, 5.0).logpdf(x, [1.0, 0.0, 0.0]),
    "data": lambda x: CoreHead.fit(x, np.ones(3), n=2),
}


def test_any_real_numbers_in_arrays():
    assert special.log_iv(1.0, [2**70, Fraction(1, 2)]).shape == (2,)
    assert evaluate(np.eye(3), np.eye(3), np.ma.array([1.0, 2.0, 3.0]), 1.0).shape == (3,)


DENSE = {name: call for name, call in ROWS.items() if name != "fit"}  # which takes sparse rows and all precisions


@pytest.mark.parametrize("call", ROWS.values(), ids=ROWS)
def test_rows_of_zeros_are_to_be_dropped(call):
    with pytest.raises(ValueError, match=r"2 of length 0, row 1 first: they have no direction; drop them"):
        call(np.diag([1.0, 0.0, 0.0]))


@pytest.mark.parametrize("call", DENSE.values(), ids=DENSE)
def test_sparse_rows_are_to_be_made_dense(call):
    for make in (sparse.csr_matrix, sparse.coo_array):
        with pytest.raises(TypeError, match=r"must hold real numbers, got .*: pass its .toarray\(\)"):
            call(make(np.eye(3)))


def test_the_remedy_for_rows_of_zeros_works():
    x = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    with pytest.raises(ValueError, match="drop them") as caught:
        VonMisesFisher.fit(x)
    VonMisesFisher.fit(eval(str(caught.value).rpartition("drop them, ")[2], {"np": np, "x": x}))


@pytest.mark.parametrize("call", DENSE.values(), ids=DENSE)
def test_tensors_that_numpy_cannot_read_are_named(call):
    torch = pytest.importorskip("torch")
    for tensor, remedy in (
        (torch.eye(3, dtype=torch.bfloat16), r"BFloat16: pass its .float\(\)"),
        (torch.empty(3, 3, device="meta"), "meta"),
        (torch.eye(3).to_sparse(), "to_dense"),
        (torch.eye(3).requires_grad_(), "detach"),
    ):
        with pytest.raises(TypeError, match=f"must be an array that NumPy can read: .*{remedy}"):
            call(tensor)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_any_real_type_of_rows(dtype):
    rows = np.eye(3).astype(dtype)
    result = evaluate(rows, rows, np.ones(3, dtype), 1.0)
    assert result.dtype == (np.float32 if dtype in (np.float16, np.float32) else np.float64)


@pytest.mark.parametrize("row", [0, 4095, 4096, 4999])
@pytest.mark.parametrize("factor", [1.01, 0.99, np.nan])
def test_one_wrong_row_of_many_is_found(row, factor):
    x = sphere.uniform(2, 5000, rng=0)
    x[row] *= factor
    with pytest.raises(ValueError, match="'x' must be finite" if np.isnan(factor) else f"in row {row}: divide by"):
        evaluate(x, x[1:2], [1.0], 1.0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-6), (np.float32, 1e-3)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rows_of_length_one_within_the_tolerance_pass(dtype, tolerance, sign):
    x = sphere.uniform(2, 10, rng=0)
    values = np.ones(10, dtype)
    near, far = ((x * (1.0 + sign * share * tolerance)).astype(dtype) for share in (0.999, 1.001))
    assert evaluate(near, near, values, 1.0).dtype == dtype
    with pytest.raises(ValueError, match="'control_points' must have rows of unit length"):
        evaluate(near, far, values, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["x", "control_points", "values"])
def test_one_number_that_is_not_finite_is_named(dtype, bad, name):
    arguments = {"x": sphere.uniform(2, 9, rng=0), "control_points": np.eye(3), "values": np.ones((3, 4))}
    arguments = {key: array.astype(dtype) for key, array in arguments.items()}
    arguments[name][2, 1] = bad
    with pytest.raises(ValueError, match=f"'{name}' must be finite, got {bad} in row 2"):
        evaluate(**arguments, concentration=1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_whose_squares_overflow_are_finite(dtype):
    values = np.array([np.finfo(dtype).max, 0.0, -1.0], dtype)
    with np.errstate(over="raise"):
        result = evaluate(np.eye(3), np.eye(3), values, 1e4)
    np.testing.assert_allclose(result, values, rtol=1e-14)


def test_a_long_double_beyond_floats_is_refused_without_a_warning():
    huge = np.array([np.longdouble("1e400"), 0.0, 1.0])
    if np.isinf(huge[0]):
        pytest.skip("longdouble is no wider than float64 here")
    with np.errstate(over="raise"), pytest.raises(ValueError, match="'values' must be finite, got inf at index 0"):
        evaluate(np.eye(3), np.eye(3), huge, 1.0)


@pytest.mark.parametrize(("dtype", "remedy"), [(np.float64, ""), (np.float32, ", or float64")])
def test_results_beyond_floats_are_warned_of(dtype, remedy):
    b, values = np.eye(3, dtype=dtype), np.full(3, np.finfo(dtype).max)
    with pytest.warns(RuntimeWarning, match=f"are infinite: take smaller values{remedy}$"):
        result = evaluate(b, b, values, 0.0)
    assert np.isinf(result).all()


SHAPES = [
    ((3,), [(3,)], True), ((3,), [(4,)], False), ((3, 2), [(3,), (3, "p")], True), ((3, 0), [(3,), (3, "p")], False),
    ((3, 2, 1), [(3,), (3, "p")], False), ((), [(..., "dim+1")], False), ((4,), [(..., 4)], True),
    ((2, 3, 4), [(..., 4)], True), ((2, 3, 4), [(..., 3)], False), ((), [()], True),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "patterns", "fits"), SHAPES)
def test_a_word_is_an_axis_of_any_length_and_an_ellipsis_any_axes(shape, patterns, fits):
    array = np.zeros(shape)
    with contextlib.nullcontext() if fits else pytest.raises(ValueError, match=r"^'x' must have shape \(.*\), got \("):
        assert _checks.shaped(array, "x", *patterns) is array


def test_what_agrees_passes():
    assert _checks.instance(3, "n", int, str) == 3
    assert _checks.given(0, "n", "") == 0
    assert _checks.broadcast_shape("", x=(3, 1), y=(2,)) == (3, 2)
    assert _checks.weights_for(None, "weights", 2).tolist() == [1.0, 1.0]
    _checks.not_both(None, 2, "")
    _checks.left_out(None, "n", "")
    _checks.agreeing(None, "n", 3, "")
    _checks.agreeing(3, "n", 3, "")


ABUSES = {"none": None, "text": "abc", "array": np.ones((2, 3)), "objects": np.array([1, "a", None], dtype=object)}


@pytest.mark.parametrize("abuse", [*ABUSES.values(), "meta", "graph", "sparse"], ids=[*ABUSES, "meta", "graph", "s"])
@pytest.mark.parametrize(
    "call",
    [
        lambda v: bounds.error_bound(dim=v, theorem="lower", n=100, lipschitz=1.0),
        lambda v: bounds.prefix_length(v, dim=2),
        lambda v: bounds.best_concentration(0.1, dim=v),
        lambda v: bounds.covering_number(v, dim=2),
        lambda v: bounds.prompts.key_count(v, dim=2),
        lambda v: spherapprox.shortest.token_lower_bound(targets.bump(2, 4.0), v),
        lambda v: bounds.prompts.boltzmann_separation(v, [1.0, 2.0], gap=1.0),
        lambda v: sphere.uniform(2, 3, rng=v),
        lambda v: EqualMeasurePartition(2, v),
    ],
)
def test_abuse_ends_in_a_complaint(call, abuse):
    """Whatever is passed, an argument that cannot be used ends in TypeError or ValueError, or is an array of them."""
    if isinstance(abuse, str) and abuse in ("meta", "graph", "sparse"):
        torch = pytest.importorskip("torch")
        abuse = {
            "meta": torch.empty(2, 3, device="meta"),
            "graph": torch.ones(2, 3, requires_grad=True),
            "sparse": torch.eye(3).to_sparse(),
        }[abuse]
    with contextlib.suppress(TypeError, ValueError):  # else a result, of arrays too
        call(abuse)


@given(st.floats(1e-300, 1e300), st.integers(2, 6))
def test_an_upper_end_is_one_as_it_is_written(value, digits):
    assert value <= float(_checks.upper_text(value, digits)) <= value * (1.0 + 1.01 * 10.0 ** (1 - digits))
