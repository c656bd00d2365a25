from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import EqualMeasurePartition, PointSet, Target, points, sphere


def test_degree_is_kept():
    assert PointSet(np.eye(3)).degree is None
    assert PointSet(np.eye(3), degree=0).degree == 0
    rule = points.gauss_product(2, 5)
    assert (rule.degree, points.gauss_product(4, 1).degree, points.gauss_product(1, 0).degree) == (5, 1, 0)
    for again in (pickle.loads(pickle.dumps(rule)), copy.copy(rule), copy.deepcopy(rule)):
        assert again.degree == 5
        assert np.array_equal(again.weights, rule.weights)
    assert repr(rule) == "PointSet(n=18, dim=2)"
    assert type(PointSet(np.eye(3), degree=np.float32(3)).degree) is int
    with pytest.raises(AttributeError):
        rule.degree = 7
    with pytest.raises(ValueError, match="'degree' must be at least 0, got -1"):
        PointSet(np.eye(3), degree=-1)
    with pytest.raises(ValueError, match="'degree' must be an integer, got 2.5"):
        PointSet(np.eye(3), degree=2.5)
    with pytest.raises(TypeError, match="'degree' must be an integer, got True"):
        PointSet(np.eye(3), degree=True)
