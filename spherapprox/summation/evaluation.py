"""The sum over control points: its arguments checked, evaluated, and in the result's shape and type."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Float64, Floats
from . import bands, scaling
from .plan import ALL_PAIRS, METHODS, Plan, Wish, with_last_rounding
from .problem import Problem
from .progress import is_shown, reported

_FLOAT64 = np.dtype(np.float64)
LARGEST_CONCENTRATION = {_FLOAT64: 1e300, np.dtype(np.float32): 4.5e4}
"""Beyond the first a concentration is refused, beyond the second float32 input is computed in float64."""


_NAMES = ("auto", *METHODS)


class Arrays(NamedTuple):
    """The checked arrays of a sum: points (m, d), control points (n, d) and values (n,) or (n, p)."""

    points: Floats
    controls: Floats
    values: Floats


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
) -> Floats:
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
    method : {"auto", "dense", "truncated", "harmonic", "lowrank", "numpy"}
        "dense" takes every pair of an evaluation point and a control point, in memory that does not grow with their
        product, and in long sums exponents from products alone where these cost at most a tenth of `rtol`; "truncated"
        leaves out control points that are too far away to matter, for large concentrations in low dimensions or
        clusters; "harmonic" expands the kernel in harmonics on S^1 and S^2, "lowrank" in polynomials
        in any dimension, for small concentrations: both in time nearly linear in m + n. "auto" takes the one of the
        least expected time, of those that can prove an error as small as `rtol` says; times are those of a model, the
        same on all machines. Concentrations that differ leave only "dense", and "numpy", which is never taken unasked:
        every pair without compiled code, for programs so short that loading it takes longer than their sums.
    rtol : float or None, default 1e-14
        What a method may leave out on purpose, relative to ``sum_k |values_k| exp(...)``: row by row for "dense" and
        "truncated", in its largest row for "harmonic" and "lowrank". A method is taken if the bound of all its errors
        is at most `rtol` above that of the roundings of "dense", 1e-14 to 1e-12 for a plain sum in float64; the `Plan`
        gives the bound of what happened, and for the methods left out the `rtol` that would admit them. One that is
        asked for by name may have roundings 100 times those of "dense". None allows only "dense" and "numpy", which
        omit nothing.
    workers : int or None, default None
        Threads; -1 takes all cores that the process may use, and so does None where the work takes longer than some
        3 ms, or as many as the environment variable SPHERAPPROX_WORKERS says. None stays at one thread for less work,
        and in a process or thread that joblib, Dask or multiprocessing started, whose other workers take the other
        cores. The result is the same for any number.

    Returns
    -------
    ndarray, shape (m,) or (m, p)
        float32 if x, control_points and values all are, else float64.

    See Also
    --------
    spherapprox.summation.evaluate_log : its logarithm, which does not underflow.
    spherapprox.summation.explain_sum : the same with its plan: the method taken, the others' prices, bounds of errors.
    spherapprox.summation.show_progress : a progress bar.

    Raises
    ------
    TypeError, ValueError
        If rows have no unit length, shapes do not fit together, something holds no real numbers, is not finite or out
        of its range, or the result would be too large for memory.

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
    of its own lambda_k alone, whatever the others are; sums without `normalize` are as accurate as for one lambda.
    Arrays of float32 are computed in float32 while no lambda_k is above 64, or 4.5e4 without `normalize`: logits have
    errors of some ``6e-8 lambda_k (1 + dim/24)`` then.

    The first call of a process loads compiled code, which takes 0.4 seconds, and the first one on a machine compiles
    it, some seconds (`spherapprox.warmup.compile_kernels`).

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
    """
    arrays, normalize = checked(x, control_points, values), _checks.flag(normalize, "normalize")
    wish = checked_wish(method, rtol, workers, brief=True)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize)[0]


def evaluate_log(
    x: ArrayLike,
    control_points: ArrayLike,
    values: ArrayLike,
    concentration: ArrayLike,
    *,
    normalize: bool = False,
    method: str = "auto",
    rtol: float | None = 1e-14,
    workers: int | None = None,
) -> Floats:
    """Evaluate the logarithm of a sum of exponential kernels, which does not underflow.

    Parameters
    ----------
    x, control_points, concentration, normalize, method, rtol, workers
        As in `spherapprox.evaluate`; "harmonic" and "lowrank" are refused, as their errors are not relative to each
        row's own sum.
    values : array_like, shape (n,) or (n, p)
        Numbers that are at least 0.

    Returns
    -------
    ndarray, shape (m,) or (m, p)
        -inf where the sum is 0.

    Raises
    ------
    TypeError, ValueError
        As `spherapprox.evaluate` does, and for values below 0.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.summation import evaluate_log
    >>> evaluate_log(np.eye(2), [[-1.0, 0.0]], [1.0], 1e4).round(6)
    array([-20000., -10000.])
    """
    arrays, normalize = checked(x, control_points, values, log=True), _checks.flag(normalize, "normalize")
    wish = checked_wish(method, rtol, workers)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize, log=True)[0]


def evaluate_at(
    x: ArrayLike, controls: Floats, values: Floats, concentration: ArrayLike, *, normalize: bool, method: str,
    rtol: float | None, workers: int | None,
) -> Floats:  # fmt: skip
    """Evaluate the sum of kernels at points, for control points, values and a flag that were checked before."""
    arrays = Arrays(_checks.rows(x, dim=controls.shape[1] - 1), controls, values)
    wish = checked_wish(method, rtol, workers, brief=True)
    return evaluate_arrays(arrays, concentration, wish, normalize=normalize)[0]


def checked(x: ArrayLike, control_points: ArrayLike, values: ArrayLike, *, log: bool = False) -> Arrays:
    """Return the checked arrays."""
    points = _checks.rows(x, "x")
    controls = _checks.rows(control_points, "control_points", dim=points.shape[1] - 1)
    numbers = _checks.values_for(values, "values", len(controls), owner="the control points")
    if log:
        _checks.non_negative_for_log(numbers)
    return Arrays(points, controls, numbers)


def evaluate_arrays(
    arrays: Arrays, concentration: ArrayLike, wish: Wish, *, normalize: bool, log: bool = False
) -> tuple[Floats, Plan]:
    """Evaluate the sum of kernels from checked arrays and options: the result of `evaluate`, and its plan."""
    # Step 1: check the concentration
    points, controls, values = arrays
    rate = _checks.concentrations(concentration, len(controls), maximum=LARGEST_CONCENTRATION[_FLOAT64])
    _checks.memory(16.0 * len(points) * (2 + values.size // len(values)), "the result", "evaluate x in parts")
    # Step 2: evaluate; numbers that overflow are infinite, and warned of below, and what underflows is in the bounds
    with np.errstate(over="ignore", under="ignore"):
        if is_shown.get() and not wish.dry:
            with reported(wish) as shown:
                answer, record = _sums(arrays, rate, shown, normalize=normalize, log=log)
        else:
            answer, record = _sums(arrays, rate, wish, normalize=normalize, log=log)
        # Step 3: round to the result's type
        dtype = _common_type(arrays)
        rounded = answer.astype(dtype, copy=False)
    if not _checks.is_finite(rounded):
        infinite = np.isinf(rounded)
        if infinite.any() and (not log or (infinite != np.isinf(answer)).any()):
            remedy = "take smaller values" + ", or float64" * (dtype != _FLOAT64)
            _checks.warn_inaccurate(f"results beyond the largest {dtype} are infinite: {remedy}")
    result = rounded.reshape(-1) if values.ndim == 1 else rounded
    if wish.dry and log:
        answer = answer - 2.0 * np.max(rate)  # as far as points may be
    return result, record if wish.brief else with_last_rounding(record, answer, dtype, log=log)


def _sums(arrays: Arrays, rate: float | Float64, wish: Wish, *, normalize: bool, log: bool) -> tuple[Float64, Plan]:
    """Return the sums (m, p), quotients or logarithms, in float64 where float32 does not reach."""
    points, controls, values = arrays
    table, dtype = values.reshape(len(values), -1), _common_type(arrays)  # (n, p)
    top = float(rate if isinstance(rate, float) else rate.max())
    if isinstance(rate, np.ndarray) and rate.min() < top:
        single = not log and top <= (bands.SMALL if normalize else LARGEST_CONCENTRATION[dtype])
        problem = Problem(points, controls, 0.0, dtype=dtype if single else _FLOAT64, values=table, normalize=normalize)
        return bands.sums(problem, rate, wish, log=log)
    if log or top > LARGEST_CONCENTRATION[dtype]:
        dtype = _FLOAT64
    problem = Problem(points, controls, top / 2.0, dtype=dtype, values=table, normalize=normalize)
    return (scaling.logarithms if log else scaling.sums)(problem, wish)


def _common_type(arrays: Arrays) -> np.dtype[Any]:
    """Return float32 if all arrays are, else float64."""
    points, controls, values = arrays
    dtype = points.dtype
    return dtype if dtype is controls.dtype is values.dtype else np.result_type(points, controls, values)


def checked_wish(
    method: str, rtol: float | None, workers: int | None = None, extra: tuple[str, ...] = (), *, brief: bool = False
) -> Wish:
    """Return the checked options of a sum, whose method may be one of others, too."""
    check_method(method, rtol, extra)
    return Wish(method, rtol, _checks.workers(workers), brief=brief)


def check_method(method: str, rtol: float | None, extra: tuple[str, ...] = ()) -> None:
    """Check the name of a method and the range of `rtol`."""
    if type(method) is not str or method not in _NAMES:
        _checks.choice(method, "method", ("auto", *METHODS, *extra))
    if rtol is not None:
        if type(rtol) is not float or not 0.0 < rtol < math.inf:
            _checks.real(rtol, "rtol", above=0.0, why='None, with "auto" or "dense", leaves out nothing')
    elif method not in ("auto", *ALL_PAIRS):
        names = " and ".join(f'"{name}"' for name in ALL_PAIRS)
        raise ValueError(f"'rtol' must be a number for method={method!r}, got None: only {names} leave out nothing")
