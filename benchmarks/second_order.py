"""Second-order bounds of split heads against their measured errors, and the concentrations that they choose.

The radial geomagnetic field of 2025 at Fibonacci points: the table of docs/theorems/4.H-second-order.md. A minute on
two cores::

    python benchmarks/second_order.py
"""

from __future__ import annotations

import argparse
import math

from scipy.optimize import minimize_scalar
from tabulate import tabulate
from tqdm import tqdm

import bounds
from spherapprox import SplitHead, points, sup_error, targets
from spherapprox.error import worst_case_error

FORMS = ("second-order", "second-order-laplacian", "second-order-local")


def options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--n", nargs="+", type=int, default=[250, 500, 1000, 2000, 4000], help="numbers of control points")
    add("--points", type=int, default=20_000, help="points at which errors and bounds are searched for")
    return parser.parse_args()


def measured(field: targets.Target, control: points.PointSet, concentration: float, n: int) -> float:
    """Measure the sup error of the split head of a concentration."""
    return sup_error(SplitHead.from_target(field, control, concentration), field, n=n).lower


def best_measured(field: targets.Target, control: points.PointSet, n: int) -> tuple[float, float]:
    """Search for the concentration of least measured error; returns it with the error."""
    found = minimize_scalar(
        lambda log: measured(field, control, math.exp(log), n),
        bounds=(math.log(0.1 * len(control)), math.log(0.6 * len(control))), method="bounded", options={"xatol": 0.01},
    )  # fmt: skip
    return math.exp(found.x), found.fun


def row(field: targets.Target, count: int, n: int) -> list[object]:
    """Return the row of the table for some control points."""
    control = points.fibonacci(count)
    lam, least = best_measured(field, control, n)
    cells: list[object] = [count, f"{least:.3g} ({lam:.0f})"]
    cells.append(f"{field.lipschitz * worst_case_error(control, lam, n=n).lower:.3g}")
    for form in FORMS:
        chosen = bounds.best_concentration(target=field, points=control, theorem=form).concentration
        head = SplitHead.from_target(field, control, chosen)
        bound = bounds.pointwise.second_order_bound(head, field, theorem=form, n=n).value
        cells.append(f"{bound:.3g} ({chosen:.0f}; {sup_error(head, field, n=n).lower:.3g})")
    error = sup_error(head, field, n=n).lower
    return [*cells, f"{error / least:.2f}", f"{bound / least:.2f}"]


def main() -> None:
    """Print the table."""
    chosen = options()
    field = targets.with_constants(targets.geomagnetic_field(2025.0))
    names = ("lipschitz", "smoothness", "laplacian", "third_derivative")
    print(", ".join(f"{name} {getattr(field, name):.4g}" for name in names))
    rows = [row(field, count, chosen.points) for count in tqdm(chosen.n, disable=None)]
    titles = (
        "N",
        "best measured (lambda)",
        "L W",
        "(i) (lambda; measured)",
        "(ii)",
        "(iii)",
        "error ratio",
        "bound ratio",
    )
    print(tabulate(rows, headers=titles, disable_numparse=True))


if __name__ == "__main__":
    main()
