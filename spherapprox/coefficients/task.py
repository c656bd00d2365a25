"""The problem of every rule for coefficients: target, control points, concentration and options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from ..points import nodes
from ..points.pointset import Points


@dataclass(frozen=True)
class Task:
    """A target, control points and a concentration, and the options of the rules that take some."""

    target: Callable[[Any], ArrayLike]
    points: Points
    concentration: float
    degree: int | None = None
    regularization: float | None = None
    samples: Points | int | None = None

    @cached_property
    def rows(self) -> Floats:
        """The control points b_k, (n, dim+1)."""
        return nodes(self.points)[0]

    @cached_property
    def weights(self) -> Float64 | None:
        """Quadrature weights w_k, (n,); None means 1/n each."""
        return nodes(self.points)[1]

    @property
    def dim(self) -> int:
        """The manifold's dimension m of the sphere S^m in R^(m+1)."""
        return int(self.rows.shape[1]) - 1

    @property
    def ridge(self) -> float:
        """The regularization, 0 where none is given."""
        ridge = 0.0 if self.regularization is None else self.regularization
        return _checks.real(ridge, "regularization", minimum=0.0)

    def sample(self) -> Floats:
        """Return the target's values at the control points, (n,) or (n, p)."""
        return sample(self.target, self.rows, "points")


def units(*tables: Floats) -> Float64:
    """Return powers of 2 by which no column of tables (n,) or (n, p) exceeds 2: squares of quotients are floats."""
    size = np.max([np.abs(table).max(axis=0) for table in tables], axis=0).astype(np.float64)
    return np.asarray(np.where(size > 0.0, np.ldexp(1.0, np.frexp(size)[1] - 1), 1.0))


def sample(target: Callable[[Any], ArrayLike], rows: Floats, name: str) -> Floats:
    """Return the target's values at points of its sphere, (n,) or (n, p)."""
    _checks.callable_(target, "target")
    dim = getattr(target, "dim", None)
    if dim is not None:
        _checks.same_sphere(rows, name, dim, owner="the target's sphere")
    owner = "the control points" if name == "points" else "the points"
    return _checks.values_for(_checks.called(target, rows), f"target({name})", len(rows), owner=owner)
