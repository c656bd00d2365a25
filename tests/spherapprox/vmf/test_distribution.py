"""The distribution as a value, its densities at points, and the calls that SciPy has."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
import scipy.stats
from sums import tilted

from spherapprox import VonMisesFisher


def test_logpdf_of_near_points_and_many_rows():
    # a point an angle 1e-8 away: 1 - cos = 5e-17 is lost in the cosine
    near = VonMisesFisher(2, 1e16).logpdf([[1e-8, 0.0, 1.0]], [0.0, 0.0, 1.0])[0]
    assert near == pytest.approx(VonMisesFisher(2, 1e16).log_density(1.0, "surface") - 0.5, abs=1e-14)
    for dim, n in ((1, 20_000), (30, 3000), (767, 100)):  # more than one block of rows
        kernel = VonMisesFisher(dim, 30.0)
        mean = np.eye(dim + 1)[0]
        x = kernel.rvs(mean, size=n, rng=0)
        got = kernel.logpdf(x, mean)
        np.testing.assert_allclose(got, kernel.log_density(x[:, 0], "surface"), rtol=1e-13, atol=1e-13)
        expected = np.exp(np.minimum(got, 709.0)) if dim < 100 else np.inf
        np.testing.assert_allclose(kernel.pdf(x, mean), expected, rtol=1e-15)
        single = x.astype(np.float32)
        assert np.array_equal(kernel.logpdf(single, mean), kernel.logpdf(single.astype(np.float64), mean))
    # rows that are only nearly of unit length: the error is of second order
    stretched = 1.0009 * kernel.rvs(mean, size=5, rng=0).astype(np.float32)
    exact = stretched.astype(np.float64) / np.linalg.norm(stretched.astype(np.float64), axis=1)[:, None]
    drop = kernel.logpdf(exact, mean) - kernel.log_density(1.0, "surface")
    np.testing.assert_allclose(kernel.logpdf(stretched, mean) - kernel.log_density(1.0, "surface"), drop, rtol=1.1e-3)


def test_what_is_written_for_scipy_works():
    mean = tilted(2)
    dist, kernel = VonMisesFisher(mean, 20), VonMisesFisher(2, 20.0)
    peer = scipy.stats.vonmises_fisher(mean, 20)
    x = dist.rvs(60, random_state=7).reshape(4, 5, 3, 3)
    np.testing.assert_array_equal(x.reshape(60, 3), kernel.rvs(mean, 60, 7))
    for name in ("pdf", "logpdf"):
        ours = getattr(dist, name)(x)
        assert ours.shape == (4, 5, 3)
        np.testing.assert_allclose(ours, getattr(peer, name)(x), rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(ours.ravel(), getattr(kernel, name)(x.reshape(60, 3), mean))
        single = getattr(kernel, name)([0.0, 0.0, 1.0], mean)
        assert isinstance(single, float)
        assert single == pytest.approx(getattr(peer, name)([0.0, 0.0, 1.0]), rel=1e-12)
    assert dist.entropy() == pytest.approx(peer.entropy(), rel=1e-12)
    assert (dist.dim, dist.concentration, dist.kappa) == (2, 20.0, 20.0)
    assert dist.mu is dist.mean_direction
    for same in (VonMisesFisher(mu=mean, kappa=20), VonMisesFisher(mean_direction=mean, concentration=20)):
        assert same == dist
    expected = kernel.rvs(mean, size=5, rng=3)
    for sample in (
        kernel.rvs(5, mean, rng=3), kernel.rvs(5, tuple(mean), random_state=3), dist.rvs(5, 3), dist.rvs(5, mean, 3),
        dist.rvs(size=5, random_state=np.random.default_rng(3)), dist.rvs((5,), 3), dist.rvs(mean, 5, 3),
        dist.rvs(tuple(mean), 5, 3),
    ):  # fmt: skip
        np.testing.assert_array_equal(sample, expected)
    assert dist.rvs().shape == (1, 3)
    legacy = np.random.RandomState(4)
    assert not np.array_equal(dist.rvs(2, random_state=legacy), dist.rvs(2, random_state=legacy))
    first, second = (dist.rvs(2, random_state=np.random.RandomState(4)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_a_distribution_is_a_value_that_a_stored_mean_direction_is_part_of():
    kernel = VonMisesFisher(3.0, np.float32(2.0))
    assert kernel == VonMisesFisher(3, 2)
    assert hash(kernel) == hash(VonMisesFisher(3, 2))
    assert type(kernel.dim) is int
    mean = np.array([0.6, 0.8])
    dist = VonMisesFisher(mean, 2.0)
    mean[:] = 1.0, 0.0  # a copy is stored
    assert dist.mean_direction.tolist() == [0.6, 0.8]
    with pytest.raises(ValueError, match="read-only"):
        dist.mean_direction[0] = 1.0
    assert VonMisesFisher(1, 2.0).mean_direction is None
    others = [VonMisesFisher(1, 2.0), VonMisesFisher([0.8, 0.6], 2.0), VonMisesFisher([0.6, 0.8], 3.0)]
    assert not any(dist == plain for plain in others)
    assert len({dist, *others, VonMisesFisher([0.6, 0.8], 2.0)}) == 4
    for copied in (pickle.loads(pickle.dumps(dist)), copy.deepcopy(dist), dataclasses.replace(dist, concentration=2)):
        assert copied == dist
        assert not copied.mean_direction.flags.writeable
    assert dataclasses.replace(dist, concentration=5.0).rvs(3).shape == (3, 2)
    assert VonMisesFisher([1.0, -0.0], 1.0) == VonMisesFisher([1.0, 0.0], 1.0)
    assert repr(dist) == "VonMisesFisher(mean_direction=[0.6, 0.8], concentration=2.0)"
    assert repr(kernel) == "VonMisesFisher(dim=3, concentration=2.0)"
    assert len(repr(VonMisesFisher(tilted(500), 2.0))) < 150
    with pytest.raises(dataclasses.FrozenInstanceError):
        dist.concentration = 3.0
    two = np.float16(2)
    kernel, plain = VonMisesFisher(two, np.float32(2)), VonMisesFisher(2, 2.0)
    assert kernel == plain
    assert kernel.eigenvalue(two) == plain.eigenvalue(2)
    assert kernel.mean_angle(two) == plain.mean_angle(2.0)
    assert np.array_equal(kernel.eigenvalues(two, log=np.True_), plain.eigenvalues(2, log=True))
    assert np.array_equal(kernel.rvs([0.0, 0.0, 1.0], two, rng=1), plain.rvs([0.0, 0.0, 1.0], 2, rng=1))
