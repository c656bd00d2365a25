"""Some dozens of the cases of tests/reference/differential.py: methods against long double, all switches forced."""

import differential
import pytest
from sums import wide


@wide
@pytest.mark.parametrize("switch", differential.SWITCHES)
def test_every_method_keeps_to_its_bound(switch, monkeypatch):
    monkeypatch.setattr(differential, "SWITCHES", {switch: differential.SWITCHES[switch]})
    counts, worst, outside = differential.run(seed=100, problems=30)
    assert not outside
    assert counts["cases"] >= 90
    assert len(worst) >= 3
