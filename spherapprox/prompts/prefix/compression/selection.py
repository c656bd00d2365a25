"""Tokens at some of a prefix's keys, or at means of these, with biases in closed form.

Matching pursuit is that of arXiv:2602.16284, with masses over the largest one of each query as in its authors' code,
github.com/adamzweiger/compaction; weights inside it are nonnegative, not clamped. That of many heads at once is in
torch_modules/heads/selection.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.linalg

from ...._softmax import exponentiate
from ...._threads import slices
from ...._types import Float64, Floats, Indices
from ....fitting.projection import Stop, never, solve_values
from ....fitting.tokens import Tokens
from .least_squares import gram, solve_nonnegative, solve_ridge
from .problem import Problem

ENTRIES, _PRECISE = 2**27, 2**24
"""Masses that are held at once, of many queries some are taken; and up to how many they are held in float64.

Those in float32 are off by 1e-7 of the largest one: they decide which tokens are taken, and no number of these.
"""
_AT_ONCE = 2**22
"""Masses that are worked with at once."""
_LEAST_START = 1e-3
"""Least weight of a token over the largest one in a start, whose tokens have to move."""
_LEAST_OWN, _RIDGE_OWN = 0.3, 1e-6
"""Least weight of a chosen token over its own one, and the ridge on what its value changes by.

Without these tokens that are not wanted for the mass have values of up to 1e11, and errors at other queries are larger.
"""
_RIDGE_MEANS = 1e-8
"""The ridge on the values of means."""
_TOGETHER, _CANDIDATES = 16, 4
"""The pursuit takes one token for each so many that it has, among so many times as many that match the rest best."""
_QUICK, _DRAWN = 5e8, 8
"""Operations for which places are drawn one by one, and places for each that is drawn with others beyond."""
_HALVINGS, _WORSE, _FLAT = 14, 4.0, 1e-12
"""How often keys are halved at most, squares over the least ones at which that ends, and their ridge."""
_NEAR = 2.0, 1.0
"""Squares over the least ones with which longer keys are the better start, in turns: either is best at times."""


class Masses:
    """Masses ``exp(<x, k_j>)`` of the tokens over the largest one at each query: the columns that are chosen from."""

    def __init__(self, problem: Problem, stop: Stop = never) -> None:
        count, n = len(problem.x), len(problem.key)
        rows = np.unique(np.linspace(0, count - 1, min(count, max(ENTRIES // n, 1))).astype(np.intp))
        self.problem, self.roots, self.stop = problem, np.sqrt(problem.samples.weights[rows]), stop
        self.sums, self.step = np.empty(len(rows)), max(_AT_ONCE // n, 1)
        self.columns: Floats = np.empty((len(rows), n), np.float64 if len(rows) * n <= _PRECISE else np.float32)
        for part in slices(len(rows), self.step):
            logits = problem.x[rows[part]] @ problem.key.T
            _, masses = exponentiate(logits, out=logits)
            masses *= self.roots[part, None]
            self.columns[part], self.sums[part] = masses, masses.sum(axis=1)
        self.orders: dict[str, Indices] = {}

    def choose(self, method: str, length: int) -> Indices:
        """Return the tokens that pursuit or attention chooses: the first of those that it would for more."""
        if len(self.orders.get(method, ())) < length:
            self.orders[method] = METHODS[method](self, length)
        return self.orders[method][:length]

    def attention(self, power: int) -> Float64:
        """Return the sums (n,) of a power of the attention to each token over the queries."""
        total = np.zeros(self.columns.shape[1])
        for part in slices(len(self.roots), self.step):
            shares = self.columns[part] / self.sums[part, None]
            total += self.roots[part] ** 2 @ shares**power
        return total

    def tokens(self, key: Float64, own: bool) -> Tokens:
        """Return tokens at keys (N, d), biases those with which masses sum up to those of the prefix, by squares.

        Weights, whose logarithms biases are, are at least a part of the largest one, or where tokens are the prefix's
        `own` ones of 1. Squares are of errors over the mass, which are those of its logarithm where they are small.
        """
        problem = self.problem
        if not problem.bias:
            return problem.tokens(key, np.zeros(len(key)))
        logits, roots = problem.x @ key.T, np.sqrt(problem.samples.weights)
        logits -= problem.samples.log_masses[:, None]  # type: ignore[index]
        shift = logits.max(axis=0)
        logits -= shift
        columns = np.exp(logits, out=logits)
        columns *= roots[:, None]
        least = _LEAST_OWN * np.exp(np.minimum(shift, 0.0)) if own else np.zeros(len(key))
        moment = (roots - columns @ least) @ columns
        weights = least + solve_nonnegative(gram(columns), moment, stop=never if own else self.stop)
        if own:
            weights = np.maximum(weights, 1e-300)
            return problem.tokens(key, np.maximum(np.log(weights) - shift, math.log(_LEAST_OWN)))
        return problem.tokens(key, np.log(np.maximum(weights, _LEAST_START * float(weights.max()) or 1.0)) - shift)


def pursue_masses(masses: Masses, length: int) -> Indices:
    """Return the tokens whose weighted masses come nearest to all masses (nonnegative orthogonal matching pursuit).

    The tokens attended most make up the rest when it is stopped.
    """
    columns, sums = masses.columns, masses.sums.astype(masses.columns.dtype)
    held, product = np.empty((length, len(sums)), columns.dtype), np.empty((length, length), columns.dtype)
    match = moments = sums @ columns
    indices, passive, k = np.empty(0, dtype=np.intp), np.empty(0, dtype=bool), 0
    while k < length and not masses.stop():
        if k:
            weights = solve_nonnegative(product[:k, :k], moments[indices], passive, masses.stop)
            match, passive = (sums - weights @ held[:k]) @ columns, weights > 0.0
            match[indices] = -np.inf
        picks = _match_best(columns, match, min(max(k // _TOGETHER, 1), length - k))
        indices, before, k = np.append(indices, picks), k, k + len(picks)
        passive = np.append(passive, np.ones(len(picks), dtype=bool))
        held[before:k] = columns[:, picks].T
        product[before:k, :k] = held[before:k] @ held[:k].T
        product[:before, before:k] = product[before:k, :before].T
    if k < length:
        attended = attend_most(masses, columns.shape[1])
        indices = np.append(indices, attended[~np.isin(attended, indices)])[:length]
    return indices


def _match_best(columns: Floats, match: Floats, count: int) -> Indices:
    """Return some of the columns that match best what is left, in turn; those like one that is taken count less."""
    candidates = _largest(match)[: _CANDIDATES * count if count > 1 else 1]
    candidates = candidates[match[candidates] > -np.inf]
    block, match = columns[:, candidates], match[candidates]
    block /= np.maximum(np.linalg.norm(block, axis=0), 1e-30)
    cosines, order = block.T @ block, np.empty(count, dtype=np.intp)
    for k in range(count):
        best = order[k] = match.argmax()
        match *= 1.0 - cosines[best] ** 2
        match[order[: k + 1]] = -np.inf
    return candidates[order]


def attend_most(masses: Masses, length: int) -> Indices:
    """Return the tokens of the largest attention, in the root mean square over the queries."""
    return _largest(masses.attention(2))[:length]


def _largest(scores: Floats) -> Indices:
    """Return places in the order of their scores, the largest one first."""
    return np.argsort(-scores, kind="stable")


METHODS: dict[str, Callable[[Masses, int], Indices]] = {"pursuit": pursue_masses, "attention": attend_most}


def fit_chosen(masses: Masses, indices: Indices) -> Tokens:
    """Return some of the prefix's tokens with biases and values in closed form."""
    problem = masses.problem
    tokens = masses.tokens(problem.key[indices], own=True)
    return _fit_values(problem, tokens, problem.value[indices] / problem.size, _RIDGE_OWN)


def fit_means(masses: Masses, length: int, seed: int, rounds: int) -> Tokens:
    """Return tokens at means of clusters of keys with biases and values in closed form."""
    tokens = masses.tokens(means(masses, length, np.random.default_rng([seed, 0]), rounds), own=False)
    return _fit_values(masses.problem, tokens, tokens.values, _RIDGE_MEANS)


def _fit_values(problem: Problem, tokens: Tokens, values: Float64, ridge: float) -> Tokens:
    """Return tokens with the values near given ones that fit best."""
    samples, roots = problem.samples, problem.samples.roots[:, None]
    matrix = tokens.matrix(samples.x)
    missed = roots * (samples.y - matrix @ values)
    matrix *= roots
    return replace(tokens, values=values + solve_ridge(matrix, missed, ridge))


def means(masses: Masses, length: int, rng: np.random.Generator, rounds: int) -> Float64:
    """Return means (N, d) of clusters of keys, weighted by their attention, near each other if their logits are."""
    problem = masses.problem
    moved = (problem.x - problem.centre) * np.sqrt(problem.samples.weights)[:, None]
    spread = moved.T @ moved / len(moved)
    spread.flat[:: len(spread) + 1] += 1e-9 * np.trace(spread) / len(spread) + 1e-300
    factor = scipy.linalg.cholesky(spread, lower=True)
    places = problem.key @ factor  # distances are root mean squares of differences of logits
    weights = masses.attention(1) + 1e-300
    centres = _spread(places, weights, length, rng=rng, stop=masses.stop)
    parts = slices(len(places), max(_AT_ONCE // length, 1))
    for _ in range(rounds):
        halves = 0.5 * np.square(centres).sum(axis=1)
        nearest = np.concatenate([(halves - places[part] @ centres.T).argmin(axis=1) for part in parts])
        sums = np.bincount(nearest, weights, length)
        mask = sums > 0.0
        moments = np.stack([np.bincount(nearest, weights * column, length) for column in places.T], axis=1)
        before, centres = centres, np.where(mask[:, None], moments / np.where(mask, sums, 1.0)[:, None], centres)
        if masses.stop() or np.array_equal(before, centres):
            break
    return np.asarray(scipy.linalg.solve_triangular(factor, centres.T, lower=True, trans="T").T)


def _spread(places: Float64, weights: Float64, length: int, rng: np.random.Generator, stop: Stop) -> Float64:
    """Return places drawn by their weights times squared distances to those drawn before (k-means++).

    Drawn by weights alone, fits of a tenth of the tokens are worse by 8 %, at other queries by 3 %.
    Where it would take long, an eighth of so many as there are is drawn at once; when it is stopped, the rest, alike.
    """
    indices, squares, k = np.empty(length, dtype=np.intp), np.ones(len(places)), 0
    together = _DRAWN if len(places) * length * places.shape[1] > _QUICK else length
    lengths = np.square(places).sum(axis=1)
    while k < length:
        cumulative = np.cumsum(weights * squares)
        if stop() or not cumulative[-1] > 0.0:  # all places are taken
            indices[k:] = rng.integers(len(places), size=length - k)
            break
        drawn = indices[k : k + max(k // together, 1)]
        drawn[:] = np.searchsorted(cumulative, rng.random(len(drawn)) * cumulative[-1], side="right")
        np.minimum(drawn, len(places) - 1, out=drawn)
        if len(drawn) == 1:
            apart = np.square(places - places[drawn]).sum(axis=1)
        else:
            products = places @ places[drawn].T
            apart = np.maximum(lengths + (lengths[drawn] - 2.0 * products).min(axis=1), 0.0)
            apart[drawn] = 0.0
        squares = np.minimum(squares, apart) if k else apart
        k += len(drawn)
    return places[indices]


def starts(
    masses: Masses, length: int, count: int, seed: int, rounds: int
) -> Iterator[tuple[str, Callable[[], Tokens]]]:
    """Yield names and makers of tokens to start from."""

    def clustered(number: int) -> Float64:
        return means(masses, length, np.random.default_rng([seed, number]), rounds=rounds)

    def choose(method: str) -> Float64:
        return masses.problem.key[masses.choose(method, length)]

    keys = [("k-means", partial(clustered, 0))] + [(method, partial(choose, method)) for method in METHODS]
    keys += [(f"k-means {number}", partial(clustered, number)) for number in range(1, count)]
    for (name, make), near in zip(keys[:count], itertools.cycle(_NEAR)):
        yield name, lambda make=make, near=near: shrunk(masses, make(), near)  # type: ignore[misc]


def shrunk(masses: Masses, key: Float64, near: float) -> Tokens:
    """Return tokens at keys that are drawn to their mean until few tokens blend as many did: fits stall from others.

    The longest ones are taken whose squares are at most `near` times the least.
    """
    centre, tokens, squares = key.mean(axis=0), [], []
    for halvings in range(_HALVINGS):
        tokens.append(masses.tokens(centre + 0.5**halvings * (key - centre), own=False))
        squares.append(solve_values(tokens[-1], masses.problem.samples, _FLAT).square)
        if masses.stop() or squares[-1] > _WORSE * min(squares):
            break
    return tokens[next(k for k, square in enumerate(squares) if square <= near * min(squares))]
