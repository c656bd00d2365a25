"""Containment: measured errors never pass an upper bound whose hypotheses hold, nor W the floor; and sharpness."""

import math

import numpy as np
import pytest
from containment import DIMS, findings


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@pytest.mark.parametrize("dim", DIMS)
def test_every_bound_contains_what_is_measured(dim):
    result = [f for case in range(10 if dim <= 3 else 5) for f in findings(dim, np.random.default_rng([7, dim, case]))]
    assert [f for f in result if f.bound.holds and not f.contained] == []
    spoken = {f.theorem for f in result if f.bound.holds and f.bound.value < math.inf}
    assert spoken >= {
        "sharp-core",
        "sharp-core-centroid",
        "sharp-split-nearest",
        "sharp-split-equal",
        "sharp-core-quadrature",
        "lower",
    }
    # a bound that is half of what it should be is noticed
    tight = max(f.ratio for f in result if f.theorem == "sharp-split-equal")
    assert tight > (0.5 if dim <= 3 else 0.2)
