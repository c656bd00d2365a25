"""The sum over control points: what is asked, and what the result looks like."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks
from .._checks import Floats
from . import dense, plan
from .partial import Float64, Partial, Problem
from .plan import Plan

LARGEST_CONCENTRATION = {np.dtype(np.float64): 1e300, np.dtype(np.float32): 1e30}
"""Beyond the first a concentration is refused, beyond the second float32 input is computed in float64."""

_LN2_HIGH, _LN2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_LIFTED = 30
"""Binary order of values from which on exponentials matter that underflow alone."""
_NO_UNDERFLOW = 300.0
"""While 2 lambda is below this, no exponential of the sum leaves the range of float64."""


class _Report(Protocol):
    """Hears of finished pairs, and of more to come."""

    def __call__(self, pairs: int, total: int = 0) -> None: ...


@overload
def evaluate(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: float,
    *,
    normalize: bool = ...,
    method: str = ...,
    rtol: float | None = ...,
    workers: int = ...,
    out: Floats | None = ...,
    log: bool = ...,
    progress: bool = ...,
    explain: Literal[False] = ...,
) -> Floats: ...
@overload
def evaluate(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: float,
    *,
    normalize: bool = ...,
    method: str = ...,
    rtol: float | None = ...,
    workers: int = ...,
    out: Floats | None = ...,
    log: bool = ...,
    progress: bool = ...,
    explain: Literal[True],
) -> tuple[Floats, Plan]: ...
def evaluate(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: float,
    *,
    normalize: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
    workers: int = 1,
    out: Floats | None = None,
    log: bool = False,
    progress: bool = False,
    explain: bool = False,
) -> Floats | tuple[Floats, Plan]:
    """Evaluate a sum of exponential kernels at points of the sphere.

    For control points b_k and lambda = `concentration` it is ``sum_k values_k exp(-lambda |x - b_k|^2 / 2)``, which is
    ``sum_k values_k exp(lambda (<x, b_k> - 1))`` where rows have length 1 exactly; with `normalize`, that sum over the
    one without values (softmax attention). The form with the chord |x - b_k| is the definition, on the rows as given.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim, where the sum is wanted.
    control_points : array_like, shape (n, dim+1)
        The points b_k.
    values : array_like, shape (n,) or (n, p)
        One value, or one row, for each control point.
    concentration : float
        lambda, from 0 to 1e300.
    normalize : bool, default False
        Divide by ``sum_k exp(-lambda |x - b_k|^2 / 2)``; right at every lambda, also where all of these underflow.
    method : {"auto", "dense", "truncated"}
        "dense" takes every pair of an evaluation point and a control point, in memory that does not grow with their
        product; "truncated" leaves out control points that are too far away to matter, for large concentrations in
        low dimensions or clusters; "auto" takes the fastest method.
    rtol : float or None, default 1e-14
        What a method may leave out on purpose, relative to ``sum_k |values_k| exp(...)``, row by row; None allows only
        "dense", which leaves out nothing.
    workers : int, default 1
        Threads; -1 takes all cores. The result is the same for any number.
    out : ndarray, optional
        Where to write the result: its shape and its dtype.
    log : bool, default False
        Return the logarithm instead, for values that are not negative: it does not underflow. -inf where the sum is 0.
    progress : bool, default False
        Show a progress bar.
    explain : bool, default False
        Return the `Plan` too.

    Returns
    -------
    ndarray, shape (m,) or (m, p)
        float32 if x, control_points and values all are, else float64.
    Plan
        Only if `explain`.

    Raises
    ------
    ValueError
        If rows have no unit length, shapes do not fit together, something is not finite or out of its range, or the
        result would be too large for memory.
    TypeError
        If something holds no real numbers.

    Notes
    -----
    Squaring the difference x - b_k keeps all digits where ``lambda (<x, b_k> - 1)`` loses a share that grows with
    lambda. For values of one sign the relative error is at most 2e-15 in float64 and 5e-7 in float32 wherever some
    control point is near (``lambda |x - b_k|^2 / 2`` below 5); farther off it is about that exponent times the unit
    roundoff, as for any sum that rounds its exponents. It does not grow with n: terms are added in blocks, and blocks
    with compensation for their rounding errors.

    Problems that NumPy finishes in about a second are left to NumPy until compiled code is loaded: the two agree to
    rounding.

    References
    ----------
    docs/theorems.md, 4.8 and 4.11.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox import evaluate
    >>> b = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> evaluate(b, b, [1.0, 2.0], 3.0).round(6)
    array([1.099574, 2.049787])
    >>> evaluate(b, b, [1.0, 2.0], 3.0, normalize=True).round(6)
    array([1.047426, 1.952574])
    >>> evaluate(b, -b[:1], [1.0], 1e4, log=True).round(6)
    array([-20000., -10000.])
    """
    points = _checks.rows(x, "x")
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1)
    numbers = _checks.values_for(values, "values", len(controls), "the control points")
    concentration = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)])
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    progress, explain = _checks.flag(progress, "progress"), _checks.flag(explain, "explain")
    plan.check(method, rtol)
    workers = _checks.workers(workers)
    if log and numbers.min() < 0.0:
        raise ValueError(f"'values' must be at least 0 for log=True, got {numbers.min():g}: use log=False")
    shape = (len(points), *numbers.shape[1:])
    dtype = np.result_type(points, controls, numbers)
    _check_out(out, shape, dtype)
    _checks.memory(16.0 * len(points) * (2 + numbers[0].size), "the result", "evaluate x in parts")

    compute_dtype = dtype if concentration <= LARGEST_CONCENTRATION[dtype] and not log else np.dtype(np.float64)
    table = numbers.reshape(len(numbers), -1)  # (n, p)
    with _bar(progress) as bar:
        sums = _Sums(points, controls, concentration / 2.0, compute_dtype, method, rtol, workers, bar)
        answer, taken = (sums.logarithm if log else sums.value)(table, normalize)
    result = answer.reshape(shape).astype(dtype, copy=False)
    if out is not None:
        out[...] = result
        result = out
    return (result, taken) if explain else result


def angle_mean(x: ArrayLike, control_points: ArrayLike, concentration: float, *, workers: int = 1) -> Float64:
    """Return the mean angle between x and the control points under the softmax weights.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim.
    control_points : array_like, shape (n, dim+1)
        The points b_k.
    concentration : float
        lambda, from 0 to 1e300.
    workers : int, default 1
        Threads; -1 takes all cores.

    Returns
    -------
    ndarray, shape (m,)
        ``sum_k theta(x, b_k) e_k / sum_k e_k`` with ``e_k = exp(-lambda |x - b_k|^2 / 2)``; a relative error near 1e-15
        but for pairs of nearly opposite points, whose angles have an absolute error up to 1e-8.

    Raises
    ------
    ValueError
        If rows have no unit length, or an option is out of its range.

    References
    ----------
    docs/theorems.md, 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import angle_mean
    >>> angle_mean(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, -1.0]]), 5.0).round(6)
    array([1.570796])
    """
    points = _checks.rows(x, "x")
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1)
    rate = _checks.concentration(concentration, maximum=LARGEST_CONCENTRATION[np.dtype(np.float64)]) / 2.0
    problem = Problem(points, controls, rate, np.dtype(np.float64), None)
    sums = dense.sums(problem, None, _checks.workers(workers), lambda pairs: None).partial
    return np.asarray(sums.numerators[:, 0] / sums.denominator)


def _check_out(out: Floats | None, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    """Raise unless the result can be written into `out` as it is."""
    if out is None:
        return
    if not isinstance(out, np.ndarray):
        raise TypeError(f"'out' must be a NumPy array, got {_checks.show(out)} of type {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype or not out.flags.writeable:
        raise ValueError(
            f"'out' must be a writeable array of shape {shape} and {dtype}, "
            f"got shape {out.shape} and {out.dtype}, writeable: {out.flags.writeable}"
        )


@contextmanager
def _bar(progress: bool) -> Iterator[_Report]:
    """Yield what hears of finished pairs: a progress bar, or nothing."""
    if not progress:
        yield lambda pairs, total=0: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=0, unit="pair", unit_scale=True) as bar:

        def report(pairs: int, total: int = 0) -> None:
            bar.total = (bar.total or 0) + total
            bar.update(pairs)

        yield report


@dataclass(frozen=True)
class _Sums:
    """The sums at given points over given control points, for any values."""

    x: Floats
    b: Floats
    rate: float
    dtype: np.dtype[Any]
    method: str
    rtol: float | None
    workers: int
    report: _Report

    def value(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the sums (m, p) of values (n, p), and how they were evaluated."""
        sums, octaves, taken = self._scaled(table, normalize, False)
        if normalize:
            return np.ldexp(sums.numerators / sums.denominator[:, None], octaves), taken
        return _times_exp(sums.numerators, -self.rate * sums.shift, octaves), taken

    def logarithm(self, table: Floats, normalize: bool) -> tuple[Float64, Plan]:
        """Return the logarithms of the sums, where values are not negative."""
        if 4.0 * self.rate < _NO_UNDERFLOW:
            sums, octaves, taken = self._scaled(table, normalize, True)
            below = np.log(sums.denominator) if normalize else self.rate * sums.shift
            with np.errstate(divide="ignore"):
                return np.log(sums.numerators) - below[:, None] + octaves * math.log(2.0), taken
        columns = [self._log_column(column) for column in table.T]
        answer = np.stack([column[0] for column in columns], axis=1)
        if normalize:
            answer -= self._log_column(np.ones(len(self.b)))[0][:, None]
        return answer, columns[0][1]

    def _scaled(self, table: Floats, normalize: bool, row_by_row: bool) -> tuple[Partial, NDArray[np.int32], Plan]:
        """Return the sums of values divided by 2^octaves, so that no partial sum overflows."""
        octaves = np.frexp(np.abs(table).max(axis=0))[1]  # (p,)

        def w(part: slice) -> Float64:
            return np.asarray(np.ldexp(table[part].astype(np.float64), -octaves))

        lifted = row_by_row or octaves.max() > _LIFTED
        problem = Problem(self.x, self.b, self.rate, self.dtype, w, len(octaves), normalize, lifted)
        sums, taken = self._run(problem, row_by_row)
        return sums, octaves, taken

    def _log_column(self, column: Floats) -> tuple[Float64, Plan]:
        """Return the logarithm for one column of values; they enter the exponents, which take any range of them."""
        (used,) = np.nonzero(column)
        if not used.size:
            return np.full(len(self.x), -np.inf), Plan("dense", "all values are 0", 0.0, "numpy")
        logs = np.log(column[used].astype(np.float64))
        offset = (logs.max() - logs) / self.rate

        def no_weights(part: slice) -> Float64:
            return np.zeros((part.stop - part.start, 1))

        problem = Problem(self.x, self.b[used], self.rate, self.dtype, no_weights, offset=offset)
        sums, taken = self._run(problem, True)
        return np.log(sums.denominator) + (logs.max() - self.rate * sums.shift), taken

    def _run(self, problem: Problem, row_by_row: bool) -> tuple[Partial, Plan]:
        """Evaluate, by the method wished for or the cheapest."""
        self.report(0, len(problem.x) * len(problem.b))
        return plan.carry_out(problem, self.method, self.rtol, self.workers, self.report, row_by_row)


def _times_exp(sums: Float64, exponent: Float64, octaves: NDArray[np.int32]) -> Float64:
    """Return ``sums exp(exponent) 2^octaves``, (m, p) from (m, p), (m,), (p,): no factor over- or underflows alone."""
    exponent = np.maximum(exponent, -1e5)  # far below all that 2^octaves can lift
    n = np.rint(exponent / math.log(2.0))
    rest = (exponent - n * _LN2_HIGH) - n * _LN2_LOW
    return np.asarray(np.ldexp(sums * np.exp(rest)[:, None], n.astype(np.int32)[:, None] + octaves))
