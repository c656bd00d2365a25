"""Proven constants of polynomial targets, against closed forms and against what is attained somewhere."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from spherapprox import Target, harmonics, sphere, targets
from spherapprox.harmonics import PolynomialDerivatives

NAMES = ("sup_norm", "lipschitz", "smoothness", "laplacian", "third_derivative")


def bare(target):
    return replace(target, **dict.fromkeys(NAMES))


def attained(target, count=3000):
    """Return values that the five quantities take somewhere."""
    x = np.concatenate([sphere.uniform(target.dim, count, rng=0), np.eye(target.dim + 1)[-1:]])
    at = PolynomialDerivatives(target, target.dim, target.degree)(x)
    u = sphere.uniform(target.dim - 1, 60, rng=1) if target.dim > 1 else np.ones((1, 1))
    forms = (
        at.value, np.linalg.norm(at.first, 2, axis=(1, 2)), np.einsum("npij,ui,uj->nup", at.second, u, u),
        np.einsum("npii->np", at.second), np.einsum("npijk,ui,uj,uk->nup", at.third, u, u, u, optimize=True),
    )  # fmt: skip
    return [np.linalg.norm(form, axis=-1).max() if form.ndim > 1 else form.max() for form in forms]


@pytest.mark.parametrize(
    ("target", "slack"),
    [
        (targets.geomagnetic_field(2025.0), 0.01),
        (targets.rotation_field(2), 0.1),
        (targets.tangent_projection(2), 0.1),
        (targets.zonal_harmonic(2, 5), 0.01),
        (targets.zonal_harmonic(3, 2), 0.1),
        (targets.random_bandlimited(1, 9, 0), 0.01),
        (targets.random_bandlimited(3, 2, 0), 0.05),
    ],
    ids=lambda case: getattr(case, "name", case),
)
def test_constants_are_bounds_within_the_slack(target, slack):
    bounds = targets.with_constants(bare(target), slack=slack)
    for name, low in zip(NAMES, attained(target), strict=True):
        assert low * (1.0 - 1e-12) <= getattr(bounds, name) <= low / (1.0 - slack) * (1.02 if target.dim < 3 else 1.25)
        assert bounds.origin(name) == "derived"


def test_constants_on_the_sphere_of_four_dimensions():
    wave = replace(targets.random_bandlimited(4, 1, 0), lipschitz=None, smoothness=9.0, third_derivative=9.0)
    bounds, low = targets.with_constants(wave, slack=0.2), attained(wave)
    assert low[1] <= bounds.lipschitz <= 1.3 * low[1]
    assert low[3] <= bounds.laplacian <= 1.3 * low[3]


@pytest.mark.parametrize("target", [targets.zonal_harmonic(2, 5), targets.rotation_field(3), targets.bump(3, 20.0)])
def test_targets_that_state_all_constants_stay_as_they_are(target):
    assert targets.with_constants(target) is target


def test_stated_constants_stay_and_an_estimated_degree_makes_estimates():
    wave = Target(lambda x: x[:, 0] * x[:, 1], 2, degree=2, lipschitz=7.0, origins={"degree": "estimated"})
    bounds = targets.with_constants(wave)
    assert (bounds.lipschitz, bounds.origin("lipschitz")) == (7.0, "given")
    assert bounds.origin("smoothness") == "estimated"
    assert "at most" in bounds.provenance


def test_errors_of_the_values_are_allowed_for():
    wave = Target(lambda x: x[:, 0] * x[:, 1], 2, degree=2)
    exact, rough = (targets.with_constants(replace(wave, accuracy=accuracy)) for accuracy in (1e-12, 1e-3))
    for name, order in (("sup_norm", 0), ("lipschitz", 1), ("smoothness", 2)):
        assert getattr(rough, name) >= getattr(exact, name) + 0.5e-3 * 2**order
    single = targets.with_constants(Target(lambda x: x.astype(np.float32)[:, 0] ** 4, 2, degree=4))
    assert 1.0 <= single.sup_norm <= 1.02


@pytest.mark.parametrize("dim", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["zonal", "bump"])
def test_derivatives_of_zonal_targets_along_geodesics(dim, kind):
    target = targets.zonal_harmonic(dim, 6) if kind == "zonal" else targets.bump(dim, 9.0)
    x = np.concatenate([sphere.uniform(dim, 4000, rng=0), np.tile(np.eye(dim + 1)[-1], (2, 1))])
    u = sphere.uniform(dim, len(x), rng=1)
    u -= np.sum(u * x, axis=1, keepdims=True) * x
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    step = 2e-3
    at = [target(np.cos(k * step) * x + np.sin(k * step) * u) for k in (-2, -1, 0, 1, 2)]
    second = np.abs(at[1] - 2 * at[2] + at[3]).max() / step**2
    third = np.abs(at[4] - 2 * at[3] + 2 * at[1] - at[0]).max() / (2 * step**3)
    assert 0.999 * target.smoothness <= second <= 1.00001 * target.smoothness  # attained at the pole
    assert 0.3 * target.third_derivative <= third <= 1.0001 * target.third_derivative
    assert target.laplacian == pytest.approx(dim * target.smoothness, rel=1e-14)


@pytest.mark.parametrize("unit", [1e-250, 1e-170, 1e170, 1e250])
def test_constants_of_tiny_and_huge_functions_are_those_of_its_multiple(unit):
    plain, scaled = (targets.with_constants(Target(lambda x, s=s: s * x[:, 0], 2, degree=1)) for s in (1.0, unit))
    for name in NAMES:
        assert getattr(scaled, name) / unit == pytest.approx(getattr(plain, name), rel=1e-9)
    zero = targets.with_constants(Target(lambda x: np.zeros(len(x)), 2, degree=3))
    assert all(getattr(zero, name) == 0.0 for name in NAMES)
    bump = targets.bump(2, 1e300)  # constants that are no floats are left out
    assert bump.third_derivative is None
    assert bump.smoothness == pytest.approx(1e300)


@pytest.mark.parametrize(("degree", "slack"), [(20, 0.01), (40, 0.2)])
def test_high_degrees_on_the_sphere_are_within_the_slack_of_a_dense_truth(degree, slack):
    """The truth is a grid's, of the coefficients: that of the function and the slope, and that of its Laplacian."""
    rng, k = np.random.default_rng(degree), harmonics.degrees(degree)
    c = rng.standard_normal(len(k)) / (1.0 + k)
    bounds = targets.with_constants(Target(lambda x: harmonics.synthesize(c, x), 2, degree=degree), slack=slack)
    value, laplacian = (harmonics.bandlimited_maximum(part, slack=0.05) for part in (c, k * (k + 1.0) * c))
    excess = 1.0 / (1.0 - slack)
    assert value.attained_value <= bounds.sup_norm <= excess * value.sup_norm
    assert value.attained_slope <= bounds.lipschitz <= excess * value.lipschitz
    assert laplacian.attained_value <= bounds.laplacian <= excess * laplacian.sup_norm
    assert 0.5 * laplacian.attained_value <= bounds.smoothness <= degree * value.lipschitz * excess  # Bernstein's
    assert bounds.smoothness <= bounds.third_derivative <= degree**2 * value.lipschitz * excess


def test_degree_100_is_within_the_slack():
    """The harmonic of the height has P_n(1) = 1, and the slope sqrt(1 - t^2) |P_n'(t)|."""
    n, t = 100, np.cos(np.linspace(0.0, np.pi, 20001))
    legendre = np.polynomial.legendre.Legendre.basis(n)
    slope = np.sqrt(1.0 - t**2) * np.abs(legendre.deriv()(t))
    wave = Target(lambda x: legendre(x[:, 2]), 2, degree=n, third_derivative=n**3)
    bounds = targets.with_constants(wave, slack=0.1)
    truths = {"sup_norm": 1.0, "lipschitz": slope.max(), "smoothness": 0.5 * n * (n + 1), "laplacian": n * (n + 1.0)}
    for name, truth in truths.items():
        assert truth * (1.0 - 1e-6) <= getattr(bounds, name) <= truth / 0.9


def test_a_search_that_ends_early_says_by_how_much():
    """Of a function that hardly varies nothing can be left out, and the bound is that of the first cells."""
    constants = {"degree": 12} | dict.fromkeys(NAMES[1:], 1.0)
    words = r"sup_norm may be (\d+) % above .* more than the slack = 0.2 .* degree 12 on S\^3"
    with pytest.warns(RuntimeWarning, match=words) as caught:
        bounds = targets.with_constants(Target(lambda x: 1.0 + 1e-9 * x[:, 0] ** 12, 3, **constants), slack=0.2)
    percent = float(re.search(words, str(caught[0].message)).group(1))
    assert percent > 100.0
    assert 1.0 <= bounds.sup_norm <= 1.05 * (1.0 + percent / 100.0)
    assert f"at most {percent:g} % above" in bounds.provenance
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # but for 0 any share above is nothing
        assert targets.with_constants(Target(lambda x: np.zeros(len(x)), 3, **constants), slack=0.2).sup_norm == 0.0
