"""Random points in torch: their law, and their gradients against quantiles, closed forms and means."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

torch = pytest.importorskip("torch")

from spherapprox.directional.torch_modules import PowerSpherical, VonMisesFisher, iv_ratio  # noqa: E402

float64 = torch.float64
KINDS = (VonMisesFisher, PowerSpherical)
each = pytest.mark.parametrize("kind", KINDS)


def last_axis(columns, sign=1.0):
    loc = torch.zeros(columns, dtype=float64)
    loc[-1] = sign
    return loc


def draw(kind, columns, concentrations):
    """Draw one cosine for each concentration, and return it with its derivatives in them."""
    k = torch.tensor(concentrations, dtype=float64, requires_grad=True)
    cosine = kind(last_axis(columns), k).rsample()[..., -1]
    return cosine.detach().numpy(), torch.autograd.grad(cosine.sum(), k)[0].numpy()


def log_density(kind, columns, k, angle):
    s = mpmath.cos(angle) - 1 if kind is VonMisesFisher else 2 * mpmath.log(mpmath.cos(angle / 2))
    return s, k * s + (columns - 2) * mpmath.log(mpmath.sin(angle))


@each
@pytest.mark.parametrize("columns", [2, 3, 4, 20, 768])
@pytest.mark.parametrize("concentration", [0.0, 0.5, 20.0, 1e6])
def test_the_law_of_the_cosine(kind, columns, concentration):
    torch.manual_seed(columns)
    x = kind(last_axis(columns), torch.tensor(concentration, dtype=float64)).sample((4000,))
    assert (torch.linalg.vector_norm(x, dim=-1) - 1.0).abs().max() < 2e-15
    w = (x - last_axis(columns)).square().sum(-1).numpy() / 2.0  # 1 - cosine, with its digits
    b = 0.5 * (columns - 1)
    if kind is PowerSpherical:
        assert stats.kstest(w / 2.0, stats.beta(b, b + concentration).cdf).pvalue > 1e-3
        return
    angle = np.linspace(0.0, min(math.pi, 12.0 / math.sqrt(concentration + 1e-9) + 20.0 / math.sqrt(columns)), 400_001)
    angle[0] = 1e-12
    logs = -2.0 * concentration * np.sin(angle / 2.0) ** 2 + (columns - 2) * np.log(np.abs(np.sin(angle)) + 1e-300)
    mass = np.cumsum(np.exp(logs - logs.max()))
    drawn = 2.0 * np.arcsin(np.sqrt(np.minimum(w / 2.0, 1.0)))
    assert stats.kstest(drawn, lambda t: np.interp(t, angle, mass / mass[-1])).pvalue > 1e-3


@pytest.mark.parametrize("columns", [2, 3, 20])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_directions_across_the_mean_are_uniform(columns, sign):
    torch.manual_seed(1)
    loc = torch.nn.functional.normalize(sign * torch.arange(1.0, columns + 1.0, dtype=float64), dim=-1)
    x = VonMisesFisher(loc, torch.tensor(2.0, dtype=float64)).sample((20_000,))
    across = x - (x @ loc)[:, None] * loc
    assert (across.mean(0).abs() < 5.0 * across.std(0) / math.sqrt(len(x)) + 1e-15).all()
    square = across.T @ across / len(x)
    wanted = (torch.eye(columns, dtype=float64) - torch.outer(loc, loc)) * square.trace() / (columns - 1)
    assert (square - wanted).abs().max() < 0.02


def test_the_derivative_on_the_sphere_in_closed_form():
    # 1 - cosine = w has the distribution function (1 - e^(-k w)) / (1 - e^(-2k)) in 3 columns
    torch.manual_seed(0)
    k = np.repeat([0.1, 1.0, 10.0, 300.0], 50)
    cosine, slope = draw(VonMisesFisher, 3, k)
    w = 1.0 - cosine
    share = np.expm1(-k * w) / np.expm1(-2.0 * k)
    wanted = (w * np.exp(-k * w) - 2.0 * share * np.exp(-2.0 * k)) / (k * np.exp(-k * w))
    np.testing.assert_allclose(slope, wanted, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("columns", [2, 3, 10, 300])
def test_the_derivative_of_quantiles_of_the_beta_law(columns):
    torch.manual_seed(0)
    k, b = np.repeat([0.5, 5.0, 100.0], 30), 0.5 * (columns - 1)
    cosine, slope = draw(PowerSpherical, columns, k)
    share = special.betainc(k + b, b, 0.5 * (1.0 + cosine))
    h = 1e-4 * (1.0 + k)
    rise = 2.0 * (special.betaincinv(k + h + b, b, share) - special.betaincinv(k - h + b, b, share))
    np.testing.assert_allclose(slope, rise / (2.0 * h), rtol=1e-5, atol=1e-9)


@each
@pytest.mark.parametrize("columns", [2, 5, pytest.param(300, marks=pytest.mark.once)])
@pytest.mark.parametrize("concentration", [0.0, 2.0, 1e4])
def test_the_derivative_against_mpmath(kind, columns, concentration):
    torch.manual_seed(3)
    cosine, slope = draw(kind, columns, [concentration] * 101)
    for i in np.argsort(cosine)[[0, 50]]:
        angle = mpmath.acos(float(cosine[i]))
        here = log_density(kind, columns, concentration, angle)[1]
        width = 1.0 / math.sqrt(concentration + columns)
        cuts = [0.0, *(float(angle) + width * j for j in (-8, -4, -2, -1, 0, 1, 2, 4, 8, 16)), math.pi]
        cuts = sorted({min(max(cut, 1e-30), float(mpmath.pi)) for cut in cuts})

        def integrate(power, below, kind=kind, here=here, cuts=cuts):
            def weight(t):
                s, log = log_density(kind, columns, concentration, t)
                return mpmath.re(s) ** power * mpmath.exp(mpmath.re(log) - mpmath.re(here))

            return mpmath.quad(weight, [cut for cut in cuts if cut <= below])

        mean = integrate(1, 4.0) / integrate(0, 4.0)
        total = integrate(1, float(angle)) - mean * integrate(0, float(angle))
        assert float(slope[i]) == pytest.approx(float(total * mpmath.sin(angle)), rel=3e-8)


def moments(kind, columns, k):
    """Return E t and E t^2 of the cosine."""
    if kind is PowerSpherical:
        mean, b = k / (k + columns - 1.0), 0.5 * (columns - 1)
        return mean, mean**2 + 4.0 * (k + b) * b / ((k + 2.0 * b) ** 2 * (k + 2.0 * b + 1.0))
    a = iv_ratio(0.5 * columns - 1.0, k)
    return a, 1.0 - (columns - 1.0) * a / k


@each
@pytest.mark.parametrize("columns", [2, 3, 16])
def test_gradients_of_means_have_no_bias(kind, columns):
    torch.manual_seed(5)
    parts, n = 100, 300
    raw = torch.randn(columns, dtype=float64).expand(parts, -1).clone().requires_grad_()
    k = torch.full((parts,), 4.0, dtype=float64, requires_grad=True)
    a = torch.nn.functional.normalize(torch.randn(columns, dtype=float64), dim=-1)
    loc = torch.nn.functional.normalize(raw, dim=-1)
    dots = kind(loc, k).rsample((n,)) @ a
    along = loc @ a
    mean, square = moments(kind, columns, k)
    exact = (mean * along, square * along**2 + (1.0 - square) / (columns - 1) * (1.0 - along**2))
    for drawn, known in zip((dots, dots**2), exact, strict=True):
        for variable in (k, raw):
            got = torch.autograd.grad(drawn.mean(0).sum(), variable, retain_graph=True)[0]
            wanted = torch.autograd.grad(known.sum(), variable, retain_graph=True)[0]
            error = (got - wanted).mean(0)
            assert (error.abs() <= 5.0 * (got.std(0) / math.sqrt(parts)) + 1e-15).all()


@each
def test_gradients_in_loc_are_those_of_common_random_numbers(kind):
    raw = torch.tensor([[0.3, -1.0, 0.2], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, -1e-3]], dtype=float64)

    def sample(raw):
        torch.manual_seed(2)
        return kind(torch.nn.functional.normalize(raw, dim=-1), torch.tensor(3.0, dtype=float64)).rsample()

    assert torch.autograd.gradcheck(sample, raw.requires_grad_())


def test_only_first_derivatives_of_samples():
    k = torch.tensor(3.0, requires_grad=True)
    x = VonMisesFisher(torch.tensor([0.0, 1.0]), k).rsample()
    (slope,) = torch.autograd.grad(x[1], k, create_graph=True)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(slope, k)


@pytest.mark.parametrize("power", [False, True])
def test_operators_as_torch_wants_them(power):
    k = torch.linspace(0.0, 9.0, 12, dtype=float64).reshape(3, 4).T.requires_grad_()
    angle = torch.ops.spherapprox.draw_angle(k, k[0, 0], 5, power)
    assert angle.is_contiguous()
    assert (angle > 0.0).all()
    torch.library.opcheck(
        torch.ops.spherapprox.differentiate_angle.default, (k.detach(), angle.detach().T.clone().T, 5, power)
    )
