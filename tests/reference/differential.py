"""Hold every method of `evaluate` against long double on random problems, each internal switch forced in turn.

Run it as ``python tests/reference/differential.py --problems 20000``: it prints the numbers of cases by method and by
switch, the largest shares of the proven bounds, and every case outside its bound; it fails if there is one. A case is
one call of `evaluate`; tests/spherapprox/summation/test_differential.py runs some hundreds.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np
from sums import Array, sphere, truth, unit
from tqdm import tqdm

from spherapprox._kernels.summation import layout
from spherapprox.summation import dense, explain_sum, lowrank, plan, scaling, truncated
from spherapprox.summation.dense import all_pairs

LARGEST_ON_SPHERE = 2000.0
"""Concentration up to which transforms on S^2 take no more than some milliseconds."""
VALUES = ("ordinary", "positive", "huge", "tiny", "decades", "sparse", "two sizes", "columns", "zero", "extreme")
POINTS = ("uniform", "clusters", "equal", "opposite", "near")
SWITCHES: dict[str, tuple[tuple[Any, str, Any], ...]] = {
    "none": (),
    "many parts": ((all_pairs, "PACKED", 1), (all_pairs, "WHOLE", 0)),
    "chunks": ((layout, "MANY", 0),),
    "many tasks": ((all_pairs, "TASK_WORK", 1.0), (truncated, "TASK_WORK", 1.0)),
    "all rows again": ((all_pairs, "LOST", {8: np.inf, 4: np.inf}),),
    "all lifted": ((scaling, "LIFTED", -2000),),
    "narrow bands": ((scaling, "BAND", 3), (scaling, "NO_UNDERFLOW", 1.0)),
    "all by dots": ((all_pairs, "SMALL_WORK", 0.0), (dense, "DOTS_SHARE", 1.0)),
    "many runs": ((lowrank, "BLOCK_WORK", 1.0),),
}
"""What is set in which module: every path that is rarely taken, always."""


@dataclass(frozen=True)
class Case:
    """The arguments of a call."""

    x: Array
    b: Array
    values: Array
    concentration: float
    options: dict[str, Any]
    what: str


def problem(rng: np.random.Generator) -> Case:
    """Draw a problem."""
    dim = int(rng.choice([1, 2, 2, 3, 5, 12, 13, 30]))
    m, n = (int(rng.integers(1, largest)) for largest in (50, 300))
    concentration = float(
        rng.choice([0.0, 10.0 ** rng.uniform(-3.0, 2.0), 10.0 ** rng.uniform(1.0, 9.0)], p=[0.04, 0.48, 0.48])
    )
    where, kind, p = rng.choice(POINTS), str(rng.choice(VALUES)), int(rng.choice([0, 1, 2, 3, 6]))
    x, b = points(str(where), m, n, dim, concentration, rng)
    table = values(kind, n, max(p, 1), rng)
    single = bool(rng.random() < 0.25)
    log = bool(rng.random() < 0.2)
    table = np.abs(table) if log else table
    if single:
        x, b, table = x.astype(np.float32), b.astype(np.float32), as_single(table)
    table = table[:, 0] if p == 0 else table
    options = {
        "normalize": bool(rng.random() < 0.5),
        "log": log,
        "rtol": float(rng.choice([1e-14, 10.0 ** rng.uniform(-15.0, -1.0)])),
        "workers": [None, 1, 2][rng.integers(3)],
    }
    what = f"{where} points, {kind} values, dim {dim}, {m} x {n} x {p}, lambda {concentration:g}, single {single}"
    return Case(*(strided(a, rng) for a in (x, b, table)), concentration, options, what)


def points(where: str, m: int, n: int, dim: int, concentration: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return evaluation and control points."""
    x, b = sphere(m, dim, rng), sphere(n, dim, rng)
    if where == "clusters":
        centers = sphere(4, dim, rng)
        x, b = (unit(centers[rng.integers(0, 4, len(a))] + 0.05 * a) for a in (x, b))
    elif where == "equal":
        b[:] = b[0]
        x[::2] = b[0]
    elif where == "opposite":
        b = unit(b + 3.0 * np.eye(dim + 1)[0])
        x = unit(x - 3.0 * np.eye(dim + 1)[0])
    elif where == "near":
        x = unit(b[rng.integers(0, n, m)] + x / np.sqrt(1.0 + concentration))
    return x, b


def values(kind: str, n: int, p: int, rng: np.random.Generator) -> Array:
    """Return a table of values (n, p)."""
    v = rng.standard_normal((n, p))
    match kind:
        case "positive":
            v = np.abs(v)
        case "huge":
            v *= 10.0 ** rng.uniform(9.0, 300.0)
        case "tiny":
            v *= 10.0 ** rng.uniform(-300.0, -9.0)
        case "decades":
            v *= 10.0 ** rng.uniform(-250.0, 250.0, (n, p))
        case "sparse":
            v *= rng.random((n, p)) < 0.05
        case "two sizes":
            v *= np.where(rng.random((n, p)) < 0.1, 10.0 ** rng.uniform(0.0, 300.0), 10.0 ** rng.uniform(-300.0, 0.0))
        case "columns":
            v *= 10.0 ** rng.uniform(-200.0, 200.0, p)
        case "zero":
            v *= rng.random(p) < 0.3
        case "extreme":
            v = rng.choice([0.0, 5e-324, 2.3e-308, 1.0, 1.7e300, -1.7e300, 2.0**30, 2.0**-30], (n, p))
    return np.asarray(v)


def as_single(table: Array) -> Array:
    """Return values in float32, those beyond its range brought into it."""
    logs = np.clip(np.log10(np.where(table == 0.0, 1.0, np.abs(table))), -44.0, 37.0)
    return np.asarray(np.sign(table) * 10.0**logs, np.float32)


def strided(a: Array, rng: np.random.Generator) -> Array:
    """Return the array in another layout."""
    match int(rng.integers(4)):
        case 0:
            return np.asfortranarray(a)
        case 1:
            return np.repeat(a, 2, axis=0)[::2]
        case 2:
            return np.ascontiguousarray(a[::-1])[::-1]
        case _:
            return a


def sums(case: Case) -> tuple[Array, Array]:
    """Return the true sums (m, p), or quotients, and those of absolute values."""
    table = case.values.reshape(len(case.b), -1)
    return truth(case.x, case.b, table, case.concentration, case.options["normalize"])


def share(case: Case, method: str, exact: Array, size: Array) -> tuple[float, plan.Plan]:
    """Return the largest error as a share of its bound, and the plan; `wanted`, `size`: what `sums` returns."""
    options = dict(case.options)
    workers = options.pop("workers")
    with patch.dict(os.environ, {} if workers is None else {"SPHERAPPROX_WORKERS": str(workers)}):
        result, chosen_plan = explain_sum(case.x, case.b, case.values, case.concentration, method=method, **options)
    result = result.reshape(exact.shape).astype(np.longdouble)
    if case.options["log"]:
        with np.errstate(divide="ignore"):
            exact = np.log(exact)
        there = exact > -11000.0  # above what long double can tell from 0
        error, bound = np.abs(result[there] - exact[there]), np.longdouble(chosen_plan.rtol)
    else:
        largest = np.finfo(case_type(case)).max
        there = np.abs(exact) < largest
        size = size.max(axis=0, keepdims=True) if chosen_plan.scale == "largest row" else size
        error = np.abs(result[there] - exact[there])
        bound = np.broadcast_to(chosen_plan.rtol * size + chosen_plan.atol, exact.shape)[there]
    if not error.size:
        return 0.0, chosen_plan
    return float(np.max(error / bound)), chosen_plan


def case_type(case: Case) -> Any:
    """Return the result's type."""
    return np.result_type(case.x, case.b, case.values)


def methods(case: Case) -> tuple[str, ...]:
    """Return the methods that may be able to evaluate a case within a moment."""
    dim = case.x.shape[1] - 1
    transforms = dim == 1 or (dim == 2 and case.concentration < LARGEST_ON_SPHERE)
    common = ("harmonic",) * transforms + ("lowrank",) * (dim < 4 or case.concentration < 1.0)
    return ("auto", "dense", "truncated", "numpy", *(() if case.options["log"] else common))


@contextlib.contextmanager
def forced(switch: str) -> Iterator[None]:
    """Set what a switch says for some time."""
    with contextlib.ExitStack() as stack:
        for module, name, value in SWITCHES[switch]:
            stack.enter_context(patch.object(module, name, value))
        yield


def run(
    seed: int, problems: int, progress: bool = False, switches: Iterable[str] = ()
) -> tuple[Counter[str], dict[str, float], list[str]]:
    """Return the cases counted, the largest shares of bounds by method, and the cases outside them.

    Each problem is solved with each of the switches, or with a random one.
    """
    counts: Counter[str] = Counter()
    worst: dict[str, float] = {}
    outside: list[str] = []
    for number in tqdm(range(seed, seed + problems), disable=not progress, mininterval=5.0):
        rng = np.random.default_rng(number)
        case = problem(rng)
        truths = sums(case)
        for switch, method in itertools.product(switches or [str(rng.choice(list(SWITCHES)))], methods(case)):
            try:
                with forced(switch):
                    result, chosen_plan = share(case, method, *truths)
            except ValueError as error:
                if "cannot be used here" not in str(error):
                    raise
                counts["refused"] += 1
                continue
            counts.update(["cases", f"switch: {switch}", f"by {chosen_plan.method}, switch: {switch}"])
            worst[chosen_plan.method] = max(worst.get(chosen_plan.method, 0.0), result)
            if not result <= 1.0:
                outside.append(
                    f"{result:.3g} of the bound: seed {number}, {method} ({chosen_plan.method}), switch {switch}, "
                    f"{case.what}, {case.options}"
                )
    return counts, worst, outside


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--problems", type=int, default=2000, help="default: %(default)s, some 8000 cases")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    begin = time.perf_counter()
    counts, worst, outside = run(arguments.seed, arguments.problems, progress=True)
    for name in sorted(counts):
        print(f"{counts[name]:8d}  {name}")
    for method, largest in worst.items():
        print(f"largest error of {method}: {largest:.3g} of its bound")
    print(*outside[:40], f"{len(outside)} outside their bounds; {time.perf_counter() - begin:.0f} s", sep="\n")
    return bool(outside)


if __name__ == "__main__":
    sys.exit(main())
