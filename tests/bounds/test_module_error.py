"""Errors of programs: not below what is found, not far above where gates decide, and none where nothing is computed."""

import numpy as np
import pytest

from bounds.recurrent import module_error
from spherapprox.recurrent import Input, LinState, Multiplicative, Program, ReLU, RunningMax, cycle, step

KINDS = ("interpreter", "network", "rnn", "lstm", "gru")


def smooth(kind, dtype="float64", u=0.75, v=0.5):
    x = Input(2, bound=1.0)
    return module_error(Program(x[0] * x[1]), [[u, v]], kind=kind, dtype=dtype)[0, 0]


def test_products_err_by_the_curve_of_a_sigmoid_and_by_roundings_over_its_slope():
    for kind in ("lstm", "gru"):
        assert 0.5 * 0.75**3 * 2.0**-32 / 12.0 < smooth(kind) < 1e-8
        assert 0.5 * 0.75**3 * 2.0**-14 / 12.0 < smooth(kind, "float32") < 1e-2
    assert 0.375 * 2.0**-53 <= smooth("network") < 1e-14
    curve = 0.5 * 64.0**3 * 2.0**-32 / 12.0
    assert curve <= smooth("lstm", u=64.0) <= smooth("gru", u=64.0) <= 1.01 * curve  # what is found, nearly


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_some_roundings_of_what_is_held(kind):
    x = Input(1, bound=1.0)
    small, large = (
        module_error(Program(ReLU(x)), [[size]], kind=kind, value_bound=bound)[0, 0]
        for size, bound in ((0.5, 1.0), (512.0, 1024.0))
    )
    assert 0.5 * 2.0**-53 <= small <= 1e-12
    assert 512.0 <= large / small <= 1100.0


def test_a_gru_keeps_the_start_of_a_running_maximum():
    x = Input(1, bound=1.0)
    found = {
        kind: module_error(Program(RunningMax(x, 2.0**30)), [[1.0], [0.5]], kind=kind, value_bound=2.0**31)
        for kind in KINDS
    }
    assert max(found[kind].max() for kind in ("interpreter", "network", "rnn", "lstm")) < 1e-12
    assert found["gru"].min() >= 2.0**30 * 2.0**-53


def test_a_relu_that_is_off_for_sure_forgets_all_errors():
    x = Input(1, bound=2.0**20)
    program = Program(step(LinState(x, 1.0, bound=2.0**20) - 0.5))
    x = np.full((500, 1), 3.0)
    for kind in KINDS[:-1]:
        assert (
            module_error(program, x, kind=kind)[-1]
            < 1e-13
            < module_error(Program(LinState(Input(1, bound=4.0), 1.0, bound=2.0**20)), x, kind=kind)[-1]
        )


def test_a_sum_gathers_roundings_and_a_state_that_forgets_does_not():
    x, ones = Input(1, bound=1.0), np.ones((400, 1))
    kept, lost = (module_error(Program(LinState(x, a, bound=1e3)), ones)[:, 0] for a in (1.0, 0.5))
    assert kept[399] > 100.0 * kept[9] > 0.0
    assert lost[399] <= 1.01 * lost[60]


@pytest.mark.parametrize("kind", ["interpreter", "network", "lstm", "gru"])
@pytest.mark.parametrize("second", [False, True])
def test_products_inherit_the_errors_of_both_factors(kind, second):
    x, ones = Input(1, bound=1.0), np.ones((400, 1))
    total = LinState(x, 1.0, bound=512.0)
    product = Program(Multiplicative(x, total) if second else Multiplicative(total, x))
    alone = module_error(Program(total), ones, kind=kind, value_bound=512.0)[-1]
    assert module_error(product, ones, kind=kind, value_bound=512.0)[-1] >= 0.99 * alone > 0.0


def test_a_binary_factor_is_free_where_it_is_sure():
    x = Input(1, bound=1.0)
    binary, smooth = (
        module_error(Program(Multiplicative(cycle(x, 2)[0], x, binary=binary)), np.ones((6, 1)), kind="lstm")
        for binary in (True, False)
    )
    assert binary.max() < 1e-12
    assert smooth[::2].min() > 1e-10


def test_a_binary_factor_counts_how_far_it_is_from_0_or_1():
    x = Input(2, bound=4.0)
    program = Program(Multiplicative(x[0], x[1], binary=True))
    near = [[5e-7, 3.0], [1.0 - 5e-7, 3.0], [1.0, 3.0]]
    for kind in ("lstm", "gru"):
        found = module_error(program, near, kind=kind)[:, 0]
        assert (found[:2] >= 1.5e-6).all()  # gates take them for 0 and 1
        assert (found <= [1.6e-6, 1.6e-6, 1e-11]).all()


def test_float32_counts_what_it_stores():
    x = Input(1, bound=1.0)
    program = Program(1.0 * x)
    one, other = (module_error(program, [[value]], kind="rnn", dtype="float32")[0, 0] for value in (0.5, 0.1))
    assert other >= abs(float(np.float32(0.1)) - 0.1)
    assert one < 1e-6


def test_shapes():
    program = Program(LinState(Input(3, bound=1.0), 0.5))
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    both = module_error(program, x, kind="gru")
    assert both.shape == (2, 5, 3)
    assert np.allclose(module_error(program, x[1], kind="gru"), both[1], rtol=1e-12)


def test_bad_arguments_are_refused():
    x = Input(1)
    square = Program(x * x)
    with pytest.raises(ValueError, match="multiplies nothing"):
        module_error(square, [[1.0]], kind="rnn")
    with pytest.raises(ValueError, match=r"'value_bound' must be given: recurrent\.validate"):
        module_error(square, [[1.0]], kind="lstm")
    with pytest.raises(ValueError, match="'kind' must be one of"):
        module_error(square, [[1.0]], kind="mamba")
    with pytest.raises(ValueError, match="'dtype' must be one of"):
        module_error(square, [[1.0]], dtype="float16")
    with pytest.raises(ValueError, match="'x' must have shape"):
        module_error(square, [1.0])
    with pytest.raises(TypeError, match="'program' must be"):
        module_error(x, [[1.0]])
    with pytest.raises(ValueError, match="overflow"):
        module_error(square, [[1e200]])
