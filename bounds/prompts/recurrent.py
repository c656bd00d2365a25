"""Recurrent models whose prompt holds a function: lengths of prompts, errors of gates and of sums, bits of states."""

from __future__ import annotations

import math
from functools import partial

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._integrals.piece import log_sum

from ..covering.lattice import log_ball
from ..records.bound import ACCURACY, Bound, Hypothesis, over_arrays, settle
from ..records.problem import LARGEST_CONCENTRATION, LARGEST_DIM, SMALLEST, WIDEST
from ..theorems._shells import log_density
from .module_errors import RELU_GAP, module_error

__all__ = ["error_bound", "gate_error", "kernel_sum_error", "module_error", "prompt_length", "state_bits"]

PROMPTS, GATES = "docs/theorems/10.4-in-context-interpolation.md", "docs/theorems/10.3-gates.md"
SUMS = "docs/theorems/10.5-kernel-sums.md"
LENGTHS, ERRORS = ("extension", "grid", "grid-printed", "lower"), ("extension", "grid", "lower")
NORMS = ("max", "euclidean")
KINDS = ("lstm", "gru", "lstm-product", "gru-product")
UNITS = {"float64": 2.0**-53, "float32": 2.0**-24}
"""Largest relative error of a rounding."""
KERSHNER = 2.0 * math.pi / math.sqrt(27.0)
"""The least mean number of equal discs over a point of a plane that they cover."""
COUNTED = 1e15
"""Cells of an axis that are counted one by one; more of them are taken as a real number."""


def prompt_length(
    eps: ArrayLike, *, dim: ArrayLike, theorem: str = "extension", lipschitz: ArrayLike = 1.0, norm: str = "max",
    slope: ArrayLike | None = None, strict: bool = False,
) -> Bound:  # fmt: skip
    """Bound the number N of tokens, values of f each, from which a model takes a Lipschitz function on [0, 1]^d.

    Parameters
    ----------
    eps : float or array_like
        The error everywhere.
    dim : int or array_like
        d of the cube [0, 1]^d.
    theorem : str, default "extension"
        Upper bounds: ``"extension"``, for the program that takes the middle of all values that f may have
        (`spherapprox.prompts.recurrent.programs.extension`); ``"grid"``, for the one that looks its cell up
        (`spherapprox.prompts.recurrent.programs.grid`), whose steps have ramps; ``"grid-printed"``, which the thesis
        says of it: true only without ramps. A lower one, for every model that knows f by N values: ``"lower"``.
    lipschitz : float or array_like, default 1.0
        L with ``|f(x) - f(y)| <= L |x - y|``.
    norm : {"max", "euclidean"}
        The norm of x - y. ("extension" and "grid" measure in the maximum norm, where the constant is L or L sqrt(d).)
    slope : float or array_like
        mu of the program's steps, from 2: they rise over 2/mu. "grid" only.
    strict : bool, default False
        Raise instead of returning the trivial bound where a hypothesis fails.

    Returns
    -------
    Bound
        On the quantity "prompt length"; or an array of them, for array arguments.

    Raises
    ------
    TypeError, ValueError
        For an unknown theorem or norm, or arguments missing or out of their range; `HypothesisError` if strict.

    References
    ----------
    docs/theorems/10.4-in-context-interpolation.md.

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> for theorem in ("extension", "lower", "grid"):
    ...     slope = 1000.0 if theorem == "grid" else None
    ...     print(theorem, recurrent.prompt_length(0.05, dim=2, theorem=theorem, slope=slope).as_integer())
    extension 100
    lower 100
    grid 121
    """
    name, metric = _checks.choice(theorem, "theorem", LENGTHS), _checks.choice(norm, "norm", NORMS)
    strict = _checks.flag(strict, "strict")
    _sloped(slope, name)

    def one(e: object, d: object, lip: object, mu: object) -> Bound:
        goal = _between(e, "eps") / _between(lip, "lipschitz")
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        if name == "lower":
            log, whole = _log_cover(goal, m, metric)
            return Bound("prompt length", log, "lower", name, PROMPTS, _sampled(), whole=whole)
        share = goal / _stretch(m, metric)
        needed: tuple[Hypothesis, ...] = (Hypothesis("steps without ramps", True),) if name == "grid-printed" else ()
        cells = 0.5 / share
        if name == "grid":
            cells, needed = _ramped(share, _steep(mu), m, metric)
        count, whole = _counted(cells)
        bound = Bound("prompt length", m * math.log(count), "upper", name, PROMPTS, needed, whole=whole)
        return settle(bound, strict=strict)

    return over_arrays(one, eps, dim, lipschitz, slope)  # type: ignore[no-any-return]


def error_bound(
    *, dim: ArrayLike, n: ArrayLike, theorem: str = "extension", lipschitz: ArrayLike = 1.0, norm: str = "max",
    slope: ArrayLike | None = None,
) -> Bound:  # fmt: skip
    """Bound the sup error of programs on [0, 1]^d whose prompt holds N values of a Lipschitz function.

    Parameters
    ----------
    dim, lipschitz, norm, slope
        As in `prompt_length`.
    n : int or array_like
        N; upper bounds use centres of a grid of k cells an axis, the largest k with k^d up to N, or a smaller one.
    theorem : {"extension", "grid", "lower"}
        As in `prompt_length`.

    Returns
    -------
    Bound
        On the quantity "sup error". In the maximum norm "extension" and "lower" agree.

    Raises
    ------
    TypeError, ValueError
        For an unknown theorem or norm, or arguments missing or out of their range.

    References
    ----------
    docs/theorems/10.4-in-context-interpolation.md.

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.error_bound(dim=2, n=64, theorem="grid", slope=1000.0))
    grid: sup error <= 0.0645  [docs/theorems/10.4-in-context-interpolation.md]
    """
    name, metric = _checks.choice(theorem, "theorem", ERRORS), _checks.choice(norm, "norm", NORMS)
    _sloped(slope, name)

    def one(d: object, count: object, lip: object, mu: object) -> Bound:
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        total = _checks.integer(count, "n", minimum=1)
        cells, constant = _root(total, m), _between(lip, "lipschitz")
        if name == "lower":
            radius = 0.5 / cells
            if metric == "euclidean":
                radius = max(radius, math.exp((_log_density(m) - log_ball(m) - math.log(total)) / m))
            return Bound("sup error", math.log(constant) + math.log(radius), "lower", name, PROMPTS, _sampled())
        error = 0.5 / cells
        if name == "grid":
            narrow = min(cells, int(_steep(mu) / 2.0))  # ramps that overlap may cost more than wider cells
            error = min(_grid_error(count, _steep(mu), m, metric) for count in (narrow, cells))
        log = math.log(constant) + math.log(_stretch(m, metric)) + math.log(error)
        return Bound("sup error", log, "upper", name, PROMPTS)

    return over_arrays(one, dim, n, lipschitz, slope)  # type: ignore[no-any-return]


def state_bits(eps: ArrayLike, *, dim: ArrayLike, lipschitz: ArrayLike = 1.0, norm: str = "max") -> Bound:
    """Bound the bits that a model's state holds between a prompt and a query that follows it, from below.

    Of M points of the cube, pairwise farther apart than ``2 eps / L``, some target takes values more than eps above or
    below 0, as one likes; two of these targets leave the model in different states.

    Parameters
    ----------
    eps, dim, lipschitz, norm
        As in `prompt_length`: the model takes every f with the constant L that stays below some number above eps.

    Returns
    -------
    Bound
        On the quantity "state bits": M, in the maximum norm the largest one, otherwise that of a grid or of the densest
        lattice known here.

    Raises
    ------
    TypeError, ValueError
        For an unknown norm, or arguments out of their range.

    References
    ----------
    docs/theorems/10.4-in-context-interpolation.md.

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.state_bits(0.1, dim=8))
    packing: state bits >= 10^5.59  [docs/theorems/10.4-in-context-interpolation.md]
    """
    metric = _checks.choice(norm, "norm", NORMS)

    def one(e: object, d: object, lip: object) -> Bound:
        apart = 2.0 * (_between(e, "eps") / _between(lip, "lipschitz"))
        m = _checks.integer(d, "dim", minimum=1, maximum=LARGEST_DIM)
        count, whole = _counted(1.0 / apart)
        log = m * math.log(count)
        if metric == "euclidean":
            lattice, known = _rounded(log_density(m) - log_ball(m) + m * (math.log(2.0) - math.log(apart)))
            log, whole = (lattice, known) if lattice > log else (log, whole)
        return Bound("state bits", log, "lower", "packing", PROMPTS, whole=whole)

    return over_arrays(one, eps, dim, lipschitz)  # type: ignore[no-any-return]


def gate_error(
    value: ArrayLike, *, sharpness: ArrayLike, scale: ArrayLike, kind: str = "lstm", factor: ArrayLike | None = None,
    past: ArrayLike | None = None, dtype: str | None = "float64",
) -> Bound:  # fmt: skip
    """Bound the error of a ReLU, or of a product, that an LSTM or a GRU computes with its own sigmoid and tanh.

    The cells carry ``scale`` times every value: ``tanh(scale a)`` behind the gate ``sigmoid(sharpness a)`` is relu(a),
    and two gates ``sigmoid(+-sharpness u)`` in front of ``tanh(scale v)`` have u v as their difference.

    Parameters
    ----------
    value : float or array_like
        Largest absolute value of a, or of u, from 0.
    sharpness : float or array_like
        Factor of the gate's argument: large for a ReLU (2^60), small for a product (2^-16).
    scale : float or array_like
        Factor of all values in the cell (2^-40).
    kind : str, default "lstm"
        ``"lstm"``, ``"gru"``: relu(a). ``"lstm-product"``, ``"gru-product"``: u v.
    factor : float or array_like
        Largest absolute value of v; products only.
    past : float or array_like, optional
        Largest absolute value of a before, h_0 / scale included, by default `value`; "gru" only, which holds one.
    dtype : {"float64", "float32", None}
        The arithmetic, whose roundings are part of the bound, those of a and of the read-out left out. None: exact.

    Returns
    -------
    Bound
        On the quantity "gate error"; or an array of them, for array arguments. Of its constants "gate" is the part of
        the sigmoid, "tanh" that of the tanh, and "roundings" theirs.

    Raises
    ------
    TypeError, ValueError
        For an unknown kind, or arguments missing or out of their range.

    References
    ----------
    docs/theorems/10.3-gates.md.

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.gate_error(100.0, sharpness=2.0**60, scale=2.0**-40, dtype=None))
    lstm: gate error <= 10^-18.10  [docs/theorems/10.3-gates.md]
    >>> print(recurrent.gate_error(1.0, kind="lstm-product", factor=1.0, sharpness=2.0**-16, scale=2.0**-40))
    lstm-product: gate error <= 10^-9.97  [docs/theorems/10.3-gates.md]
    """
    name = _checks.choice(kind, "kind", KINDS)
    unit = 0.0 if dtype is None else UNITS[_checks.choice(dtype, "dtype", UNITS)]
    product = name.endswith("-product")
    if product:
        _checks.given(factor, "factor", f" for kind={name!r}")
    else:
        _checks.left_out(factor, "factor", f"for kind={name!r}")
    if name != "gru":
        _checks.left_out(past, "past", f"for kind={name!r}")

    def one(a: object, mu: object, eps: object, v: object, held: object) -> Bound:
        size = _least(a, "value")
        sharp, small = _between(mu, "sharpness"), _between(eps, "scale")
        other = _least(v, "factor") if product else max(size, _least(held, "past") if held is not None else size)
        gate, curve, rounded = (_product if product else _relu)(name, size, other, sharp, small, unit)
        parts = (("gate", gate), ("tanh", curve), ("roundings", rounded))
        constants = tuple((part, math.exp(min(log, 700.0))) for part, log in parts)
        return Bound("gate error", log_sum([gate, curve, rounded]), "upper", name, GATES, constants=constants)

    return over_arrays(one, value, sharpness, scale, factor, past)  # type: ignore[no-any-return]


def kernel_sum_error(
    spacing: ArrayLike, depth: ArrayLike, *, n: ArrayLike, concentration: ArrayLike, radius: ArrayLike,
    sup_norm: ArrayLike = 1.0, strict: bool = False,
) -> Bound:  # fmt: skip
    """Bound the difference of the recurrent kernel sum from the split head with the same tokens.

    `spherapprox.prompts.recurrent.programs.kernel_sum` takes e^u by chords, on [-depth, 0] only.

    Parameters
    ----------
    spacing, depth : float or array_like
        Distance of the knots, and minus the first of them.
    n : int or array_like
        Tokens N.
    concentration : float or array_like
        lambda.
    radius : float or array_like
        Covering radius of the control points, in radians.
    sup_norm : float or array_like, default 1.0
        Bound of the tokens' values.
    strict : bool, default False
        Raise instead of returning the trivial bound where a hypothesis fails.

    Returns
    -------
    Bound
        On the quantity "sup error".

    Raises
    ------
    TypeError, ValueError
        For arguments out of their range; `HypothesisError` if strict.

    References
    ----------
    docs/theorems/10.5-kernel-sums.md.

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.kernel_sum_error(0.1, 40.0, n=300, concentration=60.0, radius=0.15))
    kernel-sum: sup error <= 10^-3.20, concentration 60  [docs/theorems/10.5-kernel-sums.md]
    """
    strict = _checks.flag(strict, "strict")

    def one(step: object, low: object, count: object, lam: object, rho: object, size: object) -> Bound:
        knots = _checks.real(step, "spacing", minimum=SMALLEST, maximum=50.0)
        deep = _checks.real(low, "depth", above=0.0, maximum=WIDEST)
        tokens = math.log(_checks.integer(count, "n", minimum=1))
        at = _checks.concentration(lam, maximum=LARGEST_CONCENTRATION)
        nearest = 2.0 * at * math.sin(0.5 * _checks.real(rho, "radius", minimum=0.0, maximum=math.pi)) ** 2
        log_lost = tokens - deep + nearest
        kept = Hypothesis("N e^-depth < e^(-lambda (1 - cos radius))", log_lost < 0.0)
        log = math.log(_between(size, "sup_norm"))
        if kept.holds:
            log += log_sum([_log_expm1(0.125 * knots**2) - math.log(2.0), math.log(2.0) + log_lost])
            log -= math.log(-math.expm1(log_lost))
        return settle(Bound("sup error", log, "upper", "kernel-sum", SUMS, (kept,), at), strict=strict)

    arguments = (spacing, depth, n, concentration, radius, sup_norm)
    return over_arrays(one, *arguments)  # type: ignore[no-any-return]


def _relu(kind: str, size: float, held: float, sharp: float, scale: float, unit: float) -> tuple[float, float, float]:
    """Return the logarithms of the three parts of the error of relu(a) (10.3)."""
    share, largest, roundings = (2.0 / 3.0, size, 4.0) if kind == "lstm" else (1.0 / 3.0, held, 6.0)
    gate = math.log(RELU_GAP * (1.0 + 64.0 * unit)) - math.log(sharp)
    curve = math.log(share) + 2.0 * math.log(scale) + 3.0 * _log(largest)
    return gate, curve, _log(roundings * unit) + _log(largest)


def _product(kind: str, u: float, v: float, sharp: float, scale: float, unit: float) -> tuple[float, float, float]:
    """Return the logarithms of the three parts of the error of u v (10.3)."""
    both, curved = _log(u) + _log(v), 2.0 * (math.log(scale) + _log(v))
    gate = both + 2.0 * (math.log(sharp) + _log(u)) - math.log(12.0)
    if kind == "lstm-product":
        share, roundings = 2.0 / 3.0, 12.0
    else:
        share, roundings = 1.0 / 3.0 + 3.0 / (1.0 + math.exp(-min(sharp * u, 700.0))) ** 2, 24.0
    rounded = _log(unit) + log_sum([math.log(roundings) + _log(v) - math.log(sharp), math.log(2.0) + both])
    return gate, math.log(share) + both + curved, rounded


def _ramped(share: float, slope: float, dim: int, norm: str) -> tuple[float, tuple[Hypothesis, ...]]:
    """Return the cells of an axis whose errors, ramps included, are at most a share of L (10.4, grid)."""
    narrow, lost = dim == 1 or norm == "euclidean", (1.0 if dim == 1 else 2.0) / slope
    if dim > 1 and norm == "euclidean":
        least = cells = 0.5 / share
        for _ in range(64):  # a contraction by 1/2 where it stays below slope / 2
            cells = least / math.sqrt(max(1.0 - cells / slope, 0.25))
    else:
        cells = 0.5 / (share - lost) if share > lost else math.inf
    if narrow:
        steep = Hypothesis("cells at least 2/slope wide", cells <= slope and _counted(cells)[0] <= 0.5 * slope)
    else:
        steep = Hypothesis("slope > 2 lipschitz / eps", share > lost)
    return (cells if steep.holds else 1.0), (steep,)


def _grid_error(cells: int, slope: float, dim: int, norm: str) -> float:
    """Return the error of a grid, in units of L times the largest ratio of the norms (10.4, grid)."""
    half, steps = 0.5 / cells, slope / cells
    if dim == 1 and steps >= 2.0:
        return half + 1.0 / slope
    if norm == "euclidean" and steps >= 2.0:
        return half * math.sqrt(steps / (steps - 1.0))
    return half + 2.0 / slope


def _log_cover(radius: float, dim: int, norm: str) -> tuple[float, bool]:
    """Return the logarithm of balls that do not suffice to cover the cube less one, and whether it is whole (10.4)."""
    count, whole = _counted(0.5 / radius)
    log = dim * math.log(count)
    if norm == "euclidean":
        volume, known = _rounded(_log_density(dim) - log_ball(dim) - dim * math.log(radius))
        log, whole = (volume, known) if volume > log else (log, whole)
    return log, whole


def _log_density(dim: int) -> float:
    """Return the logarithm of a density that no covering by equal balls is below."""
    return math.log(KERSHNER) if dim == 2 else 0.0


def _counted(cells: float) -> tuple[float, bool]:
    """Round a number of cells up, and tell whether it is exact."""
    return (max(float(math.ceil(cells * (1.0 - ACCURACY))), 1.0), True) if cells < COUNTED else (cells, False)


def _rounded(log: float) -> tuple[float, bool]:
    """Round a count, given by its logarithm, up to a whole number where its units are known."""
    return (math.log(max(math.ceil(math.exp(log) * (1.0 - ACCURACY)), 1)), True) if log < 20.0 else (log, False)


def _root(count: int, dim: int) -> int:
    """Return the largest k with k^dim <= count."""
    k = round(math.exp(math.log(count) / dim))
    return k if k**dim <= count else k - 1


def _stretch(dim: int, norm: str) -> float:
    """Return the largest ratio of the norm to the maximum norm."""
    return math.sqrt(dim) if norm == "euclidean" else 1.0


def _sampled() -> tuple[Hypothesis, ...]:
    return (Hypothesis("the model knows f by values at N points that do not depend on the query", True),)


def _sloped(slope: object, theorem: str) -> None:
    if theorem == "grid":
        _checks.given(slope, "slope", " for theorem='grid'")
    else:
        _checks.left_out(slope, "slope", f"for theorem={theorem!r}")


def _log_expm1(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


_steep = partial(_checks.real, name="slope", minimum=2.0, maximum=WIDEST)
_least = partial(_checks.real, minimum=0.0, maximum=WIDEST)


def _between(value: object, name: str) -> float:
    return _checks.real(value, name, minimum=SMALLEST, maximum=WIDEST)
