"""Some dozens of the cases of tests/reference/differential.py: methods against long double, all switches forced."""

import differential
import numpy as np
import pytest

wide = pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="longdouble is no wider than float64 here")


@wide
@pytest.mark.parametrize("switch", differential.SWITCHES)
def test_every_method_keeps_to_its_bound(switch, monkeypatch):
    monkeypatch.setattr(differential, "SWITCHES", {switch: differential.SWITCHES[switch]})
    counts, worst, outside = differential.run(seed=100, problems=12)
    assert not outside
    assert counts["cases"] >= 36
    assert len(worst) >= 3
