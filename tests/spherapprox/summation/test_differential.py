"""Some hundreds of the cases of tests/reference/differential.py: methods against long double, all switches forced."""

import differential
from sums import wide


@wide
def test_every_method_keeps_to_its_bound():
    counts, worst, outside = differential.run(seed=100, problems=30, switches=differential.SWITCHES)
    assert not outside
    assert worst.keys() >= {"dense", "truncated", "harmonic", "lowrank"}
    for switch in differential.SWITCHES:
        assert counts[f"switch: {switch}"] >= 90
        assert sum(counts[f"by {method}, switch: {switch}"] > 0 for method in worst) >= 3
