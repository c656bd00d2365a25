"""`VirtualToken`: transformers that one virtual token, or a few, make generate anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64, Int64
from ..layer.layer import AttentionLayer
from ..layer.rows import finite

KINDS = ("sequence", "map", "response", "pair")
_LARGEST, _LARGEST_PAIR = 100_000, 13
"""Vocabularies: of pairs 13^13 codes are the last that float64 tells apart behind a 1."""
Head = tuple[Float64, Float64, Float64]
"""Weights of queries (k, d), keys (k, d) and values (p, d)."""


class VirtualToken:
    """A small transformer with fixed weights, and the virtual tokens with which it generates what is wanted.

    Its attention layers are run as they are, with finite logits; the layers of ReLUs and the largest of V linear
    functions behind them decode a number. Symbols are 0, ..., vocabulary - 1.

    Parameters
    ----------
    vocabulary : int
        Number V of symbols, from 2 to 100000; for pairs to 13.
    length : int, default 1
        Number N of symbols that are generated; 1 for maps and pairs.
    kind : {"sequence", "map", "response", "pair"}
        What a target is: N symbols; for each symbol of the user's one symbol, or N; for each pair of symbols one.
    gap : float, optional
        How much larger the logit is where a head should look than elsewhere, greater than 0. By default
        that of `bounds.prompts.gap`, with which every target is generated.
    embedding : array_like, shape (length, vocabulary), optional
        Of "sequence" alone: columns are what the symbols that were generated are fed back as. By default those of the
        identity. The result does not depend on it, but the gap that it takes does.

    Attributes
    ----------
    layers : tuple of AttentionLayer
        The attention layers, of two or three heads that are added: two layers for pairs, else one.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of its range, or weights would take too much memory.

    References
    ----------
    docs/theorems/8.7-virtual-tokens.md; Petrov (2025), Theorems 3.1 and 3.2, A.1.3 and A.1.4, corrected.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import VirtualToken
    >>> model = VirtualToken(10, 5)
    >>> token = model.encode([3, 1, 4, 1, 5])  # one row of 5 numbers
    >>> model.generate(token)
    array([3, 1, 4, 1, 5])
    >>> squares = VirtualToken(7, kind="map")
    >>> token = squares.encode([x * x % 7 for x in range(7)])
    >>> [int(squares.generate(token, x)[0]) for x in range(7)]
    [0, 1, 4, 2, 2, 4, 1]
    """

    def __init__(
        self, vocabulary: int, length: int = 1, *, kind: str = "sequence", gap: float | None = None,
        embedding: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        self.kind = _checks.choice(kind, "kind", KINDS)
        limit = _LARGEST_PAIR if self.kind == "pair" else _LARGEST
        why = "float64 tells no more codes apart" if self.kind == "pair" else ""
        self.vocabulary = _checks.integer(vocabulary, "vocabulary", minimum=2, maximum=limit, limit=why)
        single = self.kind in ("map", "pair")
        self.length = _checks.integer(
            length, "length", minimum=1, maximum=1 if single else _checks.MAX_COUNT, limit="one symbol answers" * single
        )
        columns = self.length if self.kind == "sequence" else self.vocabulary
        rows = columns + 2 * self.length
        _checks.memory(64.0 * rows * (rows + self.vocabulary), "weights", "take a smaller vocabulary or length")
        if self.kind != "sequence":
            _checks.left_out(
                embedding, "embedding", f"where kind is {self.kind!r}", remedy="tokens are those of the identity"
            )
        shape = columns, self.vocabulary
        matrix = (
            np.eye(*shape) if embedding is None else _checks.shaped(finite(embedding, "embedding"), "embedding", shape)
        )
        self.embedding = matrix
        enough = least_gap(self.vocabulary, self.length, kind=self.kind, largest=float(np.abs(matrix).max()))
        self.gap = enough if gap is None else _checks.real(gap, "gap", above=0.0)
        self.layers = (
            sequence_layers(self.length, self.gap) if self.kind == "sequence"
            else pair_layers(self.vocabulary, self.gap) if self.kind == "pair"
            else response_layers(self.vocabulary, self.length, self.gap)
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"VirtualToken(vocabulary={self.vocabulary}, length={self.length}, kind={self.kind!r}, gap={self.gap:.4g})"
        )

    def encode(self, target: ArrayLike) -> Float64:
        """Return the virtual token, or tokens, of a target.

        Parameters
        ----------
        target : array_like of int
            Of shape (length,) for a sequence, (vocabulary,) for a map, (vocabulary, length) for responses,
            (vocabulary, vocabulary) for pairs: ``target[first, second]``.

        Returns
        -------
        ndarray
            Numbers in [0, 1): of shape (length,), (vocabulary,), (length, vocabulary), one row for each symbol of the
            response, and (vocabulary,).

        Raises
        ------
        TypeError, ValueError
        """
        v = self.vocabulary
        shapes = {"sequence": (self.length,), "map": (v,), "response": (v, self.length), "pair": (v, v)}
        symbols = _symbols(target, "target", shapes[self.kind], vocabulary=v)
        if self.kind != "pair":
            return np.asarray(symbols.T / v)
        powers = v ** np.arange(v)
        return np.asarray((symbols @ powers) / float(v**v))

    def generate(self, token: ArrayLike, user: ArrayLike | None = None) -> Int64:
        """Return the sequence (length,) that the transformer generates behind a virtual token and what the user gives.

        Parameters
        ----------
        token : array_like
            Virtual tokens, of the shape that `encode` returns; they may be any.
        user : int or array_like of int, optional
            A symbol for a map or a response, two for a pair, none for a sequence.

        Raises
        ------
        TypeError, ValueError

        Examples
        --------
        >>> adder = VirtualToken(5, kind="pair")
        >>> token = adder.encode([[(a + b) % 5 for b in range(5)] for a in range(5)])
        >>> adder.generate(token, [3, 4])
        array([2])
        """
        rows = finite(token, "token")
        columns = len(self.embedding)
        _checks.shaped(rows, "token", (self.length, columns) if self.kind == "response" else (columns,))
        rows = np.atleast_2d(rows)
        if self.kind == "sequence":
            _checks.left_out(user, "user", "where kind is 'sequence'")
            return self._generated(rows)
        shape = (2,) if self.kind == "pair" else ()
        symbols = _symbols(
            _checks.given(user, "user", ": what the user gives"), "user", shape, vocabulary=self.vocabulary
        )
        rows = np.vstack([rows, self.embedding.T[np.atleast_1d(symbols)]])
        return self._paired(rows) if self.kind == "pair" else self._generated(rows)

    def _generated(self, rows: Float64) -> Int64:
        """Return the symbols that follow, one after another."""
        (layer,) = self.layers
        places = np.eye(layer.width - rows.shape[1])
        symbols = np.empty(self.length, dtype=np.int64)
        for i in range(self.length):
            states = np.hstack([rows, places[: len(rows)]])
            sums = layer.attend(states[-1:], states)[0]  # what both heads have exceeds 1
            symbols[i] = decoded(float(excess(sums).sum()), self.vocabulary)
            rows = np.vstack([rows, self.embedding[:, symbols[i]]])
        return symbols

    def _paired(self, rows: Float64) -> Int64:
        """Return the symbol for a pair, by the two layers."""
        first, second = self.layers
        states = np.hstack([np.vstack([np.zeros(self.vocabulary), rows]), np.eye(4)])
        inner = excess(first.attend(states, causal=True))  # (4, 2 V): codes and the second symbol
        codes = inner[:, : self.vocabulary].sum(axis=1)
        inner = np.hstack([unpacked(codes, self.vocabulary), inner[:, self.vocabulary :]])
        number = float(excess(second.attend(inner[-1:], inner)[0]).sum())
        return np.array([decoded(number, self.vocabulary)])


def least_gap(vocabulary: int, length: int = 1, *, kind: str = "sequence", largest: float = 1.0) -> float:
    """Return ``log(2 levels n (2 + largest))``, a gap of the logits with which `VirtualToken` generates every target.

    For n tokens and numbers that are told apart at so many levels: n = N and V levels for a sequence, 2 N and V for
    responses, 4 and 4 V^V for pairs; `largest` is the largest entry of the embedding, of "sequence" alone (8.7).
    """
    v = _checks.integer(vocabulary, "vocabulary", minimum=2)
    n = _checks.integer(length, "length", minimum=1)
    size = _checks.real(largest, "largest", minimum=0.0)
    kind = _checks.choice(kind, "kind", KINDS)
    levels = math.log(4.0) + v * math.log(v) if kind == "pair" else math.log(v)
    tokens = {"sequence": n, "pair": 4}.get(kind, 2 * n)
    return levels + math.log(2 * tokens) + math.log(2.0 + (size if kind == "sequence" else 1.0))


def _symbols(value: Any, name: str, shape: tuple[int, ...], vocabulary: int) -> Int64:
    """Return an array of symbols."""
    array = _checks.reals(_checks.detached(value), name, minimum=0.0, maximum=vocabulary - 1.0, nan=False)
    _checks.shaped(array, name, shape, note=f" for a vocabulary of {vocabulary}")
    integers = array.astype(np.int64)
    if not np.array_equal(integers, array):
        raise ValueError(f"'{name}' must hold whole numbers, the symbols 0 to {vocabulary - 1}")
    return integers


def sequence_layers(length: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that adds the virtual token and the place of the row that asks; rows hold token and place."""
    none, places = np.zeros((length, length)), np.eye(length)
    here = np.hstack([none, places])
    first = np.hstack([np.zeros(length), places[0]])[None]
    anywhere = np.hstack([np.zeros(length), np.ones(length)])[None]
    return (_summed([(anywhere, first, np.hstack([places, none])), (here, here, here)], gap),)


def response_layers(vocabulary: int, length: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that adds the user's token and the virtual token `length` rows back."""
    places = np.eye(2 * length)
    blank = np.zeros((2 * length, vocabulary))
    tokens = np.eye(vocabulary, vocabulary + 2 * length)
    anywhere = np.hstack([np.zeros(vocabulary), np.ones(2 * length)])[None]
    user = np.hstack([np.zeros(vocabulary), places[length]])[None]
    back = np.hstack([blank, np.eye(2 * length, k=length)])
    return (_summed([(anywhere, user, tokens), (back, np.hstack([blank, places]), tokens)], gap),)


def pair_layers(vocabulary: int, gap: float) -> tuple[AttentionLayer, ...]:
    """Return the layer that picks the code for the user's first token, and the one that picks a digit of it.

    Rows of the first are a token and one of four places, the first of them a token of zeros, for those that should see
    nothing; rows of the second are digits and the user's second token.
    """
    v = vocabulary
    token, zeros = np.eye(v, v + 4), np.zeros((v, v + 4))
    upper, lower = np.vstack([token, zeros]), np.vstack([zeros, 2.0 * token])

    def sees(source: int, target: int) -> tuple[Float64, Float64]:
        """Return queries and keys with which one place sees another, and all others the first."""
        query, key = np.zeros((2, v + 4)), np.zeros((2, v + 4))
        query[0, v:], query[0, v + source], query[1, v + source] = 1.0, 0.0, 1.0
        key[0, v], key[1, v + target] = 1.0, 1.0
        return query, key

    first = _summed([(*sees(2, 1), upper), (*sees(2, 2), upper), (*sees(3, 3), lower)], gap)
    digits = np.hstack([np.ones(v), np.zeros(v)])[None]
    second = digits[:, ::-1]
    picks = [(second, digits, np.eye(v, 2 * v)), (second, second, np.eye(v, 2 * v, k=v))]
    return first, _summed(picks, gap)


def excess(rows: Float64) -> Float64:
    """Return the excess over 1: the layer of ReLUs that leaves what both heads have."""
    return np.maximum(rows - 1.0, 0.0)


def decoded(number: float, vocabulary: int) -> int:
    """Return the symbol i whose i / vocabulary is nearest: the largest of the tangents of (x - 1/2)^2 there."""
    i = np.arange(vocabulary)
    return int(np.argmax((2.0 * i / vocabulary - 1.0) * number + 0.25 - np.square(i / vocabulary)))


def unpacked(codes: Float64, vocabulary: int) -> Float64:
    """Return the digits of codes (n,), over the vocabulary, (n, V): V stages of V - 1 steps of two ReLUs each."""
    remainder = float(vocabulary**vocabulary) * codes  # whole numbers, up to 1/4
    digits = np.empty((len(codes), vocabulary))
    for i in reversed(range(vocabulary)):
        unit = float(vocabulary**i)
        ramps = np.maximum(2.0 * (remainder[:, None] - unit * np.arange(1, vocabulary)) + 1.5, 0.0)
        digits[:, i] = (1.0 - np.maximum(1.0 - ramps, 0.0)).sum(axis=1)
        remainder = remainder - unit * digits[:, i]
    return digits / vocabulary


def _summed(heads: list[Head], gap: float) -> AttentionLayer:
    """Return a layer that adds its heads, with logits of `gap` times the inner products."""
    rows = max(len(head[0]) for head in heads)
    query, key = (np.vstack([_padded(head[i], rows) for head in heads]) for i in (0, 1))
    value = np.vstack([head[2] for head in heads])
    out = np.tile(np.eye(len(heads[0][2])), len(heads))
    return AttentionLayer(query, key, value, out=out, heads=len(heads), scale=gap)


def _padded(weights: Float64, rows: int) -> Float64:
    return np.vstack([weights, np.zeros((rows - len(weights), weights.shape[1]))])
