"""Constants of targets against values and differences over random pairs of points."""

import numpy as np
import pytest
from sums import unit

from spherapprox import sphere


def pairs(n, dim, seed):
    """Return pairs at distances from 1e-4 to pi, some of them across or along the polar axis."""
    rng = np.random.default_rng(seed)
    x = sphere.uniform(dim, n, rng)
    x[: n // 4, :-1] *= 10.0 ** -rng.uniform(0, 8, size=(n // 4, 1))
    x = unit(x)
    return x, unit(x + 10.0 ** -rng.uniform(0, 4, size=(n, 1)) * sphere.uniform(dim, n, rng))


@pytest.fixture(scope="session")
def assert_constants_hold():
    def check(target, seed, n=400):
        x, y = pairs(n, target.dim, seed)
        f, g = (target(rows).reshape(n, -1) for rows in (x, y))
        assert max(np.linalg.norm(f, axis=1).max(), np.linalg.norm(g, axis=1).max()) <= target.sup_norm + 1e-13
        bound = target.lipschitz * sphere.distance(x, y) ** target.exponent
        assert (np.linalg.norm(f - g, axis=1) <= bound + 1e-14 * max(10.0, target.sup_norm)).all()

    return check
