"""What users hold, a target and control points, as the numbers that theorems ask for; and the theorems' short names."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from spherapprox import _checks
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet
from spherapprox.target import Target

from ._problem import SMALLEST

ALIASES = {"sharp": "sharp-core", "thesis": "thesis-core"}

_ANY_POINTS = ("sharp-split", "sharp-split-nearest", "sharp-split-pack")
"""The theorems that ask for a covering radius; the others that have a radius ask for that of equal-measure cells."""
_SPACED = ("sharp-split", "sharp-split-pack")


def theorem_name(value: object, choices: Iterable[str]) -> str:
    """Return the full name of a theorem that is one of the choices."""
    return _checks.choice(ALIASES.get(value, value) if isinstance(value, str) else value, "theorem", choices)


def of_target(target: object, dim: Any, **given: Any) -> dict[str, Any]:
    """Return the dimension and the constants of a target's class; a constant that is given itself takes precedence.

    None stands for what is neither given nor known; without a target the exponent is 1.
    """
    if target is None:
        return given | {"dim": dim, "exponent": 1.0 if given["exponent"] is None else given["exponent"]}
    if not isinstance(target, Target):
        raise TypeError(f"'target' must be a Target (wrap a function: Target(f, dim=...)), got {_checks.show(target)}")
    constants = {"lipschitz": target.lipschitz, "exponent": target.exponent, "sup_norm": target.sup_norm}
    found: dict[str, Any] = {"dim": _same(dim, target.dim, "target")}
    for name, value in given.items():
        known = constants.get(name)
        found[name] = (None if known is None else max(known, SMALLEST)) if value is None else value  # 0: a constant
    return found


def of_class(target: object, dim: Any, theorem: str = "", **given: Any) -> dict[str, Any]:
    """As `of_target` for a class: without a target unknown constants are 1, with one they must be known if needed."""
    known = of_target(target, dim, **given)
    require_dim(known)
    for name in ("lipschitz", "sup_norm"):
        if name in known and known[name] is None:
            if target is not None and not (name == "sup_norm" and theorem.startswith("sharp-split")):
                raise TypeError(f"'{name}' is not known of the target: give it, or make it Target(..., {name}=...)")
            known[name] = 1.0 if target is None else known["lipschitz"]
    return known


def require_dim(given: dict[str, Any]) -> None:
    """Raise unless the dimension is known."""
    if given["dim"] is None:
        raise TypeError("'dim' must be given, or an argument that has it, as 'target' has")


def of_points(points: object, theorem: str, needs: Iterable[str], given: dict[str, Any]) -> dict[str, Any]:
    """Return `given` with what a theorem needs to know of control points where that is None."""
    if points is None:
        return given
    if not isinstance(points, EqualMeasurePartition | PointSet):
        kinds = "an EqualMeasurePartition or a PointSet (wrap rows: PointSet(rows))"
        raise TypeError(f"'points' must be {kinds}, got {_checks.show(points)}")
    found = given | {"dim": _same(given["dim"], points.dim, "points")}
    if given["n"] is None:
        found["n"] = len(points)
    if given["radius"] is None and "radius" in needs:
        found["radius"] = _radius(points, theorem)
    if isinstance(points, PointSet):
        if theorem in _SPACED and "separation" in given and given["separation"] is None and len(points) > 1:
            found["separation"] = points.smallest_distance() or None
        name = "exactness" if theorem == "sharp-core-spectral" else "degree"
        if name in needs and given.get(name) is None:
            if not (points.weights > 0.0).all():
                raise ValueError(f"'points' must have positive weights for theorem='{theorem}'")
            found[name] = points.degree
    return found


def _radius(points: EqualMeasurePartition | PointSet, theorem: str) -> float:
    """Return the radius of points that a theorem speaks of."""
    if isinstance(points, EqualMeasurePartition):
        if theorem == "sharp-core-centroid" and points.center_kind != "centroid":
            raise ValueError(f"'points' must be a partition with centers='centroid', got {points!r}")
        return points.cell_radius()
    if theorem not in _ANY_POINTS:
        raise ValueError(f"'points' must be an EqualMeasurePartition for theorem='{theorem}', got {points!r}")
    if not points.covering_is_known:
        raise ValueError("'points' must have a covering radius, which is not known of these: give 'radius'")
    return points.covering_bound()


def _same(dim: object, own: int, name: str) -> int:
    """Return the dimension of a target or of points, which one that is given must be."""
    if dim is not None and _checks.dimension(dim) != own:
        raise ValueError(f"'dim' must be {own}, that of '{name}', or left out, got {_checks.show(dim)}")
    return own
