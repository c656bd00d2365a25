"""Settings for the tests of sums."""

import numpy as np
import pytest

from spherapprox.summation import dense, plan


@pytest.fixture
def compiled(monkeypatch):
    monkeypatch.setattr(plan, "CHEAP", np.inf)
    monkeypatch.setattr(dense, "COMPILE_WORTH", -1.0)
