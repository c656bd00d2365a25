"""Some hundreds of the cases of tests/reference/differential.py: methods against long double, all switches forced."""

import differential
from sums import wide


@wide
def test_every_method_keeps_to_its_bound():
    counts, worst, outside = differential.run(seed=100, problems=30, switches=differential.SWITCHES)
    assert not outside
    assert min(counts[f"switch: {switch}"] for switch in differential.SWITCHES) >= 90
    assert worst.keys() >= {"dense", "truncated", "harmonic", "lowrank"}
