"""`compress`: the shortest prefix that does what a given one does; `select`: some of its tokens, in closed form."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._threads import one_blas_thread
from ...._types import Indices
from ....fitting.tokens import Tokens
from ..layer.rows import Prefix, array
from .problem import Problem, hold_out
from .result import CompressedPrefix, Trial
from .search import Clock, Descent, Search, check_held_out
from .selection import METHODS, Masses, fit_chosen

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
        The error at the queries that are not held out, over the largest length of an output, for which the least number
        of tokens is sought. One of `length` and `eps` has to be given.
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
        The best one *found*, not worse than those of `select` by attention, nor by pursuit up to some thousand tokens:
        that no shorter one was found is evidence, no proof. If none shorter within eps is found, it is the prefix
        itself, with a warning if time ended first.

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
        warning says how many queries are needed, and what outputs are off by at those held out.

    Notes
    -----
    For given keys and biases the values follow from least squares with a small ridge, so only keys and biases are
    searched: a bias is one more coordinate of the key, at queries with a last coordinate of 1. With the residuals r_i
    of the outputs h_i, the attention A_ik and the residuals s_i of the log mass, the squares fall along
    ``sum_i A_ik (<r_i, v_k - h_i> + mass^2 s_i) (scale q_i, 1)``; L-BFGS runs with that from every start and goes on
    from the best one, then Levenberg and Marquardt's steps where keys are few, then Lawson's weights for the largest
    error.

    A fifth of the queries is held out (`Descent`): the prefix is fitted to the others, at which its errors are stated,
    and says what it is off by at those.

    The work on one length is bounded, by some 4e10 operations for each of the `starts`, beside the first sums over all
    queries: 10 s of one core for 4096 tokens. Where 100 iterations from each start, 500 from the best one and twelve
    rounds of 25 for the largest error are more, all are fewer in proportion, then starts are; where one start has no
    room for 20 iterations there are few of them, and at last none: keys are then the means of clusters, biases and
    values in closed form, or tokens that `select` chooses. Memory is at most 0.6 GB and some six arrays of queries
    times N.

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
    parts = solver.held_out, solver.mass
    problem, others, scale = _problems(prefix, queries, bias, scale, weights, *parts)
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
        search = Search(problem, others, solver, eps)
        shortest = n if eps is None else search.stop.run(partial(search.shortest, eps, count))
        if eps is None:
            search.stop.run(partial(search.fit, n))
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
    result = _result(problem, others, fit.tokens, scale, indices=fit.indices, eps=eps, history=rows)
    _warn_of_few(problem, others, result, searched=fit.indices is None)
    return result


def select(
    prefix: Prefix, queries: ArrayLike, length: int, *, method: str = "pursuit", bias: bool = True,
    scale: float | None = None, weights: ArrayLike | None = None, held_out: int | tuple[int, ...] = 5,
) -> CompressedPrefix:  # fmt: skip
    """Choose some tokens of the prefix of an attention head, with biases and values in closed form.

    Parameters
    ----------
    prefix, queries, scale, weights
        As those of `compress`.
    length : int
        Number of tokens, at most n.
    method : {"pursuit", "attention"}
        Tokens by matching pursuit of the mass; those that get most attention, in the root mean square over the queries.
    bias : bool, default True
        Whether every token has a bias, the logarithm of its weight in the nonnegative least squares of the mass, at
        least log 0.3.
    held_out : int or tuple of int, default 5
        As that of `Descent`.

    Returns
    -------
    CompressedPrefix
        Tokens with keys among the given ones: its `indices`.

    Raises
    ------
    TypeError, ValueError

    Warns
    -----
    RuntimeWarning
        If queries are less than two for each token: least squares then fit what is theirs alone.

    Notes
    -----
    The pursuit takes a sixteenth of the tokens that it has at once, from four times as many that match best what is
    left: each the best one, where those like it count less, by the square of the cosine; then it solves for nonnegative
    weights. Errors at other queries are those of one after another, within a few percent; of random heads whose values
    have one column they were up to 45 percent larger. Of queries times n above 2^27 some are taken for the choice, of
    tokens times N all for biases and values. Memory is at most 0.6 GB and four arrays of queries times N. Values are
    least squares with a ridge of 1e-6 on the change of the given ones.

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284; Kim and Park (2011),
    Fast nonnegative matrix factorization: an active-set-like method and comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix, select
    >>> key, value, queries = np.random.default_rng(0).standard_normal((3, 60, 4))
    >>> chosen = select(Prefix(key, value), queries, 12)
    >>> bool(np.allclose(chosen.key, key[chosen.indices])), chosen.held_out < 0.5
    (True, True)
    """
    n = _checks.integer(length, "length", minimum=1)
    method = _checks.choice(method, "method", METHODS)
    problem, others, scale = _problems(prefix, queries, bias, scale, weights, check_held_out(held_out))
    n = _checks.integer(n, "length", maximum=len(problem.key), limit="the given prefix has no more")
    clock = Clock()

    def chosen() -> tuple[Tokens, Indices]:
        masses = Masses(problem, clock)
        indices = masses.choose(method, n)
        masses.columns = np.empty((0, 0))  # the memory is wanted
        return fit_chosen(masses, indices), indices

    with one_blas_thread():
        tokens, indices = clock.run(chosen)
        result = _result(problem, others, tokens, scale, indices=indices)
    if n < len(problem.key):
        _warn_of_few(problem, others, result, searched=False)
    return result


def _warn_of_few(problem: Problem, others: Problem | None, result: CompressedPrefix, *, searched: bool) -> None:
    """Warn if tokens have so many free numbers that their errors say little of other queries."""
    (n, d), p = result.key.shape, result.value.shape[1]
    free = p + problem.bias + d * searched
    per_query = p + (problem.samples.mass > 0.0 if searched else problem.bias)
    fitted = len(np.unique(problem.x, axis=0))
    least = math.ceil(_FEW * n * free / per_query)
    if fitted >= least:
        return
    count = fitted + (0 if others is None else len(np.unique(others.x, axis=0)))
    off = "errors at other queries may be far larger"
    if result.held_out is not None:
        off = f"outputs are off by {result.held_out:.3g} at those held out, by {result.rms:.3g} at the others"
    _checks.warn_inaccurate(
        f"'queries' must be {math.ceil(least * count / fitted)} different ones or more for {n} tokens, got {count}: "
        f"give more, or take fewer tokens; {off}"
    )


def _problems(
    prefix: Prefix, queries: ArrayLike, bias: object, scale: object, weights: object,
    held_out: int | tuple[int, ...], mass: float | None = None,
) -> tuple[Problem, Problem | None, float]:  # fmt: skip
    """Return the checked problem, that at the queries held out, and the scale."""
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
    seen = shares > 0.0
    apart = hold_out(rows, seen, held_out)
    if not (seen & ~apart).any():
        raise ValueError(f"'held_out' must leave queries to fit to, got {_checks.show(held_out)}: 0 is for none")
    with np.errstate(over="ignore"):
        x = factor * rows
    with one_blas_thread():  # threads change the last bits
        fitted, other = (
            (x[mask], np.maximum(shares[mask] / shares[mask].max(initial=0.0), 1e-300))
            for mask in (seen & ~apart, apart)
        )
        problem = Problem.of(keys, values, fitted[0], weights=fitted[1], bias=biased, mass=mass)
        return problem, problem.beside(*other) if len(other[0]) else None, factor


def _result(
    problem: Problem, others: Problem | None, tokens: Tokens, scale: float, *, indices: Indices | None,
    eps: float | None = None, history: tuple[Trial, ...] = (),
) -> CompressedPrefix:  # fmt: skip
    key, value, bias = problem.prefix(tokens)
    apart = None if others is None else others.errors(tokens)
    return CompressedPrefix(
        key if indices is None else problem.key[indices] / problem.unit, value, bias, scale=scale,
        **vars(problem.errors(tokens)), held_out=apart.rms if apart else None,
        held_out_mass=apart.mass_rms if apart else None, indices=indices, eps=eps, history=history,
    )  # fmt: skip


def _itself(problem: Problem, scale: float, *, eps: float | None, history: tuple[Trial, ...]) -> CompressedPrefix:
    """Return the given prefix."""
    bias = np.zeros(len(problem.key)) if problem.bias else None
    names = "error", "rms", "mass_error", "mass_rms", "held_out", "held_out_mass"
    return CompressedPrefix(
        problem.key / problem.unit, problem.value, bias, scale=scale, **dict.fromkeys(names, 0.0),
        indices=np.arange(len(problem.key)), eps=eps, history=history,
    )  # fmt: skip
