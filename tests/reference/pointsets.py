"""Point sets that several tests take, and their properties by brute force."""

import itertools
import math

import mpmath
import numpy as np
from scipy.spatial.distance import pdist
from sums import unit

from spherapprox import PointSet, sphere


def separation(x):
    """Return the smallest distance of two rows."""
    return 2.0 * np.arcsin(pdist(x).min() / 2.0)


def nearly_doubled(by):
    """Return 60 points of S^2, and others at a distance of about `by`."""
    x = sphere.uniform(2, 60, 1)
    return np.vstack([x, unit(x + by * np.roll(x, 1, axis=1))])


def minimal_vectors_d(d):
    """Return the minimal vectors of the lattice D_d, of length 1."""
    return np.array([v for v in itertools.product((-1, 0, 1), repeat=d) if np.abs(v).sum() == 2]) / 2**0.5


def signed_rule(dim, n, seed):
    """Return points and weights of any sign with sum 1."""
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=n)
    return PointSet(sphere.uniform(dim, n, rng), weights + (1.0 - weights.sum()) / n)


def monomial_mean(powers):
    """Return the mean of a monomial over the sphere: a ratio of products of odd numbers."""
    if any(p % 2 for p in powers):
        return 0.0
    over = math.prod(math.prod(range(1, int(p), 2)) for p in powers)
    return over / math.prod(len(powers) + 2 * i for i in range(int(sum(powers)) // 2))


def exact_angle(x, y):
    """Return the angle between two vectors in the digits of the context."""
    a, b = (mpmath.matrix([float(t) for t in row]) for row in (x, y))
    a, b = a / mpmath.norm(a), b / mpmath.norm(b)
    return 2 * mpmath.atan2(mpmath.norm(a - b), mpmath.norm(a + b))
