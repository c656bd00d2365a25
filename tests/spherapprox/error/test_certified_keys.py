"""6.5 (keys): the certified errors of heads whose control points have concentrations of their own."""

import math

import numpy as np
import pytest
from cells import around, moments_at, zero
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import spherical_in

from spherapprox import ClassicalHead, CoreHead, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.error import Proof
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError

FEW = settings(derandomize=True, deadline=None, max_examples=40)
SEEDS = st.integers(0, 2**32 - 1)


def random_head(seed, largest=4.0):
    """A head with random keys, of like lengths or not, clustered or not, and random values."""
    rng = np.random.default_rng(seed)
    dim, n = int(rng.integers(1, 4)), int(rng.integers(2, 40))
    b = sphere.uniform(dim, n, rng)
    if rng.integers(2):
        b = b[0] + 10.0 ** -rng.uniform(0, 2) * b
        b /= np.linalg.norm(b, axis=1, keepdims=True)
    concentrations = 10.0 ** rng.uniform(-1 if rng.integers(2) else largest - 1.0, largest, n)
    concentrations[: int(rng.integers(2))] = 0.0
    values = rng.standard_normal((n, int(rng.integers(1, 3))))
    return (SplitHead, CoreHead)[rng.integers(2)](b, values, concentrations), rng


@FEW
@given(SEEDS)
def test_no_change_within_a_cell_is_above_its_bound(seed):
    head, rng = random_head(seed)
    x = sphere.uniform(head.dim, 12, rng)
    radius = np.full(12, 10.0 ** rng.uniform(-5, -0.5))
    found, frames = moments_at(head, x, radius[0])
    gradients = head.gradient(x).reshape(12, -1, head.dim + 1)
    scale = 1.0 + np.abs(head.values).sum() * head.concentration.max()
    np.testing.assert_allclose(found.along, np.einsum("npd,nmd->npm", gradients, frames), atol=1e-11 * scale)
    total = np.abs(head.values).sum()
    noise = found.noise * total + 1e-13 * total * (1.0 + head.concentration.max())
    with np.errstate(invalid="ignore", over="ignore"):
        bend = found.bend(radius)
    finite = np.isfinite(found.steep) & np.isfinite(found.defect) & np.isfinite(found.second_order)
    near = [around(row, radius[0], 60, rng) for row in x]
    outputs = head(np.concatenate([*near, x])).reshape(732, -1)
    for i in np.flatnonzero(finite):
        y, moved = near[i], outputs[60 * i : 60 * i + 60] - outputs[720 + i]
        first = found.first_order(radius)[i] + found.second_order[i] + noise[i]
        assert np.linalg.norm(moved, axis=1).max() <= first
        t = np.arctan2(np.linalg.norm(y - (y @ x[i])[:, None] * x[i], axis=1), y @ x[i])
        direction = (y - (y @ x[i])[:, None] * x[i]) / np.maximum(np.sin(t), 1e-300)[:, None]
        linear = t[:, None] * np.einsum("pd,kd->kp", gradients[i], direction)
        second = bend[i] + found.second_order[i] + noise[i]
        assert np.linalg.norm(moved - linear, axis=1).max() <= second * (1.0 + 1e-9) + 1e-12 * scale * radius[0]


def test_the_change_by_a_light_long_key_is_attained():
    """One key at the centre, and another of another length beside it that has little weight there."""
    angles = np.array([0.0, 0.04])
    head = SplitHead(np.stack([np.cos(angles), np.sin(angles)], axis=1), [0.0, 1.0], [2e4, 2.0004e4])
    north = np.array([[1.0, 0.0]])
    apart = np.linalg.norm(np.diff(head.concentration[:, None] * head.control_points, axis=0))
    for y in (0.1, 1.0, 3.0):
        radius = y / apart
        found, _ = moments_at(head, north, radius)
        bound = (found.first_order(np.array([radius])) + found.second_order)[0]
        ends = np.array([[math.cos(radius), math.sin(radius)], [math.cos(radius), -math.sin(radius)]])
        actual = np.abs(head(ends) - head(north)).max()
        assert 0.98 * bound <= actual <= bound * (1.0 + 1e-9)


@FEW
@given(SEEDS)
def test_no_error_in_a_cell_that_passed_is_above_the_bound(seed):
    head, rng = random_head(seed, largest=3.0)
    wave = targets.random_bandlimited(head.dim, 3, rng=seed % 1000)
    head = type(head)(head.control_points, head.values[:, 0], head.concentration)
    problem = HeadError.of(head, as_function(wave))
    x = sphere.uniform(head.dim, 300, rng)
    radii = 10.0 ** rng.uniform(-3, -0.5, 300)
    sample = problem.sample(x)
    for factor in (0.6, 1.0, 1.5):
        bound = factor * float(sample.errors.max())
        passed = problem.check(x, radii, sample, bound, None).taylor
        near = [around(x[i], radii[i], 40, rng) for i in np.flatnonzero(passed)[:20]]
        if near:
            y = np.concatenate(near)
            assert np.abs(head(y) - wave(y)).max() <= bound * problem.unit * (1.0 + 1e-12)


@pytest.mark.parametrize("kind", [SplitHead, CoreHead, ClassicalHead])
@pytest.mark.parametrize(("dim", "n"), [(1, 12), (2, 60), (3, 12)])
def test_upper_ends_are_at_or_above_brute_force(kind, dim, n):
    rng = np.random.default_rng(dim)
    wave = targets.random_bandlimited(dim, 3, rng=0)
    b = sphere.uniform(dim, n, rng)
    head = kind(b, wave(b), n ** (2.0 / dim) * rng.uniform(0.2, 1.0, n))
    found = sup_error(head, wave, certified=Proof(slack=0.3 if dim == 3 else 0.05), n=4000)
    x = sphere.uniform(dim, 50_000, rng)
    assert np.abs(head(x) - wave(x)).max() <= found.upper <= (1.3 if dim == 3 else 1.0501) * found.lower
    assert not found.reason
    assert (found.certificate.degree is None) == (kind is not CoreHead)


@settings(derandomize=True, deadline=None, max_examples=15)
@given(SEEDS)
def test_riesz_test_of_core_heads_proves_no_less_than_is_seen(seed):
    rng = np.random.default_rng(seed)
    dim, n = int(rng.integers(1, 3)), int(rng.integers(2, 40))
    values, concentrations = rng.standard_normal((n, 2)), 10.0 ** rng.uniform(-2, 2, n)
    head = CoreHead(sphere.uniform(dim, n, rng), values, concentrations)
    nothing = Target(lambda x: np.zeros((len(x), 2)), dim, degree=0, sup_norm=0.0)
    found = sup_error(head, nothing, certified=Proof(slack=0.01), n=500)
    seen = np.linalg.norm(head(sphere.uniform(dim, 40_000, rng)), axis=1).max()
    assert seen <= found.upper <= 1.0101 * found.lower
    assert found.certificate.degree is not None


def test_the_tail_of_a_core_head_is_as_large_as_it_says():
    """The degrees of one kernel beyond Riesz's add up, where it is largest, to the tail of its own concentration."""
    problem = HeadError.of(CoreHead(np.eye(3)[:2], [0.0, 1.0], [5.0, 20.0]), zero(2))
    for room in (1e-2, 1e-5, 1e-8):
        riesz = problem.riesz(1.0, room, np.eye(3))
        degrees = np.arange(riesz.degree + 1, 150)
        beyond = math.exp(-20.0) * ((2 * degrees + 1) * spherical_in(degrees, 20.0)).sum() / problem.unit
        assert beyond <= riesz.tail <= 1.001 * beyond
        assert riesz.tail <= 0.05 * room


def test_a_head_of_hundreds_of_keys_is_certified_on_the_sphere():
    field = targets.geomagnetic_field(2025.0)
    b = points.fibonacci(300).points
    head = SplitHead(b, field(b), np.random.default_rng(0).uniform(50.0, 400.0, 300))
    found = sup_error(head, field, certified=True, n=4000)
    assert found.lower < found.upper <= 1.0501 * found.lower
    assert found.certificate.evaluations < 1e5


def test_the_proof_of_equal_concentrations_is_that_of_one():
    wave = targets.zonal_harmonic(2, 3)
    head = SplitHead.from_target(wave, points.fibonacci(60), 20.0)
    equal = SplitHead(head.control_points, head.values, np.full(60, 20.0))
    one, other = (sup_error(h, wave, certified=True, n=500) for h in (head, equal))
    assert (one.lower, one.upper, one.certificate.degree) == (other.lower, other.upper, other.certificate.degree)


def test_keys_beyond_the_digits_of_floats_end_with_a_reason():
    wave = targets.zonal_harmonic(2, 3)
    b = points.fibonacci(20).points
    head = SplitHead(b, wave(b), np.where(np.arange(20) % 2, 1e17, 1e16))
    found = sup_error(head, wave, certified=Proof(max_evaluations=1e4), n=200)
    assert found.reason
    assert found.upper >= found.lower
