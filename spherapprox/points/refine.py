"""Refinement of point sets: farthest points added one after another, and relaxation of the Riesz energy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import _checks, sphere
from .._types import Float64, Seed
from ..partition import EqualMeasurePartition
from . import insertion
from .pointset import Points, PointSet, nodes
from .relaxation import Energy, descend
from .sequences import sobol

_MAX_SOBOL = 21201  # largest dimension of SciPy's Sobol sequences
MAX_CANDIDATES = 2**20  # largest pool of candidates that is made unless asked for
MAX_RELAXED = 2**16  # largest number of points that are relaxed: one step takes the forces between all pairs


def greedy(points: Points, n: int, *, candidates: int | None = None, rng: Seed = 0, progress: bool = False) -> PointSet:
    """Return n points: the given ones and farthest points, added one after another.

    Each new point is the one of the sphere at the largest distance from all points before it, so that every hole that
    is filled is the largest. It needs no structure of the given points, and each prefix is such a set itself.

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like, shape (k, dim+1)
        Where to start, at least one point; of a partition, the centres of its cells. They are kept as they are, and
        may repeat.
    n : int
        Number of points of the result, at least k.
    candidates : int, optional
        For m >= 3: the number of points from which the search for holes starts. None means 8 n, rounded up to a power
        of two, at least 2^12 and at most 2^20.
    rng : None, int or numpy.random.Generator, default 0
        For m >= 3: the source of the candidates.
    progress : bool, default False
        For m >= 3: show a progress bar.

    Returns
    -------
    PointSet
        Equal weights; the first k rows are the given ones, the others follow in the order of their insertion. On S^1
        and S^2 with its covering radius, if a point was added.

    Raises
    ------
    ValueError
        If there are more than n points, bare rows are no points of a sphere, or the result would not fit into memory.

    Notes
    -----
    On S^1 and S^2 the points are exactly the farthest ones: the middles of the largest gaps, and the centres of the
    largest empty caps, which rest on the triangles of a Delaunay triangulation that grows with the points, in O(log n)
    for each. Their distances are right to 1e-9, to 1e-6 where given points of S^2 are closer than that.

    Beyond S^2 nothing is exact: in each round four more of the candidates, a scrambled Sobol sequence (random for
    m > 21201), are moved uphill to local maxima of the distance, and the farthest one found so far is taken, at
    O((candidates + n) m) for each point and more in many dimensions: about 20 ms at 10^4 points of S^8.

    Started from one point and with farthest points, the covering radius is at most twice the smallest that n points
    can have, and no two points are closer than the covering radius before the last insertion [1]_
    (docs/theorems/5.10-farthest-points.md).

    What it gains, on S^2, in the covering radius: 1000 random points have 0.208 and 0.069 when filled up to 2000 (2000
    random ones have 0.142); 1000 centres of a partition have 0.080 and 0.067 when filled up to 2000 (a new partition
    has 0.057); from one point to 1000 it is 0.091. The mesh ratio, covering radius over half the separation, is 2.0
    for all but the random start, whose close pairs remain.

    References
    ----------
    .. [1] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical Computer Science 38
       (1985), 293-306.

    Examples
    --------
    >>> from spherapprox import points
    >>> points.greedy([[0.0, 1.0]], 3).points[1:].round(6) + 0.0
    array([[ 0., -1.],
           [-1.,  0.]])
    >>> random = points.uniform(2, 100, rng=0)
    >>> finer = points.greedy(random, 200)
    >>> round(random.covering_bound(), 3), round(finer.covering_bound(), 3)
    (0.557, 0.217)
    """
    n = _checks.integer(n, "n", minimum=1, maximum=sphere.MAX_POINTS)
    if candidates is not None:
        candidates = _checks.integer(candidates, "candidates", minimum=1, maximum=2**30)
    progress, generator = _checks.flag(progress, "progress"), _checks.generator(rng)
    # Step 1: the given points, as unit rows
    rows = _rows(points, n, "pass a larger 'n', or fewer points")
    dim = rows.shape[1] - 1
    _checks.memory(n * (400.0 if dim == 2 else 120.0 + 24.0 * dim), f"{n} points of S^{dim}", "pass a smaller 'n'")
    x, radius = rows / np.linalg.norm(rows, axis=1, keepdims=True), None
    if len(x) == n:
        return PointSet(rows)
    # Step 2: farthest points, exactly on S^1 and S^2
    if dim == 1:
        added, radius = insertion.insert_on_circle(x, n)
    elif dim == 2:
        added, radius = insertion.insert_on_sphere(x, n)
    else:
        count = candidates or min(max(2**12, 1 << (8 * n - 1).bit_length()), MAX_CANDIDATES)
        _checks.memory(48.0 * count * (dim + 1), f"{count} candidates on S^{dim}", "pass fewer 'candidates'")
        pool = sobol(dim, count, generator).points if dim <= _MAX_SOBOL else sphere.uniform(dim, count, generator)
        added = insertion.from_pool(x, pool, _bar(range(n - len(x)), "insertion") if progress else range(n - len(x)))
    return PointSet(np.concatenate([rows, added]), covering_radius=radius)


def relax(
    points: Points,
    *,
    exponent: float | None = None,
    steps: int = 100,
    workers: int | None = None,
    progress: bool = False,
) -> PointSet:
    """Return as many points, moved apart until the energy of their repulsion is (nearly) at a local minimum.

    Parameters
    ----------
    points : EqualMeasurePartition, PointSet or array_like, shape (n, dim+1)
        Where to start, at most 65536 points, no two the same; of a partition, the centres of its cells. Weights are
        ignored.
    exponent : float, optional
        s >= 0 of the Riesz energy, the sum of ``|x_i - x_j|**-s`` over all pairs; 0 is the logarithmic energy, the sum
        of ``-log |x_i - x_j|``, and s = 1 on S^2 Thomson's problem. None means m + 1: for s > m, points of least
        energy are quasi-uniform, with separation and covering radius both of the order n^(-1/m) [1]_.
    steps : int, default 100
        Largest number of steps, each of which takes the forces between all pairs once or twice.
    workers : int or None, default None
        Threads, as in `spherapprox.evaluate`; the result is the same for any number.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    PointSet
        Equal weights; its energy is at most that of `points`, which come back where no step lowers it.

    Raises
    ------
    ValueError
        If two points coincide, there are more than 65536 of them, or bare rows are no points of a sphere.

    Notes
    -----
    The L-BFGS method on ``log(energy)/s``, so that no power overflows for any s, in coordinates y with x = y/|y|. It
    finds a local minimum near the start; symmetric starts may be critical points, which it cannot leave. An
    interruption leaves no trace.

    What it gains, for 1000 points of S^2: random points go from a covering radius of 0.208 to 0.083 and from a mesh
    ratio (covering radius over half the separation) of 1500 to 1.6; centres of a partition keep 0.080 and 1.5. For 1000
    centres on S^3 the separation grows from 0.204 to 0.257 and the mesh ratio falls from 2.3 to 1.8, for 500 on S^7
    from 3.3 to 2.0.

    References
    ----------
    .. [1] D. P. Hardin, E. B. Saff and J. T. Whitehouse, "Quasi-uniformity of minimal weighted energy points on compact
       metric spaces", Journal of Complexity 28 (2012), 177-191.

    Examples
    --------
    >>> from scipy.spatial.distance import pdist
    >>> from spherapprox import points
    >>> icosahedron = points.relax(points.uniform(2, 12, rng=0), exponent=1.0)
    >>> round(float((1.0 / pdist(icosahedron.points)).sum()), 6)
    49.165253
    >>> round(icosahedron.covering_bound(), 6)
    0.652358
    """
    workers, progress = _checks.workers(workers), _checks.flag(progress, "progress")
    steps = _checks.integer(steps, "steps", minimum=0)
    rows = _rows(points, MAX_RELAXED, "every step takes all pairs; relax fewer points, or refine these by 'greedy'")
    s = float(rows.shape[1]) if exponent is None else _checks.real(exponent, "exponent", minimum=0.0)
    x = rows / np.linalg.norm(rows, axis=1, keepdims=True)  # (n, d)
    if len(x) == 1 or steps == 0:
        return PointSet(rows)
    bar = _bar(None, "relaxation", total=steps) if progress else None
    try:
        energy = Energy(x, s, workers)
        before = energy(x.ravel())[0]
        if before == math.inf:
            raise _coincidence(x)
        descend(energy, steps, None if bar is None else lambda _: bar.update())
    finally:
        if bar is not None:
            bar.close()
    return PointSet(energy.best if energy.least < before else rows)


def _rows(points: Points, maximum: int, remedy: str) -> Float64:
    """Return the points as float64 rows, shape (n, dim+1), after checking their number."""
    count = 0
    if isinstance(points, EqualMeasurePartition | PointSet):
        count = len(points)
        _checks.memory(8.0 * min(count, maximum) * (points.dim + 1), f"{count} points", remedy)
    rows = np.empty((0, 2)) if count > maximum else nodes(points)[0].astype(np.float64)
    count = max(count, len(rows))
    if count > maximum:
        raise ValueError(f"'points' must have at most {maximum} rows, got {count}: {remedy}")
    return rows


def _coincidence(x: Float64) -> ValueError:
    """Return the complaint about two points that coincide, which makes their energy infinite."""
    from scipy.spatial import cKDTree

    distance, index = cKDTree(x).query(x, 2)
    i = int(np.argmin(distance[:, 1]))
    j = int(index[i][index[i] != i][0])
    return ValueError(f"'points' must be distinct, got rows {i} and {j} alike: drop one of them")


def _bar(items: Iterable[int] | None, name: str, **options: Any) -> Any:
    """Show a progress bar."""
    from tqdm.auto import tqdm

    return tqdm(items, desc=name, leave=False, **options)
