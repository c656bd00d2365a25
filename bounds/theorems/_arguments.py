"""Targets and control points as what theorems ask for: a `Problem` and a `Prefix`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from spherapprox import _checks
from spherapprox.partition import EqualMeasurePartition
from spherapprox.points import PointSet
from spherapprox.target import Target

from ..covering import MOST_POINTS, SMALLEST_RADIUS, covering_radius
from ..records.problem import SMALLEST, Problem
from ..records.theorem import Prefix, Theorem
from .requirements import known_radius


def read_class(target: object, dim: Any, **constants: Any) -> dict[str, Any]:
    """Return the dimension and the constants of a class: a target's own where they are None, None where it has none.

    Without a target the exponent is 1.
    """
    if target is None:
        exponent = constants["exponent"]
        return constants | {"dim": dim, "exponent": 1.0 if exponent is None else exponent}
    target = _checks.instance(target, "target", Target, remedy="wrap a function, Target(f, dim=...)")
    for name, value in constants.items():
        own = getattr(target, name)
        if value is None and own is not None:
            constants[name] = max(own, SMALLEST)  # 0: a constant
    return constants | {"dim": _same_dim(dim, target.dim, "target")}


def complete_class(
    target: object, dim: Any, needs: Iterable[str] = ("lipschitz", "sup_norm"), **constants: Any
) -> dict[str, Any]:
    """Return the dimension and constants of a class: 1 where unknown; of a target, those needed must be known."""
    constants = read_class(target, dim, **constants)
    require_dim(constants["dim"])
    for name in ("lipschitz", "sup_norm", "smoothness"):
        if name in constants and constants[name] is None:
            if target is not None and name in needs:
                raise TypeError(f"'{name}' is not known of the target: give it, or make it Target(..., {name}=...)")
            if name != "smoothness":
                constants[name] = 1.0 if target is None else constants["lipschitz"]
    return constants


def require_dim(dim: object) -> None:
    """Raise unless the dimension is known."""
    _checks.given(dim, "dim", ", or an argument that has it, as 'target' has")


def read_points(points: Any, dim: Any, theorem: Theorem) -> tuple[Any, Prefix]:
    """Return the dimension and the prefix of control points, with all that a theorem asks of them."""
    if points is None or isinstance(points, Prefix):
        return dim, points or Prefix()
    kinds = (EqualMeasurePartition, PointSet, Prefix)
    controls: Any = _checks.instance(points, "points", *kinds, remedy="wrap rows, PointSet(rows)")
    lacking = [name for name in ("radius", "exactness") if name in theorem.needs]
    if lacking and (lack := theorem.requires.lack(controls)):
        remedy = f"state it, Prefix({lacking[0]}=...)"
        raise ValueError(f"theorem='{theorem.name}' needs {lack}, got points={controls!r}: {remedy}")
    return _same_dim(dim, controls.dim, "points"), measure_points(controls, (*theorem.needs, *theorem.uses))


def measure_points(points: Any, names: Iterable[str]) -> Prefix:
    """Return the prefix of control points, with those of its fields that are named."""

    def separation(rows: Any) -> float | None:  # None if unknown or 0
        return (rows.smallest_distance() if isinstance(rows, PointSet) and len(rows) > 1 else 0.0) or None

    fields: dict[str, Callable[[Any], Any]] = {
        "radius": known_radius, "separation": separation, "exactness": lambda rows: getattr(rows, "degree", None),
    }  # fmt: skip
    return Prefix(len(points), **{name: measure(points) for name, measure in fields.items() if name in names})


def error_problem(theorem: Theorem, constants: dict[str, Any], **options: Any) -> Problem:
    """Check what an error form is asked of a class: the constants that the theorem needs, and the options."""
    require_dim(constants["dim"])
    arguments = constants | options
    optional = ("lipschitz", "sup_norm", "smoothness", "concentration", "degree")
    for name in theorem.needs:
        if name in optional and arguments.get(name) is None:
            raise TypeError(f"theorem='{theorem.name}' needs the argument '{name}', got None")
    slope = 1.0 if constants["lipschitz"] is None else constants["lipschitz"]
    problem = Problem.checked(
        slope, constants["dim"], lipschitz=slope, exponent=constants["exponent"],
        sup_norm=slope if constants["sup_norm"] is None else constants["sup_norm"],
        smoothness=constants["smoothness"] if "smoothness" in theorem.needs else None, **options,
    )  # fmt: skip
    return problem if constants["sup_norm"] is not None else replace(problem, sup_norm=math.inf)


def checked_prefix(theorem: Theorem, problem: Problem, prefix: Prefix) -> Prefix:
    """Check the fields of a prefix that a theorem reads, and fill in the radius that n control points can have."""
    fields = {}
    for name in ("n", "radius", "separation", "exactness"):
        fields[name] = getattr(prefix, name) if name == "n" or name in (*theorem.needs, *theorem.uses) else None
        if name in theorem.needs and fields[name] is None and (name != "radius" or prefix.n is None):
            raise TypeError(f"theorem='{theorem.name}' needs 'points', or Prefix({name}=...), got {prefix!r}")
    n, radius, separation, exactness = fields.values()
    count = math.nan if n is None else _checks.real(n, "n", minimum=1.0, maximum=MOST_POINTS)
    if radius is not None:
        rho = _checks.real(radius, "radius", above=0.0, minimum=SMALLEST_RADIUS, maximum=math.pi)
    elif n is None or "radius" not in theorem.needs:
        rho = math.nan
    elif theorem.radius is not None:
        rho = theorem.radius(count, problem.dim)
    else:
        rho = covering_radius(count, dim=problem.dim, method=problem.covering).value
    return Prefix(
        count, rho,
        None if separation is None else _checks.real(separation, "separation", above=0.0, maximum=math.pi),
        exactness=None if exactness is None else _checks.integer(exactness, "exactness", minimum=0, maximum=10**30),
    )  # fmt: skip


def _same_dim(dim: object, own: int, name: str) -> int:
    """Return the dimension of a target or of points; a given one must be the same."""
    _checks.agreeing(None if dim is None else _checks.dimension(dim), "dim", own, source=f", that of '{name}'")
    return own
