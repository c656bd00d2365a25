"""How far rounding errors grow in the recurrence of Legendre functions: the lemma of 6.3 (rounding), checked.

    python tests/reference/legendre_growth.py [--degree 256] [--workers 2]

For every order m it computes the matrices q_k^(j)(J) on the span of p_m, ..., p_j, in floats, and compares the lengths
of their columns with 1.2 sqrt(k - j + 1). Errors of these floats grow by the same matrices: with local ones below
1e3 units of 2^-53 of the lengths, and lengths of all columns together below 200, the columns found are right to 1e-5,
by induction from j = k down. It fails where a column is longer than 1.15 sqrt(k - j + 1).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np


def growth(degree: int, m: int) -> tuple[float, float]:
    """Return the largest length of a column over sqrt(k - j + 1), and of all columns together, for an order."""
    k = np.arange(m, degree + 2)
    a = np.sqrt((k - m) * (k + m) / (4.0 * k * k - 1.0)) if m else np.sqrt(k * k / np.abs(4.0 * k * k - 1.0))
    size, share, together = len(k) - 1, 1.0, 1.0
    down, up = a[:size, None], a[1 : size + 1, None]
    for j in range(m + 1, degree + 1):
        columns = j - m + 1
        before, last = np.zeros((2, size + 2, columns))  # row l - m + 1 belongs to p_l
        last[1 : columns + 1] = np.eye(columns)
        for i in range(j, degree):
            top = i + 2 - m  # rows that are not 0 after this step
            after = np.zeros_like(last)
            rows = slice(1, min(top, size) + 1)
            count = rows.stop - 1
            after[rows] = down[:count] * last[:count] + up[:count] * last[2 : count + 2]
            if i > j:
                after[rows] -= a[i - m] * before[rows]
            after[rows] /= a[i + 1 - m]
            before, last = last, after
            squares = np.einsum("ij,ij->j", last, last)
            share = max(share, float(np.sqrt(squares.max() / (i + 2 - j))))
            together = max(together, float(np.sqrt(squares.sum())))
    return share, together


def main() -> None:
    """Print the largest of all orders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--degree", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with ProcessPoolExecutor(options.workers) as pool:
        pairs = list(pool.map(partial(growth, options.degree), range(options.degree)))
    share, together = np.max(pairs, axis=0)
    print(f"to degree {options.degree}: {share:.4f} sqrt(k - j + 1), all columns together {together:.1f}")
    if not (share <= 1.15 and together <= 200.0):
        raise SystemExit("the lemma is not proven")


if __name__ == "__main__":
    main()
