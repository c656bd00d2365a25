"""Settings for the tests of sums."""

import numpy as np
import pytest

from spherapprox.summation import dense, plan
from spherapprox.summation.dense import all_pairs


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(plan, "CHEAP", np.inf)
    monkeypatch.setattr(dense, "COMPILE_WORTH", -1.0)


@pytest.fixture(params=["numpy", "numba"])
def path(request, monkeypatch):
    monkeypatch.setattr(plan, "CHEAP", np.inf)
    monkeypatch.setattr(all_pairs, "ready", set())
    monkeypatch.setattr(dense, "COMPILE_WORTH", -1.0 if request.param == "numba" else np.inf)
    return request.param
