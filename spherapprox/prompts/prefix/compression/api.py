"""`compress`: the shortest prefix that does what a given one does; `select`: some of its tokens, in closed form."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._threads import one_blas_thread
from ....fitting.tokens import Tokens
from ..layer.rows import Prefix, array
from .fitting import Fit
from .problem import Errors, Problem
from .result import CompressedPrefix, Trial
from .search import Descent, Search
from .selection import METHODS, Masses, select_tokens

_MASS = 0.5
"""An error of the log mass changes outputs beside other tokens by at most half of it."""
_FEW = 2.0
"""Numbers at the queries over the free ones of tokens up to which errors at other queries are several times those."""


def compress(
    prefix: Prefix, queries: ArrayLike, *, length: int | None = None, eps: float | None = None, bias: bool = True,
    scale: float | None = None, weights: ArrayLike | None = None, solver: Descent | None = None,
) -> CompressedPrefix:  # fmt: skip
    """Compress the prefix of an attention head: find few tokens that act as many do on given queries.

    Keys, values and biases of the short prefix are free; none need be among those given.

    Parameters
    ----------
    prefix : Prefix
        Keys (n, d) and values (n, p) of one head; the heads of a layer are compressed one by one.
    queries : array_like, shape (m, d)
        Queries on which the short prefix has to act as the long one; many more than its tokens, or it will not on
        others (Warns).
    length : int, optional
        Number of tokens; from n on, the prefix is returned as it is.
    eps : float, optional
        The error, over the largest length of an output, for which the least number of tokens is sought. One of
        `length` and `eps` has to be given.
    bias : bool, default True
        Whether every token has a bias, a number that is added to its logits. Without it the result is a plain prefix.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(d) by default.
    weights : array_like, shape (m,), optional
        Weights of the queries in mean squares; those of weight 0 are left out.
    solver : Descent, optional
        The error that is made small, the starts of the search, and its end; ``Descent()`` by default.

    Returns
    -------
    CompressedPrefix
        The best one *found*, not worse than those of `select`: that no shorter one was found is evidence, no proof. If
        none shorter within eps is found, it is the prefix itself, with a warning if time ended first.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, queries times keys exceed 1e100, or both or none of
        `length` and `eps` are given.

    Warns
    -----
    RuntimeWarning
        If time ends before a shorter prefix within eps is found; if the outputs at different queries, and the log
        masses if these count, are less than two numbers for each free one of the tokens, N (d + 1 + p) with biases: the
        warning says what a fit to four fifths of the queries is off by at the others.

    Notes
    -----
    For given keys and biases the values follow from least squares with a small ridge, so only keys and biases are
    searched: a bias is one more coordinate of the key, at queries with a last coordinate of 1. With the residuals r_i
    of the outputs h_i, the attention A_ik and the residuals s_i of the log mass, the squares fall along
    ``sum_i A_ik (<r_i, v_k - h_i> + mass^2 s_i) (scale q_i, 1)``; L-BFGS runs with that from every start and goes on
    from the best one, then Levenberg and Marquardt's steps where keys are few, then Lawson's weights for the largest
    error.
    With a mass of 0 all keys are shifted alike at the end, which changes no output, to keep log masses as well as that
    can. Against `select`, errors at 1/10 and 1/50 of the tokens of trained layers are in benchmarks/compaction.py.

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284: outputs and log mass,
    tokens by matching pursuit; Golub and Pereyra (2003), Separable nonlinear least squares: the variable projection
    method and its applications; Lawson (1961), Contributions to the theory of linear least maximum approximation.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix, compress
    >>> rng = np.random.default_rng(0)
    >>> prefix = Prefix(*np.tile(rng.standard_normal((2, 4, 8)), (1, 10, 1)))  # 40 tokens, four different ones
    >>> short = compress(prefix, rng.standard_normal((200, 8)), eps=1e-6)
    >>> short.n, short.error < 1e-6
    (4, True)
    """
    # Step 1: check the arguments
    solver = Descent() if solver is None else _checks.instance(solver, "solver", Descent)
    problem, scale = _problem(prefix, queries, bias, mass=solver.mass, scale=scale, weights=weights)
    _checks.not_both(length, eps, "'length' and 'eps' exclude each other")
    if length is None and eps is None:
        raise TypeError("'length' or 'eps' must be given: the number of tokens, or the error")
    count = len(prefix)
    n = _checks.integer(length, "length", minimum=1) if length is not None else count
    eps = _checks.real(eps, "eps", above=0.0) if eps is not None else None
    if count == 1 or (eps is None and n >= count):
        return _itself(problem, scale, eps=eps, history=())
    # Step 2: search
    with one_blas_thread():
        search = Search(problem, solver, eps)
        shortest = n if eps is None else search.shortest(eps, count)
        if eps is None:
            search.fit(n)
        # Step 3: the record
        rows = tuple(row for _, row in sorted(search.history.items()))
        if shortest is None and count - 1 not in search.fits:
            _checks.warn_inaccurate(
                f"no shorter prefix within eps = {eps:.4g} was found in {solver.time_limit:g} s, so the given one is "
                "returned: take a larger 'time_limit', or one of the lengths in its 'history' as 'length'"
            )
        if shortest is None:
            return _itself(problem, scale, eps=eps, history=rows)
        fit = search.fits[shortest]
        _warn_of_few(search, fit)
        return _result(problem, fit.tokens, scale, errors=fit.errors, eps=eps, history=rows)


def select(
    prefix: Prefix, queries: ArrayLike, length: int, *, method: str = "pursuit", bias: bool = True,
    scale: float | None = None, weights: ArrayLike | None = None,
) -> CompressedPrefix:  # fmt: skip
    """Choose some tokens of the prefix of an attention head, with biases and values by least squares.

    This is the closed form of "Attention Matching", of which `compress` starts, too: fast, and much less accurate.

    Parameters
    ----------
    prefix, queries, scale, weights
        As those of `compress`.
    length : int
        Number of tokens, at most n.
    method : {"pursuit", "attention"}
        Whether keys are chosen by matching pursuit of the mass, or are those that get most attention, in the root mean
        square over the queries.
    bias : bool, default True
        Whether every token has a bias, the logarithm of its weight in the nonnegative least squares of the mass.

    Returns
    -------
    CompressedPrefix
        Tokens with keys among the given ones.

    Raises
    ------
    TypeError, ValueError

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix, select
    >>> key, value, queries = np.random.default_rng(0).standard_normal((3, 60, 4))
    >>> select(Prefix(key, value), queries, 60).error < 1e-6
    True
    """
    problem, scale = _problem(prefix, queries, bias, mass=None, scale=scale, weights=weights)
    n = _checks.integer(length, "length", minimum=1, maximum=len(problem.key), limit="the given prefix has no more")
    method = _checks.choice(method, "method", METHODS)
    with one_blas_thread():
        tokens = select_tokens(Masses(problem), n, method)
        return _result(problem, tokens, scale, errors=problem.errors(tokens))


def _warn_of_few(search: Search, fit: Fit) -> None:
    """Warn if tokens have so many free numbers that their errors say little of other queries."""
    problem, n = search.problem, len(fit.tokens)
    p = problem.value.shape[1]
    per_query, free = p + (problem.samples.mass > 0.0), fit.tokens.parameters + n * p
    count = len(np.unique(problem.x, axis=0))
    if count * per_query >= _FEW * free:
        return
    rms = search.left_out(n)
    note = "" if rms is None else f": {rms:.3g} at every fifth of them for a fit to the rest, {fit.errors.rms:.3g} here"
    _checks.warn_inaccurate(
        f"'queries' must be {math.ceil(_FEW * free / per_query)} different ones or more for {n} tokens, got {count}: "
        f"give more, or take fewer tokens; errors at other queries may be far larger{note}"
    )


def _problem(
    prefix: Prefix, queries: ArrayLike, bias: object, *, mass: float | None, scale: object, weights: object
) -> tuple[Problem, float]:
    """Return the checked problem, and the scale."""
    keys, values = _checks.instance(prefix, "prefix", Prefix, remedy="Prefix(key, value) is one").key, prefix.value
    if keys.ndim != 2 or not (keys.size and values.size):
        raise ValueError(f"'prefix' must be of one head and have tokens, Prefix(key[h], value[h]), got {prefix!r}")
    rows = array(queries, "queries", ("m", keys.shape[1]), note=", columns as keys have")
    work = float(len(keys)) * len(rows) * (keys.shape[1] + values.shape[1])
    _checks.operations(work, "attention of 'queries' to 'prefix'", "take fewer queries")
    factor = 1.0 / math.sqrt(keys.shape[1]) if scale is None else _checks.real(scale, "scale", above=0.0)
    biased = _checks.flag(bias, "bias")
    mass = _MASS * biased if mass is None else mass
    shares = _checks.weights_for(weights, "weights", len(rows))  # type: ignore[arg-type]
    mask = shares > 0.0
    with np.errstate(over="ignore"):
        x = factor * rows[mask]
    with one_blas_thread():  # threads change the last bits
        shares = np.maximum(shares[mask] / shares.max(), 1e-300)
        return Problem.of(keys, values, x, weights=shares, bias=biased, mass=mass), factor


def _result(
    problem: Problem, tokens: Tokens, scale: float, *, errors: Errors, eps: float | None = None,
    history: tuple[Trial, ...] = (),
) -> CompressedPrefix:  # fmt: skip
    key, value, bias = problem.prefix(tokens)
    return CompressedPrefix(key, value, bias, scale=scale, **vars(errors), eps=eps, history=history)


def _itself(problem: Problem, scale: float, *, eps: float | None, history: tuple[Trial, ...]) -> CompressedPrefix:
    """Return the given prefix."""
    bias = np.zeros(len(problem.key)) if problem.bias else None
    errors = dict.fromkeys(("error", "rms", "mass_error", "mass_rms"), 0.0)
    return CompressedPrefix(
        problem.key / problem.unit, problem.value, bias, scale=scale, **errors, eps=eps, history=history
    )
