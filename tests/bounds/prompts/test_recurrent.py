"""`bounds.prompts.recurrent`: every promised number against what it bounds, and how far they are apart."""

import functools
import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bounds.prompts import recurrent
from bounds.records import HypothesisError

NEAR = {"rel": 1e-9}


def grid_weights(q, cells, slope):
    """Return the weights that the program of a grid gives to its cells on an axis, and their centres."""
    at = 1.0 / slope + q * (1.0 - 2.0 / slope)
    faces = np.arange(cells + 1) / cells
    rise = np.clip(0.5 * slope * (at[:, None] - faces + 1.0 / slope), 0.0, 1.0)
    return rise[:, :-1] - rise[:, 1:], (faces[:-1] + faces[1:]) / 2.0


def grid_worst(cells, slope, dim, norm, points=1001):
    """Return the worst error of Lipschitz functions, sup_q of the mean of |q - C|, on the diagonal and beside it."""
    q = np.concatenate(
        [np.linspace(0.0, 1.0, points), *(k / cells + np.linspace(-3, 3, 121) / slope for k in range(cells + 1))]
    )
    q = q[(q >= 0.0) & (q <= 1.0)]
    weights, centres = grid_weights(q, cells, slope)
    assert np.abs(weights.sum(axis=1) - 1.0).max() <= 1e-9
    far = np.abs(q[:, None] - centres)
    if dim == 1 and slope >= 2.0 * cells:  # anything between the value of the larger share and the mean of both
        first = np.argsort(-weights, axis=1)[:, :2]
        shares, apart = (np.take_along_axis(array, first, axis=1) for array in (weights, far))
        return max(apart[:, 0].max(), (apart.mean(axis=1) * (shares.min(axis=1) > 0.0)).max())
    if dim == 1:
        return (weights * far).sum(axis=1).max()
    joint = weights[:, :, None] * weights[:, None, :]
    both = np.maximum(far[:, :, None], far[:, None, :]) if norm == "max" else np.hypot(far[:, :, None], far[:, None, :])
    return (joint * both).sum(axis=(1, 2)).max()


def test_lengths_of_the_specification():
    known = {"dim": 2, "norm": "euclidean"}
    assert recurrent.prompt_length(0.05, theorem="extension", dim=2).as_integer() == 100
    assert recurrent.prompt_length(0.05, theorem="grid-printed", **known).as_integer() == 225
    assert recurrent.prompt_length(0.05, theorem="extension", **known).as_integer() == 225  # one class, one length
    assert recurrent.prompt_length(0.1, theorem="extension", dim=8).as_integer() == 390_625
    assert recurrent.prompt_length(0.1, theorem="grid-printed", dim=8, norm="euclidean").as_integer() == 15**8


@pytest.mark.parametrize(("dim", "radius"), [(1, 0.05), (1, 0.051), (2, 0.21), (2, 0.25), (3, 0.3), (3, 0.6)])
def test_the_cube_is_covered_by_exactly_so_many_balls_of_the_maximum_norm(dim, radius):
    count = recurrent.prompt_length(radius, dim=dim, theorem="lower").as_integer()
    assert count == recurrent.prompt_length(radius, dim=dim, theorem="extension").as_integer()
    cells = round(count ** (1.0 / dim))
    centres = (np.arange(cells) + 0.5) / cells
    x = np.linspace(0.0, 1.0, 2001)
    assert np.abs(x[:, None] - centres).min(axis=1).max() <= radius * (1.0 + 1e-12)
    if cells > 1:  # no ball holds two of these
        assert 1.0 / (cells - 1) > 2.0 * radius


@settings(max_examples=100, deadline=None)
@given(
    dim=st.integers(1, 40),
    log_eps=st.floats(-8.0, 0.3),
    log_lip=st.floats(-2.0, 2.0),
    norm=st.sampled_from(["max", "euclidean"]),
)
def test_lower_bounds_are_below_upper_ones_and_lengths_give_their_errors(dim, log_eps, log_lip, norm):
    eps, known = 10.0**log_eps, {"dim": dim, "lipschitz": 10.0**log_lip, "norm": norm}
    below, above = (recurrent.prompt_length(eps, theorem=name, **known) for name in ("lower", "extension"))
    assert below.log <= above.log
    slope = 16.0 * known["lipschitz"] * math.sqrt(dim) / eps + 2.0
    grid = recurrent.prompt_length(eps, theorem="grid", slope=slope, **known)
    assert above.log <= grid.log < math.inf
    if grid.log < 25.0:
        for bound, slope in ((above, None), (grid, slope)):  # noqa: B020
            n, more = bound.as_integer(), {"theorem": bound.theorem, "slope": slope, **known}
            assert recurrent.error_bound(n=n, **more).value <= eps * (1.0 + 1e-9)
            if n > 1:
                assert recurrent.error_bound(n=n - 1, **more).value > eps * (1.0 - 1e-9)
        n = below.as_integer()
        assert recurrent.error_bound(n=n, theorem="lower", **known).value <= eps * (1.0 + 1e-9)
        if n > 1:
            assert recurrent.error_bound(n=n - 1, theorem="lower", **known).value > eps * (1.0 - 1e-9)


@pytest.mark.parametrize("cells", [1, 2, 30])
@pytest.mark.parametrize("steps", [2.0, 2.5, 10.0, 1000.0])
@pytest.mark.parametrize(("dim", "norm"), [(1, "max"), (2, "max"), (2, "euclidean")])
def test_the_grid_errs_as_is_said(cells, steps, dim, norm):
    slope = steps * cells
    worst = grid_worst(cells, slope, dim, norm)
    bound = recurrent.error_bound(dim=dim, n=cells**dim, theorem="grid", norm=norm, slope=slope).value
    assert worst <= bound * (1.0 + 1e-9)
    if (dim == 1 or norm == "euclidean") and cells == 30:  # few cells have few ramps, none near the ends
        assert bound <= (1.03 if dim == 1 else 1.11) * worst
    if steps == 1000.0:
        assert bound <= 1.005 * worst


def test_ramps_wider_than_cells_keep_the_general_bound():
    for cells, slope in ((5, 4.0), (9, 2.0)):
        general = 0.5 / cells + 2.0 / slope
        assert grid_worst(cells, slope, 1, "max") <= general
        assert recurrent.error_bound(dim=2, n=cells**2, theorem="grid", slope=slope).value == pytest.approx(general)


@pytest.mark.parametrize(("dim", "norm"), [(1, "max"), (2, "max"), (2, "euclidean")])
def test_more_values_never_make_a_grid_worse(dim, norm):
    found = recurrent.error_bound(dim=dim, n=np.arange(1, 40) ** dim, theorem="grid", norm=norm, slope=20.0)
    errors = [bound.value for bound in found]
    assert errors == sorted(errors, reverse=True)
    assert recurrent.error_bound(dim=1, n=11, theorem="grid", slope=20.0).value == pytest.approx(0.1)  # 10 cells


def test_a_slope_that_no_grid_makes_up_for():
    bound = recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=19.0)
    assert bound.log == math.inf
    assert bound.failed == ("slope > 2 lipschitz / eps",)
    assert recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=21.0).log < math.inf
    for dim, slopes, cells in ((1, (19.9, 20.1), 10), (2, (19.9, 20.1), 10)):
        narrow, wide = (
            recurrent.prompt_length(0.1, dim=dim, theorem="grid", norm="euclidean", slope=s) for s in slopes
        )
        assert narrow.failed == ("cells at least 2/slope wide",)
        assert wide.as_integer() == cells**dim
    with pytest.raises(HypothesisError, match="slope > 2"):
        recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=19.0).require()


def test_the_extension_attains_its_error_and_no_sampling_does_better():
    # two functions that vanish at all points, apart by twice the distance: the middle errs by it
    rng = np.random.default_rng(0)
    x = rng.random((4000, 2))
    for cells in (2, 5):
        points = np.array([*itertools.product((np.arange(cells) + 0.5) / cells, repeat=2)])
        for given_points in (points, rng.random(points.shape)):
            far = np.abs(x[:, None] - given_points).max(axis=2).min(axis=1).max()
            assert far >= recurrent.error_bound(dim=2, n=cells**2, theorem="lower").value * 0.95
            both = np.linalg.norm(x[:, None] - given_points, axis=2).min(axis=1).max()
            assert both >= recurrent.error_bound(dim=2, n=cells**2, theorem="lower", norm="euclidean").value * 0.95


def test_discs_cover_no_square_more_cheaply_than_the_plane():
    radius = 0.05
    count = recurrent.prompt_length(radius, dim=2, theorem="lower", norm="euclidean").as_integer()
    assert count == math.ceil(2.0 * math.pi / math.sqrt(27.0) / (math.pi * radius**2))
    rows = np.arange(14) * 1.5 * radius + 0.5 * radius
    columns = np.arange(13) * math.sqrt(3.0) * radius
    discs = np.array([(c - 0.5 * math.sqrt(3.0) * radius * (i % 2), r) for i, r in enumerate(rows) for c in columns])
    x = np.array([*itertools.product(np.linspace(0.0, 1.0, 201), repeat=2)])
    assert (
        max(np.linalg.norm(part[:, None] - discs, axis=2).min(axis=1).max() for part in np.array_split(x, 20))
        < 0.0500001
    )
    assert count < len(discs) == 182 < recurrent.prompt_length(radius, dim=2, norm="euclidean").as_integer()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_states_have_to_hold_a_bit_for_each_of_many_points(dim):
    for eps, lipschitz in ((0.11, 1.0), (0.1, 1.0), (0.3, 2.0), (0.7, 1.0)):
        count = recurrent.state_bits(eps, dim=dim, lipschitz=lipschitz).as_integer()
        side = round(count ** (1.0 / dim))
        axis = np.linspace(0.0, 1.0, side) if side > 1 else np.zeros(1)
        points = np.array([*itertools.product(axis, repeat=dim)])
        assert len(points) == count
        apart = min((np.abs(p - q).max() for p, q in itertools.combinations(points, 2)), default=math.inf)
        assert apart > 2.0 * eps / lipschitz
        # cells of this side hold one point each
        assert 1.0 / side <= 2.0 * eps / lipschitz * (1.0 + 1e-12)
        height = min(0.5 * lipschitz * apart, 2.0 * eps)
        assert height > eps
        signs = np.random.default_rng(0).choice([-1.0, 1.0], count)
        x = np.random.default_rng(1).random((200, dim))
        near = np.abs(np.concatenate([points, x])[:, None] - points).max(axis=2)
        f = (signs * np.maximum(height - lipschitz * near, 0.0)).sum(axis=1)
        assert np.array_equal(f[:count], signs * height)
        slopes = np.abs(f[count:, None] - f[None, count:]) - lipschitz * np.abs(x[:, None] - x).max(axis=2)
        assert slopes.max() <= 1e-12


def test_bits_in_the_euclidean_norm():
    for dim in (1, 2, 8, 24, 40, 200):
        known = {"dim": dim, "norm": "euclidean"}
        assert recurrent.state_bits(0.01, **known).log >= recurrent.state_bits(0.01, dim=dim).log
    # a Leech lattice of minimal distance 0.02 has a point in each 0.01^24 of volume
    assert recurrent.state_bits(0.01, dim=24, norm="euclidean").log == pytest.approx(-24.0 * math.log(0.01), rel=1e-12)
    assert recurrent.state_bits(0.01, dim=2, norm="euclidean").as_integer() == math.ceil(1.0 / (math.sqrt(12.0) * 1e-4))


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
    found = minimize_scalar(lambda x: -(x / (1.0 + math.exp(x))), bounds=(0.0, 5.0), method="bounded")
    assert -found.fun == pytest.approx(recurrent.RELU_GAP, rel=1e-12)
    assert float(mp.lambertw(mp.exp(-1))) == pytest.approx(recurrent.RELU_GAP, rel=1e-15)
    cases = [(1.278 / 8, 8.0, 2.0**-20, None), (-1.278 / 8, 8.0, 2.0**-20, None), (50.0, 2.0**30, 2.0**-12, None)]
    cases += [(1.278 / 8, 8.0, 2.0**-20, 0.0), (-50.0, 2.0**30, 2.0**-12, 50.0), (50.0, 2.0**30, 2.0**-12, 0.0)]
    for a, mu, eps, held in cases:
        bound = recurrent.gate_error(
            abs(a), kind="lstm" if held is None else "gru", sharpness=mu, scale=eps, past=held, dtype=None
        )  # fmt: skip
        error = float(abs(relu_cell(a, mu, eps, held) - max(a, 0.0)))
        assert error <= bound.value * (1.0 + 1e-12)
        assert error >= 0.95 * bound.value


def test_wholes_that_floats_have_a_little_above_are_no_more():
    for k in range(2, 60):
        for j in (1, 3, 7, 13):
            eps, lip = round(0.001 * j, 6), round(0.002 * k * j, 6)  # 2 k balls of radius eps / lip, of a line's length
            found = recurrent.prompt_length(eps, dim=3, lipschitz=lip, theorem="lower")
            assert found.as_integer() == k**3
        assert recurrent.prompt_length(0.5 / k, dim=1, theorem="lower", norm="euclidean").as_integer() == k


def test_a_gate_whose_functions_err_as_much_as_they_may():
    unit, mu, eps = 2.0**-24, 2.0**30, 2.0**-13
    for a in (np.linspace(-1e-3, 1e-3, 11) + 1.0 + recurrent.RELU_GAP) / mu:  # where a (1 - sigmoid(mu a)) is largest
        gate = 1.0 / (1.0 + math.exp(-mu * a)) * (1.0 - 4.0 * unit)
        found = gate * math.tanh(eps * a) * (1.0 - 4.0 * unit) * (1.0 - unit) / eps
        bound = recurrent.gate_error(a, sharpness=mu, scale=eps, dtype="float32")
        assert a - found <= bound.value


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
        known = {"kind": kind, "sharpness": delta, "scale": eps, "dtype": None}
        found = product_cells(u, v, delta, eps)[kind == "gru-product"]
        for t, got in enumerate(found):
            sizes = (abs(u[t]), abs(v[t])) if kind == "lstm-product" else (np.abs(u).max(), np.abs(v).max())
            bound = recurrent.gate_error(sizes[0], factor=sizes[1], **known).value
            largest = max(largest, float(abs(got - mp.mpf(u[t]) * mp.mpf(v[t]))) / bound)
            assert largest <= 1.0 + 1e-12
    # each part alone is attained
    for delta, eps, least in ((2.0**-3, 2.0**-20, 0.95), (2.0**-12, 2.0**-6, 0.8 if kind == "lstm-product" else 0.25)):
        known = {"kind": kind, "sharpness": delta, "scale": eps, "dtype": None}
        got = product_cells([2.0] * 8, [3.0] * 8, delta, eps)[kind == "gru-product"][-1]
        assert float(abs(got - 6)) >= least * recurrent.gate_error(2.0, factor=3.0, **known).value


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
    rng, unit = np.random.default_rng(0), recurrent.UNITS[dtype]
    for log_mu, log_eps in ((3, -10), (20, -6), (30, -12), (30, -20), (60, -40)):
        mu, eps, size = 2.0**log_mu, 2.0**log_eps, 100.0
        layer, row = torch_layer(kind, mu, eps, dtype)
        a = torch.tensor(adversarial(rng, (60, 30, 1), size, mu), dtype=layer.weight_ih_l0.dtype)
        with torch.no_grad():
            got = (layer(a)[0].double() @ row).numpy()
        a = a.double().numpy()[..., 0]
        error = np.abs(got - np.maximum(a, 0.0))
        held = np.maximum.accumulate(np.abs(a), axis=1)
        known = {"kind": kind, "sharpness": mu, "scale": eps, "dtype": dtype}
        limit = [recurrent.gate_error(value, **known).value for value in (held if kind == "gru" else np.abs(a)).ravel()]
        assert (error.ravel() <= np.array(limit)).all()
        if log_mu == 60 and kind == "lstm":  # the program itself
            assert error[np.abs(a) >= 745.0 / mu].max() == 0.0
        if log_mu == 60 and kind == "gru":
            assert unit * 50.0 < error.max()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_functions_of_torch_are_as_accurate_as_is_supposed(dtype):
    torch = pytest.importorskip("torch")
    rng, unit = np.random.default_rng(0), recurrent.UNITS[dtype]
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
        got = (layer(torch.tensor(a))[0].double() @ row).numpy()
    outer = np.tanh(eps * a[..., 0].astype(np.longdouble))
    exact = np.stack(
        [np.tanh(outer[:, 0]) if kind == "lstm" else outer[:, 0], outer[:, 0] - np.tanh(outer[:, 0])], axis=1
    )
    if kind == "lstm":
        exact[:, 1] = 0.0
    error = float(np.abs(got - exact / eps).max())
    rounded = dict(
        recurrent.gate_error(float(np.abs(a).max()), kind=kind, sharpness=mu, scale=eps, dtype=dtype).constants
    )["roundings"]
    assert 0.45 * rounded <= error <= rounded


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_products_by_torch_are_within_the_bound(kind, dtype):
    torch = pytest.importorskip("torch")
    rng, unit = np.random.default_rng(0), recurrent.UNITS[dtype]
    for log_delta, log_eps in ((-3, -20), (-20, -40), (-7, -25)):
        delta, eps = 2.0**log_delta, 2.0**log_eps
        layer, row = torch_layer(kind, delta, eps, dtype, product=True)
        x = torch.tensor(rng.uniform(-4.0, 4.0, (200, 20, 2)), dtype=layer.weight_ih_l0.dtype)
        with torch.no_grad():
            got = (layer(x)[0].double() @ row).numpy()
        u, v = x.double().numpy()[..., 0], x.double().numpy()[..., 1]
        known = {"kind": f"{kind}-product", "sharpness": delta, "scale": eps, "dtype": dtype}
        bound = recurrent.gate_error(np.abs(u).max(), factor=np.abs(v).max(), **known)
        error = np.abs(got - u * v).max()
        assert error <= bound.value
        if log_delta == -20:
            rounded = dict(bound.constants)["roundings"]
            assert rounded > 0.9 * bound.value
            assert error >= 0.1 * rounded
            assert rounded >= 4.0 * unit / delta


def chords(u, spacing, depth):
    """Return exp by chords at knots on [-depth, ...], less its value at the first."""
    knots = -depth + spacing * np.arange(math.ceil(depth / spacing) + 2)
    return np.where(u < -depth, 0.0, np.interp(u, knots, np.exp(knots)) - math.exp(-depth))


@pytest.mark.parametrize("spacing", [0.05, 0.4, 1.5])
def test_kernel_sums_by_chords(spacing):
    rng = np.random.default_rng(0)
    angle, lam = np.linspace(0.0, 2.0 * math.pi, 40, endpoint=False), 30.0
    q = rng.uniform(0.0, 2.0 * math.pi, 500)
    u = lam * (np.cos(q[:, None] - angle) - 1.0)
    for depth in (8.0, 12.0, 30.0):
        known = {"n": 40, "concentration": lam, "radius": math.pi / 40}
        bound = recurrent.kernel_sum_error(spacing, depth, **known)
        for values in (rng.choice([-1.0, 1.0], 40), rng.uniform(-1.0, 1.0, 40)):
            exact = (np.exp(u) @ values) / np.exp(u).sum(axis=1)
            made = chords(u, spacing, depth)
            assert np.abs(made @ values / made.sum(axis=1) - exact).max() <= bound.value
    # one term above, one exact: the part of the chords is attained
    at = np.array([-20.0 * spacing, -20.5 * spacing])
    weights = np.exp(at) / np.exp(at)[0]
    made = chords(at, spacing, 60.0) / np.exp(at)[0]
    copies = np.array([1.0, 1.0 / weights[1]])  # as much of the second
    ratio = (made * copies) @ [1.0, -1.0] / ((made * copies).sum())
    bound = recurrent.kernel_sum_error(spacing, 60.0, n=1, concentration=0.0, radius=0.0).value
    assert abs(ratio) <= bound
    assert abs(ratio) >= (0.95 if spacing < 1.0 else 0.75) * bound


@pytest.mark.parametrize(("lam", "radius"), [(0.0, 0.0), (5.0, 1.0)])
def test_kernel_sums_lose_what_is_deep(lam, radius):
    # one token at the covering radius, and many of the other value at the first knot, which count as 0
    depth, n, spacing = 15.0, 2000, 1e-4
    u = np.append(-depth * np.ones(n - 1), -lam * (1.0 - math.cos(radius)))
    values = np.append(-np.ones(n - 1), 1.0)
    exact = np.exp(u) @ values / np.exp(u).sum()
    made = chords(u, spacing, depth)
    error = abs(made @ values / made.sum() - exact)
    bound = recurrent.kernel_sum_error(spacing, depth, n=n, concentration=lam, radius=radius).value
    assert 0.9 * bound <= error <= bound


def test_kernel_sums_that_lose_too_much():
    bound = recurrent.kernel_sum_error(0.1, 5.0, n=300, concentration=60.0, radius=0.15)
    assert bound.log == math.inf
    assert bound.failed == ("N e^-depth < e^(-lambda (1 - cos radius))",)
    with pytest.raises(HypothesisError):
        recurrent.kernel_sum_error(0.1, 5.0, n=300, concentration=60.0, radius=0.15).require()
    half = recurrent.kernel_sum_error(1e-30, 10.0 + math.log(2.0), n=1, concentration=10.0, radius=0.5 * math.pi)
    assert half.value == pytest.approx(2.0, **NEAR)  # of beta = 1/2
    small = recurrent.kernel_sum_error(1e-30, 1e3, n=1, concentration=1.0, radius=0.1)
    assert small.value == pytest.approx(1e-60 / 16.0, **NEAR)


def test_very_large_and_very_small_numbers():
    for norm in recurrent.NORMS:
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
