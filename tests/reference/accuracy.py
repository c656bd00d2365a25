"""Tables of the worst error of every special function, per region of its arguments and at the seams of its formulas.

    python tests/reference/accuracy.py [--points 200] [--function log_iv ...] [--seed 0]

Errors are against `truth`, in the unit named above each table, for scalar calls and for compiled arrays alike. The
tests run the same tables with fewer points (tests/spherapprox/special/test_accuracy.py).
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import mpmath as mp
import numpy as np
import tabulate
import tqdm
import truth

from spherapprox import VonMisesFisher, special

EPS = 2.0**-52
NORMAL = 2.0**-1022
"""The smallest float with all its digits: an error below it counts relative to it."""

Rng = np.random.Generator
Point = tuple[Any, ...]
Sampler = Callable[[Rng], float]
Value = Callable[[Sequence[Point]], list[Sequence[float]]]


@dataclass(frozen=True)
class Table:
    """A function, where it is measured, and how.

    `draw` takes the random generator and one sampler of `rows` and of `columns` and returns a point; `seams` return
    points near a seam. `values` returns one or more lists of values (by scalar calls, compiled) for a list of points.
    The error is |value - truth| / scale, and `limit` is what the function promises.
    """

    name: str
    arguments: str
    unit: str
    limit: float
    rows: Mapping[str, Any]
    columns: Mapping[str, Any]
    draw: Callable[[Rng, Any, Any], Point]
    values: Value
    exact: Callable[..., Any]
    scale: Callable[[Any, Point], Any]
    seams: Mapping[str, Callable[[Rng], Point]] = field(default_factory=dict)
    family: str = ""  # tables of one family draw the same points, whose reference values are then computed once
    weight: float = 1.0  # of `points` per cell: less where a reference value takes long
    upper: bool = False  # no value may be below the truth


@dataclass(frozen=True)
class Result:
    """The worst error of a cell and where it is."""

    row: str
    column: str
    error: float
    at: Point


# Samplers ------------------------------------------------------------------------------------------------------------


def between(low: float, high: float) -> Sampler:
    """Return a sampler of log-uniform floats."""
    return lambda rng: min(high, max(low, math.exp(rng.uniform(math.log(low), math.log(high)))))


def uniform(low: float, high: float) -> Sampler:
    return lambda rng: float(rng.uniform(low, high))


def orders(low: float, high: float) -> Sampler:
    """Return a sampler of orders of which a third are integers, a third half-integers (below 2^51)."""
    draw = between(low, high)

    def sample(rng: Rng) -> float:
        v, kind = draw(rng), rng.integers(3)
        return v if kind == 0 or high < 1.0 else min(high, math.floor(v) + 0.5 * (kind - 1))

    return sample


def integers(low: float, high: float) -> Sampler:
    draw = between(low, high + 1)
    return lambda rng: min(int(high), int(draw(rng)))


def ranges(sampler: Callable[[float, float], Sampler], *names: str) -> dict[str, Sampler]:
    """Return samplers of ranges by their names, "1e-8..1"."""
    return {name: sampler(*map(float, name.split(".."))) for name in names}


def exactly(value: float) -> Sampler:
    return lambda rng: value


def then(draw: Callable[[Rng], Any], change: Callable[[Any, Rng], Point]) -> Callable[[Rng], Point]:
    """Return a sampler that changes what another one draws."""
    return lambda rng: change(draw(rng), rng)


def off(rng: Rng) -> float:
    """Return a factor 1 + d, d of either sign and from one unit in the last place to a percent."""
    return 1.0 + float(rng.choice([-1.0, 1.0])) * 10.0 ** float(rng.uniform(-15.7, -2.0))


ORDERS = {"0": exactly(0.0), "1e-8..1": orders(1e-8, 0.999)}
ORDERS |= ranges(orders, "1..16", "16..64", "64..1e4", "1e4..1e8", "1e8..1e12")
MIDDLE = ranges(between, "1e-8..1", "1..16", "16..128", "128..1e4", "1e4..1e9", "1e9..1e15")
ARGUMENTS = ranges(between, "5e-324..1e-8") | MIDDLE | ranges(between, "1e15..1e300")
DIMS = {"1": exactly(1), "2": exactly(2)} | ranges(integers, "3..16", "17..128", "129..1e4", "1e4..1e6")
CONCENTRATIONS = ranges(between, "1e-150..1e-8") | MIDDLE


def circle(radius: float) -> Callable[[Rng], Point]:
    """Return a sampler of (order, x) near hypot(order, x) = radius."""

    def sample(rng: Rng) -> Point:
        angle = rng.uniform(0.0, 0.5 * math.pi)
        factor = off(rng)
        return radius * math.sin(angle) * factor, radius * math.cos(angle) * factor

    return sample


def curve(x: Callable[[float], float], low: float = 1e-2, high: float = 1e12) -> Callable[[Rng], Point]:
    """Return a sampler of (order, x) near a curve x(order)."""
    draw = orders(low, high)

    def sample(rng: Rng) -> Point:
        v = draw(rng)
        return v, x(v) * off(rng)

    return sample


BESSEL_SEAMS: dict[str, Callable[[Rng], Point]] = {
    "hypot(order, x) = 64": circle(64.0),
    "hypot(order, x) = 96": circle(96.0),
    "hypot(order, x) = 1e4": circle(1e4),
    "order = 0, x = 64": lambda rng: (0.0, 64.0 * off(rng)),
    "order = 16": lambda rng: (16.0 * off(rng), between(1e-3, 1e15)(rng)),
    "order + x = 128": then(uniform(0.0, 0.99), lambda u, rng: (128.0 * u, 128.0 * (1.0 - u) * off(rng))),
    "x^2 = 4 (order + 1)": curve(lambda v: 2.0 * math.sqrt(v + 1.0)),
    "x = 4/3 (order + 1)": curve(lambda v: (v + 1.0) * 4.0 / 3.0),
    "x = 1e-8 order": curve(lambda v: 1e-8 * v),
    "x = 1e17 (order + 1)": curve(lambda v: 1e17 * (v + 1.0)),
    "x = 1e150": lambda rng: (orders(1e-2, 1e12)(rng), 1e150 * off(rng)),
    "x = 1e303..1.7e308": lambda rng: (orders(1e-2, 1e12)(rng), between(1e303, 1.7e308)(rng)),
    "x = 1e-290": lambda rng: (orders(1e-2, 1e12)(rng), 1e-290 * off(rng)),
}

STEPS = ranges(integers, "2..8", "9..256", "257..1e6", "1e6..1e15")
WIDE = {"0..16": orders(1e-2, 16.0)} | ranges(orders, "16..1e4", "1e4..1e12")
FAR_ARGUMENTS: dict[str, Sampler | None] = {
    **ranges(between, "1e-300..1", "1..128", "128..1e5", "1e5..1e15", "1e15..1e300"), "ratio e^-744..e^-1": None,
}  # fmt: skip


def far_x(v: float, n: int, log: float) -> float:
    """Return the x at which the log of the ratio over n steps is about -log, by bisection."""
    low, high = 1e-300, 1e40
    for _ in range(64):
        x = math.sqrt(low) * math.sqrt(high)
        low, high = (x, high) if special.log_iv_ratio(v, x, n) < -log else (low, x)
    return x


def draw_far(rng: Rng, row: tuple[Sampler, Sampler], column: Sampler | None) -> Point:
    v, n = row[0](rng), int(row[1](rng))
    return v, far_x(v, n, between(1.0, 744.0)(rng)) if column is None else column(rng), n


def far_seam(log: float) -> Callable[[Rng], Point]:
    """Return a sampler of points where the log of the ratio is near -log."""

    def sample(rng: Rng) -> Point:
        v, n = orders(1e-2, 1e9)(rng), int(integers(9, 10**7)(rng))
        return v, far_x(v, n, log) * off(rng), n

    return sample


def stepped(seam: Callable[[Rng], Point], steps: Sampler) -> Callable[[Rng], Point]:
    return lambda rng: (*seam(rng), int(steps(rng)))


FAR_SEAMS = {
    "8 or 9 steps": lambda rng: (orders(1e-2, 1e6)(rng), between(1e-2, 1e8)(rng), int(rng.integers(8, 10))),
    "hypot = 96, 2..300 steps": stepped(circle(96.0), integers(2, 300)),
    "hypot(order + 20, x) = 96": then(circle(96.0), lambda pair, rng: (max(0.0, pair[0] - 20.0), pair[1], 40)),
    "hypot = 1e4": stepped(circle(1e4), integers(9, 10**5)),
    "log ratio = -2": far_seam(2.0),
    "log ratio = -708 (subnormal)": far_seam(708.0),
    "log ratio = -745 (underflow)": far_seam(745.0),
}

# Values --------------------------------------------------------------------------------------------------------------


def both(function: Callable[..., Any], compiled: bool = True) -> Value:
    """Return values by scalar calls, and by one call with arrays: of no more elements, or enough to be compiled."""

    def values(points: Sequence[Point]) -> list[Sequence[float]]:
        size, dtype = (len(points) + special.COMPILE_FROM, float) if compiled else (len(points), None)
        columns = [np.resize(np.array(column, dtype), size) for column in zip(*points, strict=True)]
        return [[function(*point) for point in points], function(*columns)[: len(points)].tolist()]

    return values


def relative(exact: Any, point: Point) -> Any:
    return max(abs(exact), NORMAL)


def of_log_iv(exact: Any, point: Point) -> Any:
    return EPS * max(1.0, abs(exact), math.hypot(*point))


def inverse_scale(exact: Any, point: Point) -> Any:
    """Return what `iv_ratio_inverse` allows: 1e-15, half a spacing of the input, one of subnormals."""
    return exact * (1e-15 + 0.5 * EPS / (1.0 - point[1])) + 5e-324


def cap_scale(exact: Any, point: Point) -> Any:
    return max(1.0, 4.0 * EPS * abs(exact) / 1e-13)


def angle_scale(exact: Any, point: Point) -> Any:
    """Return the angle, and below 1e-150 times what the rounding of terms like the log measure moves it by."""
    rounding = 2.0 * EPS * abs(point[1]) / point[0] / 1e-13 if exact < 1e-150 else 1.0
    return max(exact, NORMAL) * max(1.0, rounding)


def log_scale(exact: Any, point: Point) -> Any:
    """Return 1, or |log|/100: an integral's log is right to 1e-12 or 1e-14 of itself."""
    return max(1.0, abs(exact) / 100)


def kernel(method: str, *arguments: Any, **options: Any) -> Value:
    """Return values of a method of VonMisesFisher at points (dim, concentration, method's arguments)."""

    def values(points: Sequence[Point]) -> list[Sequence[float]]:
        result = []
        for dim, lam, *arguments_of in points:
            attribute = getattr(VonMisesFisher(dim, lam), method)
            result.append(attribute(*arguments_of, *arguments, **options) if callable(attribute) else attribute)
        return [result]

    return values


def eigenvalues(log: bool) -> Value:
    def values(points: Sequence[Point]) -> list[Sequence[float]]:
        return [[VonMisesFisher(m, lam).eigenvalues(top, log=log)[k] for m, lam, top, k in points]]

    return values


def log_of(values: Value) -> Value:
    """Return logs of values in 60 digits, so that a value's relative error is an absolute one."""

    def logs(points: Sequence[Point]) -> list[Sequence[float]]:
        with mp.workdps(60):
            return [[mp.log(value) if 0.0 < value < math.inf else value for value in row] for row in values(points)]

    return logs


# Tables --------------------------------------------------------------------------------------------------------------


def bessel_tables() -> Iterator[Table]:
    cells = {"rows": ORDERS, "columns": ARGUMENTS, "seams": BESSEL_SEAMS, "arguments": "order, x"}
    cells |= {"draw": lambda rng, row, column: (row(rng), column(rng)), "family": "bessel"}
    unit = "eps max(1, |value|, hypot(order, x))"
    functions = {"values": both(special.log_iv), "exact": truth.log_iv, "scale": of_log_iv}
    yield Table("log_iv", unit=unit, limit=4.0, **functions, **cells)
    for name, limit in (("iv_ratio", 3e-16), ("iv_ratio_complement", 1e-15), ("log_iv_ratio", 1e-15)):
        functions = {"values": both(getattr(special, name)), "exact": getattr(truth, name), "scale": relative}
        yield Table(name, unit="relative", limit=limit, **functions, **cells)
        far = {"rows": {f"{v}, {n} steps": (WIDE[v], STEPS[n]) for v in WIDE for n in STEPS}, "columns": FAR_ARGUMENTS}
        far |= {"arguments": "order, x, step", "draw": draw_far, "seams": FAR_SEAMS, "family": "steps", "weight": 0.5}
        yield Table(f"{name} over steps", unit="relative", limit=1e-14, **functions, **far)
    ratios: dict[str, Any] = ranges(between, "5e-324..1e-290", "1e-290..1e-8", "1e-8..0.1")
    ratios |= ranges(uniform, "0.1..0.9")
    ratios |= {"1 - 0.1..1e-6": lambda rng: 1.0 - between(1e-6, 0.1)(rng)}
    ratios |= {"1 - 1e-6..1e-16": lambda rng: 1.0 - between(1.2e-16, 1e-6)(rng)}
    cells |= {"columns": ratios, "arguments": "order, ratio", "family": ""}
    cells |= {
        "seams": {
            f"ratio = {name}": curve(lambda v, ratio=ratio: ratio) for name, ratio in (("1e-8", 1e-8), ("1/2", 0.5))
        }
    }
    functions = {"values": both(special.iv_ratio_inverse), "exact": truth.iv_ratio_inverse, "scale": inverse_scale}
    yield Table("iv_ratio_inverse", unit="(1e-15 + eps/2 / (1 - ratio)) x + 5e-324", limit=1.0, **functions, **cells)


def sphere_tables() -> Iterator[Table]:
    half = 0.5 * math.pi
    pair = {"draw": lambda rng, row, column: (row(rng), column(rng)), "rows": DIMS}
    angles: dict[str, Any] = {
        **ranges(between, "1e-150..1e-8", "1e-8..1e-2", "0.01..1"), **ranges(uniform, "1..2"),
        "pi/2 +- 1e-16..0.1": lambda rng: half + rng.choice([-1.0, 1.0]) * between(1e-16, 0.1)(rng),
        "2..3.1": uniform(2.0, 3.1),
        "pi - 1e-15..0.1": lambda rng: math.pi - between(1e-15, 0.1)(rng),
    }  # fmt: skip

    def rim(top: float, least: int) -> Callable[[Rng], Point]:
        return then(integers(3, 10**6), lambda m, rng: (int(m), math.acos(math.sqrt(top / max(m, least))) * off(rng)))

    seams = {
        "angle = pi/2": lambda rng: (int(integers(1, 10**6)(rng)), half * off(rng)),
        "angle = pi/4": lambda rng: (int(integers(1, 10**6)(rng)), 0.5 * half * off(rng)),
        "cos^2 angle max(dim, 12) = 3": rim(3.0, 12),
        "cos^2 angle max(dim, 48) = 12": rim(12.0, 48),
        "angle = 1e-300": lambda rng: (int(integers(1, 10**6)(rng)), 1e-300 * off(rng)),
    }
    limit = {"unit": "of the measure, relative, or 4 eps |value| / 1e-13", "limit": 1e-13, "scale": cap_scale}
    functions = {"values": both(special.log_cap_measure), "exact": truth.log_cap_measure}
    yield Table("log_cap_measure", "dim, angle", columns=angles, seams=seams, **limit, **functions, **pair)

    def with_angle(low: float, high: float) -> Callable[[Rng, Sampler], Point]:
        def sample(rng: Rng, dim: Sampler) -> Point:
            m = int(dim(rng))
            return m, min(-1e-300, special.log_cap_measure(m, between(low, high)(rng)))

        return sample

    def with_log(low: float, high: float) -> Callable[[Rng, Sampler], Point]:
        return lambda rng, dim: (int(dim(rng)), -between(low, high)(rng))

    logs = {
        "angle 1e-300..1e-150": with_angle(1e-300, 1e-150),
        "angle 1e-150..1e-8": with_angle(1e-150, 1e-8),
        "angle 1e-8..1": with_angle(1e-8, 1.0),
        "angle 1..2": with_angle(1.0, 2.0),
        "log -1e5..-0.7": with_log(0.7, 1e5),
        "log -0.69..-1e-3": with_log(1e-3, 0.69),
        "log -1e-3..-1e-300": with_log(1e-300, 1e-3),
    }
    seams = {
        "log_measure = -log 2": lambda rng: (int(integers(1, 10**6)(rng)), -math.log(2.0) * off(rng)),
        "dim = 3": lambda rng: (3, -between(1e-10, 1e3)(rng)),
    }
    functions = {"values": both(special.cap_angle), "exact": truth.cap_angle, "scale": angle_scale}
    limit = {"unit": "relative, below 1e-150 or 2 eps |log_measure| / dim / 1e-13", "limit": 1e-13, "weight": 0.25}
    pair |= {"draw": lambda rng, row, column: column(rng, row)}
    yield Table("cap_angle", "dim, log_measure", columns=logs, seams=seams, **limit, **functions, **pair)
    yield Table(
        "log_surface_area", "dim", "its largest term, relative", 4e-16, DIMS | ranges(integers, "1e6..1e12"),
        {"all": None}, lambda rng, row, column: (int(row(rng)),), both(special.log_surface_area),
        truth.log_surface_area,
        lambda exact, point: max(0.7, 0.572 * (point[0] + 1), math.lgamma(0.5 * (point[0] + 1))),
        {"dim = 31": lambda rng: (int(rng.integers(20, 40)),)},
    )  # fmt: skip


def gegenbauer_unit(degree: int, dim: int, t: float) -> Any:
    """Return the error that `gegenbauer` allows."""
    if dim == 1 or degree * (degree + dim - 1.0) * (1.0 - abs(t)) <= dim:
        return 4.0 * EPS
    return 8.0 * EPS * math.sqrt(degree + 1.0) * truth.gegenbauer_amplitude(degree, dim, t) + 1e-300


def derivative_unit(exact: Any, point: Point) -> Any:
    """Return the error that `gegenbauer_derivative` allows."""
    k, m, t, j = point
    if j > k:
        return 1.0
    unit = gegenbauer_unit(k - j, m + 2 * j, t) * truth.gegenbauer_derivative_bound(k, m, j)
    return unit + 2.0 * j * EPS * abs(exact)


def gegenbauer_tables() -> Iterator[Table]:
    cosines = {
        "1 - 1e-15..1e-8": lambda rng: 1.0 - between(1e-15, 1e-8)(rng),
        "1 - 1e-8..1e-2": lambda rng: 1.0 - between(1e-8, 1e-2)(rng),
        "0.5..0.99": uniform(0.5, 0.99),
        "-0.5..0.5": uniform(-0.5, 0.5),
        "-1..-0.5": lambda rng: between(1e-15, 0.5)(rng) - 1.0,
        "about its zeros": None,
    }
    degrees = ranges(integers, "1..3", "4..30", "31..300", "301..3000", "3001..1e5")

    def any_dim(rng: Rng) -> int:
        return int(rng.choice([1, 2, 3, rng.integers(4, 20), 10.0 ** rng.uniform(1.0, 6.0)]))

    def draw(rng: Rng, row: Sampler, column: Sampler | None) -> Point:
        k, m = int(row(rng)), any_dim(rng)
        if column is not None:
            return k, m, float(column(rng))
        edge = math.sqrt(k * (k + m - 1.0)) / (k + 0.5 * (m - 1.0))  # the zeros are between -edge and edge
        return k, m, float(np.clip(rng.uniform(-1.05, 1.05) * edge, -1.0, 1.0))

    def pole(rng: Rng) -> Point:
        k, m = int(integers(1, 3000)(rng)), any_dim(rng)
        return k, m, max(-1.0, 1.0 - off(rng) * m / (k * (k + m - 1.0)))

    def middle(rng: Rng) -> Point:
        return int(integers(1, 3000)(rng)), any_dim(rng), 0.5 * off(rng)

    cells = {"rows": degrees, "columns": cosines, "weight": 0.1, "arguments": "degree, dim, t"}
    seams = {"t = 1/2": middle, "degree (degree + dim - 1) (1 - t) = dim": pole}
    yield Table(
        "gegenbauer", unit="8 eps sqrt(degree + 1) A, 4 eps near the poles and for dim 1", limit=1.0, draw=draw,
        values=both(special.gegenbauer, compiled=False), exact=truth.gegenbauer,
        scale=lambda exact, point: gegenbauer_unit(*point), seams=seams, **cells,
    )  # fmt: skip

    def with_order(point: Point, rng: Rng) -> Point:
        return *point, int(rng.choice([0, 1, 1, 2, rng.integers(3, 50)]))

    yield Table(
        "gegenbauer_derivative", limit=1.0,
        unit="the maximum times that of gegenbauer at (k - j, m + 2j), plus 2 j eps |value|",
        draw=lambda rng, row, column: with_order(draw(rng, row, column), rng),
        values=both(special.gegenbauer_derivative, compiled=False), exact=truth.gegenbauer_derivative,
        scale=derivative_unit,
        seams={name: then(seam, with_order) for name, seam in seams.items()},
        **cells | {"arguments": "degree, dim, t, order"},
    )  # fmt: skip
    rows = {**degrees, "1..3": integers(2, 3)}
    pair = {"rows": rows, "columns": DIMS | ranges(integers, "1e6..1e12"), "weight": 0.1}
    pair |= {"arguments": "degree, dim", "draw": lambda rng, row, column: (int(row(rng)), int(column(rng)))}
    yield Table(
        "gegenbauer_derivative_bound", unit="2 (order + 1) eps, relative", limit=1.0,
        values=both(special.gegenbauer_derivative_bound, compiled=False), exact=truth.gegenbauer_derivative_bound,
        scale=lambda exact, point: 2.0 * (point[2] + 1.0) * EPS * max(exact, NORMAL),
        **pair | {"draw": lambda rng, row, column: with_order((int(row(rng)), int(column(rng))), rng)},
    )  # fmt: skip
    pair |= {"seams": {"dim = 100": lambda rng: (int(integers(2, 1000)(rng)), int(rng.integers(98, 104)))}}
    pair |= {"unit": "relative", "scale": relative, "family": "zeros"}
    for name, exact in (("gegenbauer_max_zero", max_zero), ("gegenbauer_max_zero_angle", max_zero_angle)):
        yield Table(name, limit=4e-16, values=both(getattr(special, name), compiled=False), exact=exact, **pair)
    value = {"values": both(special.gegenbauer_lipschitz, compiled=False), "exact": lipschitz}
    few = {"rows": {name: row for name, row in rows.items() if name != "3001..1e5"}, "upper": True}
    yield Table("gegenbauer_lipschitz", limit=4e-15, **value, **pair | few)


def lipschitz(degree: int, dim: int) -> Any:
    return truth.gegenbauer_lipschitz(degree, dim, max_zero_angle(degree, dim)) if dim > 1 else mp.mpf(degree)


@cache
def max_zero(degree: int, dim: int) -> Any:
    return truth.gegenbauer_max_zero(degree, dim, special.gegenbauer_max_zero(degree, dim))


def max_zero_angle(degree: int, dim: int) -> Any:
    with mp.workdps(50):
        return mp.acos(max_zero(degree, dim))


def kernel_tables() -> Iterator[Table]:
    seams = {
        f"{name}, dim = 2 order + 1": then(seam, on_sphere)
        for name, seam in BESSEL_SEAMS.items()
        if "1e150" not in name and "1e303" not in name and "1e-290" not in name and "1e17" not in name
    }
    seams["concentration = 1"] = lambda rng: (int(integers(1, 10**6)(rng)), off(rng))
    seams["concentration = dim + 1"] = then(integers(1, 10**6), lambda m, rng: (m, (m + 1.0) * off(rng)))
    seams["dim 31..35"] = lambda rng: (int(rng.integers(31, 36)), between(1e-3, 1e15)(rng))
    cells = {"rows": DIMS, "columns": CONCENTRATIONS, "seams": seams, "arguments": "dim, concentration"}
    cells |= {"draw": lambda rng, row, column: (int(row(rng)), column(rng)), "scale": relative, "unit": "relative"}

    def of_order(function: Callable[..., Any], sign: int = 1) -> Callable[..., Any]:
        def exact(m: int, lam: float, *arguments_of: Any) -> Any:
            value = function(0.5 * (m - 1), lam, *arguments_of)
            with mp.workdps(60):
                return sign * value

        return exact

    cells["family"] = "kernel"
    exact = of_order(truth.log_0f1, -1)
    yield Table("log_normalizer", limit=1e-14, values=kernel("log_normalizer"), exact=exact, **cells)
    exact = of_order(truth.log_peak)
    yield Table("log_density at t = 1", limit=1e-14, values=kernel("log_density", 1.0), exact=exact, **cells)
    exact = of_order(truth.iv_ratio_complement)
    yield Table("mean_one_minus_cos", limit=1e-15, values=kernel("mean_one_minus_cos"), exact=exact, **cells)
    value = {"values": kernel("entropy", "normalized"), "exact": truth.entropy}
    yield Table("entropy (normalized)", limit=5e-15, **value, **cells)

    def with_degree(point: Point, rng: Rng) -> Point:
        return *point, int(rng.choice([1, 2, rng.integers(1, 20), integers(1, 3000)(rng), integers(1, 10**15)(rng)]))

    many = cells | {"draw": lambda rng, row, column: with_degree((int(row(rng)), column(rng)), rng)}
    many |= {"seams": {name: then(seam, with_degree) for name, seam in seams.items()}}
    many |= {"arguments": "dim, concentration, degree", "family": "degree"}
    exact = of_order(truth.iv_ratio_complement)
    yield Table("eigenvalue_complement", limit=1e-14, values=kernel("eigenvalue_complement"), exact=exact, **many)
    exact = of_order(truth.iv_ratio)
    yield Table("eigenvalue", limit=1e-14, values=kernel("eigenvalue"), exact=exact, **many)

    def without_range(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda m, lam, top, k: function(m, lam, k)

    def with_range(point: Point, rng: Rng) -> Point:
        top = int(rng.choice([3, 40, 1030, 3000]))
        near = [k for k in (1, 8, 9, 1023, 1024, 1025, 1026, 2048, 2049, top) if k <= top]
        return *point, top, int(rng.choice([rng.integers(1, top + 1), rng.choice(near)]))

    def narrow(m: int, rng: Rng) -> Point:
        """Return a kernel whose eigenvalues differ by so little that all roundings may have one sign."""
        return m, min(1e15, m * between(1e3, 1e10)(rng)), 3000, int(rng.choice([1023, 1024, 3000]))

    seams = {name: then(seam, with_range) for name, seam in seams.items()}
    seams["eigenvalues near 1"] = then(integers(1, 10**6), narrow)
    many |= {"draw": lambda rng, row, column: with_range((int(row(rng)), column(rng)), rng), "family": "range"}
    many |= {"seams": seams}
    many |= {"arguments": "dim, concentration, max_degree, degree"}
    for name, function, log in (("eigenvalues", truth.iv_ratio, False), ("log eigenvalues", truth.log_iv_ratio, True)):
        exact = without_range(of_order(function))
        yield Table(name, limit=1e-14, values=eigenvalues(log), exact=exact, **many)


def on_sphere(point: Point, rng: Rng) -> Point:
    """Return (dim, concentration) near (order, x)."""
    m = min(10**6, max(1, round(2.0 * point[0] + 1.0)))
    v = 0.5 * (m - 1.0)
    r = math.hypot(*point)
    x = point[1] if m == 10**6 or r > 1e5 or r <= v else math.sqrt((r - v) * (r + v))
    return m, min(1e15, max(1e-150, x))


def integral_tables() -> Iterator[Table]:
    dims = {"1": exactly(1), "2": exactly(2)} | ranges(integers, "3..16", "17..1e3", "1e3..1e5")
    concentrations = ranges(between, "1e-6..0.01", "0.01..1", "1..100", "100..1e6", "1e6..1e12")

    def any_pair(rng: Rng) -> tuple[int, float]:
        return int(integers(1, 10**5)(rng)), between(1e-6, 1e12)(rng)

    def draw_power(rng: Rng, row: Sampler, column: Sampler) -> Point:
        return int(row(rng)), column(rng), float(rng.choice([0.01, 0.5, 1.0, 1.0, 2.0, 4.0, rng.uniform(0.0, 4.0)]))

    def fractional(rng: Rng) -> Point:
        power = float(rng.uniform(0.0, 4.0))
        return max(1, int(17.0 - power) + int(rng.integers(-1, 2))), between(1e-6, 1e12)(rng), power

    cells = {"rows": dims, "columns": concentrations, "limit": 1e-12, "weight": 0.1}
    power = {"draw": draw_power, "arguments": "dim, concentration, power", "unit": "relative", "scale": relative}
    value = {"values": kernel("mean_angle"), "exact": truth.mean_angle}
    seams: dict[str, Any] = {
        "dim + power = 17, power fractional": fractional,
        "dim 1 and 2, concentration 1e12": lambda rng: (int(rng.integers(1, 3)), 1e12, float(rng.uniform(0.1, 4.0))),
    }
    yield Table("mean_angle", seams=seams, **value, **power, **cells)

    radii: dict[str, Callable[[Rng, float, float], float]] = {
        "1e-150..1e-12": lambda rng, mode, width: between(1e-150, 1e-12)(rng),
        "1e-12..0.01": lambda rng, mode, width: between(1e-12, 1e-2)(rng),
        "of the kernel's width": lambda rng, mode, width: width * between(0.1, 10.0)(rng),
        "of the kernel's mode": lambda rng, mode, width: max(1e-150, mode * rng.uniform(0.0, 3.0)),
        "0.01..3.1": lambda rng, mode, width: uniform(0.01, 3.1)(rng),
        "pi - 1e-15..0.1": lambda rng, mode, width: math.pi - between(1e-15, 0.1)(rng),
    }

    def shapes(dim: int, lam: float) -> tuple[float, float]:
        """Return the mode and the width of the kernel times sin^(m-1)."""
        mode = math.atan2(
            math.sqrt(2.0 * (dim - 1.0)), 2.0 * lam / math.sqrt(dim - 1.0 + math.hypot(dim - 1.0, 2.0 * lam))
        )
        return mode, 1.0 / math.sqrt(dim + lam)

    def with_radius(rng: Rng, pair: tuple[int, float], kind: str) -> Point:
        return *pair, min(math.pi, radii[kind](rng, *shapes(*pair)))

    def draw_radius(rng: Rng, row: Any, column: Sampler) -> Point:
        if isinstance(row, str):
            return with_radius(rng, (int(integers(1, 10**5)(rng)), column(rng)), row)
        return with_radius(rng, (int(row(rng)), column(rng)), str(rng.choice(list(radii))))

    def at_radius(radius: Callable[[float, float], float]) -> Callable[[Rng], Point]:
        def sample(rng: Rng) -> Point:
            pair = any_pair(rng)
            return *pair, min(math.pi, radius(*shapes(*pair)) * off(rng))

        return sample

    rows = {f"dim {name}": row for name, row in dims.items()} | {f"radius {name}": name for name in radii}
    seams = {
        "radius = the kernel's mode": at_radius(lambda mode, width: max(mode, 1e-3)),
        "radius = pi/2": at_radius(lambda mode, width: 0.5 * math.pi),
        "radius = pi": at_radius(lambda mode, width: math.pi),
        "concentration = 1e3": lambda rng: with_radius(
            rng, (int(integers(1, 10**5)(rng)), 1e3 * off(rng)), str(rng.choice(list(radii)))
        ),
    }
    cells |= {"rows": rows, "draw": draw_radius, "seams": seams, "arguments": "dim, concentration, radius"}
    for name, exact in (
        ("shift_variation", truth.log_shift_variation),
        ("shifted_mean_angle", truth.log_shifted_mean_angle),
    ):
        cells["family"] = "radius"
        value = {"values": kernel(name, log=True), "exact": exact, "scale": log_scale}
        yield Table(f"log {name}", unit="absolute, or |value| / 100", **value, **cells)
        value = {"values": log_of(kernel(name)), "exact": exact, "scale": in_range}
        yield Table(name, unit="relative, where it is a float", **value, **cells)


def in_range(exact: Any, point: Point) -> Any:
    """Return 1, or inf where the exponential leaves the range of normal floats."""
    return 1.0 if abs(exact) < 708.0 else math.inf


def tables() -> list[Table]:
    """Return all tables."""
    return [*bessel_tables(), *sphere_tables(), *gegenbauer_tables(), *kernel_tables(), *integral_tables()]


# Measuring -----------------------------------------------------------------------------------------------------------


def error_of(value: Any, exact: Any, scale: Any, upper: bool = False) -> float:
    """Return |value - exact| / scale; inf for a value that is no number, 0 where both have left the range of floats."""
    if scale == math.inf or (math.isinf(value) and abs(exact) > sys.float_info.max and value * exact > 0):
        return 0.0
    with mp.workdps(60):
        error = value - exact
        if upper and error < 0:
            return math.inf
        error = float(abs(error) / scale)
    return error if error >= 0.0 else math.inf


def sample(table: Table, points: float, seed: int, cells: float = 1.0) -> list[tuple[str, str, Point]]:
    """Return (row, column, point) of all cells, or of a share of them, then of the seams."""
    rng = np.random.default_rng([seed, zlib.crc32((table.family or table.name).encode())])
    n = max(1, round(points * table.weight))
    samples = []
    for row, first in table.rows.items():
        for column, second in table.columns.items():
            if rng.random() < cells:
                samples += [(row, column, table.draw(rng, first, second)) for _ in range(n)]
    for seam, draw in table.seams.items():
        samples += [("", seam, draw(rng)) for _ in range(n)]
    return [
        (row, column, tuple(n if isinstance(n, int) else float(n) for n in point)) for row, column, point in samples
    ]


def measure(table: Table, points: float, seed: int = 0, cells: float = 1.0, progress: bool = False) -> list[Result]:
    """Return the worst error of each cell and seam."""
    samples = sample(table, points, seed, cells)
    columns = table.values([point for _, _, point in samples])
    worst: dict[tuple[str, str], Result] = {}
    for i, (row, column, point) in enumerate(tqdm.tqdm(samples, desc=table.name, disable=not progress, leave=False)):
        exact = table.exact(*point)
        with mp.workdps(60):
            scale = table.scale(exact, point)
        error = max(error_of(values[i], exact, scale, table.upper) for values in columns)
        if (row, column) not in worst or error > worst[row, column].error:
            worst[row, column] = Result(row, column, error, point)
    return list(worst.values())


def show(table: Table, results: Sequence[Result]) -> str:
    """Return the table of cells, that of the seams, and a line on the worst of all."""
    cells = {(result.row, result.column): result for result in results}
    first, second = table.arguments.split(", ")[0], ", ".join(table.arguments.split(", ")[1:2]) or "all"
    if any(row.startswith(("dim ", "radius ")) for row in table.rows):
        first = ""
    grid = [
        [row, *(f"{cells[row, column].error:.1e}" if (row, column) in cells else "" for column in table.columns)]
        for row in table.rows
    ]
    lines = [f"{table.name}({table.arguments}): worst error / ({table.unit}); the limit is {table.limit:g}", ""]
    lines.append(tabulate.tabulate(grid, [f"{first} \\ {second}", *table.columns], disable_numparse=True))
    if table.seams:
        seams = [[seam, f"{cells['', seam].error:.1e}"] for seam in table.seams if ("", seam) in cells]
        lines += ["", tabulate.tabulate(seams, ["near the seam", "worst"], disable_numparse=True)]
    worst = max(results, key=lambda result: result.error)
    verdict = "within" if worst.error <= table.limit else "BEYOND"
    where = " of ".join(part for part in (worst.column, worst.row) if part)
    lines += ["", f"worst {worst.error:.2e}, {verdict} the limit, at ({table.arguments}) = {worst.at} [{where}]"]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    every = tables()
    add = parser.add_argument
    add("--points", type=float, default=200, help="points per cell; a tenth of it for integrals")
    add("--function", nargs="+", help="names of tables, or parts of them; all of them by default")
    add("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    selected = [t for t in every if not options.function or any(part in t.name for part in options.function)]
    if not selected:
        parser.error(f"no table matches; there are {', '.join(table.name for table in every)}")
    print("python tests/reference/accuracy.py", *(sys.argv[1:] if arguments is None else arguments))
    summary = []
    for table in selected:
        start = time.perf_counter()
        results = measure(table, options.points, options.seed, progress=True)
        count = len(sample(table, options.points, options.seed))
        print("\n" + show(table, results) + f"\n{count} points in {time.perf_counter() - start:.0f} s", flush=True)
        worst = max(result.error for result in results)
        summary.append(
            [table.name, f"{worst:.2e}", f"{table.limit:g}", "yes" if worst <= table.limit else "NO", table.unit]
        )
    print("\n" + tabulate.tabulate(summary, ["function", "worst", "limit", "kept", "unit"], disable_numparse=True))
    return int(any(row[3] == "NO" for row in summary))


if __name__ == "__main__":
    sys.exit(main())
