"""Shortest heads against brute force: random targets on S^1 to S^8 and S^63, with all options.

``python tests/reference/shortest.py --cases 200 --seed 0`` takes about half an hour on two cores. Of each head that
reached eps, `sup_error` must be at most eps, the proven upper end at or above a search five times as thorough, and
values and numbers of tokens within their bounds; searches by this other one that find more than eps are counted.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np
from searches import search

from spherapprox import CoreHead, SplitHead, Target, sphere, sup_error, targets


def random_target(rng, dim):
    """A polynomial, a random head, a kink, a narrow kernel, a vector field or a smooth function."""
    small = dim <= 8
    n = int(rng.integers(1, 12))
    values = rng.standard_normal((n, *((2,) if rng.random() < 0.3 else ())))
    family = (CoreHead, SplitHead)[rng.integers(2)]
    head = family(sphere.uniform(dim, n, rng), values, float(10.0 ** rng.uniform(-1, 1.5)))
    pole, matrix = sphere.uniform(dim, 1, rng)[0], rng.standard_normal((dim + 1, dim + 1))
    makers = [
        lambda: Target(head, dim, name="head"),
        lambda: targets.bump(dim, float(10.0 ** rng.uniform(0, 2)), pole=pole),
        lambda: targets.distance(dim, pole=pole),
        lambda: Target(lambda x: x @ pole * np.exp(x[:, 0]), dim, name="product"),
        lambda: Target(lambda x: np.einsum("ni,ij,nj->n", x, matrix / dim, x), dim, name="quadratic"),
        lambda: targets.tangent_projection(dim),
    ]
    if small:
        makers.append(lambda: targets.random_bandlimited(dim, int(rng.integers(1, 7 if dim < 4 else 3)), rng))
    if dim <= 3:
        makers.append(lambda: targets.random_smooth(dim, rng=rng))
    return makers[rng.integers(len(makers))]()


def checked(rng, case, limit):
    """Search for a head of a random target; returns its line and whether something is wrong."""
    dim = int(rng.choice([1, 2, 2, 3, 4, 6, 8, 8, 63, 63]))
    target = random_target(rng, dim)
    eps = float(10.0 ** rng.uniform(-3, -0.5))
    kind, keys = ("core", "split")[rng.integers(2)], ("unit", "free")[rng.integers(2)]
    options = {
        "keys": keys,
        "relative": True,
        "starts": int(rng.integers(1, 4)),
        "rng": int(rng.integers(1000)),
        "max_tokens": int(rng.integers(1, 60)),
        "time_limit": limit,
    }
    if rng.random() < 0.15:
        options["value_bound"] = float(10.0 ** rng.uniform(0, 1))
    if rng.random() < 0.15:
        options["dtype"] = ("float16", "bfloat16")[rng.integers(2)]
    options["certified"] = bool(dim <= 2 and rng.random() < 0.3)
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        found = search(target, eps, kind, **options)
    seconds = time.perf_counter() - begin
    again = sup_error(found.head, target, n=100_000 if dim < 63 else 40_000, refine=64, rng=case)
    wrong = found.n > options["max_tokens"] or not np.isfinite(found.head.values).all()
    wrong |= found.reached and found.norm == "sup" and found.lower is not None and found.lower > found.n
    wrong |= found.reached != (found.error.lower <= found.eps) or not again.lower <= found.error.upper * (1 + 1e-9)
    if "value_bound" in options:
        wrong |= not np.abs(found.head.values).max() <= options["value_bound"]
    ratio = again.lower / found.eps
    said = "reached" if found.reached else "not reached"
    more = {name: options[name] for name in ("value_bound", "dtype", "certified") if options.get(name)}
    line = f"{case:4d} S^{dim} {target.name} {kind} {keys} eps {eps:.2g}: N={found.n} {said}, {ratio:.3f} eps"
    line += f", {seconds:.1f} s, at least {found.lower} {more}"
    return line, wrong, found.reached and ratio > 1.0, found.reached


def main():
    """Run the cases; returns the number of wrong ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time-limit", type=float, default=10.0, help="seconds of each search")
    options = parser.parse_args()
    counts = np.zeros(3, dtype=int)
    for case in range(options.cases):
        line, *flags = checked(np.random.default_rng([options.seed, case]), case, options.time_limit)
        counts += flags
        print(("WRONG " if flags[0] else "more  " if flags[1] else "      ") + line, flush=True)
    print(f"{options.cases} cases: {counts[0]} wrong; {counts[2]} reached, {counts[1]} of them above eps elsewhere")
    return int(counts[0])


if __name__ == "__main__":
    sys.exit(main())
