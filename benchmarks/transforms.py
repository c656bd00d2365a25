"""The harmonic method of `evaluate`, and sums of harmonics, beside what a user of ducc0 or FINUFFT would write.

On S^2 the peer is ducc0: weights to coefficients of spherical harmonics, times the kernel's eigenvalues, and to values
at the points (`adjoint_synthesis_general`, `synthesis_general`). On S^1 it is FINUFFT: a transform of type 1, times the
eigenvalues, one of type 2. Peers have the points' angles, degrees that leave out `RTOL` of the kernel, and no checks or
bounds; ours is a call of `evaluate` with all of its own, from rows. With ``--angles`` the peers compute angles from
rows, too. `harmonics.synthesize`, from rows, is beside `synthesis_general` alone, and `harmonics.gradient` beside
`synthesize`. All times are of one run, interleaved, medians::

    pip install ducc0 finufft
    python benchmarks/transforms.py
    python benchmarks/transforms.py --dims 3 --threads 1 --n 100000
    python benchmarks/transforms.py --dims --n 1000 10000 100000 1000000
"""

# ruff: noqa: E402 - the limits on threads come before the import of NumPy, which reads them

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1" if variable != "OMP_NUM_THREADS" else "2")

import ducc0
import finufft
import numpy as np
from numpy.typing import NDArray
from scipy.special import ive
from tabulate import tabulate
from timing import HEADER, Row, Timed, machine, measure

from spherapprox import evaluate, harmonics, sphere
from spherapprox.summation import explain_sum

Array = NDArray[np.float64]

RTOL = 1e-12
TARGET = 1.0 / 1.2
"""What the peers' time over ours is to be at least."""
SYNTHESIS_TARGET, GRADIENT_TARGET = 1.0 / 1.3, 1.0 / 4.0  # of ducc0's time over ours, and of synthesize's


def options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dims", type=int, nargs="*", choices=(2, 3), default=[3, 2], help="columns of the points")
    add("--n", type=int, nargs="+", default=[10**6], help="points, and as many control points")
    add("--concentrations", type=float, nargs="+", default=[10.0, 100.0, 1e3, 1e4])
    add("--degrees", type=int, nargs="*", default=[16, 64, 255], help="of sums of harmonics")
    add("--threads", type=int, nargs="+", default=[1, 2])
    add("--rounds", type=int, default=5, help="how often each call is timed")
    add("--angles", action="store_true", help="let the peers compute angles from rows")
    add("--positive", action="store_true", help="values of one sign")
    return parser.parse_args(arguments)


def eigenvalues(dim: int, concentration: float) -> Array:
    """Return the kernel's eigenvalues c_0, ..., c_L up to the least degree that leaves out at most `RTOL`."""
    degrees = np.arange(int(40 + 12 * np.sqrt(concentration) + 2 * min(concentration, 60.0)))
    half = 0.5 * (dim - 1)
    found = ive(degrees + half, concentration) * (np.sqrt(np.pi / (2.0 * concentration)) if dim == 2 else 1.0)
    terms = found * (2 * degrees + 1 if dim == 2 else 2)
    tails = np.cumsum(terms[::-1])[::-1]
    return np.asarray(found[: int(np.argmax(tails < RTOL)) + 1])


def angles(rows: Array) -> Array:
    """Return the azimuths of points of the circle, or the colatitudes and azimuths of points of the sphere."""
    azimuth = np.arctan2(rows[:, 1], rows[:, 0])
    if rows.shape[1] == 2:
        return azimuth
    colatitude = np.arctan2(np.hypot(rows[:, 0], rows[:, 1]), rows[:, 2])
    return np.stack([colatitude, np.mod(azimuth, 2.0 * np.pi)], axis=1)


def by_ducc0(x: Callable[[], Array], b: Callable[[], Array], w: Array, c: Array, threads: int) -> Array:
    """Sum on S^2 by transforms of ducc0."""
    degree = len(c) - 1
    settings = {"spin": 0, "lmax": degree, "epsilon": 1e-13, "nthreads": threads}
    coefficients = ducc0.sht.adjoint_synthesis_general(map=w[None], loc=b(), **settings)
    coefficients *= 4.0 * np.pi * c[np.concatenate([np.arange(m, degree + 1) for m in range(degree + 1)])]
    return np.asarray(ducc0.sht.synthesis_general(alm=coefficients, loc=x(), **settings)[0])


def by_finufft(x: Callable[[], Array], b: Callable[[], Array], w: Array, c: Array, threads: int) -> Array:
    """Sum on S^1 by transforms of FINUFFT."""
    degree = len(c) - 1
    settings = {"eps": 1e-13, "nthreads": threads}
    coefficients = finufft.nufft1d1(b(), w.astype(np.complex128), 2 * degree + 1, isign=-1, **settings)
    coefficients *= c[np.abs(np.arange(-degree, degree + 1))]
    return np.asarray(finufft.nufft1d2(x(), coefficients, isign=1, **settings).real)


def comparison(d: int, n: int, concentration: float, threads: int, chosen: argparse.Namespace) -> Row:
    """Return the row of one problem."""
    x, b = sphere.uniform(d - 1, n, 0), sphere.uniform(d - 1, n, 1)
    w = np.random.default_rng(2).standard_normal(n)
    w = np.abs(w) if chosen.positive else w
    c = eigenvalues(d - 1, concentration)
    u, v = angles(x), angles(b)
    points, controls = (partial(angles, x), partial(angles, b)) if chosen.angles else (lambda: u, lambda: v)
    ours = Timed(partial(evaluate, x, b, w, concentration, method="harmonic", rtol=RTOL, workers=threads))
    peer = Timed(partial(by_ducc0 if d == 3 else by_finufft, points, controls, w, c, threads))

    def agreement() -> str:
        values, how = explain_sum(x, b, w, concentration, method="harmonic", rtol=RTOL)
        scale = np.abs(values).max()
        return f"{np.max(np.abs(values - peer.result)) / scale:.1e} of max |h|; proven {how.rtol:.1e}"

    what = f"S^{d - 1} N=M={n:.0e} lambda={concentration:g} {threads} thr / {'ducc0' if d == 3 else 'finufft'}"
    return Row(what, ours, peer, agreement, TARGET)


def complex_coefficients(c: Array, degree: int) -> NDArray[np.complex128]:
    """Return ducc0's coefficients of a sum of harmonics: complex, order by order, with the phase (-1)^m."""
    m, k = np.triu_indices(degree + 1)
    parts = c[k * k + k + m] - 1j * (m > 0) * c[k * k + k - m]
    return np.asarray(np.sqrt(4.0 * np.pi) * parts * np.where(m > 0, (-1.0) ** m * np.sqrt(0.5), 1.0))[None]


def by_synthesis(points: Callable[[], Array], c: NDArray[np.complex128], degree: int, threads: int) -> Array:
    """Sum harmonics by ducc0."""
    settings = {"spin": 0, "lmax": degree, "epsilon": 1e-13, "nthreads": threads}
    return np.asarray(ducc0.sht.synthesis_general(alm=c, loc=points(), **settings)[0])


def synthesis(degree: int, n: int, threads: int, chosen: argparse.Namespace) -> Iterator[Row]:
    """Return the rows of a sum of harmonics, and of its gradient."""
    x, c = sphere.uniform(2, n, 0), np.random.default_rng(1).standard_normal((degree + 1) ** 2)
    u = angles(x)
    points = partial(angles, x) if chosen.angles else lambda: u
    ours, slope = Timed(partial(harmonics.synthesize, c, x)), Timed(partial(harmonics.gradient, c, x))
    peer = Timed(partial(by_synthesis, points, complex_coefficients(c, degree), degree, threads))

    def agreement() -> str:
        return f"{np.abs(ours.result - peer.result).max() / np.abs(peer.result).max():.1e} of max |f|"

    what = f"degree {degree} n={n:.0e} {threads} thr"
    yield Row(f"synthesize {what} / ducc0", ours, peer, agreement, SYNTHESIS_TARGET)
    yield Row(f"gradient {what} / synthesize", slope, ours, lambda: "", GRADIENT_TARGET)


def rows(chosen: argparse.Namespace) -> Iterator[list[str]]:
    """Time all problems."""
    for threads in chosen.threads:
        for d in chosen.dims:
            for n in chosen.n:
                for concentration in chosen.concentrations:
                    yield measure(comparison(d, n, concentration, threads, chosen), chosen.rounds)
        os.environ["SPHERAPPROX_WORKERS"] = str(threads)
        for degree in chosen.degrees:
            for n in chosen.n:
                for row in synthesis(degree, n, threads, chosen):
                    yield measure(row, chosen.rounds)


def main() -> None:
    """Print the table."""
    chosen = options()
    print(machine("spherapprox", "numpy", "scipy", "numba", "ducc0", "finufft"))
    print(tabulate(list(rows(chosen)), HEADER, disable_numparse=True))


if __name__ == "__main__":
    main()
