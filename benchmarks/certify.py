"""Every theorem certified over a grid of dimensions and accuracies: is float64 inside, how far off, how slow.

Prints a line for each theorem, and one for each case that fails::

    python benchmarks/certify.py
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from dataclasses import dataclass, field

from tqdm import tqdm

from bounds.api import COUNTED
from bounds.certify import THEOREMS, CertificationError, certified
from bounds.records.problem import Problem

OPTIONS: tuple[dict[str, float | str], ...] = (
    {},
    {"sup_norm": 1e6},
    {"exponent": 0.5},
    {"covering": "greedy"},
    {"concentration": 32.0},
    {"slack": 0.0},
)
"""`concentration` is in units of dim over the square of the angle wanted."""


@dataclass
class Summary:
    """The cases of one theorem and their worst results."""

    proved: int = 0
    trivial: int = 0
    failed: list[str] = field(default_factory=list)
    farthest: float = 0.0
    widest: float = 0.0
    slowest: float = 0.0

    def add(self, theorem: str, problem: Problem) -> None:
        """Certify one case."""
        bound = COUNTED[theorem].count(problem)
        if not bound.holds or not math.isfinite(bound.log):
            self.trivial += 1
            return
        start = time.perf_counter()
        try:
            enclosed = certified(bound, problem)
        except CertificationError as error:
            self.failed.append(f"{problem}: {error}")
            return
        self.slowest = max(self.slowest, time.perf_counter() - start)
        if not enclosed.contains(bound.log):
            self.failed.append(f"{problem}: {bound.log!r} is not in {enclosed}")
        self.proved += 1
        self.farthest = max(self.farthest, abs(float(enclosed.midpoint) - bound.log) / max(1.0, abs(bound.log)))
        self.widest = max(self.widest, enclosed.relative_width)


def problem_of(theorem: str, eps: float, dim: int, option: dict[str, float | str]) -> Problem:
    """Make one case; a concentration is scaled to the angle wanted."""
    options = dict(option)
    if theorem.startswith("thesis"):
        options.pop("exponent", None)
        options.pop("concentration", None)
    if "concentration" in options:
        options["concentration"] = float(options["concentration"]) * dim / min(eps, 1.0) ** 2
    return Problem.checked(eps, dim, **options)  # type: ignore[arg-type]


def main() -> None:
    """Run the grid."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--theorems", nargs="+", default=[t for t in THEOREMS if t in COUNTED], choices=THEOREMS)
    parser.add_argument("--dims", nargs="+", type=int, default=[1, 2, 3, 8, 16, 100, 1000, 10_000])
    parser.add_argument("--eps", nargs="+", type=float, default=[1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9, 1.3, 1.9])
    chosen = parser.parse_args()
    print(f"{'theorem':26}{'proved':>8}{'trivial':>8}{'failed':>8}{'off':>10}{'width':>10}{'slowest':>10}")
    for theorem in chosen.theorems:
        summary = Summary()
        cases = list(itertools.product(chosen.dims, chosen.eps, OPTIONS))
        for dim, eps, option in tqdm(cases, desc=theorem, leave=False, disable=None):
            summary.add(theorem, problem_of(theorem, eps, dim, option))
        print(
            f"{theorem:26}{summary.proved:8}{summary.trivial:8}{len(summary.failed):8}"
            f"{summary.farthest:10.1e}{summary.widest:10.1e}{summary.slowest:9.2f}s"
        )
        for line in summary.failed:
            print("   ", line)


if __name__ == "__main__":
    main()
