"""Targets and control points as the arguments of theorems; and the theorems' short names."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from spherapprox import _checks
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet
from spherapprox.target import Target

from ..covering import MOST_POINTS, SMALLEST_RADIUS, SUFFICIENT, covering_radius
from ..records.problem import SMALLEST, Problem
from ..records.theorem import Prefix, Theorem
from .requirements import known_radius, known_separation

ALIASES = {"sharp": "sharp-core", "thesis": "thesis-core"}


def theorem_name(value: object, choices: Iterable[str]) -> str:
    """Return the full name of a theorem that is one of the choices."""
    return _checks.choice(ALIASES.get(value, value) if isinstance(value, str) else value, "theorem", choices)


def of_target(target: object, dim: Any, **given: Any) -> dict[str, Any]:
    """Return the dimension and the constants of a target's class; a constant that is given itself takes precedence.

    None stands for what is neither given nor known; without a target the exponent is 1.
    """
    if target is None:
        return given | {"dim": dim, "exponent": 1.0 if given["exponent"] is None else given["exponent"]}
    target = _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=...)")
    constants = {name: getattr(target, name) for name in ("lipschitz", "exponent", "sup_norm", "smoothness")}
    found: dict[str, Any] = {"dim": _same(dim, target.dim, "target")}
    for name, value in given.items():
        known = constants.get(name)
        found[name] = (None if known is None else max(known, SMALLEST)) if value is None else value  # 0: a constant
    return found


def of_class(
    target: object, dim: Any, needs: Iterable[str] = ("lipschitz", "sup_norm"), **given: Any
) -> dict[str, Any]:
    """Return the dimension and constants of a class: 1 where unknown; of a target, those needed must be known."""
    known = of_target(target, dim, **given)
    require_dim(known)
    for name in ("lipschitz", "sup_norm", "smoothness"):
        if name in known and known[name] is None:
            if target is not None and name in needs:
                raise TypeError(f"'{name}' is not known of the target: give it, or make it Target(..., {name}=...)")
            if name != "smoothness":
                known[name] = 1.0 if target is None else known["lipschitz"]
    return known


def checked_problem(eps: object, dim: object, *, covering: object, **given: Any) -> Problem:
    """Check every argument and make the problem."""
    problem = Problem.checked(eps, dim, **given)
    return replace(problem, covering=_checks.choice(covering, "covering", SUFFICIENT))


def require_dim(given: dict[str, Any]) -> None:
    """Raise unless the dimension is known."""
    _checks.given(given["dim"], "dim", ", or an argument that has it, as 'target' has")


def of_points(points: Any, theorem: Theorem, given: dict[str, Any]) -> dict[str, Any]:
    """Fill in a theorem's missing arguments from control points."""
    if points is None:
        return given
    _checks.instance(points, "points", EqualMeasurePartition, PointSet, remedy="wrap rows, PointSet(rows)")
    found = given | {"dim": _same(given["dim"], points.dim, "points")}
    own = ("radius", "exactness" if "exactness" in theorem.needs else "degree")
    lacking = [name for name in own if name in theorem.needs and given[name] is None]
    if lacking and (lack := theorem.requires.lack(points)):
        raise ValueError(f"theorem='{theorem.name}' needs {lack}, got points={points!r}: give '{lacking[0]}'")
    if given["n"] is None:
        found["n"] = len(points)
    for name in lacking:
        found[name] = known_radius(points) if name == "radius" else getattr(points, "degree", None)
    if "separation" in given and "separation" in (*theorem.needs, *theorem.uses) and given["separation"] is None:
        found["separation"] = known_separation(points)
    return found


def checked_prefix(theorem: Theorem, given: dict[str, Any], **options: Any) -> Prefix:
    """Check a prefix, and fill in the radius that n control points can have."""
    require_dim(given)
    for name in theorem.needs:
        if given[name] is None and not (name == "radius" and given["n"] is not None):
            raise TypeError(f"theorem='{theorem.name}' needs the argument '{name}', got None")
    slope = 1.0 if given["lipschitz"] is None else given["lipschitz"]
    sup_norm = slope if given["sup_norm"] is None else given["sup_norm"]  # a missing one is not used
    problem = checked_problem(
        slope, given["dim"], lipschitz=slope, sup_norm=sup_norm, exponent=given["exponent"],
        concentration=given["concentration"],
        second_derivative=given["smoothness"] if "smoothness" in theorem.needs else None, **options,
    )  # fmt: skip
    n, radius, separation = given["n"], given["radius"], given["separation"]
    count = math.nan if n is None else _checks.real(n, "n", minimum=1.0, maximum=MOST_POINTS)
    if radius is not None:
        rho = _checks.real(radius, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
    elif n is None or "radius" not in theorem.needs:
        rho = math.nan
    elif theorem.radius is not None:
        rho = theorem.radius(count, problem.dim)
    else:
        rho = covering_radius(count, dim=problem.dim, method=problem.covering).value
    degrees = (
        0 if given[name] is None else _checks.integer(given[name], name, minimum=0, maximum=10**30)
        for name in ("degree", "exactness")
    )
    return Prefix(
        problem, None if given["sup_norm"] is None else problem.sup_norm, rho, count,
        None if separation is None else _checks.real(separation, "separation", above=0.0, maximum=math.pi), *degrees,
    )  # fmt: skip


def _same(dim: object, own: int, name: str) -> int:
    """Return the dimension of a target or of points; a given one must be the same."""
    _checks.agreeing(None if dim is None else _checks.dimension(dim), "dim", own, f", that of '{name}'")
    return own
