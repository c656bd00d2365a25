"""`compress`: the shortest prefix that does what a given one does; `select`: some of its tokens, in closed form."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._threads import one_blas_thread
from ...._types import Float64
from ....fitting.tokens import Tokens
from .fitting import Fit
from .problem import Errors, Problem
from .result import CompressedPrefix, Trial
from .search import Search
from .selection import METHODS, Masses, selected

_MASS = 0.5
"""An error of the log mass changes outputs beside other tokens by at most half of it."""
_FEW = 2.0
"""Numbers at the queries over the free ones of tokens up to which errors at other queries are several times those."""


def compress(
    key: ArrayLike,
    value: ArrayLike,
    queries: ArrayLike,
    *,
    length: int | None = None,
    eps: float | None = None,
    bias: bool = True,
    mass: float | None = None,
    norm: str = "sup",
    scale: float | None = None,
    weights: ArrayLike | None = None,
    starts: int = 4,
    rng: int = 0,
    time_limit: float | None = None,
    progress: bool = False,
) -> CompressedPrefix:
    """Compress the prefix of an attention head: find few tokens that act as many do on given queries.

    Keys, values and biases of the short prefix are free; none need be among those given.

    Parameters
    ----------
    key, value : array_like, shapes (n, d) and (n, p)
        Keys and values of one head; the heads of a layer are compressed one by one.
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
    mass : float, optional
        What an error of 1 in the log mass counts, against one of the largest length of an output. 0.5 is the default
        with biases, what it amounts to at most beside other tokens (Notes of `CompressedPrefix`); 0 without, for a
        prefix that is used alone or has few tokens cannot keep both.
    norm : {"sup", "rms"}
        The error over the queries that is made small and compared with eps: the largest one, or the root mean square,
        which carries over better to other queries. It is that of the outputs, or that of the log masses times `mass`
        if this is larger.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(d) by default.
    weights : array_like, shape (m,), optional
        Weights of the queries in mean squares; those of weight 0 are left out.
    starts : int, default 4
        Starts for each number of tokens: means of clusters of keys, tokens chosen by matching pursuit and by attention
        (`select`), then more clusters.
    rng : int, default 0
        Seed of the clusters; the same one gives the same prefix, where NumPy has the same BLAS and threads.
    time_limit : float, optional
        Seconds for the search, but for the first sums over all queries and one solution in closed form; the result
        then depends on the machine.
    progress : bool, default False
        Print a line for each number of tokens.

    Returns
    -------
    CompressedPrefix
        The best one *found*, not worse than those of `select`: that no shorter one was found is evidence, no proof. If
        none shorter within eps is found, it is the prefix itself, with a warning if time ended first.

    Raises
    ------
    TypeError, ValueError
        If arrays are empty, not finite or do not fit together, queries times keys exceed 1e100, an option is out of
        its range, or both or none of `length` and `eps` are given.

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
    With ``mass=0`` all keys are shifted alike at the end, which changes no output, to keep log masses as well as that
    can. Against `select`, errors at 1/10 and 1/50 of the tokens of trained layers are in benchmarks/compaction.py.

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284: outputs and log mass,
    tokens by matching pursuit; Golub and Pereyra (2003), Separable nonlinear least squares: the variable projection
    method and its applications; Lawson (1961), Contributions to the theory of linear least maximum approximation.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import compress
    >>> rng = np.random.default_rng(0)
    >>> key, value = np.tile(rng.standard_normal((2, 4, 8)), (1, 10, 1))  # 40 tokens, four different ones
    >>> found = compress(key, value, rng.standard_normal((200, 8)), eps=1e-6)
    >>> found.n, found.error < 1e-6
    (4, True)
    """
    # Step 1: check the arguments
    problem, scale = _problem(key, value, queries, bias, mass, scale, weights)
    _checks.not_both(length, eps, "'length' and 'eps' exclude each other")
    if length is None and eps is None:
        raise TypeError("'length' or 'eps' must be given: the number of tokens, or the error")
    n = _checks.integer(length, "length", minimum=1) if length is not None else len(problem.key)
    eps = _checks.real(eps, "eps", above=0.0) if eps is not None else None
    norm, progress = _checks.choice(norm, "norm", ("sup", "rms")), _checks.flag(progress, "progress")
    count = _checks.integer(starts, "starts", minimum=1, maximum=1000)
    seed = _checks.integer(rng, "rng", minimum=0, maximum=2**31)
    limit = math.inf if time_limit is None else _checks.real(time_limit, "time_limit", above=0.0)
    # Step 2: search
    history: dict[int, Trial] = {}

    def report(fit: Fit, seconds: float) -> None:
        history[len(fit.tokens)] = row = _row(fit, seconds)
        if progress:
            print(_line(row, eps), flush=True)

    if len(problem.key) == 1 or (eps is None and n >= len(problem.key)):
        return _itself(problem, scale, eps, ())
    with one_blas_thread():
        search = Search(problem, norm, count, seed, time.monotonic() + limit, report)
        found = n if eps is None else search.shortest(eps, len(problem.key))
        if eps is None:
            search.fitted(n)
        # Step 3: the record
        rows = tuple(row for _, row in sorted(history.items()))
        if found is None and len(problem.key) - 1 not in search.fits:
            _checks.warn_inaccurate(
                f"no shorter prefix within eps = {eps:.4g} was found in {limit:g} s, so the given one is returned: "
                "take a larger 'time_limit', or one of the lengths in its 'history' as 'length'"
            )
        if found is None:
            return _itself(problem, scale, eps, rows)
        _warn_of_few(search, search.fits[found])
        return _result(problem, search.fits[found].tokens, scale, search.fits[found].errors, eps, rows)


def select(
    key: ArrayLike,
    value: ArrayLike,
    queries: ArrayLike,
    length: int,
    *,
    method: str = "pursuit",
    bias: bool = True,
    scale: float | None = None,
    weights: ArrayLike | None = None,
) -> CompressedPrefix:
    """Choose some tokens of the prefix of an attention head, with biases and values by least squares.

    This is the closed form of "Attention Matching", of which `compress` starts, too: fast, and much less accurate.

    Parameters
    ----------
    key, value, queries, scale, weights
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
        As those of `compress`.

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import select
    >>> rng = np.random.default_rng(0)
    >>> key, value, queries = rng.standard_normal((3, 60, 4))
    >>> select(key, value, queries, 60).error < 1e-6
    True
    """
    problem, scale = _problem(key, value, queries, bias, None, scale, weights)
    n = _checks.integer(length, "length", minimum=1, maximum=len(problem.key), limit="the given prefix has no more")
    method = _checks.choice(method, "method", METHODS)
    with one_blas_thread():
        tokens = selected(Masses(problem), n, method)
        return _result(problem, tokens, scale, problem.errors(tokens), None, ())


def _warn_of_few(search: Search, fit: Fit) -> None:
    """Warn if tokens have so many free numbers that their errors say little of other queries."""
    problem, n = search.problem, len(fit.tokens)
    p = problem.value.shape[1]
    each, free = p + (problem.samples.mass > 0.0), fit.tokens.parameters + n * p
    count = len(np.unique(problem.x, axis=0))
    if count * each >= _FEW * free:
        return
    rms = search.left_out(n)
    said = "" if rms is None else f": {rms:.3g} at every fifth of them for a fit to the rest, {fit.errors.rms:.3g} here"
    _checks.warn_inaccurate(
        f"'queries' must be {math.ceil(_FEW * free / each)} different ones or more for {n} tokens, got {count}: give "
        f"more, or take fewer tokens; errors at other queries may be far larger{said}"
    )


def _problem(
    key: ArrayLike, value: ArrayLike, queries: ArrayLike, bias: object, mass: object, scale: object, weights: object
) -> tuple[Problem, float]:
    """Return the checked problem, and the scale."""
    keys = _array(key, "key", ("n", "d"), ", those of one head: key[h] of a layer's")
    values = _array(value, "value", (len(keys), "p"), ", one row for each key")
    rows = _array(queries, "queries", ("m", keys.shape[1]), ", columns as 'key' has")
    work = float(len(keys)) * len(rows) * (keys.shape[1] + values.shape[1])
    _checks.operations(work, "attention of 'queries' to 'key'", "take fewer queries")
    factor = 1.0 / math.sqrt(keys.shape[1]) if scale is None else _checks.real(scale, "scale", above=0.0)
    biased = _checks.flag(bias, "bias")
    weight = _MASS * biased if mass is None else _checks.real(mass, "mass", minimum=0.0, maximum=1e100)
    shares = _checks.weights_for(weights, "weights", len(rows))  # type: ignore[arg-type]
    kept = shares > 0.0
    with np.errstate(over="ignore"):
        x = factor * rows[kept]
    with one_blas_thread():  # threads change the last bits
        return Problem.of(keys, values, x, np.maximum(shares[kept] / shares.max(), 1e-300), biased, weight), factor


def _array(value: ArrayLike, name: str, shape: tuple[int | str, ...], note: str = "") -> Float64:
    return np.asarray(_checks.floating(_checks.detached(value), name, shape, note=note).astype(np.float64))


def _result(
    problem: Problem, tokens: Tokens, scale: float, errors: Errors, eps: float | None, history: tuple[Trial, ...]
) -> CompressedPrefix:
    numbers = errors.error, errors.rms, errors.mass_error, errors.mass_rms
    key, value, bias = problem.prefix(tokens)
    return CompressedPrefix(key, value, bias, scale, *numbers, eps, history)


def _itself(problem: Problem, scale: float, eps: float | None, history: tuple[Trial, ...]) -> CompressedPrefix:
    """Return the given prefix."""
    bias = np.zeros(len(problem.key)) if problem.bias else None
    key = problem.key / problem.unit
    return CompressedPrefix(key, problem.value, bias, scale, 0.0, 0.0, 0.0, 0.0, eps, history)


def _line(row: Trial, eps: float | None) -> str:
    """Return the line of progress for a length."""
    wanted = "" if eps is None else f" (eps {eps:.3g})"
    errors = f"error {row.error:.3g} rms {row.rms:.3g} mass error {row.mass_error:.3g}{wanted}"
    return f"N={row.n} {errors} by {row.start}, {row.seconds:.1f} s"


def _row(fit: Fit, seconds: float) -> Trial:
    """Return the record of a length."""
    e = fit.errors
    return Trial(len(fit.tokens), e.error, e.rms, e.mass_error, e.mass_rms, fit.start, seconds)
