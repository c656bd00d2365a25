"""The smallest concentration at which the kernel matrix has a given condition number."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info

from spherapprox import points
from spherapprox.coefficients import conditioning, well_conditioned_concentration


def kernel(x, concentration):
    return np.exp(-0.5 * concentration * cdist(x, x, "sqeuclidean"))


@pytest.mark.parametrize("dim", [1, 2, 3, 8])
@pytest.mark.parametrize("condition", [1.5, 1e4, 1e10])
def test_the_condition_number_is_the_one_that_is_asked_for(dim, condition):
    x = points.uniform(dim, 60, dim).points
    concentration = well_conditioned_concentration(x, condition)
    assert np.linalg.cond(kernel(x, concentration)) <= condition * (1.0 + 1e-4)
    assert np.linalg.cond(kernel(x, 0.998 * concentration)) > condition


@pytest.mark.parametrize(("dim", "share"), [(2, 0.1), (8, 0.45)])
def test_the_estimate_for_many_points(dim, share):
    x = points.uniform(dim, conditioning.EXACT + 100, 0).points
    concentration = well_conditioned_concentration(x, 1e8)
    for factor, is_above in ((1.0 / (1.0 + share), True), (1.0 / (1.0 - share), False)):
        low, high = np.linalg.eigvalsh(kernel(x, factor * concentration))[[0, -1]]
        assert (high > 1e8 * abs(low)) == is_above


def test_eigenvalues_are_taken_by_one_thread(monkeypatch):
    limits, eigvalsh = [], np.linalg.eigvalsh

    def watched(a):
        limits.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return eigvalsh(a)

    monkeypatch.setattr(np.linalg, "eigvalsh", watched)
    well_conditioned_concentration(np.eye(3))
    assert set(limits) <= {1}
