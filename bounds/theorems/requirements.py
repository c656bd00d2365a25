"""Requirements on control points: cells of equal measure, a covering radius, or a positive quadrature rule."""

from __future__ import annotations

from typing import Any

from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet

from ..records.theorem import Requirement


def known_radius(points: object) -> float | None:
    """Return the covering radius of control points, None if unknown."""
    if isinstance(points, EqualMeasurePartition):
        return points.cell_radius()
    return points.covering_bound() if isinstance(points, PointSet) and points.covering_is_known else None


def _not_cells(points: object) -> str:
    return "" if isinstance(points, EqualMeasurePartition) else "an equal-measure partition"


def _not_centroids(points: object) -> str:
    centroids = getattr(points, "center_kind", "") == "centroid"
    return _not_cells(points) or ("" if centroids else "the cells' centroids (centers='centroid')")


def _not_exact(points: object) -> str:
    exact = isinstance(points, PointSet) and points.degree is not None and bool((points.weights > 0.0).all())
    return "" if exact else "positive weights and the degree of exactness (PointSet's degree=)"


def _not_design(points: Any) -> str:
    lack = _not_exact(points)
    return lack or (
        "" if (points.weights == points.weights[0]).all() else "equal weights, as those of a spherical design"
    )


CELLS, CENTROIDS = Requirement(_not_cells), Requirement(_not_centroids)
COVER = Requirement(
    lambda points: "" if known_radius(points) is not None else "the covering radius of the points", ("covering radius",)
)
RULE = Requirement(_not_exact, ("degree of exactness",))
DESIGN = Requirement(_not_design, ("degree of exactness",))
