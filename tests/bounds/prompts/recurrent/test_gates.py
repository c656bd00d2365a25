"""Errors of gates, against mpmath and torch."""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from bounds.prompts import recurrent
from bounds.prompts.lengths import UNITS
from bounds.prompts.recurrent.gates import RELU_GAP


def relu_cell(a, mu, eps, held=None):
    """Return the exact ReLU of an LSTM, or of a GRU that holds a value, in multiple precision."""
    a, mu, eps = (mp.mpf(x) for x in (a, mu, eps))
    gate = 1 / (1 + mp.exp(-mu * a))
    if held is None:
        return mp.tanh(gate * mp.tanh(eps * a)) / eps
    kept = (1 - gate) * eps * held
    return (gate * mp.tanh(eps * a) + kept - mp.tanh(kept)) / eps


@mp.workdps(40)
def test_the_gate_of_a_relu_is_as_far_off_as_is_said():
    result = minimize_scalar(lambda x: -(x / (1.0 + math.exp(x))), bounds=(0.0, 5.0), method="bounded")
    assert -result.fun == pytest.approx(RELU_GAP, rel=1e-12)
    assert float(mp.lambertw(mp.exp(-1))) == pytest.approx(RELU_GAP, rel=1e-15)
    cases = [(1.278 / 8, 8.0, 2.0**-20, None), (-1.278 / 8, 8.0, 2.0**-20, None), (50.0, 2.0**30, 2.0**-12, None)]
    cases += [(1.278 / 8, 8.0, 2.0**-20, 0.0), (-50.0, 2.0**30, 2.0**-12, 50.0), (50.0, 2.0**30, 2.0**-12, 0.0)]
    for a, mu, eps, held in cases:
        bound = recurrent.gate_error(
            abs(a), kind="lstm" if held is None else "gru", sharpness=mu, scale=eps, past=held, dtype=None
        )  # fmt: skip
        error = float(abs(relu_cell(a, mu, eps, held) - max(a, 0.0)))
        assert error <= bound.value * (1.0 + 1e-12)
        assert error >= 0.95 * bound.value


def test_a_gate_whose_functions_err_as_much_as_they_may():
    unit, mu, eps = 2.0**-24, 2.0**30, 2.0**-13
    for a in (np.linspace(-1e-3, 1e-3, 11) + 1.0 + RELU_GAP) / mu:  # where a (1 - sigmoid(mu a)) is largest
        gate = 1.0 / (1.0 + math.exp(-mu * a)) * (1.0 - 4.0 * unit)
        result = gate * math.tanh(eps * a) * (1.0 - 4.0 * unit) * (1.0 - unit) / eps
        bound = recurrent.gate_error(a, sharpness=mu, scale=eps, dtype="float32")
        assert a - result <= bound.value


@mp.workdps(40)
def test_no_relu_is_further_off():
    rng = np.random.default_rng(0)
    for kind in ("lstm", "gru"):
        for _ in range(300):
            mu, eps, size = 2.0 ** rng.uniform(0, 12), 2.0 ** rng.uniform(-16, -2), 2.0 ** rng.uniform(-3, 4)
            a, held = rng.uniform(-size, size), rng.uniform(-size, size) if kind == "gru" else None
            bound = recurrent.gate_error(
                abs(a), kind=kind, sharpness=mu, scale=eps, past=None if held is None else abs(held), dtype=None
            )  # fmt: skip
            assert abs(relu_cell(a, mu, eps, held) - max(a, 0.0)) <= bound.value * (1.0 + 1e-12)


def product_cells(u, v, delta, eps):
    """Return the exact products that gates of an LSTM, and of a GRU after the same steps, have for two sequences."""
    delta, eps = mp.mpf(delta), mp.mpf(eps)
    lstm, gru, held = [], [], [mp.mpf(0), mp.mpf(0)]
    for x, y in zip(u, v, strict=True):
        outer = mp.tanh(eps * mp.mpf(y))
        gates = [1 / (1 + mp.exp(-sign * delta * mp.mpf(x))) for sign in (1, -1)]
        lstm.append((mp.tanh(gates[0] * outer) - mp.tanh(gates[1] * outer)) * 2 / (delta * eps))
        second = [mp.tanh((1 - gate) * h) for gate, h in zip(gates, held, strict=True)]
        held = [gate * outer + (1 - gate) * h for gate, h in zip(gates, held, strict=True)]
        gru.append((held[0] - second[0] - held[1] + second[1]) * 2 / (delta * eps))
    return lstm, gru


@mp.workdps(40)
@pytest.mark.parametrize("kind", ["lstm-product", "gru-product"])
def test_products_by_gates_are_as_far_off_as_is_said(kind):
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(60):
        delta, eps, U, V = 2.0 ** rng.uniform(-10, 1), 2.0 ** rng.uniform(-12, -1), *2.0 ** rng.uniform(-2, 2, 2)
        u, v = rng.uniform(-U, U, 6), rng.uniform(-V, V, 6)
        options = {"kind": kind, "sharpness": delta, "scale": eps, "dtype": None}
        result = product_cells(u, v, delta, eps)[kind == "gru-product"]
        for t, output in enumerate(result):
            sizes = (abs(u[t]), abs(v[t])) if kind == "lstm-product" else (np.abs(u).max(), np.abs(v).max())
            bound = recurrent.gate_error(sizes[0], factor=sizes[1], **options).value
            largest = max(largest, float(abs(output - mp.mpf(u[t]) * mp.mpf(v[t]))) / bound)
            assert largest <= 1.0 + 1e-12
    # each part alone is attained
    for delta, eps, least in ((2.0**-3, 2.0**-20, 0.95), (2.0**-12, 2.0**-6, 0.8 if kind == "lstm-product" else 0.25)):
        options = {"kind": kind, "sharpness": delta, "scale": eps, "dtype": None}
        output = product_cells([2.0] * 8, [3.0] * 8, delta, eps)[kind == "gru-product"][-1]
        assert float(abs(output - 6)) >= least * recurrent.gate_error(2.0, factor=3.0, **options).value


def torch_layer(kind, mu, eps, dtype, *, product=False):
    """Return one stock layer of PyTorch on inputs a (or u, v), and its read-out row."""
    torch = pytest.importorskip("torch")
    kinds = {"float64": torch.float64, "float32": torch.float32}
    gates, inputs = ([[mu], [-mu]] if product else [[mu]]), 2 if product else 1
    width = len(gates)
    gate = torch.tensor(gates, dtype=kinds[dtype])
    gate = torch.cat([gate, torch.zeros_like(gate)], dim=1) if product else gate
    value = torch.zeros(width, inputs, dtype=kinds[dtype])
    value[:, -1] = eps
    zero, big = torch.zeros_like(gate), 1000.0 * torch.ones(width, dtype=kinds[dtype])
    units = width if kind == "lstm" else 2 * width
    layer = (torch.nn.LSTM if kind == "lstm" else torch.nn.GRU)(inputs, units, batch_first=True, dtype=kinds[dtype])
    row = torch.tensor([2.0 / mu, -2.0 / mu] if product else [1.0], dtype=torch.float64) / eps
    with torch.no_grad():
        for weight in layer.parameters():
            weight.zero_()
        if kind == "lstm":
            layer.weight_ih_l0.copy_(torch.cat([gate, zero, value, zero]))
            layer.bias_ih_l0.copy_(torch.cat([0 * big, -big, 0 * big, big]))
            return layer, row
        layer.weight_ih_l0.copy_(torch.cat([zero, -gate, -gate, zero, value, zero]))
        layer.bias_ih_l0.copy_(torch.cat([big, 0 * big, 0 * big, -big, 0 * big, 0 * big]))
        layer.weight_hh_l0[5 * width :, :width] = torch.eye(width)
        return layer, torch.cat([row, -row])


def adversarial(rng, shape, size, mu):
    """Return values of all sizes, among them those at which gates are half open, and neighbours of powers of two."""
    wide = rng.uniform(-size, size, shape)
    near = rng.uniform(-3.0, 3.0, shape) / mu
    powers = 2.0 ** rng.integers(-6, math.floor(math.log2(size)), shape) * (1.0 + rng.normal(0.0, 1e-6, shape))
    return np.choose(rng.integers(0, 3, shape), [wide, near, rng.choice([-1.0, 1.0], shape) * powers])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_relus_by_torch_are_within_the_bound(kind, dtype):
    torch = pytest.importorskip("torch")
    rng, unit = np.random.default_rng(0), UNITS[dtype]
    for log_mu, log_eps in ((3, -10), (20, -6), (30, -12), (30, -20), (60, -40)):
        mu, eps, size = 2.0**log_mu, 2.0**log_eps, 100.0
        layer, row = torch_layer(kind, mu, eps, dtype)
        a = torch.tensor(adversarial(rng, (30, 30, 1), size, mu), dtype=layer.weight_ih_l0.dtype)
        with torch.no_grad():
            output = (layer(a)[0].double() @ row).numpy()
        a = a.double().numpy()[..., 0]
        error = np.abs(output - np.maximum(a, 0.0))
        held = np.maximum.accumulate(np.abs(a), axis=1)
        options = {"kind": kind, "sharpness": mu, "scale": eps, "dtype": dtype}
        limit = [
            recurrent.gate_error(value, **options).value for value in (held if kind == "gru" else np.abs(a)).ravel()
        ]
        assert (error.ravel() <= np.array(limit)).all()
        if log_mu == 60 and kind == "lstm":  # the program itself
            assert error[np.abs(a) >= 745.0 / mu].max() == 0.0
        if log_mu == 60 and kind == "gru":
            assert unit * 50.0 < error.max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_of_torch_are_as_accurate_as_is_supposed(dtype):
    torch = pytest.importorskip("torch")
    rng, unit = np.random.default_rng(0), UNITS[dtype]
    for size in (1e-8, 1e-3, 0.1, 1.0, 5.0, 20.0, 80.0):
        for shape in ((50_000,), (1,)):  # vectors, and what is left of them
            x = rng.uniform(-size, size, shape).astype(dtype)
            wide, tensor = x.astype(np.longdouble), torch.tensor(x)
            gate, curve = (f(tensor).numpy().astype(np.longdouble) for f in (torch.sigmoid, torch.tanh))
            assert np.abs(gate * (1.0 + np.exp(-wide)) - 1.0).max() <= 3.0 * unit
            assert np.abs(curve / np.tanh(wide) - 1.0).max() <= 2.0 * unit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_roundings_of_relus_are_near_what_is_said(kind, dtype):
    # a value just above a power of two, held while one as far below 0 comes: their difference loses two units
    torch = pytest.importorskip("torch")
    rng, mu, eps = np.random.default_rng(0), 2.0**60, 2.0**-10
    layer, row = torch_layer(kind, mu, eps, dtype)
    above = 64.0 * (1.0 + rng.uniform(0.0, 0.01, (20_000, 1)))
    a = np.stack([above, -above * (1.0 - rng.uniform(0.0, 0.02, above.shape))], axis=1).astype(dtype)
    with torch.no_grad():
        output = (layer(torch.tensor(a))[0].double() @ row).numpy()
    outer = np.tanh(eps * a[..., 0].astype(np.longdouble))
    exact = np.stack(
        [np.tanh(outer[:, 0]) if kind == "lstm" else outer[:, 0], outer[:, 0] - np.tanh(outer[:, 0])], axis=1
    )
    if kind == "lstm":
        exact[:, 1] = 0.0
    error = float(np.abs(output - exact / eps).max())
    rounded = dict(
        recurrent.gate_error(float(np.abs(a).max()), kind=kind, sharpness=mu, scale=eps, dtype=dtype).constants
    )["roundings"]
    assert 0.45 * rounded <= error <= rounded


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_products_by_torch_are_within_the_bound(kind, dtype):
    torch = pytest.importorskip("torch")
    rng, unit = np.random.default_rng(0), UNITS[dtype]
    for log_delta, log_eps in ((-3, -20), (-20, -40), (-7, -25)):
        delta, eps = 2.0**log_delta, 2.0**log_eps
        layer, row = torch_layer(kind, delta, eps, dtype, product=True)
        x = torch.tensor(rng.uniform(-4.0, 4.0, (200, 20, 2)), dtype=layer.weight_ih_l0.dtype)
        with torch.no_grad():
            output = (layer(x)[0].double() @ row).numpy()
        u, v = x.double().numpy()[..., 0], x.double().numpy()[..., 1]
        options = {"kind": f"{kind}-product", "sharpness": delta, "scale": eps, "dtype": dtype}
        bound = recurrent.gate_error(np.abs(u).max(), factor=np.abs(v).max(), **options)
        error = np.abs(output - u * v).max()
        assert error <= bound.value
        if log_delta == -20:
            rounded = dict(bound.constants)["roundings"]
            assert rounded > 0.9 * bound.value
            assert error >= 0.1 * rounded
            assert rounded >= 4.0 * unit / delta


def test_very_large_and_very_small_numbers():
    assert recurrent.gate_error(1e100, sharpness=1e-60, scale=1e100, dtype="float32").log > 1000.0
    assert recurrent.gate_error(0.0, kind="gru-product", factor=0.0, sharpness=1e100, scale=1.0).value == 0.0
    assert len(recurrent.gate_error([1.0, 2.0], sharpness=8.0, scale=0.1)) == 2
