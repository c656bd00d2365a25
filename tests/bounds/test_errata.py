"""What the library computes beside what is printed: errata of docs/theorems/3-errata.md, numbered as there."""

import math
import re
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import iv

from bounds import covering_number, jackson
from bounds.covering import log_rogers_constant
from bounds.theorems.thesis import convolution as kernel
from bounds.theorems.thesis import harmonics
from bounds.theorems.thesis import lemmas as thesis
from spherapprox import ClassicalHead, SplitHead, points, special
from spherapprox.prompts.sequences import cantor_code
from spherapprox.vmf import VonMisesFisher

PAGE = Path(__file__).parents[2] / "docs" / "theorems" / "3-errata.md"


def test_every_erratum_is_run_and_says_what_survives():
    page = PAGE.read_text(encoding="utf-8")
    sections = {int(number): text for number, text in re.findall(r"^## 3\.(\d+) (.*?)(?=^## )", page, re.M | re.S)}
    assert list(sections) == list(range(1, 32))
    sources = "".join(path.read_text(encoding="utf-8") for path in Path(__file__).parent.rglob("test_errata.py"))
    assert {int(number) for number in re.findall(r"^def test_3(\d+)_", sources, re.M)} == set(sections)
    for number, text in sections.items():
        missing = [word for word in ("*Printed", "*Fails", "*Survives") if word not in text]
        assert not missing, (number, missing)
        assert re.search(r"\*(?:Misprint|Gap|Wrong|Condition|misprint|condition)", text) or number == 11, number


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
    assert np.ptp(np.exp(log_k - log_k[0])) <= 1.0  # and as it is printed, without t, it is true
    if lam == 100.0:
        assert slope == pytest.approx(6.06, abs=0.005)


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
    for_all = {**options, "jackson_constant": jackson.jackson_floor(dim, 10**9)}  # what serves every function

    def error(lam):
        return math.sqrt(dim + 1.0) * (1.0 - float(VonMisesFisher(dim, lam).eigenvalue(1)))

    inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0, printed=True)
    assert kernel.concentration_needed(inner, dim, **options) == pytest.approx(1063.0, abs=0.5)
    assert error(kernel.concentration_needed(inner, dim, **options)) == pytest.approx(0.234, abs=5e-4)
    assert for_all["jackson_constant"] > 12.6
    assert error(kernel.concentration_needed(inner, dim, **for_all)) == pytest.approx(1.9e-8, rel=0.03)
    inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0)
    corrected = kernel.concentration_needed(inner / (2.0 * math.sqrt(dim + 1.0)), dim, **options)
    assert error(corrected) <= inner / 2.0
    assert thesis.split_error(inner, dim, sup_norm=1.0) == pytest.approx(eps, rel=1e-14)


@pytest.mark.parametrize("dim", [8, 16, 63, 128])
def test_33_the_printed_constants_suffice_where_the_convolution_is_good(dim):
    options = {"lipschitz": 1.0, "jackson_constant": jackson.jackson_floor(dim, 10**9), "harmonic_constant": 1.0}
    for eps in (0.1, 0.3, 1.0, 1.9):
        inner = thesis.inner_accuracy(eps, dim, lipschitz=1.0, sup_norm=1.0, printed=True)
        lam = kernel.concentration_needed(inner, dim, **options)
        convolution = 0.5 * math.pi * math.sqrt(2.0 * (dim + 1.0) * (1.0 - VonMisesFisher(dim, lam).eigenvalue(1)))
        assert convolution <= 5.0 / 9.0 * eps
        off = eps / (6.0 * math.sqrt(dim + 1.0))  # the printed cells' radius times (L + lambda F) c e^lambda, F = 1
        sizes = {"numerator": math.sqrt(dim + 1.0), "denominator": 1.0, "product": 1.0 - off}
        assert thesis.quotient_error(convolution + eps / 6.0, off, **sizes) <= eps


@pytest.mark.parametrize("dim", [2, 8, 64, 1000])
def test_34_cells_of_equal_measure_exist_for_the_printed_count(dim):
    for radius in (1.0 / 3.0, 0.1, 1e-3):
        delta = 2.0 * math.sin(0.5 * radius) ** 2
        count = log_rogers_constant(dim) - (dim + 1.0) * math.log(delta)
        assert count >= -float(special.log_cap_measure(dim, radius / 6.0))
    # M caps that cover, and M more copies of one: M + 1 of 2 M equal cells fill more than a narrow cap
    assert all((m + 1) / (2 * m) > 0.5 > math.exp(special.log_cap_measure(dim, 1.5)) for m in (3, 10**9))


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
    # in these dimensions other covers confirm the middle count without the condition
    for dim, sine in ((m, t) for m in (8, 12) for t in (1.01 / (m + 1), 0.3, 0.6, 0.9, 0.9999)):
        cover = covering_number(math.asin(sine), dim=dim).log
        assert cover < log_rogers_constant(dim) - (dim + 1.0) * math.log(sine)


def test_36_no_constant_serves_every_dimension():
    # on the circle pi/2 is the best constant; on S^8 none below 2.2 will do, on S^64 12.7, on S^512 95
    assert jackson.jackson_constant(1) == math.pi / 2
    floors = [jackson.jackson_floor(m, 10**9) for m in (8, 64, 512)]
    assert floors[0] > 2.2
    assert floors[1] > 12.7
    assert floors[2] > 95.0
    for m, floor in zip((8, 64, 512), floors, strict=True):
        assert floor > m / (2.0 * math.e)
        assert floor < jackson.jackson_constant(m)


def test_37_the_printed_form_collapses_and_the_repairs_do_not():
    split = SplitHead.from_target(lambda x: x[:, [1, 2, 0]], points.fibonacci(2000), 60.0)
    x = np.array([[0.6, 0.8, 0.0], [0.0, -0.6, 0.8]])
    printed = ClassicalHead.from_head(split, interaction="printed", mask=-200.0)
    assert np.abs(printed.attend(x[:, None])[:, 0] - x[:, [1, 2, 0]]).max() < 0.05
    assert np.abs(printed.attend(x)).max() < 1e-12
    assert printed.interaction_bound(2) == pytest.approx(1.0)
    printed = ClassicalHead.from_head(split, interaction="printed")
    assert np.abs(printed.attend(x[:, None])[:, 0] - split(x)).max() < 1e-13
    assert np.abs(printed.attend(x)).max() < 1e-200
    assert printed.interaction_bound(1) == 5e-324
    for interaction in ("flag", "none"):
        head = ClassicalHead.from_head(split, interaction=interaction)
        assert np.abs(head.attend(x) - split(x)).max() < 1e-13
        assert head.interaction_bound(2) < 1e-20


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


def test_310_the_inner_function_jumps_and_the_outer_is_steep():
    bits = 30
    above, below = cantor_code([[0.5], [0.5 - 2.0**-bits]], bits)  # for one number the code is psi itself
    assert above - below == pytest.approx(1.0 / 3.0, abs=3.0 ** (1 - bits))
    for k in (1, 5, 20):
        assert cantor_code([[2.0**-k]], bits)[0] == pytest.approx(2.0 * 3.0**-k, rel=1e-15)
        assert 2.0**-k / (2.0 * 3.0**-k) == pytest.approx(0.5 * 1.5**k, rel=1e-14)
    assert all(2**d >= 2 * d for d in range(1, 99))  # Kolmogorov's sum has terms enough


def test_311_misprints():
    ratio, bound = iv(3.5, 10.0) / iv(2.5, 10.0), 10.0 / (3.5 + math.hypot(10.0, 3.5))
    assert ratio > 1.01 * bound
    kernel_of_mean_1 = VonMisesFisher(2, 10.0)
    integral = quad(lambda t: math.exp(kernel_of_mean_1.log_density(t)), -1.0, 1.0)[0]
    assert 2.0 * math.pi * integral == pytest.approx(4.0 * math.pi, rel=1e-10)
