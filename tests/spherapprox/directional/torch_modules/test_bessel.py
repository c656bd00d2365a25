"""Bessel functions in torch against the core, mpmath and finite differences."""

import mpmath
import numpy as np
import pytest

from spherapprox import special

torch = pytest.importorskip("torch")

from spherapprox.directional.torch_modules import iv_ratio, log_iv  # noqa: E402

float64 = torch.float64
COLUMNS = [2, 3, 4, 5, 17, 41, 42, 43, 64, 128, 768, 4096, 10**5]
CONCENTRATIONS = np.concatenate([[0.0], np.logspace(-8, 7, 76)])


def truth(v, x):
    """Return A, A' and A'' in 60 digits, by Perron's continued fraction and Riccati's equation."""
    with mpmath.workdps(60):
        v, x = mpmath.mpf(v), mpmath.mpf(x)
        tail = 2 * v + 2 * x + 402
        for k in range(400, 0, -1):
            tail = 2 * v + 2 * x + 2 + k - (2 * v + 2 * k + 3) * x / tail
        a = x / (x + 2 * v + 2 - (2 * v + 3) * x / tail)
        slope = 1 - a * a - (2 * v + 1) * a / x
        return float(a), float(slope), float(-2 * a * slope - (2 * v + 1) * (slope / x - a / x**2))


def derivatives(function, v, x, n):
    """Return a function and its first n derivatives."""
    x = torch.tensor(x, dtype=float64, requires_grad=True)
    results = [function(v, x)]
    for _ in range(n):
        results.append(torch.autograd.grad(results[-1].sum(), x, create_graph=True)[0])
    return [r.detach().numpy() for r in results]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_they_are_the_cores(columns, dtype):
    v, x = 0.5 * columns - 1.0, torch.tensor(CONCENTRATIONS, dtype=dtype)
    exact = x.double().numpy()
    tolerance = 1e-12 if dtype == float64 else 1e-7
    ratio, log = iv_ratio(v, x), log_iv(v, x)
    assert ratio.dtype == log.dtype == dtype
    np.testing.assert_allclose(ratio, special.iv_ratio(v, exact, 1), rtol=2e-15 if dtype == float64 else 1e-7)
    wanted = special.log_iv(v, exact)
    assert log[0] == wanted[0] == (0.0 if v == 0.0 else -np.inf)
    scale = np.maximum(np.abs(wanted[1:]), 1e-2 * (v + exact[1:]) if dtype == float64 else 0.0)
    assert (np.abs(log[1:].numpy() - wanted[1:]) <= tolerance * scale).all()


@pytest.mark.parametrize("columns", [2, 3, 5, 17, 41, 42, 128, 768, 10**5])
def test_derivatives_keep_their_digits(columns):
    v, x = 0.5 * columns - 1.0, np.logspace(-6, 7, 40)
    got = np.array(derivatives(iv_ratio, v, x, 2))
    np.testing.assert_allclose(got, np.array([truth(v, t) for t in x]).T, rtol=2e-13)
    log = derivatives(log_iv, v, x, 2)
    np.testing.assert_allclose(log[1], got[0] + v / x, rtol=1e-14)
    assert (np.abs(log[2] - (got[1] - v / x**2)) <= 1e-14 * (got[1] + v / x**2)).all()


@pytest.mark.parametrize(
    ("columns", "concentration", "a", "slope"),
    [
        (2, 1e-3, 0.00049999993750001043, 0.49999981250005208),
        (3, 100.0, 0.99, 1e-4),
        (64, 2.0845, 0.03253687484272463, 0.015576940601733268),
        (768, 500.0, 0.49303503113242998, 6.0072031909620669e-4),
        (4096, 1e4, 0.81598806295869719, 1.6369327326728832e-5),
    ],
)
def test_reference_numbers(columns, concentration, a, slope):
    got = derivatives(iv_ratio, 0.5 * columns - 1.0, [concentration], 1)
    np.testing.assert_allclose(np.ravel(got), [a, slope], rtol=1e-14)


@pytest.mark.parametrize("columns", [2, 3, 64, 10**5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_nothing_is_nan_from_zero_on(columns, dtype):
    v, x = 0.5 * columns - 1.0, torch.tensor(CONCENTRATIONS, dtype=dtype, requires_grad=True)
    results = [iv_ratio(v, x)]
    for _ in range(2):
        results.append(torch.autograd.grad(results[-1].sum(), x, create_graph=True)[0])
    assert all(torch.isfinite(r).all() for r in results)
    assert float(results[0][0].detach()) == 0.0
    assert float(results[1][0].detach()) == pytest.approx(1.0 / columns)


def test_beyond_the_range():
    x = torch.tensor([-1.0, np.nan, 1e150, np.inf], dtype=float64)
    assert torch.isnan(iv_ratio(3.0, x)[:2]).all()
    assert torch.isnan(log_iv(3.0, x)[:2]).all()
    assert iv_ratio(3.0, x)[2:].tolist() == [1.0, 1.0]
    assert float(log_iv(3.0, x[2])) == pytest.approx(1e150)


ORDERS = [0.0, 0.5, 19.5, 63.0, torch.tensor([0.0, 0.5, 63.0, 1000.0], dtype=float64)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("function", [log_iv, iv_ratio])
def test_gradients_of_gradients(function, order):
    x = torch.tensor([0.3, 2.0, 50.0, 300.0], dtype=float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: function(order, x), x)
    assert torch.autograd.gradgradcheck(lambda x: function(order, x), x)


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")  # torch's own, of its compiler
@pytest.mark.parametrize("function", [log_iv, iv_ratio])
def test_vmap_and_tensors_of_orders(function):
    orders = torch.tensor([0.0, 0.5, 20.0, 63.0], dtype=float64)
    x = torch.tensor([0.3, 2.0, 50.0, 300.0], dtype=float64, requires_grad=True)
    one_by_one = torch.stack([function(float(v), t) for v, t in zip(orders, x, strict=True)])
    slopes = torch.autograd.grad(one_by_one.sum(), x)[0]
    torch.testing.assert_close(function(orders, x), one_by_one, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(torch.func.vmap(function)(orders, x), one_by_one, rtol=1e-13, atol=1e-13)
    outer = torch.func.vmap(function, in_dims=(0, None))(orders, x), torch.func.vmap(function, (None, 0), 1)(orders, x)
    torch.testing.assert_close(*outer, rtol=1e-13, atol=1e-13)
    torch.testing.assert_close(outer[0].diagonal(), one_by_one, rtol=1e-13, atol=1e-13)
    other = torch.func.vmap(lambda x: function(3.0, x), 1)(x.expand(2, 4))
    torch.testing.assert_close(other, function(3.0, x)[:, None].expand(4, 2), rtol=1e-13, atol=1e-13)
    compiled = torch.compile(torch.func.vmap(function), backend="aot_eager", fullgraph=True)(orders, x)
    torch.testing.assert_close(compiled, one_by_one, rtol=1e-13, atol=1e-13)
    gradient = torch.func.vmap(torch.func.grad(function, argnums=1))
    torch.testing.assert_close(gradient(orders, x), slopes, rtol=1e-13, atol=0.0)


@pytest.mark.parametrize("kind", ["log", "log_scaled", "ratio", "deficit", "slope", "curvature", "divergence"])
def test_operators_as_torch_wants_them(kind):
    x, orders = (torch.tensor(a, dtype=float64).expand(4, 3) for a in ([0.3, 2.0, 50.0], [0.0, 1.0, 30.0]))
    for arguments in ((x, None), (x, orders), (x.clone().T, orders.clone().T)):
        torch.library.opcheck(torch.ops.spherapprox.bessel.default, (*arguments, 3.0, kind))


def test_everything_stays_on_the_device():
    x = torch.ones(3, device="meta", requires_grad=True)  # where no number can be read
    y = log_iv(3.0, x) + iv_ratio(63.0, x)
    assert torch.autograd.grad(y.sum(), x)[0].device.type == "meta"


def test_the_ends_of_differentiation():
    x = torch.tensor(1.0, requires_grad=True)
    y = iv_ratio(1.0, x)
    for _ in range(2):
        (y,) = torch.autograd.grad(y, x, create_graph=True)
    with pytest.raises(NotImplementedError, match="twice"):
        torch.autograd.grad(y, x)
    with pytest.raises(ValueError, match=r"order.detach\(\)"):
        log_iv(x, x)
    with pytest.raises(ValueError, match="'order'"):
        log_iv(-1.0, x)
    assert log_iv(1.0, torch.tensor(2)).dtype == torch.get_default_dtype()
