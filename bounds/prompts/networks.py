"""Errors of ReLU networks that are made from a function's values on a grid, for an executor to run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._types import Float64
from spherapprox.prompts.executor.pieces import checked_grid, damping

from ..records.bound import Bound
from ..records.problem import WIDEST
from .lengths import between

REFERENCE = "docs/theorems/9.4-relu-networks.md"


@np.errstate(over="ignore")  # inf says nothing, and is true
def interpolation_error(
    box: ArrayLike, cells: int | Sequence[int], *, lipschitz: ArrayLike | None = None,
    curvature: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the error of the interpolant of a function over the simplices of Kuhn's triangulation of a grid.

    It is what `spherapprox.prompts.executor.ReluNetwork.interpolate` makes, for any number of variables. Every form is
    attained by some function (docs/theorems/9.4-relu-networks.md).

    Parameters
    ----------
    box, cells
        As in `ReluNetwork.interpolate`.
    lipschitz : float or sequence of d float, optional
        Lipschitz constant in the Euclidean norm; or one for each variable, ``|f(x) - f(y)| <= sum L_i |x_i - y_i|``.
    curvature : float or array_like, shape (d, d), optional
        Bound of the second derivatives along all directions of unit length, the spectral norm of the Hessian matrix; or
        bounds of its entries ``|d_i d_j f|``, as matrix.

    Returns
    -------
    Bound
        On the quantity "sup error", the smaller one if both are given; without the roundings of the network.

    Raises
    ------
    TypeError, ValueError
        If neither is given, or an argument is out of its range.

    Examples
    --------
    >>> from bounds import prompts
    >>> print(prompts.interpolation_error([(-1, 1), (-1, 1)], 8, lipschitz=[1.0, 2.0], curvature=[[0, 1], [1, 0]]))
    interpolation: sup error <= 0.01563  [docs/theorems/9.4-relu-networks.md]
    """
    ends, counts = checked_grid(box, cells)
    steps = (ends[:, 1] - ends[:, 0]) / counts
    if lipschitz is None and curvature is None:
        raise TypeError("'lipschitz' or 'curvature' must be given")
    errors = []
    if lipschitz is not None:
        # 9.4 (errors): Lipschitz
        slopes = _entries(lipschitz, "lipschitz", (len(steps),))
        errors.append(0.5 * (float(slopes @ steps) if slopes.ndim else float(slopes) * float(np.linalg.norm(steps))))
    if curvature is not None:
        # 9.4 (errors): second derivatives
        bends = _entries(curvature, "curvature", (len(steps), len(steps)))
        errors.append(0.125 * float(steps @ bends @ steps if bends.ndim else bends * (steps @ steps)))
    return _bound(min(errors), "interpolation")


@np.errstate(over="ignore")
def shallow_error(
    box: ArrayLike, cells: int | Sequence[int], pieces: int, *, lipschitz: ArrayLike, sup_norm: float = 1.0
) -> Bound:
    """Bound the error of `spherapprox.prompts.executor.ReluNetwork.shallow`, a network of one hidden layer.

    Parameters
    ----------
    box, cells, pieces
        As in `ReluNetwork.shallow`.
    lipschitz : float or sequence of d float
        A constant for each variable, ``|f(x) - f(y)| <= sum L_i |x_i - y_i|``, or one for all.
    sup_norm : float, default 1.0
        Bound of |f - c|, for some constant c.

    Returns
    -------
    Bound
        On the quantity "sup error" (docs/theorems/9.4-relu-networks.md), for one output; its constants are the parts of
        the mean and of the pieces.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds import prompts
    >>> print(prompts.shallow_error([(-1, 1), (-1, 1)], 12, 8, lipschitz=1.0))
    shallow: sup error <= 0.6277  [docs/theorems/9.4-relu-networks.md]
    """
    ends, counts = checked_grid(box, cells)
    number = _checks.integer(pieces, "pieces", minimum=1)
    slopes = np.broadcast_to(_entries(lipschitz, "lipschitz", (len(ends),)), len(ends))
    # 9.4 (one layer)
    smoothing = float((slopes * (ends[:, 1] - ends[:, 0]) * np.sin(0.5 * np.pi / (np.array(counts) + 1.0))).sum())
    norm = math.prod(math.sqrt(1.0 + 2.0 * float((damping(count)[1:] ** 2).sum())) for count in counts)
    straight = between(sup_norm, "sup_norm") * norm * 0.125 * (math.pi / number) ** 2
    return _bound(smoothing + straight, "shallow", (("mean", smoothing), ("pieces", straight)))


def _entries(value: Any, name: str, shape: tuple[int, ...]) -> Float64:
    """Return a number, or an array of them, of a shape."""
    array = _checks.reals(_checks.detached(value), name, minimum=0.0, maximum=WIDEST, nan=False)
    return array if array.ndim == 0 else _checks.shaped(array, name, shape, note=", or be a number")


def _bound(error: float, theorem: str, constants: tuple[tuple[str, float], ...] = ()) -> Bound:
    log = math.log(error) if error > 0.0 else -math.inf
    return Bound("sup error", log, "upper", theorem=theorem, reference=REFERENCE, constants=constants)
