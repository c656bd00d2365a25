"""Points from shells of lattices, built and counted: docs/theorems/4.E-lower-without-sampling.md (iv)."""

import itertools
import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bounds.theorems._shells import LARGEST_RATIONAL, log_density, log_shell, squared_density, tilt
from bounds.theorems._wraps import log_wrapped
from spherapprox.special import log_cap_measure


def root_lattice(d):
    """Return rows that span D_d, scaled to minimal norm 4."""
    rows = np.eye(d) - np.eye(d, k=1)
    rows[-1, -2:] = 1.0
    return math.sqrt(2.0) * rows


def shell(rows, inner, outer, rng):
    """Return the points of a random translate of a lattice with inner < |p| <= outer."""
    d = len(rows)
    spread = np.ceil(outer * np.linalg.norm(np.linalg.inv(rows), axis=0)).astype(int) + 1
    total = np.stack(np.meshgrid(*(np.arange(-s, s + 1) for s in spread), indexing="ij"), axis=-1).reshape(-1, d)
    points = (total + rng.random(d)) @ rows
    norms = np.linalg.norm(points, axis=1)
    return points[(norms > inner) & (norms <= outer)]


@pytest.mark.parametrize(
    ("dim", "angle", "translates"), [(2, 0.2, 60), (2, 0.9, 60), (2, 1.5, 60), (3, 0.35, 40), (3, 0.8, 40)]
)
def test_shells_of_real_lattices_are_separated_and_as_large_in_the_mean(dim, angle, translates):
    d, phi = dim + 1, tilt(dim, angle)
    outer = 2.0 * math.cos(phi) / math.sin(angle) * (1.0 - 1e-9)
    inner = max(2.0 * math.cos(phi + angle) / math.sin(angle), 0.0) * (1.0 - 1e-9)
    rows, rng = root_lattice(d), np.random.default_rng(7)
    counts = []
    for _ in range(translates):
        points = shell(rows, inner, outer, rng)
        points /= np.linalg.norm(points, axis=1)[:, None]
        assert np.max(np.triu(points @ points.T, 1), initial=-1.0) < math.cos(angle)
        counts.append(len(points))
    assert max(counts) >= math.exp(log_shell(dim, angle)) - 1e-6
    exact = math.pi ** (0.5 * d) / math.gamma(0.5 * d + 1.0) * (outer**d - inner**d) / abs(np.linalg.det(rows))
    assert math.ceil(exact * (1.0 - 1e-9)) == round(math.exp(log_shell(dim, angle)))
    assert np.mean(counts) == pytest.approx(exact, abs=5.0 * np.std(counts) / math.sqrt(translates))


@pytest.mark.parametrize("dim", [2, 3, 8, 23, 100])
@pytest.mark.parametrize("angle", [1e-3, 0.2, 0.7, 1.04, 1.06, 2.0])
def test_no_shell_of_the_lattice_does_better(dim, angle):
    d = dim + 1
    largest = 1.0 / math.sin(0.5 * angle)

    def log_part(outer):
        # the least r at which points of norms R and r at the angle are 2 apart
        root = outer * math.cos(angle) - math.sqrt(max(4.0 - (outer * math.sin(angle)) ** 2, 0.0))
        return d * math.log(outer) + math.log1p(-((max(root, 0.0) / outer) ** d))

    low = min(2.0, largest * (1.0 - 1e-12))
    grid = np.linspace(low, largest, 400)
    i = int(np.argmax([log_part(outer) for outer in grid]))
    ends = grid[max(i - 1, 0)], grid[min(i + 1, 399)]
    best = minimize_scalar(lambda outer: -log_part(outer), bounds=ends, method="bounded", options={"xatol": 1e-9})
    log = log_density(d) + max(-best.fun, log_part(grid[-1]))
    count = log if log > 27.0 else math.log(max(math.ceil(math.exp(log) * (1.0 - 1e-9)), 1.0))
    assert log_shell(dim, angle) == pytest.approx(count, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("angle", [1e-300, 1e-150, 1e-40, 1e-8])
@pytest.mark.parametrize("dim", [2, 8, 96, 10**6])
def test_small_angles_tend_to_the_volume_of_a_thin_shell(dim, angle):
    # Delta d s^(d-1) tau (1 - tau^2/s^2)^(m/2) t^-m at tau = s/sqrt(d), s = 2
    d = dim + 1
    with mp.workdps(60):
        log = mp.mpf(log_density(d)) + mp.log(d) + d * mp.log(2) - mp.log(d) / 2 - dim * mp.log(mp.mpf(angle))
        log += mp.mpf(dim) / 2 * mp.log1p(-mp.mpf(1) / d)
    assert log_shell(dim, angle) == pytest.approx(float(log), rel=1e-13, abs=max(5e-13, 2.0 * dim * angle))


@pytest.mark.parametrize(("points", "widest"), [(log_shell, 3.141592), (log_wrapped, 1.57)])
@settings(max_examples=100)
@given(st.integers(2, 400), st.floats(1e-6, 1.0))
def test_no_more_points_than_disjoint_caps(points, widest, dim, share):
    angle = share * widest
    log = points(dim, angle)
    assert 0.0 <= log <= -float(log_cap_measure(dim, 0.5 * angle)) + 1e-12 * log
    assert points(dim, min(1.01 * angle, widest)) <= log * (1.0 + 1e-12)


def leech_vectors():
    """Return half the minimal vectors of the Leech lattice, from the code of quadratic residues modulo 23."""
    squares = {x * x % 23 for x in range(23)}
    word = np.array([int(x not in squares) for x in range(23)])
    rows = np.array([[*np.roll(word, s), 1] for s in range(12)])
    code = np.array(list(itertools.product((0, 1), repeat=12))) @ rows % 2
    even = np.array([s for s in itertools.product((1, -1), repeat=7) if np.prod(s) == 1])
    octads = np.zeros((759, 64, 24))
    for vectors, octad in zip(octads, code[code.sum(axis=1) == 8], strict=True):
        vectors[:, np.flatnonzero(octad)] = 2.0 * np.insert(even, 0, 1, axis=1)
    axes = 4.0 * np.eye(24)
    pairs = [axes[i] + sign * axes[j] for i, j in itertools.combinations(range(24), 2) for sign in (1, -1)]
    threes = (1.0 - 2.0 * code)[:, None, :] * (1.0 - axes)
    half = threes[code[:, 0] == 0].reshape(-1, 24)
    return np.concatenate([octads.reshape(-1, 24), pairs, half]) / math.sqrt(8.0), word


def test_sections_of_the_leech_lattice_have_the_determinants_of_the_table():
    vectors, word = leech_vectors()
    assert vectors.shape == (196560 // 2, 24)
    np.testing.assert_allclose((vectors**2).sum(axis=1), 4.0, rtol=1e-13)
    # add the minimal vector nearest to the span of those before it
    choice, remainder, determinant = [], vectors.copy(), 1.0
    for d in range(1, 25):
        squares = (remainder**2).sum(axis=1)
        i = int(np.argmin(np.where(squares > 1e-9, squares, 9.0)))
        choice.append(i)
        determinant *= squares[i]
        assert determinant == pytest.approx(1024 if d == 12 else 1 / float(squared_density(d)), rel=1e-9)
        unit = remainder[i] / math.sqrt(squares[i])
        remainder -= np.outer(remainder @ unit, unit)
    basis = vectors[choice]
    products = vectors @ basis.T
    np.testing.assert_allclose(products, np.round(products), atol=1e-12)
    # J: x -> -1/x on the 24 coordinates, with signs on a dodecad, is an automorphism of square -1
    image = [23 if x == 0 else -pow(x, -1, 23) % 23 for x in range(23)] + [0]
    turned = np.zeros((24, 24))
    turned[np.arange(24), image] = 1.0 - 2.0 * np.array([*word, 1])
    np.testing.assert_array_equal(turned @ turned, -np.eye(24))
    mixed = basis @ turned @ basis.T
    np.testing.assert_allclose(mixed, np.round(mixed), atol=1e-12)


def test_the_lattice_of_coxeter_and_todd_has_determinant_729():
    flint = pytest.importorskip("flint")
    # x in Z[w]^6 with all x_i equal modulo sqrt(-3) and their sum 0 modulo 3, in the basis 1, w; sqrt(-3) = 1 + 2 w
    theta, turn = np.array([[1, 2], [-2, -1]]), np.array([[0, 1], [-1, -1]])
    theta_rows = [np.kron(np.eye(6)[i] - np.eye(6)[i + 1], theta) for i in range(5)]
    rows = np.vstack([*theta_rows, np.kron(np.eye(6)[0], theta @ theta), np.kron(np.ones(6), np.eye(2))])
    np.testing.assert_array_equal(turn @ turn + turn, -np.eye(2))
    index = flint.fmpz_mat(rows.astype(int).tolist()).hnf()
    volume = math.prod(int(index[i, i]) for i in range(12)) * (math.sqrt(3.0) / 2.0) ** 6 * (2.0 / 3.0) ** 6
    assert volume**2 == pytest.approx(1 / squared_density(12))


def test_root_lattices_are_glued_to_the_leech_lattice():
    # A_1, A_2, A_3, D_4, D_5, E_6, E_7, E_8: roots of a chain with a branch
    for d in range(1, 9):
        cartan = 2 * np.eye(d) - np.eye(d, k=1) - np.eye(d, k=-1)
        if d >= 4:  # the last node hangs on the third from the end of the chain
            cartan[d - 1, d - 2] = cartan[d - 2, d - 1] = 0
            cartan[d - 1, d - 3 if d < 6 else 2] = cartan[d - 3 if d < 6 else 2, d - 1] = -1
        assert squared_density(24 + d) == Fraction(1, round(np.linalg.det(cartan)))


@pytest.mark.parametrize(
    ("d", "density"),
    [(2, 12**-0.5), (3, 0.17678), (5, 0.08839), (6, 0.07217), (8, 1 / 16), (9, 0.04419), (10, 0.03608), (12, 1 / 27),
     (16, 1 / 16), (17, 1 / 16), (24, 1.0), (25, 0.70711), (47, 1.5**24 / 3), (48, 1.5**24), (56, 1.5**28),
     (72, 2.0**36), (80, 2.0**40)],
)  # fmt: skip
def test_densities_are_those_of_the_literature(d, density):
    assert math.sqrt(squared_density(d)) == pytest.approx(density, rel=2e-4)


def test_lattices_that_exist_are_as_dense_as_those_named():
    # below 97 the named lattices are denser than Ball's (d-1) 2^(1-d), at 97 and 98 they would not be
    for d in range(3, 99):
        log_ball = 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1.0)
        named = log_ball + 0.5 * math.log(squared_density(d))
        assert (named >= math.log(d - 1.0) - (d - 1.0) * math.log(2.0)) == (d <= LARGEST_RATIONAL)
        assert log_density(d) <= math.log(2.0) - (0.5 * d) * math.log(2.0) + math.log(d)  # Blichfeldt
