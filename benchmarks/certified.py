"""Certified sup errors: seconds, cells and the slack reached, over spheres, heads and targets.

Prints a line for each case; the second of two runs is timed, so that nothing is compiled::

    python benchmarks/certified.py            # S^1 to S^3
    python benchmarks/certified.py --large    # S^4 too, some minutes
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from tabulate import tabulate

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, points, sup_error, targets
from spherapprox.error import Proof, worst_case_error

WAVE_3 = Target(
    lambda x: x[:, 0] * x[:, 1] + x[:, 2] ** 3 - 0.5 * x[:, 3] * x[:, 0] * x[:, 2], 3, degree=3, name="cubic on S^3"
)
WAVE_4 = Target(lambda x: x[:, 0] * x[:, 1] + x[:, 2] ** 3 - 0.5 * x[:, 3] * x[:, 4], 4, degree=3, name="cubic on S^4")


def cases(large: bool) -> Iterator[tuple[str, Any, Any, float, float]]:
    """Yield a name, a head or points, a target or None for the worst case, the slack and the evaluations allowed."""
    field, rows, distance, bump = targets.geomagnetic_field(2025.0), points.fibonacci(1000), *_kinks()
    for concentration in (20.0, 240.0, 2000.0, 20000.0):
        yield "IGRF, Fibonacci", SplitHead.from_target(field, rows, concentration), field, 0.01, 2e7
    yield "IGRF, random points", SplitHead.from_target(field, points.uniform(2, 1000, 0), 240.0), field, 0.01, 2e7
    yield "IGRF, core head", CoreHead.from_target(field, rows, 240.0), field, 0.01, 2e7
    vector = targets.geomagnetic_vector(2025.0)
    yield "IGRF as vector", SplitHead.from_target(vector, rows, 240.0), vector, 0.01, 2e7
    for target in (distance, bump):
        yield target.name or "", SplitHead.from_target(target, rows, 240.0), target, 0.05, 2e7
    yield "worst case, Fibonacci", rows, None, 0.05, 2e7
    turn = targets.rotation_field(1)
    yield "rotation on S^1", SplitHead.from_target(turn, EqualMeasurePartition(1, 50), 100.0), turn, 0.01, 2e7
    yield "cubic on S^3", SplitHead.from_target(WAVE_3, EqualMeasurePartition(3, 2000), 30.0), WAVE_3, 0.05, 2e7
    if large:
        yield "cubic on S^4", SplitHead.from_target(WAVE_4, EqualMeasurePartition(4, 1000), 8.0), WAVE_4, 0.1, 1e8


def _kinks() -> tuple[Target, Target]:
    return targets.distance(2), targets.bump(2)


def proof(head: Any, target: Any, slack: float, most: float, workers: int | None = None) -> Any:
    """Return the sup error, or for no target the worst case of its Lipschitz class, with its certificate."""
    certified = Proof(slack, most)
    if target is None:
        return worst_case_error(head, 240.0, certified=certified, workers=workers)
    return sup_error(head, target, certified=certified, workers=workers)


def main() -> None:
    """Run the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="S^4 too")
    parser.add_argument("--workers", type=int)
    options = parser.parse_args()
    table = []
    for name, head, target, slack, most in cases(options.large):
        runs = []
        for _ in range(1 if "S^4" in name else 2):
            begin = time.perf_counter()
            found = proof(head, target, slack, most, options.workers)
            runs.append(time.perf_counter() - begin)
        certificate = found.certificate
        assert certificate is not None
        concentration = 240.0 if target is None else head.concentration
        size = [name, len(head), f"{concentration:g}", f"{found.lower:.4g}", f"{found.upper:.4g}"]
        table.append(
            [
                *size,
                f"{certificate.slack:.3f}",
                f"{certificate.evaluations:.2g}",
                dict(certificate.cells),
                f"{runs[-1]:.1f}",
            ]
        )
        print(*table[-1], flush=True)
    headers = ["case", "N", "lambda", "lower", "upper", "slack", "cells tested", "passed", "s"]
    print(tabulate(table, headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main()
