"""Zeros on a circle of sums of exponentials of linear functions, against the conjecture of 4.K: 2 (n-1) at most.

    python tests/reference/zeros_on_circles.py [--cases 100000] [--seed 0]

A case has n random keys, some of them nearly collinear, of one length or of very different ones, and the weights for
which n - 1 random points are zeros. It fails where a sum changes its sign more often. A minute for each n.
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

from spherapprox._types import Float64

ANGLES = 2.0 * np.pi * np.arange(1500) / 1500
BATCH = 2000
NOISE = 1e-11
"""Share of the sum of absolute values below which a sum has no sign."""


def keys_of(n: int, kind: int, rng: np.random.Generator) -> Float64:
    """Return a batch of keys (cases, n, 2)."""
    keys = rng.standard_normal((BATCH, n, 2))
    if kind == 1:
        keys[..., 1] *= 10.0 ** rng.uniform(-3.0, 0.0, (BATCH, 1))
    elif kind == 2:
        keys /= np.linalg.norm(keys, axis=2, keepdims=True)
    elif kind == 3:
        keys *= 10.0 ** rng.uniform(-1.0, 1.0, (BATCH, n, 1))
    return np.asarray(keys * 10.0 ** rng.uniform(-0.5, 1.7, (BATCH, 1, 1)))


def count_changes(keys: Float64, zeros: Float64) -> list[int]:
    """Count changes of sign on the circle of the sums that vanish at these angles (cases, n-1)."""
    at = np.einsum("tnk,ktz->tzn", keys, np.stack([np.cos(zeros), np.sin(zeros)]))
    top = at.max(axis=1, keepdims=True)  # of each term, which its weight takes up
    matrix = np.exp(at - top)
    weights = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=2, keepdims=True))[2][:, -1]
    g = np.einsum("tnk,km->tnm", keys, np.stack([np.cos(ANGLES), np.sin(ANGLES)])) - top[:, 0, :, None]
    terms = weights[:, :, None] * np.exp(g - g.max(axis=1, keepdims=True))
    total = terms.sum(axis=1)
    signs = np.where(np.abs(total) > NOISE * np.abs(terms).sum(axis=1), np.sign(total), 0.0)
    certain = [row[row != 0.0] for row in signs]
    return [int((row != np.roll(row, 1)).sum()) for row in certain]


def main() -> None:
    """Print how often a sum changes its sign, for n = 3, ..., 6."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    for n in range(3, 7):
        counts: Counter[int] = Counter()
        for batch in range(-(-options.cases // BATCH)):
            spread = np.pi if batch % 2 else 1.0
            zeros = rng.uniform(0.0, 2.0 * np.pi, (BATCH, 1)) + spread * rng.uniform(-1.0, 1.0, (BATCH, n - 1))
            counts.update(count_changes(keys_of(n, batch % 4, rng), zeros))
        print(f"n = {n}: {dict(sorted(counts.items()))}", flush=True)
        if max(counts) > 2 * (n - 1):
            raise SystemExit(f"{n} terms with {max(counts)} zeros")


if __name__ == "__main__":
    main()
