"""`separating_direction`: a direction along which points stay apart, relative to their distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._norms import directions
from ..._threads import one_blas_thread
from ..._types import Float64


def separating_direction(
    x: ArrayLike, *, rng: np.random.Generator | int | None = None, tries: int = 1000
) -> tuple[Float64, float]:
    """Find a direction along which points stay apart, relative to their distances.

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    x : array_like, shape (n, d)
        Different points, at least 2.
    rng : None, int or numpy.random.Generator
        Source of the directions; the same seed gives the same result.
    tries : int, default 1000
        Directions that are tried; the best is taken.

    Returns
    -------
    u : ndarray, shape (d,)
        A unit vector.
    ratio : float
        The least ``abs(u @ (x[i] - x[j])) / norm(x[i] - x[j])`` over i != j, right to about 1e-15. A try has less than
        r with a probability of at most n (n - 1) / 2 I_{r^2}(1/2, (d - 1)/2); `bounds.prompts.separating_ratio` is the
        r at which this is 1, a ratio that some direction reaches.

    Raises
    ------
    TypeError, ValueError
        If points are not finite, fewer than 2, or not different.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import separating_direction
    >>> u, ratio = separating_direction([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], rng=0)
    >>> 0.7 < ratio < 0.7072  # the best one is sin(pi / 4)
    True
    """
    points = _checks.floating(_checks.detached(x), "x", ("n", "d")).astype(np.float64)
    n, d = points.shape
    if n < 2:
        raise ValueError(f"'x' must hold at least 2 points, got shape {points.shape}")
    count = _checks.integer(tries, "tries", minimum=1)
    _checks.operations(float(n) * n * d * count, "the search for a direction", "take fewer points or tries")
    _checks.memory(8.0 * count * (n + d), "the projections of points", "take fewer points or tries")
    candidates = _checks.generator(rng).standard_normal((count, d))
    octaves = int(np.frexp(np.abs(points).max())[1])
    points = np.ldexp(points, min(-octaves, 1020) if octaves < 0 else -1)  # chords neither overflow nor vanish
    if n == 2 and not np.array_equal(points[0], points[1]):
        candidates[-1] = directions(points[1:] - points[:1])  # the best one there is
    candidates = directions(candidates)
    ratios = np.full(count, np.inf)
    with one_blas_thread():
        for i in range(n - 1):
            chords = points[i + 1 :] - points[i]
            if not chords.any(axis=1).all():
                duplicate = i + 1 + int(np.argmin(chords.any(axis=1)))
                raise ValueError(
                    f"'x' must hold different points, got rows {i} and {duplicate} alike: np.unique drops them"
                )
            np.minimum(ratios, np.abs(directions(chords) @ candidates.T).min(axis=0), out=ratios)
    best = int(np.argmax(ratios))
    return candidates[best], min(float(ratios[best]), 1.0)
