"""Arguments of bounds on recurrent models: large and small numbers, arrays, complaints."""

import math

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
