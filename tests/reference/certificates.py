"""Certified errors against brute force: random heads and targets, a million points each.

``python tests/reference/certificates.py --cases 1000 --seed 0`` takes about half an hour on two cores. Each case must
have an upper end at or above the largest error at the points, and no proof may succeed for a bound 0.1 % below it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time

import numpy as np

from spherapprox import ClassicalHead, CoreHead, SplitHead, Target, special, sphere, sup_error, targets
from spherapprox.error import Proof, head_constants, worst_case_error
from spherapprox.error.certified import search
from spherapprox.error.certified.derivatives import Derivative
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError
from spherapprox.summation import angle_mean

SILENT = search.Options(3e5, 2, lambda state: None)


def clustered(rng, dim, n):
    """Control points: uniform, in a cap, nearly equal, or on a great circle."""
    x = sphere.uniform(dim, n, rng)
    kind = rng.integers(5)
    if kind == 1:
        x = x[0] + 10.0 ** -rng.uniform(0, 3) * x
    if kind == 2:
        x[: n // 2] = x[0] + 1e-6 * x[: n // 2]
    if kind == 3:
        x[:, 2:] *= 1e-9
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def random_target(rng, dim):
    """A target with a degree, a remainder, a modulus of continuity, or vectors as values."""
    pole = sphere.uniform(dim, 1, rng)[0]
    wave, small = targets.random_bandlimited(dim, int(rng.integers(0, 8)), rng), 10.0 ** -rng.uniform(2, 8)
    nearly = Target(
        lambda x: wave(x) + small * np.sign(x[:, 0]), dim, sup_norm=wave.sup_norm + small, degree=wave.degree,
        remainder=small, name="polynomial and jump",
    )  # fmt: skip
    makers = (
        lambda: wave,
        lambda: nearly,
        lambda: targets.distance(dim, pole=pole),
        lambda: targets.bump(dim, 10.0 ** rng.uniform(-1, 2), pole=pole),
        lambda: targets.random_smooth(dim, float(rng.choice([0.5, 0.9, 1.5, 3.0])), rng, terms=3),
        lambda: targets.tangent_projection(dim),
        lambda: targets.zonal_harmonic(dim, int(rng.integers(1, 12)), pole=pole),
    )
    return makers[rng.integers(len(makers))]()


def random_head(rng, dim, target):
    """A head of any kind with 1 to 1000 control points, its values this target's or not."""
    n = int(np.exp(rng.uniform(0, math.log(1000))))
    points, concentration = clustered(rng, dim, n), float(10.0 ** rng.uniform(-2, 3.3 if rng.integers(3) else 8))
    kind = (SplitHead, SplitHead, ClassicalHead, CoreHead)[rng.integers(4)]
    values = np.asarray(target(points), np.float64)
    if kind is CoreHead:
        share = float(special.log_cap_measure(dim, min(math.pi, 2.0 / math.sqrt(concentration))))
        values = values * min(math.exp(-share) / n, 10.0)
    if rng.integers(3) == 0:
        values = values + 10.0 ** rng.uniform(-6, 1) * rng.standard_normal(values.shape)
    if rng.integers(6) == 0:
        points, values = points.astype(np.float32), values.astype(np.float32)
    return kind(points, values, concentration)


def brute_force(head, target, n, rng):
    """Return the largest error at n points, half of them near control points and their midpoints."""
    worst = 0.0
    for _ in range(-(-n // 100_000)):
        x = sphere.uniform(head.dim, 100_000, rng)
        near = head.control_points[rng.integers(len(head), size=50_000)]
        x[:50_000] = near + 10.0 ** rng.uniform(-6, 0, (50_000, 1)) * x[:50_000]
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        difference = np.asarray(head(x), np.float64) - target(x)
        worst = max(worst, float(np.linalg.norm(difference.reshape(len(x), -1), axis=1).max()))
    return worst


def case(seed, n):
    """Return a line for one random case, and whether it is as it should be."""
    rng = np.random.default_rng(seed)
    dim = int(rng.choice([1, 2, 2, 3]))
    target = random_target(rng, dim)
    head = random_head(rng, dim, target)
    slack = float(rng.choice([0.01, 0.05, 0.3]))
    begin = time.perf_counter()
    proof = sup_error(head, target, n=2000, rng=seed, certified=Proof(slack=slack, max_evaluations=1e6))
    seconds, true = time.perf_counter() - begin, brute_force(head, target, n, rng)
    right = not true > proof.upper * (1 + 1e-12) and proof.lower <= proof.upper
    # a bound below the largest error seen: nothing may be proven, whatever the tests say of single cells
    problem = HeadError.of(head, as_function(target))
    largest = max(true, proof.lower)
    if largest > 1e-9 * problem.unit:
        right &= not search.proves(problem, 0.999 / 1.001 * largest / problem.unit, proof.at, 0.05, SILENT)
    name = f"{type(head).__name__:13} N={len(head):3} lambda={head.concentration:9.3g} {target.name:24.24}"
    reached = proof.certificate.slack
    line = f"{seed:6} S^{dim} {name} {largest:.4g} <= {proof.upper:.4g} ({slack:g}: {reached:.3f}) {seconds:.1f} s"
    return line, right, not proof.reason


def worst_case(seed, n):
    """Return a line for one random set of points, and whether it is as it should be."""
    rng = np.random.default_rng(seed)
    dim = int(rng.choice([1, 2, 3]))
    points = clustered(rng, dim, int(np.exp(rng.uniform(0, math.log(200)))))
    concentration = float(10.0 ** rng.uniform(-2, 3.3))
    proof = worst_case_error(points, concentration, n=2000, rng=seed, certified=Proof(max_evaluations=1e6))
    x = sphere.uniform(dim, n, rng)
    true = float(angle_mean(x, points, concentration).max())
    line = (
        f"{seed:6} S^{dim} W             N={len(points):3} lambda={concentration:9.3g} {true:.4g} <= {proof.upper:.4g}"
    )
    return line, not true > proof.upper * (1 + 1e-12), not proof.reason


def constants(seed, n):
    """Return a line for one random head's constants, and whether they are as they should be."""
    rng = np.random.default_rng(seed)
    dim = int(rng.choice([1, 2, 2, 3]))
    head = random_head(rng, dim, random_target(rng, dim))
    proof = head_constants(head, slack=0.3, rng=seed, max_evaluations=1e6)
    x = sphere.uniform(dim, min(n, 100_000), rng)
    x[::2] = head.control_points[rng.integers(len(head), size=len(x[::2]))] + 10.0 ** -rng.uniform(0, 3) * x[::2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    right, texts = True, []
    for order, interval in ((1, proof.lipschitz), (2, proof.smoothness)):
        problem = Derivative.of(head, order)
        largest = max(interval.lower, float(problem.sizes(x).max()))
        right &= interval.lower <= interval.upper
        if order == 1:
            slopes = np.asarray(head.gradient(x[:2000], rtol=None), np.float64).reshape(len(x[:2000]), -1, dim + 1)
            right &= not float(np.linalg.norm(slopes, 2, axis=(1, 2)).max()) > interval.upper * (1 + 1e-9)
        right &= not largest > interval.upper * (1 + 1e-9)
        if largest > 1e-7 * problem.unit * head.concentration**order:
            bound = 0.999 / 1.001 * largest / problem.unit
            right &= not search.proves(problem, bound, interval.at, 0.05, SILENT)
        texts.append(f"{largest:.4g} <= {interval.upper:.4g}")
    name = f"{type(head).__name__:13} N={len(head):3} lambda={head.concentration:9.3g}"
    line = f"{seed:6} S^{dim} {name} {' and '.join(texts)}"
    return line, right, not (proof.lipschitz.reason or proof.smoothness.reason)


def main() -> int:
    """Run the cases; return 1 if any is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--points", type=int, default=1_000_000)
    options = parser.parse_args()
    n_proven = wrong = 0
    for seed in range(options.seed, options.seed + options.cases):
        kind = {7: worst_case, 6: constants}.get(seed % 8, case)
        line, right, bounded = kind(seed, options.points)
        n_proven, wrong = n_proven + bounded, wrong + (not right)
        print(line, "" if right else "WRONG", flush=True)
    print(f"{options.cases} cases, {n_proven} with the slack asked for, {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
