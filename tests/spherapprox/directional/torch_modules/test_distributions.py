"""Densities, entropies and divergences of the distributions in torch against the core, SciPy and mpmath."""

import math
import sys

import mpmath
import numpy as np
import pytest
from scipy import stats

import spherapprox
from spherapprox import sphere

torch = pytest.importorskip("torch")

from torch.distributions import kl_divergence  # noqa: E402

from spherapprox.directional.torch_modules import (  # noqa: E402
    HypersphericalUniform,
    PowerSpherical,
    VonMisesFisher,
    iv_ratio,
)

float64 = torch.float64
KINDS = (VonMisesFisher, PowerSpherical)
each = pytest.mark.parametrize("kind", KINDS)


def directions(columns, n=None, seed=0, dtype=float64):
    rows = torch.tensor(sphere.uniform(columns - 1, n or 1, rng=seed), dtype=dtype)
    return rows if n else rows[0]


def number(x, grad=False):
    return torch.tensor(x, dtype=float64, requires_grad=grad)


def pair(columns, cosine, *concentrations):
    """Return distributions about two directions of a cosine."""
    loc = torch.zeros(2, columns, dtype=float64)
    loc[0, 0], loc[1, 0], loc[1, 1] = 1.0, cosine, math.sqrt(1.0 - cosine * cosine)
    return [VonMisesFisher(row, number(k)) for row, k in zip(loc, concentrations, strict=True)]


def test_shapes_and_what_torch_asks_for():
    loc, concentration = directions(5, 6).reshape(2, 3, 5), torch.tensor([1.0, 10.0, 100.0], dtype=float64)
    for kind in KINDS:
        q = kind(loc, concentration)
        assert q.batch_shape == (2, 3)
        assert q.event_shape == (5,)
        assert q.has_rsample
        assert q.support.event_dim == 1
        assert q.support.check(q.sample((4,))).all()
        assert q.rsample((4,)).shape == (4, 2, 3, 5)
        assert q.log_prob(q.sample((4,))).shape == (4, 2, 3)
        assert q.entropy().shape == (2, 3)
        assert q.mean.shape == q.mode.shape == (2, 3, 5)
        assert torch.equal(q.mode, loc)
        wide = q.expand((7, 2, 3))
        assert isinstance(wide, kind)
        assert wide.concentration.shape == wide.entropy().shape == (7, 2, 3)
        x = q.sample()
        assert torch.equal(wide.log_prob(x)[3], q.log_prob(x))
        assert torch.distributions.Independent(q, 1).log_prob(x).shape == (2,)
    u = HypersphericalUniform(5, (2, 3), dtype=float64)
    assert u.sample((4,)).shape == (4, 2, 3, 5)
    assert u.log_prob(u.sample()).shape == u.entropy().shape == kl_divergence(q, u).shape == (2, 3)
    assert u.expand((7, 2, 3)).mean.abs().max() == 0.0
    with pytest.raises(NotImplementedError):
        u.mode  # noqa: B018


@pytest.mark.parametrize("columns", [2, 3, 5, 64, 128, 768, 10**5])
@pytest.mark.parametrize("concentration", [0.0, 1e-3, 1.0, 70.0, 2e3, 1e5, 1e7])
def test_von_mises_fisher_is_the_cores(columns, concentration):
    core, loc = spherapprox.VonMisesFisher(columns - 1, concentration), directions(columns)
    x = torch.nn.functional.normalize(loc + directions(columns, 3, seed=1) / math.sqrt(1.0 + concentration), dim=-1)
    q = VonMisesFisher(loc, concentration)
    wanted = torch.tensor(core.logpdf(x.numpy(), loc.numpy()))
    scale = abs(core.log_density(1.0)) + abs(q._law.log_area) + 1.0
    assert (q.log_prob(x) - wanted).abs().max() <= 1e-14 * scale
    assert float(q.entropy()) == pytest.approx(core.entropy(), rel=1e-14)
    assert float(kl_divergence(q, HypersphericalUniform(columns))) == pytest.approx(
        -core.entropy("normalized"), rel=1e-13
    )
    torch.testing.assert_close(q.mean, loc * core.eigenvalue(1), rtol=1e-14, atol=0.0)
    near, single = q.log_prob(loc), VonMisesFisher(loc.float(), torch.tensor(concentration)).log_prob(loc.float())
    assert single.dtype == torch.float32
    assert float(single) == pytest.approx(float(near), rel=2e-6)


@pytest.mark.parametrize(
    ("columns", "concentration", "log_c"),
    [
        (2, 1e-3, -1.8378773164093299),
        (3, 100.0, -97.232706880421254),
        (64, 2.0845, 40.733791054149832),
        (768, 500.0, 1319.1181367736961),
        (4096, 1e4, 5303.916769751525),
    ],
)
def test_normalisers_of_reference(columns, concentration, log_c):
    (q,) = pair(columns, 1.0, concentration, 1.0)[:1]
    assert float(q.log_prob(q.loc)) - concentration == pytest.approx(log_c, rel=1e-14)


@pytest.mark.parametrize(
    ("columns", "a", "b", "cosine", "divergence"),
    [
        (3, 5.0, 20.0, 0.5, 9.613297019930383),
        (128, 80.0, 200.0, 0.9, 27.632321844278278),
        (768, 1500.0, 300.0, 0.2, 362.63769656309188),
    ],
)
def test_divergences_of_reference(columns, a, b, cosine, divergence):
    p, q = pair(columns, cosine, a, b)
    assert float(kl_divergence(p, q)) == pytest.approx(divergence, rel=1e-14)
    assert kl_divergence(p, p) == 0.0


@pytest.mark.parametrize("columns", [2, 41, 64, 10**5])
def test_divergences_of_nearly_uniform_ones_keep_their_digits(columns):
    q = VonMisesFisher(directions(columns), number(1e-6))
    assert float(kl_divergence(q, HypersphericalUniform(columns))) == pytest.approx(5e-13 / columns, rel=1e-11, abs=0.0)
    for size in (columns, 128, 768):
        flat = PowerSpherical(directions(size), torch.tensor([0.0, 1e-7]))
        assert (kl_divergence(flat, HypersphericalUniform(size)) >= 0.0).all()


@each
@pytest.mark.parametrize("columns", [2, 3, 40])
def test_divergences_are_means_of_log_quotients(kind, columns):
    p = kind(directions(columns), number(7.0))
    q = VonMisesFisher(directions(columns, seed=1), number(3.0))
    torch.manual_seed(0)
    x = p.sample((100_000,))
    for other in (q, HypersphericalUniform(columns, dtype=float64)):
        logs = p.log_prob(x) - other.log_prob(x)
        assert abs(logs.mean() - kl_divergence(p, other)) <= 4.0 * logs.std() / math.sqrt(len(x))
    assert abs(p.log_prob(x).mean() + p.entropy()) <= 4.0 * p.log_prob(x).std() / math.sqrt(len(x))


@pytest.mark.parametrize("columns", [2, 3, 9, 64, 768, 10**5])
@pytest.mark.parametrize("concentration", [0.0, 0.3, 5.0, 300.0, 1e5, 1e7])
def test_power_spherical_against_mpmath(columns, concentration):
    with mpmath.workdps(40):
        b, k = mpmath.mpf(columns - 1) / 2, mpmath.mpf(concentration)
        peak = mpmath.loggamma(k + 2 * b) - mpmath.loggamma(k + b) - b * mpmath.log(4 * mpmath.pi)
        entropy = k * (mpmath.digamma(k + 2 * b) - mpmath.digamma(k + b)) - peak
        slope = mpmath.digamma(k + 2 * b) - mpmath.digamma(k + b)
    q = PowerSpherical(directions(columns), number(concentration, grad=True))
    assert float(q.log_prob(q.loc).detach()) == pytest.approx(float(peak), rel=1e-13)
    assert float(q.entropy().detach()) == pytest.approx(float(entropy), rel=2e-12)
    assert float(torch.autograd.grad(q.log_prob(q.loc), q.concentration)[0]) == pytest.approx(float(slope), rel=1e-12)
    x = torch.nn.functional.normalize(directions(columns, seed=1) + q.loc, dim=-1)
    logs = float(peak) + concentration * math.log1p(float((q.loc - x).square().sum()) / -4.0)
    assert float(q.log_prob(x).detach()) == pytest.approx(logs, rel=1e-13, abs=1e-13)


@each
@pytest.mark.parametrize("columns", [2, 3, 128, 10**5])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_nothing_is_nan_in_range(kind, columns, dtype):
    loc = torch.nn.functional.normalize(directions(columns, 2), dim=-1).to(dtype)
    concentration = torch.tensor([0.0, 1e-3, 1.0, 1e2, 1e4, 1e7], dtype=dtype)[:, None].requires_grad_()
    loc = torch.nn.functional.normalize(loc, dim=-1).requires_grad_()
    q = kind(loc, concentration)
    x = torch.stack([loc[0], -loc[0], loc[1]]).detach()[:, None, None, :]
    sample = q.rsample((3,))
    assert sample.dtype == dtype
    other = HypersphericalUniform(columns, dtype=dtype)
    for result in (q.log_prob(x), q.entropy(), q.mean, kl_divergence(q, other), sample):
        assert torch.isfinite(result).all()
        for grad in torch.autograd.grad(result.double().sum(), (loc, concentration), allow_unused=True):
            assert grad is None or torch.isfinite(grad).all()


def test_gradients_of_the_density():
    loc, x = directions(6, 3), directions(6, 3, seed=1)
    for kind in KINDS:

        def log_prob(raw, concentration, kind=kind):
            return kind(torch.nn.functional.normalize(raw, dim=-1), concentration).log_prob(x)

        arguments = loc.clone().requires_grad_(), torch.tensor([0.5, 5.0, 50.0], dtype=float64, requires_grad=True)
        assert torch.autograd.gradcheck(log_prob, arguments)
        assert torch.autograd.gradgradcheck(log_prob, arguments)
        assert torch.autograd.gradcheck(lambda k, kind=kind: kind(loc, k).entropy(), arguments[1:])
        assert torch.autograd.gradgradcheck(lambda k, kind=kind: kind(loc, k).entropy(), arguments[1:])
        assert torch.autograd.gradcheck(
            lambda k, kind=kind: kl_divergence(kind(loc, k), VonMisesFisher(x, 2.0 * k)), arguments[1:]
        )
    k = arguments[1]
    (slope,) = torch.autograd.grad(VonMisesFisher(loc, k).log_prob(x).sum(), k)
    torch.testing.assert_close(slope, (loc * x).sum(-1) - iv_ratio(2.0, k))
    shared = number(5.0, grad=True)  # one for all rows
    (slope,) = torch.autograd.grad(VonMisesFisher(loc, shared).log_prob(x).sum(), shared)
    torch.testing.assert_close(slope, (loc * x).sum() - 3.0 * iv_ratio(2.0, shared))


def test_mapped():
    loc, x = directions(5, 4), directions(5, 4, seed=1)
    k = torch.tensor([0.0, 1.0, 10.0, 1e3], dtype=float64, requires_grad=True)
    mapped = torch.func.vmap(lambda loc, k, x: VonMisesFisher(loc, k, validate_args=False).log_prob(x))(loc, k, x)
    torch.testing.assert_close(mapped, VonMisesFisher(loc, k).log_prob(x), rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("columns", [2, 43])
def test_few_operations_are_left_to_the_compiler(columns):
    def step(loc, k):
        loss = VonMisesFisher(loc, k, validate_args=False).log_prob(loc.flip(-1)).sum()
        return torch.autograd.grad(loss, (loc, k))

    arguments = directions(columns, 4).requires_grad_(), torch.ones(4, dtype=float64, requires_grad=True)
    assert len(torch.fx.experimental.proxy_tensor.make_fx(step)(*arguments).graph.nodes) < 60


def test_uniform():
    u = HypersphericalUniform(3)
    assert float(u.entropy()) == pytest.approx(math.log(4.0 * math.pi))
    torch.manual_seed(0)
    x = HypersphericalUniform(3, dtype=float64).sample((20_000,))
    assert stats.kstest(x[:, 0].numpy(), stats.uniform(-1.0, 2.0).cdf).pvalue > 1e-3
    assert (u.log_prob(x.float()) == -u.entropy()).all()


BAD = [
    (lambda q: VonMisesFisher(torch.tensor([1.0, 1.0]), 1.0, True), "'loc'.*1.41.*normalize"),
    (lambda q: VonMisesFisher(torch.tensor([np.nan, 1.0]), 1.0, True), "'loc'.*nan"),
    (lambda q: VonMisesFisher(torch.tensor([1.0]), 1.0), "'loc'.*at least 2 columns"),
    (lambda q: VonMisesFisher(torch.tensor(1.0), 1.0), "'loc'.*at least 2 columns"),
    (lambda q: VonMisesFisher(q.loc, -1.0, True), "'concentration'.*-1.*softplus"),
    (lambda q: VonMisesFisher(q.loc, torch.tensor(np.inf), True), "'concentration'.*finite, got inf"),
    (lambda q: VonMisesFisher(q.loc, torch.ones(2, 1)), r"'concentration'.*\(2, 1\).*squeeze"),
    (lambda q: VonMisesFisher(q.loc, torch.ones(3)), r"'concentration'.*\(2,\).*\(3,\)"),
    (lambda q: VonMisesFisher("north", 1.0), "'loc' must be a torch.Tensor.*'north'"),
    (lambda q: VonMisesFisher(q.loc, None), "'concentration' must be a torch.Tensor.*None"),
    (lambda q: VonMisesFisher(q.loc, True), "'concentration' must be a torch.Tensor of real numbers.*True"),
    (lambda q: q.log_prob(torch.ones(2, 3)), "'value' must hold rows of unit length.*1.73"),
    (lambda q: q.log_prob(torch.ones(2, 4)), r"'value' must have 3 columns.*\(2, 4\)"),
    (lambda q: q.log_prob(np.ones((2, 3))), "'value' must be a torch.Tensor"),
    (lambda q: HypersphericalUniform(1), "'event_size'"),
    (lambda q: HypersphericalUniform(2.5), "'event_size'"),
    (lambda q: kl_divergence(q, HypersphericalUniform(4)), "same number of columns, got 3 and 4"),
    (lambda q: kl_divergence(q, VonMisesFisher(torch.tensor([0.0, 1.0]), 1.0)), "3 and 2"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_complaints(call, words):
    q = VonMisesFisher(
        torch.eye(3)[:2], torch.tensor([1.0, 2.0]), True
    )  # torch's default is off once its compiler has run
    with pytest.raises((TypeError, ValueError), match=words):
        call(q)


def test_unchecked_where_it_is_asked_for():
    loc = torch.tensor([2.0, 0.0])
    assert torch.isfinite(PowerSpherical(loc, 1.0, validate_args=False).log_prob(torch.tensor([0.0, 1.0])))
    assert VonMisesFisher([0, 1], 3).rsample().shape == (2,)


def test_without_torch(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("spherapprox.directional.torch_modules")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("spherapprox.directional.torch_modules")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"spherapprox\[torch\]"):
        from spherapprox.directional import torch_modules  # noqa: F401
