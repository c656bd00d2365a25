"""Hold every bound against measured errors: random Lipschitz functions, control points and concentrations.

An error above an upper bound, or a worst-case error below the floor, is a counterexample and ends the run with status
1. With its defaults it takes some minutes on two cores::

    python benchmarks/containment.py --cases 500
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "reference"))
from containment import DIMS, Finding, findings


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500, help="random heads in each dimension (default: %(default)s)")
    parser.add_argument("--dims", type=int, nargs="+", default=list(DIMS))
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> int:
    """Run the cases, print a line for each theorem and dimension, and every counterexample."""
    chosen = options()
    found: dict[tuple[str, int], list[Finding]] = defaultdict(list)
    for dim in chosen.dims:
        for case in tqdm(range(chosen.cases), desc=f"S^{dim}", unit="head", disable=None):
            for finding in findings(dim, np.random.default_rng([chosen.seed, dim, case])):
                found[finding.theorem, dim].append(finding)
    broken = [f for group in found.values() for f in group if f.bound.holds and not f.contained]
    lines = []
    for (theorem, dim), group in sorted(found.items()):
        used = [f.ratio for f in group if f.bound.holds and 0.0 < f.bound.value < np.inf]
        edge = (min if group[0].bound.side == "lower" else max)(used, default=float("nan"))
        lines.append((theorem, dim, len(group), len(used), sum(f in broken for f in group), f"{edge:.6f}"))
    headers = ("theorem", "dim", "cases", "hypotheses hold", "violated", "closest measured/bound")
    print(tabulate(lines, headers=headers, disable_numparse=True))
    for finding in broken:
        print("counterexample:", finding)
    print(f"{sum(len(group) for group in found.values())} cases, {len(broken)} violated")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
