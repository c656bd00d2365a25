"""Simulate how often cones of confidence hold the true mean direction: the table of the levels they have.

    python tests/reference/cones.py [--trials 2000] [--level 0.95]

The last samples are no von Mises-Fisher ones: "oval" has half the spread across one direction, "two" is two narrow
clusters. The standard error of a level of 0.95 is 0.005 with 2000 trials.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from spherapprox import VonMisesFisher
from spherapprox.directional import confidence_cone

Sampler = Callable[[np.random.Generator, int], NDArray[np.float64]]
METHODS = ("F", "conditional", "bootstrap")


def fisher(columns: int, concentration: float) -> Sampler:
    """Return a sampler of a von Mises-Fisher distribution about the first axis."""
    distribution = VonMisesFisher(np.eye(columns)[0], concentration)
    return lambda rng, n: distribution.rvs(n, rng=rng)


def oval(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return projected normal points, 0.6 and 0.15 wide."""
    x = rng.standard_normal((n, 3)) * [0.0, 0.6, 0.15] + [1.0, 0.0, 0.0]
    return x / np.linalg.norm(x, axis=1)[:, None]


def two(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Return points of two narrow clusters, 60 degrees from each other."""
    side = 0.5 * rng.choice([-1.0, 1.0], n)
    x = np.column_stack([np.full(n, 0.75**0.5), side, np.zeros(n)]) + 0.1 * rng.standard_normal((n, 3)) * [0, 0, 1]
    return x / np.linalg.norm(x, axis=1)[:, None]


CASES: list[tuple[str, Sampler, tuple[int, ...]]] = [
    *((f"{p} columns, kappa {k:g}", fisher(p, k), (5, 10, 30, 200)) for p, k in (
        (2, 1.0), (2, 3.0), (2, 20.0), (3, 1.0), (3, 3.0), (3, 20.0), (5, 5.0), (5, 50.0), (64, 40.0), (64, 1000.0),
        (768, 500.0),
    )),
    ("oval", oval, (10, 30, 200)),
    ("two", two, (10, 30, 200)),
]  # fmt: skip


def level_of(sampler: Sampler, n: int, method: str, level: float, trials: int) -> float:
    """Return the share of cones that hold the first axis."""
    rng, count = np.random.default_rng(0), 0
    for _ in range(trials):
        mean, angle = confidence_cone(sampler(rng, n), level, method, n_resamples=399, rng=rng)
        count += 1.0 - mean[0] <= 1.0 - np.cos(angle)
    return count / trials


def main() -> None:
    """Print the levels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--only", default="", help="cases whose name contains it")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)  # that the F law does not hold, which is to be seen
    print(f"{'sample':<28}{'n':>5}" + "".join(f"{method:>13}" for method in METHODS))
    for name, sampler, sizes in tqdm([case for case in CASES if chosen.only in case[0]], disable=None):
        for n in sizes:
            levels = [level_of(sampler, n, method, chosen.level, chosen.trials) for method in METHODS]
            tqdm.write(f"{name:<28}{n:>5}" + "".join(f"{level:>13.3f}" for level in levels))


if __name__ == "__main__":
    main()
