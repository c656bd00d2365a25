"""Small sums take one call of a kernel, with the bits of larger ones, their refusals and few calls of Python."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import CoreHead, SplitHead, evaluate, sphere
from spherapprox._loading import load
from spherapprox.summation import explain_sum
from spherapprox.summation.dense import all_pairs

FEW = 95
"""Calls of Python that a small sum may take."""


def python_calls(function):
    """Return the number of Python functions that a call enters."""
    count = [0]

    def note(frame, event, argument):
        count[0] += event == "call"

    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count[0]


def problem(m, n, d, columns, rng=0):
    generator = np.random.default_rng(rng)
    shape = (n,) if columns == 0 else (n, columns)
    return sphere.uniform(d - 1, m, rng=rng), sphere.uniform(d - 1, n, rng=rng + 1), generator.standard_normal(shape)


LAYOUTS = {
    "plain": lambda a: a,
    "read-only": lambda a: np.require(np.frombuffer(a.tobytes()).reshape(a.shape), requirements=["C"]),
    "Fortran": np.asfortranarray,
    "strided": lambda a: np.repeat(a, 2, axis=0)[::2],
}


@settings(deadline=None)
@given(
    m=st.integers(1, 30),
    n=st.sampled_from([1, 2, 7, 30, 80, 300, 700]),
    d=st.sampled_from([2, 3, 4, 11, 12, 25, 40]),
    columns=st.sampled_from([0, 1, 2, 3, 4, 5, 210]),
    concentration=st.sampled_from([0.0, 1e-3, 1.0, 20, 149.0, 344.0, 400.0, 700.0, 3e3, 1e5, 4e12, 1e14]),
    normalize=st.booleans(),
    exponent=st.sampled_from([0, 0, 0, -420, -290, -40, -29, 28, 29, 40, 600]),
    zeros=st.booleans(),
    layout=st.sampled_from(sorted(LAYOUTS)),
    options=st.sampled_from([{}, {"rtol": None}, {"method": "dense"}, {"workers": 2}, {"workers": -1}, {"rtol": 1e-6}]),
    off=st.sampled_from([0.0, 3e-7]),
    rng=st.integers(0, 1000),
)
def test_one_call_gives_the_bits_of_many_parts(
    m, n, d, columns, concentration, normalize, exponent, zeros, layout, options, off, rng
):
    x, b, values = problem(m, n, d, columns, rng)
    x[: m // 2] = b[np.arange(m // 2) % n]
    x, b = x * (1.0 + off), b * (1.0 - off)
    values[rng % n] *= 2.0**exponent
    if zeros:
        values[: n // 2] = 0.0
    x, b, values = (LAYOUTS[layout](a) for a in (x, b, values))
    arguments = (x, b, values, concentration)
    named = {name: option for name, option in options.items() if name != "workers"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_pairs, "WHOLE", 0)
        patch.setattr(all_pairs, "PACKED", 1)  # in parts of a block
        expected, record = explain_sum(*arguments, normalize=normalize, **named)
    quick = evaluate(*arguments, normalize=normalize, **options)
    assert quick.shape == expected.shape
    assert quick.dtype == expected.dtype
    np.testing.assert_array_equal(quick, expected)
    assert record.method == "dense"


def test_tiny_values_count_where_those_beside_them_are_too_far():
    along = 1.0 - 470.0 / 700.0  # an exponential of 2^-678, which is no reason to sum again
    b = np.array([[-1.0, 0.0], [along, np.sqrt(1.0 - along**2)]])
    result = evaluate(np.array([[1.0, 0.0]]), b, np.array([1.0, 2.0**-600]), 700.0, normalize=True)
    np.testing.assert_allclose(result, 2.0**-600, rtol=1e-12)


@pytest.mark.parametrize("n", [1500, 4079, 4081, 6500])
def test_the_bits_of_products_beside_many_near_pairs(n):
    rng = np.random.default_rng(n)
    c, b = sphere.uniform(13, 1, rng=1), sphere.uniform(13, n, rng=2)
    b -= (b @ c.T) * c
    f = np.where(rng.random(n) < 0.3, 0.99, 0.6)[:, None]
    b = f * c + np.sqrt(1.0 - f**2) * b / np.linalg.norm(b, axis=1)[:, None]
    x = c + 0.001 * sphere.uniform(13, 24, rng=3)
    x /= np.linalg.norm(x, axis=1)[:, None]
    values = rng.standard_normal(n)
    np.testing.assert_array_equal(evaluate(x, b, values, 4.0), explain_sum(x, b, values, 4.0)[0])


@pytest.mark.parametrize(
    ("m", "n", "d", "columns"), [(1, 10, 3, 0), (100, 100, 3, 0), (900, 1000, 3, 0), (9, 7, 20, 3)]
)
def test_small_sums_take_few_calls(m, n, d, columns, monkeypatch):
    monkeypatch.delenv("SPHERAPPROX_WORKERS", raising=False)
    x, b, values = problem(m, n, d, columns)
    core, split = CoreHead(b, values, 20.0), SplitHead(b, values, 20.0)
    for call in (
        lambda: evaluate(x, b, values, 20.0),
        lambda: evaluate(x, b, values, 20, normalize=True, method="dense", rtol=1e-9, workers=2),
        lambda: core(x),
        lambda: split(x),
    ):
        for _ in range(2):  # the kernels that check arguments are loaded after the first
            call()
        assert python_calls(call) < FEW
    np.testing.assert_array_equal(core(x), explain_sum(x, b, values, 20.0)[0])
    np.testing.assert_array_equal(split(x), explain_sum(x, b, values, 20.0, normalize=True)[0])


def test_sums_that_underflow_are_done_again():
    x, b = np.array([[0.0, 0.0, 1.0]]), np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    for concentration in (200.0, 300.0, 1e4, 1e9):
        result = evaluate(x, b, np.array([5.0, 3.0]), concentration, normalize=True)
        np.testing.assert_allclose(result, 3.0, rtol=1e-14)
    assert SplitHead(b[:1], np.array([5.0]), 1e4)(x).tolist() == [5.0]
    b, values = np.array([[0.0, 0.8, -0.6], [0.0, -0.8, -0.6]]), np.array([[1.0, 3.0 * 2.0**-390]] * 2)
    result = evaluate(x, b, values, 295.0, normalize=True)  # denominators of 2^-680
    np.testing.assert_allclose(result / [1.0, 2.0**-390], [[1.0, 3.0]], rtol=1e-15)


def test_one_form_of_the_kernel_is_compiled():
    kernel = load("spherapprox._kernels.summation.whole").whole_sums
    x, b, values = (LAYOUTS["read-only"](a) for a in problem(4, 6, 3, 2))
    before = len(kernel.signatures)
    evaluate(x, b, values, 20.0)
    evaluate(*(np.array(a) for a in (x, b, values)), 20.0)
    assert len(kernel.signatures) <= before + 1


def altered(array, value, at=(0, 0)):
    array = array.copy()
    array[at] = value
    return array


X, B, VALUES = problem(4, 6, 3, 2)
WRONG = {
    "x": [
        X * 1.1, X * (1.0 + 1.3e-6), altered(X, np.nan), altered(X, np.inf), X[:, :2], X[0], X[:0], X > 0.0,
        X.astype(complex), np.zeros((4, 3)), "x", None, np.ma.masked_array(X, X > 0.0),
    ],
    "control_points": [B * 0.9, altered(B, np.nan, (5, 2)), B[:, :2], B[:5], B[:0], B[None], altered(B, 1e200)],
    "values": [
        VALUES[:5], VALUES[None], altered(VALUES, np.nan), altered(VALUES, -np.inf), VALUES[:, :0], VALUES > 0.0,
    ],
    "concentration": [-1.0, np.nan, np.inf, 1e301, 10**400, "1", None, True, [1.0], np.ones(3), 1j],
    "normalize": [1, 0, "yes", None, np.ones(2)],
    "method": ["fast", "Dense", None, 1, np.array(["auto", "dense"])],
    "rtol": [0.0, -1.0, np.nan, np.inf, "small", True],
    "workers": [0, -2, 1.5, "2", True, np.ones(2)],
}  # fmt: skip


def outcome(**arguments):
    """Return the complaint about a call, or its result."""
    try:
        return evaluate(**arguments)
    except (TypeError, ValueError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_is_wrong_is_refused_in_the_same_words(name, monkeypatch):
    right = {"x": X, "control_points": B, "values": VALUES, "concentration": 20.0}
    for wrong in WRONG[name]:
        complaint = outcome(**right | {name: wrong})
        with monkeypatch.context() as patch:
            patch.setattr(all_pairs, "SMALL_WORK", 0.0)  # no sum is small
            assert isinstance(complaint, tuple), (name, wrong)
            assert outcome(**right | {name: wrong}) == complaint
    monkeypatch.setenv("SPHERAPPROX_WORKERS", "many")
    assert "SPHERAPPROX_WORKERS" in outcome(**right)[1]


def test_other_types_have_the_same_results():
    plain = evaluate(X, B, VALUES, 3.0)
    swapped = X.astype(">f8")
    for x, b, values, concentration in (
        (X.tolist(), B, VALUES, 3),
        (swapped, B, VALUES, np.float64(3.0)),
        (X, B, VALUES.tolist(), np.float32(3.0)),
        (X, B.view(np.matrix).A, VALUES, np.array(3.0)),
    ):
        np.testing.assert_array_equal(evaluate(x, b, values, concentration), plain)
    single = evaluate(*(a.astype(np.float32) for a in (X, B, VALUES)), 3.0)
    assert single.dtype == np.float32
