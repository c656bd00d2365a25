"""Cells of the sphere for tests of proofs: points in them, and the moments of heads there."""

import numpy as np

from spherapprox import Target
from spherapprox.error.certified import taylor
from spherapprox.error.certified.function import as_function
from spherapprox.harmonics.forms import tangent_frame


def zero(dim):
    """Return the target 0 as proofs take it."""
    return as_function(Target(lambda x: np.zeros(len(x)), dim, degree=0, sup_norm=0.0))


def around(x, radius, n, rng):
    """Return points within an angle of x, half of them at the rim."""
    v = rng.standard_normal((n, len(x)))
    v -= (v @ x)[:, None] * x
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    t = radius * np.where(rng.integers(2, size=n), 1.0, rng.uniform(0, 1, n))[:, None]
    return np.cos(t) * x + np.sin(t) * v


def passes(problem, x, radius, bound, **changes):
    """Tell whether the cell about x (1, d) passes Taylor's test for a bound, some of its sample changed."""
    sample = problem.sample(x)._replace(**changes)
    return bool(problem.check(x, np.array([radius]), sample, bound / problem.unit, None).taylor[0])


def moments_at(head, x, radius):
    """Return the moments in cells about x, and the frames there."""
    frames, b, lam = tangent_frame(x), np.asarray(head.control_points), np.array(head.concentration)
    columns, values = np.ascontiguousarray(b.T), np.asarray(head.values).reshape(len(head), -1)
    common = columns, values, float(lam.max()), head.family == "split"
    terms = taylor.Terms(lam[:, None] * b, *common, lam) if lam.ndim else taylor.Terms(b, *common)
    sizes = np.linalg.norm(np.asarray(head(x)).reshape(len(x), -1), axis=1)
    return taylor.moments(x, np.full(len(x), radius), frames, terms, sizes, np.zeros((len(x), values.shape[1]))), frames
