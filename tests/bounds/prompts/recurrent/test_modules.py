"""Errors of programs: not below what is found, not far above where gates decide, and none where nothing is computed."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from recurrent_programs import off

from bounds.prompts.recurrent import models, module_error, modules
from bounds.prompts.recurrent.modules import _basis
from spherapprox.prompts.recurrent import Input, LinState, Multiplicative, Program, ReLU, RunningMax, cycle, step

KINDS = ("interpreter", "network", "rnn", "lstm", "gru")
PAGE = Path(__file__).parents[4] / "docs" / "theorems" / "10.6-errors-of-modules.md"


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
    result = {
        kind: module_error(Program(RunningMax(x, 2.0**30)), [[1.0], [0.5]], kind=kind, value_bound=2.0**31)
        for kind in KINDS
    }
    assert max(result[kind].max() for kind in ("interpreter", "network", "rnn", "lstm")) < 1e-12
    assert result["gru"].min() >= 2.0**30 * 2.0**-53


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
        result = module_error(program, near, kind=kind)[:, 0]
        assert (result[:2] >= 1.5e-6).all()  # gates take them for 0 and 1
        assert (result <= [1.6e-6, 1.6e-6, 1e-11]).all()


def test_float32_counts_what_it_stores():
    x = Input(1, bound=1.0)
    program = Program(1.0 * x)
    bound, second = (module_error(program, [[value]], kind="rnn", dtype="float32")[0, 0] for value in (0.5, 0.1))
    assert second >= abs(float(np.float32(0.1)) - 0.1)
    assert bound < 1e-6


def test_shapes():
    program = Program(LinState(Input(3, bound=1.0), 0.5))
    x = np.random.default_rng(0).normal(size=(2, 5, 3))
    pair = module_error(program, x, kind="gru")
    assert pair.shape == (2, 5, 3)
    assert np.allclose(module_error(program, x[1], kind="gru"), pair[1], rtol=1e-12)


def turned(dim, seed=0):
    """A rotation of R^dim."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(dim, dim)))[0]


def plane(angle, radius=1.0):
    """A rotation of the plane, enlarged."""
    return radius * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@pytest.mark.parametrize("transition", [plane(0.08), plane(1.0), turned(5), np.kron(np.eye(3), plane(0.7))])
def test_a_rotation_keeps_errors_small_for_a_thousand_steps(transition):
    program = Program(LinState(Input(1, bound=1.0), transition, np.ones((len(transition), 1)), bound=16.0))
    x = np.zeros((1000, 1))
    x[0] = 1.0
    for kind, largest in (("interpreter", 1e-9), ("lstm", 1e-8)):
        assert module_error(program, x, kind=kind)[-1].max() < largest
    assert (off(program, x[:50], program(x[:50])) <= module_error(program, x[:50])).all()


def test_float32_is_within_the_bound_of_a_rotation():
    torch = pytest.importorskip("torch")
    transition = plane(1.0).astype(np.float32).astype(float)
    program = Program(LinState(Input(1, bound=1.0), transition, [[1.0], [0.0]], bound=64.0))
    x = np.random.default_rng(0).choice([-1.0, 0.0, 0.0, 1.0], (500, 1))
    for kind in ("rnn", "lstm", "gru"):
        module = program.compile().to_torch(kind, dtype=torch.float32, value_bound=64.0)
        result = module(torch.tensor(x, dtype=torch.float32)).double().numpy()
        limit = module_error(program, x, kind=kind, dtype="float32", value_bound=64.0)
        assert (np.abs(result - program(x)) <= limit).all(), kind
        assert limit.max() < 0.3


def test_a_slow_rotation_gathers_what_float32_loses_step_by_step():
    torch = pytest.importorskip("torch")
    program = Program(LinState(Input(1, bound=1.0), plane(2.0**-12), [[1.0], [0.0]], bound=64.0))
    x = np.full((300, 1), 0.1)  # whose sums are rounded the same way for many steps
    result = program.compile().to_torch("rnn", dtype=torch.float32)(torch.tensor(x, dtype=torch.float32)).double()
    limit = module_error(program, x, kind="rnn", dtype="float32")
    assert (np.abs(result.numpy() - program(x)) <= limit).all()
    assert limit.max() < 0.1


def test_a_state_that_grows_is_bounded_by_what_its_powers_are():
    grows = np.array([[1.0, -1.0], [1.0, 1.0]]) * np.sqrt(0.5) * 1.01
    program = Program(LinState(Input(1, bound=1.0), grows, [[1.0], [0.0]]))
    x = np.zeros((1500, 1))
    x[0] = 1.0
    error = module_error(program, x)
    assert 1.0 <= error[-1].max() / error[99].max() / 1.01**1400 < 1e3
    assert (off(program, x[:99], program(x[:99])) <= error[:99]).all()


MATRICES = [
    plane(0.3), plane(2.0, 1.5), turned(4), 3.0 * turned(7, 1), np.kron(np.eye(2), plane(0.7)),
    np.array([[1.0, -2.0, 3.0], [0.0, 1.0, 5.0], [0.0, 0.0, 1.0]]), np.random.default_rng(2).normal(size=(6, 6)),
    *(plane(a) @ [[2.0, -3.0], [0.0, 1.0]] @ plane(-a) for a in range(1, 14)),  # X*X - 1 rounds to 0 for some
    *(np.outer([1.7, np.sqrt(a)], [np.sqrt(a), -1.7]) for a in range(2, 12)),  # X*AX is but roundings in a column
]  # fmt: skip


@pytest.mark.parametrize("transition", MATRICES, ids=range(len(MATRICES)))
def test_a_basis_is_bounded_with_all_its_roundings(transition):
    flint = pytest.importorskip("flint")
    scipy_linalg = pytest.importorskip("scipy.linalg")
    into, forward, out = (rows.T for rows in _basis(transition))
    x = scipy_linalg.schur(transition, output="complex")[1]
    digits = flint.ctx.dps
    try:
        flint.ctx.dps = 60
        basis = flint.acb_mat([[flint.acb(entry.real, entry.imag) for entry in row] for row in x.tolist()])
        matrix, back = flint.acb_mat([[flint.acb(entry) for entry in row] for row in transition.tolist()]), basis.inv()
        for exact_entries, bound in ((back, into), (back * matrix * basis, forward), (basis, out * (1.0 + 1e-15))):
            for entries, limits in zip(exact_entries.tolist(), bound.tolist(), strict=True):
                assert all(abs(entry) <= flint.arb(limit) for entry, limit in zip(entries, limits, strict=True))
    finally:
        flint.ctx.dps = digits


def test_a_basis_is_for_states_whose_absolute_values_grow():
    for plain in (np.eye(3), -2.0 * np.eye(2), np.array([[0.0, 1.0], [1.0, 1.0]]), np.diag([1.0, -1.0]), np.eye(501)):
        assert _basis(plain) is None


def test_roundings_of_the_analysis_itself_are_covered(monkeypatch):
    plain = models.gamma
    for file in (models, modules):
        monkeypatch.setattr(file, "gamma", lambda *numbers: plain(*numbers) * (1.0 - 5e-7))
    error = module_error(Program(ReLU(Input(1))), [[0.75]])[0, 0]
    size, unit = Fraction(3, 4), Fraction(2) ** -53
    share = sum(k * unit / (1 - k * unit) for k in (1, 5))  # of merged weights, and of the sum
    assert share * size + share * (size + 2 * share * size) <= Fraction(error)


def test_the_pages_numbers_are_what_the_function_returns():
    x, pair = Input(1, bound=1.0), Input(2, bound=1.0)
    total, ones = LinState(x, 1.0, bound=1024.0), np.full((100, 1), 0.75)
    rows = {
        "relu": (ReLU(x), [[0.75]]),
        "$0.75\\cdot0.5$": (pair[0] * pair[1], [[0.75, 0.5]]),
        "sum": (total, ones),
        "its step": (step(total), ones),
        "maximum": (RunningMax(x, 1024.0), ones),
    }
    columns = [*((kind, "float64") for kind in KINDS), *((kind, "float32") for kind in KINDS[2:])]
    lines = [line.strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
    table = {name.strip(): [cell.strip("$ ") for cell in cells] for name, *cells in lines}
    for name, (output, sequence) in rows.items():
        for cell, (kind, dtype) in zip(table[name], columns, strict=True):
            if not cell:
                continue  # an RNN multiplies nothing
            printed = float(re.sub(r"\\cdot10\^\{(.*)\}", r"e\1", cell))
            error = module_error(Program(output), sequence, kind=kind, dtype=dtype)[-1, 0]
            assert 0.94 <= printed / error <= 1.06, (name, kind, dtype, error)


def module_off(program, x, kind, dtype, value_bound):
    """What a module is off by, and the bound of it."""
    torch = pytest.importorskip("torch")
    module = program.compile().to_torch(kind, dtype=getattr(torch, dtype), value_bound=value_bound)
    result = module(torch.tensor(x, dtype=getattr(torch, dtype))).double().numpy()
    return off(program, x, result), module_error(program, x, kind=kind, dtype=dtype, value_bound=value_bound)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_values_beyond_the_value_bound_lose_what_tanh_loses(kind):
    error, limit = module_off(Program(ReLU(Input(1))), [[4096.0]], kind, "float64", 1.0)
    assert 1e3 * 4096.0 * 2.0**-53 < error.max() <= limit.max() < 1e-4


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_sizes_that_grow_from_layer_to_layer_have_no_bound_rather_than_none(kind):
    x = Input(1)
    far = ReLU(x)
    for size in (2.0**29, 2.0**45):
        assert module_error(Program(far), [[size]], kind=kind, value_bound=1.0).tolist() == [[np.inf]]
    hidden = Program(0.0 * far + ReLU(x - 1.0))  # 0 times an unknown error is unknown, too
    assert not np.isnan(module_error(hidden, [[2.0**45]], kind=kind, value_bound=1.0)).any()


def test_gates_of_a_gru_whose_arguments_are_rounded_apart_let_the_past_through():
    x = Input(3)
    program = Program(Multiplicative(1e12 * x[0] - 1e12 * x[1], x[2]))
    limit = module_error(program, [[1.0, 1.0, 1024.0], [1.0, 1.0, 0.0]], kind="gru", value_bound=1024.0)
    assert limit[1, 0] >= 2.0 * 2.0**-53 * 2e12 * 1024.0


def test_a_relu_whose_argument_is_off_zero_by_less_than_its_error_is_not_off():
    x = Input(2)
    program = Program(ReLU(49.8 - x[0] * x[1]))  # of -0.2, and of 0.43 as a gate of float32 multiplies
    error, limit = module_off(program, [[50.0, 1.0]], "lstm", "float32", 64.0)
    assert 0.3 < error.max() <= limit.max()


def test_a_binary_factor_that_errs_by_more_than_a_half_is_not_settled():
    x = Input(3)
    factor = x[0] * x[1] - 49.0  # 1, and 0.36 as a gate of float32 multiplies
    program = Program(Multiplicative(factor, x[2], binary=True))
    error, limit = module_off(program, [[50.0, 1.0, 2.0]], "lstm", "float32", 64.0)
    assert error.max() == 2.0 <= limit.max()
