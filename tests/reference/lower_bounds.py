"""Lower bounds of the number of tokens against heads: none may be above the length of a head within eps.

    python tests/reference/lower_bounds.py [--cases 1000] [--seed 0]

A case is a random head on S^1 to S^3 with 1 to 12 tokens, some of them near each other, lambda from 1e-3 to 1e3 (on S^3
to 30), one to three outputs and values of several sizes, plus noise that is nowhere larger than eps: more tokens of the
same lambda, or a zonal harmonic. It fails where the bound for the sum and eps is above the head's number of tokens.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from typing import Any

import numpy as np
import tqdm

from spherapprox import CoreHead, SplitHead, Target, VonMisesFisher, harmonics, sphere
from spherapprox.shortest import token_lower_bound

QUESTIONS = ("one lambda", "one lambda", "one lambda", "every lambda", "free", "split")


def degree_of_token(dim: int, concentration: float) -> tuple[int, float]:
    """Return a degree, and how far at most a token of height 1 is from a polynomial of it: some 1e-13."""
    kernel = VonMisesFisher(dim, concentration)
    k = np.arange(40 + int(12.0 * math.sqrt(concentration)))
    size = [math.comb(dim + n, dim) - (math.comb(dim + n - 2, dim) if n > 1 else 0) for n in k.tolist()]
    terms = np.array(size) * kernel.eigenvalue(k) * math.exp(-kernel.log_normalizer - concentration)
    residual = np.append(np.cumsum(terms[::-1])[::-1][1:], 0.0) + 1e-13
    degree = int(np.argmax(residual < 2e-13))
    return degree, float(residual[degree])


def noise(dim: int, concentration: float, rng: np.random.Generator) -> tuple[Any, int]:
    """Return a function that is nowhere larger than 1, and its degree, 0 for a head of this concentration."""
    if rng.uniform() < 0.5:
        count = int(rng.integers(1, 4))
        return CoreHead(sphere.uniform(dim, count, rng), rng.choice([-1.0, 1.0], count) / count, concentration), 0
    degree, pole = int(rng.integers(0, 12)), sphere.uniform(dim, 1, rng)[0]
    return (lambda x: harmonics.zonal_harmonic(degree, x, pole)), degree


def largest_change(function: Any, dim: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the largest value and the largest slope that 4000 pairs of points show."""
    x, step = sphere.uniform(dim, 4000, rng), 1e-3 * sphere.uniform(dim, 4000, rng)
    near = (x + step) / np.linalg.norm(x + step, axis=1, keepdims=True)
    here, there = (np.reshape(function(at), (len(x), -1)) for at in (x, near))
    slopes = np.linalg.norm(there - here, axis=1) / np.linalg.norm(near - x, axis=1)
    return float(np.linalg.norm(here, axis=1).max()), float(slopes.max())


def case(rng: np.random.Generator) -> tuple[str, int, int]:
    """Return what was asked, the length of a head within eps, and the bound."""
    question = str(rng.choice(QUESTIONS))
    dim, n, p = int(rng.integers(1, 4)), int(rng.integers(1, 13)), int(rng.choice([1, 1, 2, 3]))
    concentration = float(10.0 ** rng.uniform(-3.0, 3.0 if dim < 3 else 1.5))
    b = sphere.uniform(dim, n, rng)
    if rng.uniform() < 0.3:
        b = b[0] + 10.0 ** rng.uniform(-3.0, 0.0) * b
        b /= np.linalg.norm(b, axis=1, keepdims=True)
    values = rng.standard_normal((n, p)) * 10.0 ** rng.uniform(-1.0, 1.0, (n, 1))
    head = (SplitHead if question == "split" else CoreHead)(b, values, concentration)
    extra, least = noise(dim, concentration, rng)
    direction = rng.standard_normal(p)
    direction /= np.linalg.norm(direction)
    size = float(np.linalg.norm(head(np.vstack([sphere.uniform(dim, 200, rng), b])), axis=1).max())
    eps = size * 10.0 ** rng.uniform(-8.0, -0.5)
    degree, residual = degree_of_token(dim, concentration)
    constants: dict[str, Any] = {
        "degree": max(degree, least),
        "remainder": residual * (float(np.abs(values).sum()) + eps),
    }
    if question == "split":
        constants = {}
    if question in ("split", "free"):
        most = 2.0 * np.abs(values).max() if question == "split" else np.abs(values).sum()
        constants["lipschitz"] = concentration * p * float(most) + eps * (least + concentration)
    target = Target(
        lambda x: head(x) + eps * np.asarray(extra(x)).reshape(-1, 1) * direction, dim, sup_norm=10.0 * size,
        **constants,
    )  # fmt: skip
    lower = token_lower_bound(
        target, eps * (1.0 + 1e-9), "split" if question == "split" else "core",
        concentration=concentration if question == "one lambda" else None,
        keys="free" if question == "free" else "unit",
    )  # fmt: skip
    return question, n, lower.n


def main() -> None:
    """Print the cases that fail, and how many are tight."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for i in tqdm.trange(options.cases):
        question, n, bound = case(np.random.default_rng([options.seed, i]))
        counts[question, "failed" if bound > n else "tight" if bound == n else "below"] += 1
        if bound > n:
            print(f"seed {options.seed}, case {i}: {question}, {n} tokens, bound {bound}")
    for (question, result), count in sorted(counts.items()):
        print(f"{question:14}{result:8}{count}")


if __name__ == "__main__":
    main()
