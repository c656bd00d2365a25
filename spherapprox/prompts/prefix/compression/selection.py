"""Tokens at some of a prefix's keys, or at means of these, with biases in closed form.

Selection is that of arXiv:2602.16284. Two details are those of its authors' code, github.com/adamzweiger/compaction:
weights are clamped at 1e-12 inside the pursuit, and masses are taken over the largest one of each query.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import scipy.linalg
import scipy.optimize

from ...._softmax import exponentiate
from ...._types import Float64, Indices
from ....fitting.projection import Stop, never, solve_values
from ....fitting.tokens import Tokens
from .problem import Problem

_ENTRIES = 2**24
"""Masses that are held at once: of many queries some are taken."""
_LEAST, _LEAST_START = 1e-12, 1e-3
"""Least weight of a token over the largest one: where none is asked for, and in a start, whose tokens have to move."""
_DEPENDENT = 1e-7
"""A token's masses are a sum of others', up to what roundings say, if so much of their length is left."""
_ROUNDS = 30
"""Rounds of the clusters' means, at most."""
_HALVINGS, _WORSE, _FLAT = 14, 4.0, 1e-12
"""How often keys are halved at most, squares over the least ones at which that ends, and their ridge."""
_NEAR = 2.0, 1.0
"""Squares over the least ones with which longer keys are the better start, in turns: either is best at times."""


class Masses:
    """Masses ``exp(<x, k_j>)`` of the tokens over the largest one at each query: the columns that are chosen from."""

    def __init__(self, problem: Problem) -> None:
        count = len(problem.x)
        rows = np.unique(np.linspace(0, count - 1, min(count, max(_ENTRIES // len(problem.key), 1))).astype(np.intp))
        self.problem, self.x = problem, problem.x[rows]
        self.roots = np.sqrt(problem.samples.weights[rows])[:, None]
        logits = self.x @ problem.key.T
        self.largest, masses = exponentiate(logits, out=logits)
        self.columns = self.roots * masses  # (rows, n)
        self.sums = self.columns.sum(axis=1)
        self.orders: dict[str, Indices] = {}

    def choose(self, method: str, length: int, stop: Stop = never) -> Indices:
        """Return the tokens that one of the `METHODS` chooses: the first of those that it would for more."""
        if len(self.orders.get(method, ())) < length:
            self.orders[method] = METHODS[method](self, length, stop)
        return self.orders[method][:length]

    def attention(self) -> Float64:
        """Return the attention of the queries to the tokens, (rows, n), times the roots of the queries' weights."""
        return np.asarray(self.roots * (self.columns / self.sums[:, None]))

    def tokens(self, key: Float64, least: float) -> Tokens:
        """Return tokens at keys (N, d), biases those with which masses sum up to those of the prefix, by squares.

        Weights, whose logarithms biases are, are at least 0; here at least a share of the largest one.
        """
        if not self.problem.bias:
            return self.problem.tokens(key, np.zeros(len(key)))
        logits = self.x @ key.T - self.largest
        shift = logits.max(axis=0)
        weights = scipy.optimize.nnls(self.roots * np.exp(logits - shift), self.sums)[0]
        return self.problem.tokens(key, np.log(np.maximum(weights, least * float(weights.max()) or 1.0)) - shift)


def pursue_masses(masses: Masses, length: int, stop: Stop) -> Indices:
    """Return the tokens whose weighted masses come nearest to all masses, one after another (matching pursuit).

    Weights are of least squares, by a basis to which each token adds a row; dependent ones have the least weight. The
    tokens attended most make up the rest when it is stopped.
    """
    columns, sums = masses.columns, masses.sums
    indices, pivots = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    basis, triangle = np.empty((min(length, len(columns)), len(columns))), np.zeros((length, length))
    masses_chosen = np.empty((length, len(columns)))
    residual = sums
    while len(indices) < length and not stop():
        match = residual @ columns
        match[indices] = -np.inf
        indices = np.append(indices, match.argmax())
        column, rank = columns[:, indices[-1]], len(pivots)
        masses_chosen[len(indices) - 1] = column
        orthogonal = column
        for _ in range(2):  # once leaves roundings
            orthogonal = orthogonal - (basis[:rank] @ orthogonal) @ basis[:rank]
        size = float(np.linalg.norm(orthogonal))
        if rank < len(basis) and size > _DEPENDENT * float(np.linalg.norm(column)):
            basis[rank] = orthogonal / size
            triangle[: rank + 1, rank] = basis[: rank + 1] @ column
            pivots = np.append(pivots, len(indices) - 1)
        weights = np.full(len(indices), _LEAST)
        solution = scipy.linalg.solve_triangular(triangle[: len(pivots), : len(pivots)], basis[: len(pivots)] @ sums)
        weights[pivots] = np.maximum(solution, _LEAST)
        residual = sums - weights @ masses_chosen[: len(indices)]
    attended = attend_most(masses, columns.shape[1], stop)
    return np.concatenate([indices, attended[~np.isin(attended, indices)]])[:length]


def attend_most(masses: Masses, length: int, _: Stop) -> Indices:
    """Return the tokens of the largest attention, in the root mean square over the queries."""
    return np.argsort(-np.square(masses.attention()).sum(axis=0), kind="stable")[:length]


def means(masses: Masses, length: int, rng: np.random.Generator, stop: Stop) -> Float64:
    """Return means (N, d) of clusters of keys, weighted by their attention, near each other if their logits are."""
    key = masses.problem.key
    moved = (masses.x - masses.problem.centre) * masses.roots
    gram = moved.T @ moved / len(moved)
    factor = scipy.linalg.cholesky(gram + (1e-9 * np.trace(gram) / len(gram) + 1e-300) * np.eye(len(gram)), lower=True)
    places = key @ factor  # distances are root mean squares of differences of logits
    weights = masses.attention().sum(axis=0) + 1e-300
    centres = _spread(places, weights, length, rng=rng)
    for _ in range(_ROUNDS):
        nearest = (np.square(centres).sum(axis=1) - 2.0 * places @ centres.T).argmin(axis=1)
        sums = np.bincount(nearest, weights, length)
        mask = sums > 0.0
        moments = np.stack([np.bincount(nearest, weights * column, length) for column in places.T], axis=1)
        before, centres = centres, np.where(mask[:, None], moments / np.where(mask, sums, 1.0)[:, None], centres)
        if stop() or np.array_equal(before, centres):
            break
    return np.asarray(scipy.linalg.solve_triangular(factor, centres.T, lower=True, trans="T").T)


def _spread(places: Float64, weights: Float64, length: int, rng: np.random.Generator) -> Float64:
    """Return places drawn by their weights times squared distances to those drawn before (k-means++)."""
    indices, squares = [], np.ones(len(places))
    for _ in range(length):
        cumulative = np.cumsum(weights * squares)
        if cumulative[-1] > 0.0:
            place = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        else:  # all places are taken
            place = int(rng.integers(len(places)))
        indices.append(min(place, len(places) - 1))
        apart = np.square(places - places[indices[-1]]).sum(axis=1)
        squares = apart if len(indices) == 1 else np.minimum(squares, apart)
    return places[indices]


METHODS: dict[str, Callable[[Masses, int, Stop], Indices]] = {"pursuit": pursue_masses, "attention": attend_most}


def select_tokens(masses: Masses, length: int, method: str, stop: Stop = never) -> Tokens:
    """Return tokens that are some of the prefix's, with biases and values in closed form."""
    tokens = masses.tokens(masses.problem.key[masses.choose(method, length, stop)], _LEAST)
    return solve_values(tokens, masses.problem.samples, 0.0).tokens


def starts(
    masses: Masses, length: int, count: int, seed: int, stop: Stop
) -> Iterator[tuple[str, Callable[[], Tokens]]]:
    """Yield names and makers of tokens to start from."""

    def clustered(number: int) -> Float64:
        return means(masses, length, np.random.default_rng([seed, number]), stop=stop)

    def choose(method: str) -> Float64:
        return masses.problem.key[masses.choose(method, length, stop)]

    keys = [("k-means", partial(clustered, 0))] + [(method, partial(choose, method)) for method in METHODS]
    keys += [(f"k-means {number}", partial(clustered, number)) for number in range(1, count)]
    for (name, make), near in zip(keys[:count], itertools.cycle(_NEAR)):
        yield name, lambda make=make, near=near: shrunk(masses, make(), near, stop=stop)  # type: ignore[misc]


def shrunk(masses: Masses, key: Float64, near: float, stop: Stop) -> Tokens:
    """Return tokens at keys that are drawn to their mean until few tokens blend as many did: fits stall from others.

    The longest ones are taken whose squares are at most `near` times the least.
    """
    centre, tokens, squares = key.mean(axis=0), [], []
    for halvings in range(_HALVINGS):
        tokens.append(masses.tokens(centre + 0.5**halvings * (key - centre), _LEAST_START))
        squares.append(solve_values(tokens[-1], masses.problem.samples, _FLAT).square)
        if stop() or squares[-1] > _WORSE * min(squares):
            break
    return tokens[next(k for k, square in enumerate(squares) if square <= near * min(squares))]
