"""What the library computes beside what is printed: errata of docs/theorems/3-errata.md, numbered as there."""

import math

import mpmath as mp
import numpy as np
import pytest

from bounds import covering_number, jackson
from bounds.theorems.thesis import convolution as kernel
from bounds.theorems.thesis import harmonics
from bounds.theorems.thesis import lemmas as thesis
from spherapprox import special
from spherapprox.vmf import VonMisesFisher


def test_31_rounding_up_is_below_plus_one():
    rng = np.random.default_rng(1)
    for lip, c_r, eps in np.exp(rng.uniform(-3.0, 3.0, (50, 3))):
        bare = 4.0 * c_r * lip / eps
        degree = math.ceil(bare)
        assert not degree >= bare + 1.0
        # the proof's own direction: the lambda of the actual degree is at most Lambda
        ones = {"dim": 8, "harmonic_constant": 1.0}
        assert kernel.concentration_at_degree(eps, degree, **ones) <= kernel.concentration_needed(
            eps, lipschitz=lip, jackson_constant=c_r, **ones
        ) * (1.0 + 1e-12)


@pytest.mark.parametrize(("dim", "lam"), [(2, 3.0), (8, 100.0), (128, 1e4)])
def test_32_the_kernel_is_steeper_than_its_peak(dim, lam):
    theta = np.linspace(0.0, math.pi, 200_001)
    log_k = VonMisesFisher(dim, lam).log_density(np.cos(theta))
    slope = np.max(np.abs(np.diff(np.exp(log_k - log_k[0])))) / theta[1]  # in units of c e^lambda
    assert math.log(slope) + log_k[0] > thesis.log_kernel_slope(lam, dim, printed=True)
    assert math.log(slope) + log_k[0] <= thesis.log_kernel_slope(lam, dim)


def test_33_the_denominator_is_on_the_wrong_side():
    # Lemma B.3.1 with a = f = F, b = F + e', c = 1, d = 1 - e2: what it bounds exceeds what the proof puts
    size, inner, off = 3.0, 0.2, 0.05
    quotient = abs(size / 1.0 - (size + inner) / (1.0 - off))
    sizes = {"numerator": size, "denominator": 1.0}
    assert quotient > thesis.quotient_error(inner, off, **sizes, product=1.0 + off)
    assert quotient <= thesis.quotient_error(inner, off, **sizes, product=1.0 - off) * (1.0 + 1e-12)


def test_33_the_concentration_is_too_small():
    # m + 1 equal components cos(theta(x, z)): L = F = C_H = 1, and any C_R > 0, for polynomials of degree 1 are exact.
    # With however many cells, the head tends to the convolution, and that alone is off by more than eps at z.
    dim, eps = 63, 0.1
    options = {"lipschitz": 1.0, "jackson_constant": 1e-3, "harmonic_constant": 1.0}

    def error(lam):
        return math.sqrt(dim + 1.0) * (1.0 - float(VonMisesFisher(dim, lam).eigenvalue(1)))

    inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0, printed=True)
    assert error(kernel.concentration_needed(inner, dim, **options)) > 2.0 * eps
    inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0)
    corrected = kernel.concentration_needed(inner / (2.0 * math.sqrt(dim + 1.0)), dim, **options)
    assert error(corrected) <= inner / 2.0
    assert thesis.split_error(inner, dim, sup_norm=1.0) == pytest.approx(eps, rel=1e-14)


def test_34_a_least_cover_without_equal_cells():
    half = math.radians(88.2)
    centres = np.radians([0.0, 176.0, 352.0])
    assert covering_number(half, dim=1, method="circle").as_integer() == 3
    angle = np.linspace(0.0, 2.0 * math.pi, 100_001)[:, None]
    away = np.abs((angle - centres + math.pi) % (2.0 * math.pi) - math.pi)  # (points, caps)
    assert np.all(np.min(away, axis=1) <= half)
    # cells of a third each inside the first and the third cap would fill two thirds of their union
    assert np.mean(np.min(away[:, [0, 2]], axis=1) <= half) < 0.52 < 2.0 / 3.0


def test_35_rogers_needs_small_caps():
    delta, dim = 0.01, 8
    sine = math.sqrt(delta * (2.0 - delta))
    assert sine > 1.0 / (dim + 1)
    lower, middle, last = thesis.cap_counts(math.log(delta), dim)
    assert middle == math.inf
    assert not covering_number(math.acos(1.0 - delta), dim=dim, method="rogers").holds
    # the last count stays right: sufficient covers are below it
    assert lower < covering_number(math.acos(1.0 - delta), dim=dim).log < last
    small = thesis.cap_counts(math.log(0.006), dim)
    assert small[0] < small[1] < small[2] < math.inf


def test_36_no_constant_serves_every_dimension():
    # on the circle pi/2 is the best constant; on S^8 none below 2.2 will do, on S^512 none below 95
    assert jackson.jackson_constant(1) == math.pi / 2
    floors = [jackson.jackson_floor(m, 10**9) for m in (8, 64, 512)]
    assert floors[0] > 2.2
    assert floors[1] > 12.0
    assert floors[2] > 95.0
    for m, floor in zip((8, 64, 512), floors, strict=True):
        assert floor > m / (2.0 * math.e)
        assert floor < jackson.jackson_constant(m)


@pytest.mark.parametrize("dim", [2, 8])
def test_38_the_second_coefficient(dim):
    with mp.workdps(60):
        eps = mp.mpf("1e-9")
        u, s = 1 - eps**2 / (8 + 2 * eps), eps / (4 + eps)
        exact = (8 + dim * eps + eps) * u**s / (eps * (1 - u ** (2 * s)))
        remainder = (exact - 128 / eps**4) * eps**3 / 16
    assert float(remainder) == pytest.approx(dim + 5.0, abs=1e-6)
    ones = {"lipschitz": 1.0, "jackson_constant": 1.0, "harmonic_constant": 1.0}
    right, printed = (kernel.concentration_series(1e-3, dim, **ones, printed=p) for p in (False, True))
    exact = kernel.concentration_needed(1e-3, dim, **ones)
    assert abs(right / exact - 1.0) < 1e-4 * abs(printed / exact - 1.0) + 1e-6
    assert abs(printed / exact - 1.0) > 5e-4


def largest_harmonic(degree, dim):
    """Return the largest sup norm of the degree-k harmonic of a function with Lipschitz constant 1 (3.9)."""
    theta = math.pi * (np.arange(20_000) + 0.5) / 20_000
    slope = np.sin(theta) ** dim * np.abs(special.gegenbauer(degree - 1, dim + 2, np.cos(theta)))
    log_s = special.log_surface_area(dim - 1) - special.log_surface_area(dim)
    count = (2 * degree + dim - 1) / (degree + dim - 1) * math.comb(degree + dim - 1, degree)
    return count * math.exp(log_s) / dim * math.pi * float(np.mean(slope))


def test_39_harmonics_of_lipschitz_functions_grow():
    assert largest_harmonic(64, 8) == pytest.approx(495.4, abs=0.1)
    for dim in (4, 5, 8):
        growth = math.log2(largest_harmonic(512, dim) / largest_harmonic(256, dim))
        assert growth == pytest.approx((dim - 3) / 2, abs=0.05)
    # the formula against a function that attains it: g' has the sign of the zonal polynomial's
    degree, dim = 6, 4
    grid = np.linspace(0.0, math.pi, 40_001)
    middle = 0.5 * (grid[1:] + grid[:-1])
    rise = np.sign(special.gegenbauer(degree - 1, dim + 2, np.cos(middle))) * (grid[1] - grid[0])
    g = np.concatenate([[0.0], np.cumsum(rise)])
    norms = harmonics.zonal_harmonic_norms(lambda t: np.interp(t, grid, g), dim, degree)
    assert norms[degree] == pytest.approx(largest_harmonic(degree, dim), rel=1e-4)
