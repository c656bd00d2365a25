"""Arguments of bounds on recurrent models: large and small numbers, arrays, complaints."""

import functools
import math

import pytest

from bounds.prompts import recurrent


def test_very_large_and_very_small_numbers():
    for norm in ("max", "euclidean"):
        known = {"dim": 10**6, "norm": norm}
        below, above = (recurrent.prompt_length(1e-50, theorem=name, **known).log for name in ("lower", "extension"))
        assert 0.0 < below <= above < math.inf
        assert recurrent.state_bits(1e-50, **known).log > 0.0
    assert recurrent.gate_error(1e100, sharpness=1e-60, scale=1e100, dtype="float32").log > 1000.0
    assert recurrent.gate_error(0.0, kind="gru-product", factor=0.0, sharpness=1e100, scale=1.0).value == 0.0
    assert recurrent.error_bound(dim=10**6, n=2**53, norm="euclidean", theorem="lower").value > 0.5


def test_arrays_give_bounds_of_all():
    found = recurrent.prompt_length([0.1, 0.05], dim=[[1], [2]])
    assert [[b.as_integer() for b in row] for row in found] == [[5, 10], [25, 100]]
    assert len(recurrent.gate_error([1.0, 2.0], sharpness=8.0, scale=0.1)) == 2


gate = functools.partial(recurrent.gate_error, sharpness=1.0, scale=1.0)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: recurrent.prompt_length(0.1, dim=2, theorem="grid"), TypeError, "'slope' must be given"),
        (lambda: recurrent.prompt_length(0.1, dim=2, slope=9.0), ValueError, "'slope' must be left out"),
        (lambda: recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=1.0), ValueError, "'slope' must be"),
        (lambda: recurrent.prompt_length(-0.1, dim=2), ValueError, "'eps' must be at least"),
        (lambda: recurrent.prompt_length(0.1, dim=0), ValueError, "'dim' must be at least 1"),
        (lambda: recurrent.prompt_length(0.1, dim=2, norm="sum"), ValueError, "'norm' must be"),
        (lambda: recurrent.prompt_length(0.1, dim=2, theorem="sharp"), ValueError, "'theorem' must be"),
        (lambda: recurrent.error_bound(dim=2, n=0), ValueError, "'n' must be at least 1"),
        (lambda: gate(1.0, factor=1.0), ValueError, "'factor' must be left out"),
        (lambda: gate(1.0, past=1.0), ValueError, "'past' must be left out"),
        (lambda: gate(1.0, kind="gru-product"), TypeError, "'factor' must be given"),
        (lambda: gate(1.0, dtype="float16"), ValueError, "'dtype' must be"),
        (lambda: gate(math.nan), ValueError, "'value' must be a number"),
        (lambda: recurrent.kernel_sum_error(0.0, 1.0, n=1, concentration=1.0, radius=1.0), ValueError, "'spacing'"),
    ],
)  # fmt: skip
def test_bad_arguments_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()
