"""`VirtualToken`: transformers that one virtual token, or a few, make generate anything."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .... import _checks
from ...._types import Float64, Int64
from ..layer.rows import finite
from .virtual_layers import decoded, excess, pair_layers, response_layers, sequence_layers, unpacked

KINDS = ("sequence", "map", "response", "pair")
_LARGEST, _LARGEST_PAIR = 100_000, 13
"""Vocabularies: of pairs 13^13 codes are the last that float64 tells apart behind a 1."""


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
            _checks.left_out(embedding, "embedding", f"where kind is {self.kind!r}", "tokens are those of the identity")
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
        symbols = _symbols(target, "target", shapes[self.kind], v)
        if self.kind != "pair":
            return np.asarray(symbols.T / v)
        powers = v ** np.arange(v)
        return np.asarray((symbols @ powers) / float(v**v))

    def generate(self, token: ArrayLike, user: ArrayLike | None = None) -> Int64:
        """Return what the transformer generates behind a virtual token and what the user gives, shape (length,).

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
        symbols = _symbols(_checks.given(user, "user", ": what the user gives"), "user", shape, self.vocabulary)
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
