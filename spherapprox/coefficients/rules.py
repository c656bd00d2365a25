"""The rules by which the values of a head are chosen, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _checks
from .._types import Floats
from ..points import nodes
from ..points.pointset import Points
from . import interpolation, least_squares, riemann, spectral
from .conditioning import thin_points, well_conditioned_concentration
from .kernel import require_distinct
from .task import Task

Values = Callable[[Task], Floats]
_CLOSE_PAIRS = 1e-10
"""Regularization of scattered points that are too many to factorise their matrix: what it changes is near as small."""


@dataclass(frozen=True)
class Rule:
    """A rule for the values of a core head and, unless `core_only` says why not, of a split head."""

    core: Values
    split: Values | None
    options: tuple[str, ...] = ()
    core_only: str = ""


RULES = {
    "riemann": Rule(riemann.core, riemann.split),
    "interpolation": Rule(interpolation.core, interpolation.split, ("regularization",)),
    "least_squares": Rule(least_squares.core, least_squares.split, ("regularization", "samples")),
    "spectral": Rule(
        spectral.core, None, ("degree",),
        core_only="softmax divides by the kernels' sum, so what a split head makes of a harmonic is no multiple of it: "
        "there is no eigenvalue to divide by; take a CoreHead, or coefficients='interpolation' or 'least_squares'",
    ),
}  # fmt: skip
"""All rules."""
CORE_RULES: dict[str, Values] = {name: rule.core for name, rule in RULES.items()}
SPLIT_RULES: dict[str, Values] = {name: rule.split for name, rule in RULES.items() if rule.split is not None}


def core_values(
    target: Callable[[Any], ArrayLike],
    points: Points,
    concentration: float,
    rule: str = "riemann",
    *,
    degree: int | None = None,
    regularization: float | None = None,
    samples: Points | int | None = None,
) -> Floats:
    """Return the values of a core head: the coefficients of ``exp(-concentration |x - b_k|^2 / 2)``.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        Control points b_k and, of a point set, their weights w_k; else these are 1/n.
    concentration : float
        lambda, at least 0.
    rule : {"riemann", "interpolation", "least_squares", "spectral"}
        "riemann": ``c exp(lambda) w_k f(b_k)``, c the kernel's normaliser for the normalised measure: the convolution
        of the kernel with f, its integral replaced by the weighted sum over the control points.
        "interpolation": the head equals f at every control point. Weights are ignored.
        "least_squares": ``sum_j w_j |h(x_j) - f(x_j)|^2`` is least, over samples x_j. Weights of control points are
        ignored.
        "spectral": "riemann" for ``p~ = sum_(l<=n) Y_l / a_l`` in place of f, Y_l the part of f of degree l and a_l the
        kernel's eigenvalues: there is no convolution error. The points must be a `PointSet` with positive weights that
        is exact to a known degree D, such as `points.gauss_product`; what is left is the distance of f to polynomials
        of degree n, at most ``rho_(D-n) |p~|`` with the kernel's tail rho, and rounding, ``2^-52 max |p~(b_k)|``.
    degree : int, optional
        n for "spectral", at most D/2. By default the degree at which an estimate of the three errors is least, in the
        root mean square for targets that jump.
    regularization : float, optional
        mu >= 0; None means 0. "interpolation" adds mu to the kernel matrix's diagonal, which is 1; "least_squares" adds
        ``mu sum_k |values_k|^2`` to the sum of squares.
    samples : EqualMeasurePartition, PointSet, array_like (M, dim+1) or int, optional
        For "least_squares": where the error is squared, with weights, or how many points. None means 4 for each control
        point: centres of an equal-measure partition up to dim = 8, Sobol points beyond.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    TypeError
        If an option is given to a rule that does not take it.
    ValueError
        If the rule is unknown, the target's values do not fit, or the peak ``c exp(lambda)`` is beyond float64.
        "interpolation" also where points are repeated, "least_squares" where samples are too few, both where an
        iteration for many points has not converged, or cannot because the matrix is singular to rounding.
        "spectral" also if the points are another kind of quadrature, or the degree is too high for it or eigenvalues.

    Warns
    -----
    RuntimeWarning
        If what the points of "spectral" miss of the kernel exceeds the target, or leaves no degree at which the head is
        twice as good as a constant, though polynomials are. If "interpolation" misses the target at control points by
        more than 1e-10 of its size. If values of "least_squares" are so large that their rounding costs more than
        1e-10, or a core head's exceed the target twofold at a control point, between samples.

    Notes
    -----
    "interpolation" factorises the kernel matrix up to 4096 control points: by Cholesky's method where the matrix is
    positive definite in float64, else by a least-squares solution over the columns that a pivoted factorisation finds
    independent to rounding, which costs little accuracy. Beyond, conjugate gradients with a sparse preconditioner end
    at a residual of 1e-12 (2-norm, relative to the right-hand side); its products are fast sums. "least_squares"
    factorises a matrix of up to 1.2e7 elements by Householder reflections; beyond, LSMR with fast sums ends where the
    gradient is 1e-10 of what it can be.

    *Concentration.* Small ones resolve smooth targets, down to where the matrix is singular to rounding: the radial
    geomagnetic field on 1000 Fibonacci points is met to 5e-15 by "interpolation" and "least_squares" at lambda = 10, to
    7e-11 by "interpolation" at 20 and to 2e-5 at 50. A sum of kernels that are narrow beside the distances between
    points is rough between them: a part of degree l comes with aliases of degrees L beyond those that the points
    resolve, damped only by the quotient of the kernel's eigenvalues a_L / a_l, which tends to 1 as lambda grows.
    `well_conditioned_concentration` gives the smallest at which the matrix has a given condition number.

    References
    ----------
    docs/theorems/4.3-core-head.md, 4.7-spectral-correction.md, 4.8-dense-sums.md and 4.13-interpolation.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import core_values
    >>> core_values(lambda x: x[:, 0], np.eye(3), 0.0).round(6)  # lambda = 0: the mean
    array([0.333333, 0.      , 0.      ])
    """
    task = Task(
        target, points, _checks.concentration(concentration), degree=degree, regularization=regularization,
        samples=samples,
    )  # fmt: skip
    return _rule(CORE_RULES, rule, task)(task)


def split_values(
    target: Callable[[Any], ArrayLike],
    points: Points,
    concentration: float,
    rule: str = "riemann",
    *,
    degree: int | None = None,
    regularization: float | None = None,
    samples: Points | int | None = None,
) -> Floats:
    """Return the values of a split head, whose softmax weighs all control points alike.

    Parameters
    ----------
    target : callable
        Maps points (n, dim+1) to values (n,) or (n, p).
    points : EqualMeasurePartition, PointSet or array_like (n, dim+1)
        Control points b_k; for "riemann" a point set's weights must all be equal.
    concentration : float
        lambda, at least 0; "riemann" does not depend on it.
    rule : {"riemann", "interpolation", "least_squares"}
        "riemann": ``f(b_k)``.
        "interpolation": the head equals f at every control point. Weights may differ, and are ignored.
        "least_squares": ``sum_j w_j |h(x_j) - f(x_j)|^2`` is least, over samples x_j. Weights may differ, and are
        ignored.
    degree
        Option of rules that take it.
    regularization : float, optional
        mu >= 0; None means 0. It draws values to those of "riemann", without a change where f is constant:
        "interpolation" adds mu to the diagonal of ``A`` in ``A (v - f) = D f - A f``, A the kernel matrix and D its row
        sums; "least_squares" adds ``mu sum_k |v_k - f(b_k)|^2`` to the sum of squares.
    samples : EqualMeasurePartition, PointSet, array_like (M, dim+1) or int, optional
        For "least_squares": where the error is squared, with weights, or how many points. None means 4 for each control
        point: centres of an equal-measure partition up to dim = 8, Sobol points beyond.

    Returns
    -------
    ndarray, shape (n,) or (n, p)

    Raises
    ------
    TypeError
        If an option is given to a rule that does not take it.
    ValueError
        If the rule is unknown, the weights differ ("riemann"), or the target's values do not fit; "interpolation" and
        "least_squares" as for `core_values`.

    Warns
    -----
    RuntimeWarning
        As for `core_values`, whose notes hold here too.

    References
    ----------
    docs/theorems/4.4-split-head.md and 4.13-interpolation.md.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.coefficients import split_values
    >>> split_values(lambda x: x[:, 0], np.eye(3), 1.0)
    array([1., 0., 0.])
    """
    task = Task(
        target, points, _checks.concentration(concentration), degree=degree, regularization=regularization,
        samples=samples,
    )  # fmt: skip
    if isinstance(rule, str) and rule in RULES.keys() - SPLIT_RULES.keys():
        raise ValueError(f"'coefficients' must not be '{rule}' for a split head: {RULES[rule].core_only}")
    return _rule(SPLIT_RULES, rule, task)(task)


def _rule(rules: dict[str, Values], rule: str, task: Task) -> Values:
    """Return a rule by its name, after checking that it takes the options that are given."""
    entry = rules[_checks.choice(rule, "coefficients", rules)]
    for option in ("degree", "regularization", "samples"):
        if getattr(task, option) is not None and option not in RULES[rule].options:
            takers = " and ".join(repr(name) for name in rules if option in RULES[name].options) or "no rule"
            raise TypeError(f"'{option}' is no option of coefficients='{rule}', only of {takers}: leave it out")
    return entry


def resolve_options(
    points: Points,
    concentration: float | None,
    regularization: float | None,
    rule: str,
    *,
    direct: int = interpolation.DIRECT,
) -> tuple[float, float | None]:
    """Return the concentration, None replaced by one at which "interpolation" is well conditioned but for close pairs.

    The closest pair of scattered points would ask for kernels that are too narrow for all others. Where an iteration
    solves the system, of more than `direct` points, close pairs take a regularization, if none is given.
    """
    if concentration is not None or rule != "interpolation":
        why = f" for coefficients={_checks.show(rule)}, got None: only 'interpolation' chooses its own"
        return _checks.concentration(_checks.given(concentration, "concentration", why)), regularization
    rows = nodes(points)[0].astype(np.float64)
    if regularization is None:
        require_distinct(rows)
    apart, condition = thin_points(rows), 1e10 if len(rows) <= direct else interpolation.ITERATED_CONDITION
    if regularization is None and len(apart) < len(rows) and len(rows) > direct:
        regularization = _CLOSE_PAIRS
    return well_conditioned_concentration(apart, condition), regularization
