"""error_bound(theorem="sharp-core-spectral"): docs/theorems.md, 4.7."""

import math

import mpmath
import numpy as np
import pytest

from bounds import error_bound
from spherapprox import CoreHead, points, sup_error, targets


def truth(dim, concentration, degree, exactness):
    with mpmath.workdps(30):
        nu, lam = mpmath.mpf(dim - 1) / 2, mpmath.mpf(concentration)

        def a(k):
            return mpmath.besseli(nu + k, lam) / mpmath.besseli(nu, lam)

        def size(k):
            return math.comb(dim + k, dim) - (math.comb(dim + k - 2, dim) if k > 1 else 0)

        tail = sum(size(k) * a(k) for k in range(exactness - degree + 1, exactness + 200))
        return float(tail / a(degree))


@pytest.mark.parametrize(
    ("dim", "concentration", "degree", "exactness"),
    [(1, 3.0, 4, 12), (2, 10.0, 13, 43), (2, 1e-3, 2, 4), (3, 50.0, 6, 60), (8, 4.0, 3, 20)],
)
def test_against_the_sum_in_high_precision(dim, concentration, degree, exactness):
    bound = error_bound(
        dim=dim, theorem="sharp-core-spectral", concentration=concentration, degree=degree, exactness=exactness,
        sup_norm=2.0,
    )  # fmt: skip
    wanted = 2.0 * truth(dim, concentration, degree, exactness)
    assert wanted * (1.0 - 1e-9) <= bound.value <= 1.3 * wanted  # a geometric series bounds the tail
    assert bound.side == "upper"
    assert not bound.failed


def test_contains_measured_errors():
    for dim in (1, 2, 3):
        target = targets.zonal_harmonic(dim, 3)
        for exactness, concentration in ((6, 2.0), (9, 5.0), (12, 5.0)):
            rule = points.gauss_product(dim, exactness)
            head = CoreHead.from_target(target, rule, concentration, "spectral", degree=3)
            bound = error_bound(
                dim=dim, theorem="sharp-core-spectral", concentration=concentration, degree=3, exactness=exactness,
                sup_norm=target.sup_norm,
            )  # fmt: skip
            assert 1e-9 < sup_error(head, target, n=500).lower <= bound.value


def test_edges_and_missing_arguments():
    known = {"dim": 2, "theorem": "sharp-core-spectral", "sup_norm": 1.0}
    outside = error_bound(**known, concentration=1.0, degree=4, exactness=7)
    assert outside.value == math.inf
    assert outside.failed == ("exactness >= 2 degree",)
    assert error_bound(**known, concentration=0.0, degree=0, exactness=0).value == 0.0
    assert error_bound(**known, concentration=0.0, degree=1, exactness=2).value == math.inf
    many = error_bound(**known, concentration=np.array([1.0, 2.0]), degree=2, exactness=9)
    assert many[0].value < many[1].value
    with pytest.raises(TypeError, match="theorem='sharp-core-spectral' needs the argument 'exactness', got None"):
        error_bound(**known, concentration=1.0, degree=4)
    with pytest.raises(TypeError, match="theorem='convolution' needs the argument 'lipschitz', got None"):
        error_bound(dim=2, theorem="convolution", concentration=1.0)
