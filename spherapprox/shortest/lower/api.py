"""`token_lower_bound`: how many tokens every head within eps of one target has at least."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import _checks
from ..._threads import one_blas_thread
from ...error import lengths
from ...error.search import largest_value, sample
from ...target import Target, as_target
from ...targets.circles import refuse_refuted
from .catalecticant import Catalecticant
from .cells import Cell, CellSearch, largest_degree
from .coefficients import expand_target
from .surfaces import Values, circle_bound, torus_bound
from .symmetry import degree_of_turns, fibre_bound, is_asymmetric, value_bound

_SAMPLE = 4000
"""Points from which the largest value of a target is searched for."""
_REASONS = {
    "circles": "changes of sign on a circle",
    "torus": "rank on a product of spheres",
    "values": "rank of values",
    "reflection": "far from all functions with a symmetry",
    "fibres": "far from all functions of few coordinates",
}


@dataclass(frozen=True)
class LowerBound:
    """A number of tokens that every head within eps of a target has at least.

    Parameters
    ----------
    n : int
        The number, at least 1.
    theorem : {"catalecticant", "torus", "circles", "values", "reflection", "fibres"}
        What proves it (docs/theorems/4.K-tokens-for-one-target.md).
    reason : str
        In words: what gave the number, or why it is 1.
    concentrations : tuple of float
        The range of lambda that it holds for.
    certified : bool
        Whether rounding, and the coefficients or values of the target, are accounted for with proof.
    eps : float
        The error, in the target's units.
    cells : tuple of Cell
        For "catalecticant": cells of concentrations that cover the range, with a bound for each; else none.
    """

    n: int
    theorem: str
    reason: str
    concentrations: tuple[float, float]
    certified: bool
    eps: float
    cells: tuple[Cell, ...] = ()


def token_lower_bound(
    target: Callable[[Any], ArrayLike],
    eps: float,
    kind: str = "core",
    *,
    relative: bool = False,
    concentration: float | None = None,
    certified: bool = False,
    keys: str = "unit",
    max_cells: int = 3000,
) -> LowerBound:
    """Bound from below the number of tokens of every head within eps of one target.

    Parameters
    ----------
    target : Target or head
        Maps points (n, dim+1) to values (n,) or (n, p).
    eps : float
        The sup error, in the Euclidean norm of the values.
    kind : {"core", "split"}
        The family of heads.
    relative : bool, default False
        Whether eps is a share of the target's `sup_norm`: the tokens hold for that share of sup |f|, too, no larger.
    concentration : float, optional
        One lambda > 0 of core heads with unit keys; by default the bound holds for every one.
    certified : bool, default False
        Prove the rounding errors, too. Core heads with unit keys: the target has to be one of
        `targets.geomagnetic_field`, `geomagnetic_vector`, `random_bandlimited` and `zonal_harmonic`, whose coefficients
        are known; else it has to state `sup_norm` and `lipschitz`.
    keys : {"unit", "free"}
        Whether all keys have the length lambda, or any lengths.
    max_cells : int, default 3000
        Cells of concentrations that are cut in two, for core heads with unit keys: some 20 s on S^2; with fewer of them
        the bound may be less.

    Raises
    ------
    TypeError, ValueError
        If an option is out of its range, or the target does not state what an option needs, or values along great
        circles refute a constant that it states.

    Warns
    -----
    RuntimeWarning
        If eps is relative, and the target's `sup_norm` exceeds the largest value that a search finds by 10 %.

    Notes
    -----
    *Core heads with unit keys.* A target's coefficients over the kernel's eigenvalues make a matrix whose rank is at
    most the number of tokens, if the target is a head; singular values tell how far it is from that. Concentrations are
    taken in cells, (0, lo] and [hi, inf) included, which are cut until the worst has the bound of a single
    concentration. A target of degree n gives little beyond ``dim P_(n/2)``.

    *Core heads with free keys.* On a product of two spheres in S^m an exponential is a matrix of rank 1; on S^1 and S^2
    that gives 2p at most, p the components. With n tokens a head changes its sign on a circle 0, 2, 4 times at most,
    and ``2 (n-1)^2 + 2 (n-1)(n-2)(n-3)/3`` times from n = 4 on. Values of n tokens have rank n. With ``m + 1`` tokens a
    head has the same sign after some reflection, with m the same value, and with k < m it is the same after turns: what
    is far from all such functions has more.

    *Split heads.* By the same counts, for every ``h - c``, c constant, and keys of any lengths; of values less their
    mean, and of turns, with a token more. With ``m + 1`` tokens a head has the same value after some reflection.

    If the target is none whose coefficients are known, they are from a quadrature. For a target that states its degree
    it is exact up to rounding, for others its error is estimated by a finer rule: `reason` says so.

    References
    ----------
    docs/theorems/4.K-tokens-for-one-target.md.

    Examples
    --------
    >>> from spherapprox import targets
    >>> from spherapprox.shortest import token_lower_bound
    >>> bound = token_lower_bound(targets.geomagnetic_field(2025.0), 0.01, relative=True, certified=True)
    >>> bound.n, bound.certified, len(bound.cells) < 100  # 19 tokens were found to suffice
    (8, True, True)
    """
    f = as_target(target)
    kind = _checks.choice(kind, "kind", ("core", "split"))
    keys = _checks.choice(keys, "keys", ("unit", "free"))
    eps = _checks.real(eps, "eps", above=0.0)
    certified = _checks.flag(certified, "certified")
    if _checks.flag(relative, "relative"):
        if f.sup_norm is None:
            raise ValueError("'target' must state its sup_norm for relative=True: Target(f, dim, sup_norm=...)")
        x = sample(f.dim, _SAMPLE, np.random.default_rng(0))
        largest_value(lambda at: lengths(f(at).reshape(len(at), -1)), f.sup_norm, x)  # which warns of a loose one
        eps *= f.sup_norm
    refuse_refuted(f)
    lam = None if concentration is None else _checks.real(concentration, "concentration", above=0.0, maximum=1e100)
    budget = _checks.integer(max_cells, "max_cells", minimum=0, maximum=10**6)
    unit = kind == "core" and keys == "unit"
    if not unit:
        _checks.left_out(
            concentration, "concentration", "for split heads and free keys", remedy="the bound holds for all"
        )
    return bound_tokens(f, eps, kind, unit=unit, certified=certified, concentration=lam, budget=budget)


def bound_tokens(
    target: Target, eps: float, kind: str, *, unit: bool, certified: bool, concentration: float | None = None,
    budget: int = 0, deadline: float = math.inf,
) -> LowerBound:  # fmt: skip
    """Return the bound for core heads with unit keys, or for others, by a deadline of `time.monotonic`.

    TimeoutError where that is too early for any.
    """
    with one_blas_thread():  # matrices are small
        if kind == "core" and unit:
            return _bound_by_coefficients(
                target, eps, concentration, certified=certified, budget=budget, deadline=deadline
            )
        bounds, how = _bound_by_values(Values(target, eps, certified, deadline=deadline), kind == "split")
    theorem = max(bounds, key=bounds.__getitem__)
    reason = _REASONS[theorem] if bounds[theorem] > 1 else "no test needs more than one token"
    reason = f"{reason}; {how}" if how and theorem == "fibres" else reason
    return LowerBound(bounds[theorem], theorem, reason, (0.0, math.inf), certified=certified, eps=eps)


def _bound_by_values(values: Values, split: bool) -> tuple[dict[str, int], str]:
    """Return bounds for heads with keys of any lengths, and where coefficients are from."""
    bounds = {"circles": circle_bound(values, split), "values": value_bound(values, split)}
    if not split:
        bounds["torus"] = torus_bound(values)
    dim, how = values.target.dim, ""
    for n, rays in [(dim + 2, False)] if split else [(dim + 2, True), (dim + 1, False)]:
        if max(bounds.values()) < n and is_asymmetric(values, rays=rays):
            bounds["reflection"] = n
    if max(bounds.values()) < dim + split:
        bounds["fibres"], how = _bound_by_turns(values, split)
    return bounds, how


def _bound_by_turns(values: Values, split: bool) -> tuple[int, str]:
    """Return the bound by fibres of polynomials, and where coefficients are from; 1 where there are none."""
    target = values.target
    if target.degree is None:
        return 1, ""
    try:
        expansion = expand_target(target, degree_of_turns(target.dim), values.deadline)
    except (ValueError, TimeoutError):
        return 1, ""
    if values.certified and not expansion.proven:
        return 1, ""
    return max(1, split + fibre_bound(expansion, values.eps / expansion.scale, values.certified)), expansion.how


def _bound_by_coefficients(
    target: Target, eps: float, concentration: float | None, *, certified: bool, budget: int, deadline: float
) -> LowerBound:
    """Return the bound for core heads with unit keys."""
    degree = largest_degree(target.dim, target.degree)
    expansion = expand_target(target, 2 * degree, deadline)
    if certified and not expansion.proven:
        raise ValueError(
            f"'target' must be a polynomial of the catalogue for certified=True, whose coefficients are known exactly, "
            f"got {target.name!r}: choose certified=False"
        )
    search = CellSearch(Catalecticant(expansion, eps / expansion.scale, certified), degree, deadline)
    if concentration is not None:
        cell = search.bound_at(concentration)
        n, cells = cell.n, [cell]
    else:
        n, cells = search.bound_everywhere(budget)
    reason = f"catalecticants of degree {', '.join(map(str, sorted({cell.degree for cell in cells} - {0})))}"
    reason = reason if n > 1 else "no matrix needs more than one token"
    reason = "; ".join(filter(None, [reason, expansion.how]))
    concentrations = cells[0].low, cells[-1].high
    return LowerBound(
        n, "catalecticant", reason, concentrations=concentrations, certified=certified, eps=eps, cells=tuple(cells)
    )
