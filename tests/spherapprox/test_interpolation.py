import warnings

import numpy as np
import pytest

from spherapprox import CoreHead, PointSet, SplitHead, points, sup_error, targets
from spherapprox.coefficients import core_values, split_values


def smooth(x):
    return np.exp(x[:, 0]) * np.cos(2.0 * x[:, 1])


def both(x):
    return np.stack([smooth(x), x[:, 0] - x[:, 1] ** 2], axis=1)


@pytest.mark.parametrize("head", [CoreHead, SplitHead])
@pytest.mark.parametrize("concentration", [10.0, 9.0])
def test_the_magnetic_field_to_rounding(head, concentration):
    field = targets.geomagnetic_field(2025)
    made = head.from_target(field, points.fibonacci(1000), concentration, "interpolation")
    limit = {CoreHead: 1e-13, SplitHead: 1e-11}[head]
    assert sup_error(made, field, n=4000, refine=4).lower <= limit * field.sup_norm


@pytest.mark.parametrize("head", [CoreHead, SplitHead])
@pytest.mark.parametrize(("dim", "n", "concentration"), [(1, 40, 30.0), (2, 300, 40.0), (3, 200, 5.0), (8, 300, 3.0)])
def test_the_head_meets_the_target_at_its_control_points(head, dim, n, concentration):
    x = points.uniform(dim, n, 3).points
    made = head.from_target(both, x, concentration, "interpolation")
    assert made.values.shape == (n, 2)
    np.testing.assert_allclose(made(x), both(x), atol=1e-9)
