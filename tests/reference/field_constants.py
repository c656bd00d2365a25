"""The largest value and slope of the geomagnetic field and of its vector, enclosed in ball arithmetic (6.1).

    python tests/reference/field_constants.py [--year 2025] [--slack 5e-4]

The bounds that the targets state rest on sums in floats, whose rounding is bounded by a proof (6.1). Here each value at
a midpoint of the refined grid of 6.1 is a ball, and the upper ends bound the suprema whatever rounding does. It fails
where one of them is above what the target states. Half a minute.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from flint import arb, ctx

from spherapprox import targets
from spherapprox.targets.geomagnetic import radial_coefficients
from spherapprox.targets.magnetic_vector import _vector_coefficients

COARSEST = 0.2


def legendre(degree: int, cosine: arb, sine: arb) -> tuple[list[list[arb]], list[list[arb]]]:
    """Return Schmidt's ``P_k^m`` and ``dP_k^m/dtheta`` as lists over k and m."""
    values: list[list[arb]] = []
    for k in range(degree + 1):
        row = [
            ((2 * k - 1) * cosine * values[k - 1][m]
             - (arb((k - 1) ** 2 - m * m).sqrt() * values[k - 2][m] if m < k - 1 else 0)) / arb(k * k - m * m).sqrt()
            for m in range(k)
        ]  # fmt: skip
        row.append(
            arb(1) if k == 0 else (arb(2 * k - 1) / (2 * k) if k > 1 else arb(1)).sqrt() * sine * values[k - 1][-1]
        )
        values.append(row)
    slopes = [
        [
            (k * cosine * row[m] - (arb(k * k - m * m).sqrt() * values[k - 1][m] if m < k else 0)) / sine
            for m in range(k + 1)
        ]
        for k, row in enumerate(values)
    ]
    return values, slopes


def on_parallel(table: Any, theta: arb, longitudes: list[arb]) -> list[tuple[arb, arb]]:
    """Return the norm of the field and of its derivative at longitudes of a parallel; table ((n+1)^2, p) of floats."""
    degree, p = math.isqrt(len(table)) - 1, table.shape[1]
    cosine, sine = theta.cos(), theta.sin()
    values, slopes = legendre(degree, cosine, sine)
    even, odd = ([[[arb(0)] * 2 for _ in range(degree + 1)] for _ in range(p)] for _ in range(2))
    for k in range(degree + 1):
        for m in range(k + 1):
            for column in range(p):
                for part, c in (
                    (even, table[k * k + k + m, column]),
                    (odd, table[k * k + k - m, column] if m else 0.0),
                ):
                    part[column][m][0] += arb(float(c)) * values[k][m]
                    part[column][m][1] += arb(float(c)) * slopes[k][m]
    found = []
    for phi in longitudes:
        turns = [((m * phi).cos(), (m * phi).sin()) for m in range(degree + 1)]
        f, down, across = ([arb(0)] * p for _ in range(3))
        for column in range(p):
            for m, (cos, sin) in enumerate(turns):
                a, b = even[column][m], odd[column][m]
                f[column] += a[0] * cos + b[0] * sin
                down[column] += a[1] * cos + b[1] * sin
                across[column] += m * (b[0] * cos - a[0] * sin) / sine
        one, other = (sum((x * x for x in part), arb(0)) for part in (down, across))
        mixed = sum((x * y for x, y in zip(down, across, strict=True)), arb(0))
        largest = (one + other) / 2 + (((one - other) / 2) ** 2 + mixed**2).sqrt()
        found.append((sum((x * x for x in f), arb(0)).sqrt(), largest.sqrt()))
    return found


def enclose(table: Any, slack: float) -> tuple[float, float]:
    """Return upper bounds of the suprema of the norm and of the slope, by the refined grid of 6.1."""
    n = int(np.flatnonzero(np.any(table != 0.0, axis=1)).max() ** 0.5)
    table = table[: (n + 1) ** 2]
    count = math.ceil(0.5 * math.pi / (math.acos(1.0 - COARSEST) / n / math.sqrt(2.0)))
    cells = {(i, j) for i in range(count) for j in range(2 * count)}
    best = [arb(0), arb(0)]
    while True:
        half = arb.pi() / (2 * count)
        share = (2 * n * ((half / 2).sin() * arb(2).sqrt()).asin()).cos()
        sizes: dict[tuple[int, int], tuple[arb, arb]] = {}
        for i in {i for i, _ in cells}:
            row = sorted(j for k, j in cells if k == i)
            found = on_parallel(table, (2 * i + 1) * half, [(2 * j + 1) * half for j in row])
            sizes |= {(i, j): size for j, size in zip(row, found, strict=True)}
        for quantity in (0, 1):
            low = max((size[quantity] for size in sizes.values()), key=lambda ball: float(ball.lower()))
            best[quantity] = low.lower() if low.lower() > best[quantity] else best[quantity]
        print(f"{len(cells)} cells, cos(n delta) = {float(share.mid()):.6f}", flush=True)
        if share > 1.0 - slack:
            tops = [max(float((size[quantity] / share).upper()) for size in sizes.values()) for quantity in (0, 1)]
            return math.nextafter(tops[0], math.inf), math.nextafter(tops[1], math.inf)
        kept = [key for key, size in sizes.items() if any(not size[q] < best[q] * share for q in (0, 1))]
        cells = {(2 * i + a, 2 * j + b) for i, j in kept for a in (0, 1) for b in (0, 1)}
        count *= 2


def main() -> None:
    """Print the enclosed bounds beside those that the targets state."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--year", type=float, default=2025.0)
    parser.add_argument("--slack", type=float, default=5e-4)
    options = parser.parse_args()
    ctx.prec = 128
    tables = {
        "geomagnetic_field": (radial_coefficients(options.year)[:, None], targets.geomagnetic_field(options.year)),
        "geomagnetic_vector": (_vector_coefficients(options.year), targets.geomagnetic_vector(options.year)),
    }
    for name, (table, target) in tables.items():
        bounds = enclose(table, options.slack if name == "geomagnetic_field" else 4e-6)
        for kind, bound in zip(("sup_norm", "lipschitz"), bounds, strict=True):
            stated = getattr(target, kind)
            print(f"{name} {kind}: enclosed below {bound:.9g}, stated {stated:.9g}")
            if bound > stated:
                raise SystemExit(f"{name}: {kind} is not proven")


if __name__ == "__main__":
    main()
