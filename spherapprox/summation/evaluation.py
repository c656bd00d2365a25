"""The sum over control points: its arguments checked, evaluated, and in the result's shape and type."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from . import bands, scaling, small
from .method import Report, silent
from .plan import METHODS, Plan, Wish
from .problem import Problem

_FLOAT64 = np.dtype(np.float64)
LARGEST_CONCENTRATION = {_FLOAT64: 1e300, np.dtype(np.float32): 4.5e4}
"""Beyond the first a concentration is refused, beyond the second float32 input is computed in float64."""


@overload
def evaluate(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: ArrayLike,
    *,
    normalize: bool = ...,
    method: str = ...,
    rtol: float | None = ...,
    workers: int | None = ...,
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
    concentration: ArrayLike,
    *,
    normalize: bool = ...,
    method: str = ...,
    rtol: float | None = ...,
    workers: int | None = ...,
    out: Floats | None = ...,
    log: bool = ...,
    progress: bool = ...,
    explain: Literal[True],
) -> tuple[Floats, Plan]: ...
def evaluate(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: ArrayLike,
    *,
    normalize: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
    workers: int | None = None,
    out: Floats | None = None,
    log: bool = False,
    progress: bool = False,
    explain: bool = False,
) -> Floats | tuple[Floats, Plan]:
    """Evaluate a sum of exponential kernels at points of the sphere.

    For control points b_k and lambda = `concentration` it is ``sum_k values_k exp(-lambda |x - b_k|^2 / 2)``, which is
    ``sum_k values_k exp(lambda (<x, b_k> - 1))`` where rows have length 1 exactly; with `normalize`, that sum over the
    one without values (softmax attention). The form with the chord |x - b_k| is the definition, on the rows as given.

    With a concentration lambda_k for each control point the sum is ``sum_k values_k exp(-lambda_k |x - b_k|^2 / 2)``,
    and with `normalize` the average of the values by weights proportional to
    ``exp(lambda_k - lambda_k |x - b_k|^2 / 2)``: attention to keys ``c_k = lambda_k b_k`` of any length, of logits
    ``<x, c_k>`` on rows of length 1. For equal lambda_k both are the functions above.

    Parameters
    ----------
    x : array_like, shape (m, dim+1)
        Points of the sphere S^dim, where the sum is wanted.
    control_points : array_like, shape (n, dim+1)
        The points b_k.
    values : array_like, shape (n,) or (n, p)
        One value, or one row, for each control point.
    concentration : float or array_like, shape (n,)
        lambda, from 0 to 1e300, or one for each control point.
    normalize : bool, default False
        Divide by ``sum_k exp(-lambda |x - b_k|^2 / 2)``; right at every lambda, also where all of these underflow.
    method : {"auto", "dense", "truncated", "harmonic", "lowrank"}
        "dense" takes every pair of an evaluation point and a control point, in memory that does not grow with their
        product, and in long sums exponents from products alone where these cost at most a tenth of `rtol`; "truncated"
        leaves out control points that are too far away to matter, for large concentrations in low dimensions or
        clusters; "harmonic" expands the kernel in harmonics on S^1 and S^2, "lowrank" in polynomials
        in any dimension, for small concentrations: both in time nearly linear in m + n. "auto" takes the one of the
        least expected time, of those that can prove an error as small as `rtol` says. Times are those of a model and,
        for long sums, of short runs of each method, measured once on a machine and kept beside the compiled code
        (`show_config` shows them): another machine, and the same before it has been measured, may take another method,
        whose result differs within the bounds of both. Concentrations that differ leave only "dense".
    rtol : float or None, default 1e-14
        What a method may leave out on purpose, relative to ``sum_k |values_k| exp(...)``: row by row for "dense" and
        "truncated", in its largest row for "harmonic" and "lowrank". A method is taken if the bound of all its errors
        is at most `rtol` above that of the roundings of "dense", 1e-14 to 1e-12 for a plain sum in float64; the `Plan`
        gives the bound of what happened, and for the methods left out the `rtol` that would admit them. One that is
        asked for by name may have roundings 100 times those of "dense". None allows only "dense", which omits nothing.
    workers : int or None, default None
        Threads; -1 takes all cores that the process may use, and so does None where the work takes longer than some
        20 ms, or as many as the environment variable SPHERAPPROX_WORKERS says. None stays at one thread for less work,
        and in a process or thread that joblib, Dask or multiprocessing started, whose other workers take the other
        cores. The result is the same for any number.
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
    lambda. For values of one sign and the default `rtol` the relative error is at most 2e-15 in float64 and 5e-7 in
    float32 wherever some control point is near (``lambda |x - b_k|^2 / 2`` below 5) and the method is "dense" or
    "truncated"; from 14 coordinates on, where products give squared distances above 1/2, at most 1e-14 and 6e-6 where
    the nearest is that far. Farther off it is about that exponent times the unit roundoff, as for any sum that rounds
    its exponents. It does not grow with n: terms are added in blocks, and blocks with compensation for their rounding
    errors. Values may span all decades of float64: where that matters, those of different size are summed apart.

    Where concentrations differ, logits ``<x, lambda_k b_k>`` have errors of some ``1e-16 lambda_k (1 + dim/24)``, each
    of its own lambda_k alone, whatever the others are; sums without `normalize` are as accurate as for one lambda. All
    is computed in float64.

    Problems that NumPy finishes in about a second are left to NumPy until compiled code is loaded: the two agree to
    rounding.

    References
    ----------
    docs/theorems/4.8-dense-sums.md and 4.11-truncated-sums.md.

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
    if out is None and log is False and progress is False and explain is False:
        found = small.sums(x, control_points, values, concentration, normalize, method, rtol, workers)
        if found is not None:
            return found
    points = _checks.rows(x, "x")
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1)
    numbers = _checks.values_for(values, "values", len(controls), "the control points")
    normalize, log = _checks.flag(normalize, "normalize"), _checks.flag(log, "log")
    progress, explain = _checks.flag(progress, "progress"), _checks.flag(explain, "explain")
    if log:
        _checks.non_negative_for_log(numbers)
    result, taken = evaluate_arrays(
        points, controls, numbers, concentration, normalize, method, rtol, workers, out, log=log, progress=progress,
        explain=explain,
    )  # fmt: skip
    return (result, taken) if explain else result


def evaluate_arrays(
    points: Floats, controls: Floats, numbers: Floats, concentration: ArrayLike, normalize: bool, method: str,
    rtol: float | None, workers: int | None, out: Floats | None, *, log: bool = False, progress: bool = False,
    explain: bool = False,
) -> tuple[Floats, Plan]:  # fmt: skip
    """Evaluate the sum of kernels from checked arrays and flags: the result of `evaluate`, and its plan."""
    # Step 1: check what is asked for
    check(method, rtol)
    rate = _checks.concentrations(concentration, len(controls), maximum=LARGEST_CONCENTRATION[_FLOAT64])
    if isinstance(rate, np.ndarray) and rate.min() == rate.max():
        rate = float(rate[0])
    _checks.memory(16.0 * len(points) * (2 + numbers[0].size), "the result", "evaluate x in parts")
    workers = _checks.workers(workers)
    shape = (len(points), *numbers.shape[1:])
    dtype = np.result_type(points, controls, numbers)
    if out is not None:
        _checks.destination(out, shape, dtype)

    # Step 2: evaluate, in float64 where float32 does not reach
    table = numbers.reshape(len(numbers), -1)  # (n, p)
    with _bar() if progress else nullcontext(silent) as bar:
        wish = Wish(method, rtol, workers, bar, explain)
        if isinstance(rate, np.ndarray):
            problem = Problem(points, controls, 0.0, _FLOAT64, table, normalize)
            answer, taken = bands.sums(problem, rate, wish, log)
        else:
            single = dtype == np.float32 and rate <= LARGEST_CONCENTRATION[dtype] and not log
            problem = Problem(points, controls, rate / 2.0, dtype if single else _FLOAT64, table, normalize)
            answer, taken = (scaling.logarithms if log else scaling.sums)(problem, wish)

    # Step 3: round to the result's type
    with np.errstate(over="ignore"):
        result: Floats = answer.reshape(shape).astype(dtype, copy=False)
    if np.isinf(result).any() and (not log or (np.isinf(result) != np.isinf(answer.reshape(shape))).any()):
        _checks.warn_inaccurate(f"results beyond the largest {dtype} are infinite: take smaller values, or float64")
    taken = with_last_rounding(taken, answer, dtype, log)
    if out is not None:
        out[...] = result
        result = out
    return result, taken


def check(method: str, rtol: float | None) -> None:
    """Check the name of a method and the range of `rtol`."""
    _checks.choice(method, "method", ("auto", *METHODS))
    if rtol is not None:
        _checks.real(rtol, "rtol", above=0.0)
    elif method not in ("auto", "dense"):
        raise ValueError(f"'rtol' must be a number for method={method!r}, got None: only \"dense\" leaves out nothing")


def with_last_rounding(taken: Plan, answer: Float64, dtype: np.dtype[Any], log: bool) -> Plan:
    """Add the rounding of the answer to the result's type to the plan's error bounds."""
    limits = np.finfo(dtype)
    rounding = 0.0 if dtype == _FLOAT64 else float(limits.eps) / 2.0
    if log:
        rounding *= float(np.abs(answer[np.isfinite(answer)]).max(initial=0.0))
        return replace(taken, rtol=taken.rtol + rounding)
    return replace(taken, rtol=taken.rtol + rounding, atol=taken.atol + float(limits.smallest_normal))


@contextmanager
def _bar() -> Iterator[Report]:
    """Show a progress bar over pairs."""
    from tqdm.auto import tqdm

    with tqdm(total=0, unit="pair", unit_scale=True) as bar:

        def report(pairs: int, total: int = 0) -> None:
            bar.total = (bar.total or 0) + total
            bar.update(pairs)

        yield report
