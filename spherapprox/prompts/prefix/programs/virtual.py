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

_LARGEST, _LEVELS = 100_000, 9e12
"""The largest vocabulary, and the most numbers in [0, 1) whose digits are unpacked: a rounding is 0.001 of one."""
Head = tuple[Float64, Float64, Float64]
"""Weights of queries (k, d), keys (k, d) and values (p, d)."""


class VirtualToken:
    """A small transformer with fixed weights, and the virtual tokens with which it generates what is wanted.

    Its attention layer is run as it is, with finite logits; the layers of ReLUs and the largest of V linear functions
    behind it unpack and decode numbers. Symbols are 0, ..., vocabulary - 1.

    Parameters
    ----------
    vocabulary : int
        Number V of symbols, from 2 to 100000.
    length : int, default 1
        Number N of symbols that are generated.
    inputs : int, default 0
        Number of symbols that the user gives: a target is a sequence for 0, and else a map from these to sequences.
    packed : int, optional
        How many of them, the last ones, pick a digit of a number, less than `inputs`: the others pick one of
        ``V**(inputs - packed)`` numbers of a virtual token, which has ``V**packed`` digits. By default the most that
        float64 tells apart, for the shortest tokens and the deepest model; 0 takes the least gap.
    gap : float, optional
        How much larger the logit is where a head should look than elsewhere, greater than 0. By default
        that of `bounds.prompts.gap`, with which every target is generated.
    embedding : array_like, shape (length, vocabulary), optional
        Without inputs alone: columns are what the symbols that were generated are fed back as. By default those of the
        identity. The result does not depend on it, but the gap that it takes does.

    Attributes
    ----------
    layer : AttentionLayer
        The attention layer, of two heads that are added, or inputs + 1.
    shape : tuple of int
        Virtual tokens, and numbers of each: (1, length) without inputs, else (length, V**(inputs - packed)).

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
    >>> from itertools import product
    >>> sorting = VirtualToken(3, 4, inputs=4)  # 4 tokens of 3 numbers, which have 27 digits each
    >>> tokens = sorting.encode(np.reshape([sorted(x) for x in product(range(3), repeat=4)], (3, 3, 3, 3, 4)))
    >>> sorting.generate(tokens, [2, 0, 2, 1])
    array([0, 1, 2, 2])
    """

    def __init__(
        self, vocabulary: int, length: int = 1, *, inputs: int = 0, packed: int | None = None,
        gap: float | None = None, embedding: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        v = self.vocabulary = _checks.integer(vocabulary, "vocabulary", minimum=2, maximum=_LARGEST)
        self.length = _checks.integer(length, "length", minimum=1, maximum=_checks.MAX_COUNT)
        self.inputs = _checks.integer(inputs, "inputs", minimum=0, maximum=_checks.MAX_COUNT)
        self.packed = _packed(v, self.inputs, packed)
        width = v ** min(self.inputs - self.packed, 30) if self.inputs else self.length
        rows = 2.0 * self.length + self.inputs - 1.0
        weights = (self.inputs + 2.0) * (width + self.packed * v) * (width + rows)
        _checks.memory(8.0 * (weights + v * width), "weights", "take fewer symbols, or pack more of them")
        if self.inputs:
            _checks.left_out(embedding, "embedding", "with inputs", remedy="tokens are those of the identity")
        matrix = np.eye(width, v) if embedding is None else finite(embedding, "embedding")
        self.embedding = _checks.shaped(matrix, "embedding", (width, v))
        self.shape = (self.length if self.inputs else 1), width
        enough = least_gap(
            v, self.length, inputs=self.inputs, packed=self.packed, largest=float(np.abs(self.embedding).max())
        )
        self.gap = enough if gap is None else _checks.real(gap, "gap", above=0.0)
        heads = self._response_heads() if self.inputs else sequence_heads(self.length)
        self.layer = _summed(heads, self.gap)

    def __repr__(self) -> str:
        return (
            f"VirtualToken(vocabulary={self.vocabulary}, length={self.length}, inputs={self.inputs}, "
            f"gap={self.gap:.4g})"
        )

    def encode(self, target: ArrayLike) -> Float64:
        """Return the virtual tokens of a target.

        Parameters
        ----------
        target : array_like of int
            Of shape (vocabulary,) * inputs + (length,): ``target[x, y]`` is the answer to x and y. The last axis may be
            left out for a length of 1 with inputs.

        Returns
        -------
        ndarray, of the model's `shape`
            Numbers in [0, 1), a row for each token.

        Raises
        ------
        TypeError, ValueError
        """
        v, shape = self.vocabulary, (self.vocabulary,) * self.inputs + (self.length,)
        answers = _checks.reals(_checks.detached(target), "target", nan=False)
        if self.inputs and self.length == 1 and answers.ndim == self.inputs:
            answers = answers[..., None]
        symbols = _symbols(answers, "target", shape, vocabulary=v)
        count = v**self.packed
        digits = symbols.reshape(-1, count, self.length) if self.inputs else symbols[:, None, None]
        numbers = np.einsum("ijk,j->ki", digits, v ** np.arange(count)) / float(v**count)
        return np.asarray(numbers)

    def generate(self, token: ArrayLike, user: ArrayLike | None = None) -> Int64:
        """Return the sequence (length,) that the transformer generates behind virtual tokens and what the user gives.

        Parameters
        ----------
        token : array_like
            Virtual tokens, of the model's `shape`; they may be any up to 1e300 in size.
        user : array_like of int, shape (inputs,), optional
            The user's symbols, or one that is a number; left out without inputs.

        Raises
        ------
        TypeError, ValueError

        Examples
        --------
        >>> adder = VirtualToken(5, inputs=2)
        >>> token = adder.encode([[(a + b) % 5 for b in range(5)] for a in range(5)])  # one token of 5 numbers
        >>> adder.generate(token, [3, 4])
        array([2])
        """
        rows = _checks.shaped(finite(token, "token"), "token", self.shape)
        _checks.reals(rows, "token", minimum=-1e300, maximum=1e300)
        if not self.inputs:
            _checks.left_out(user, "user", "without inputs")
        else:
            value = _checks.detached(_checks.given(user, "user", ": what the user gives"))
            inputs = np.atleast_1d(_checks.reals(value, "user", nan=False))
            symbols = _symbols(inputs, "user", (self.inputs,), vocabulary=self.vocabulary)
            rows = np.vstack([rows, self.embedding.T[symbols]])
        places = np.eye(self.layer.width - rows.shape[1])
        symbols = np.empty(self.length, dtype=np.int64)
        for i in range(self.length):
            states = np.hstack([rows, places[: len(rows)]])
            symbols[i] = self._decoded(self.layer.attend(states[-1:], states)[0])
            rows = np.vstack([rows, self.embedding[:, symbols[i]]])
        return symbols

    def _decoded(self, sums: Float64) -> int:
        """Return the symbol for the sum of the heads, by layers of ReLUs and the largest of linear functions."""
        v, width = self.vocabulary, self.shape[1]
        number = float(np.maximum(sums[:width] - (0.0 if self.inputs else 1.0), 0.0).sum())
        if self.packed:
            picks = np.clip(2.0 * sums[width:].reshape(self.packed, v) - 0.5, 0.0, 1.0)  # what the user gave, exactly
            patterns = _patterns(v, self.packed)
            place = sum(pick @ pattern for pick, pattern in zip(picks, patterns, strict=True))
            digits = unpack_digits(number, v, v**self.packed) / v
            number = float(np.maximum(digits + place - self.packed, 0.0).sum())
        return nearest(number, v)

    def _response_heads(self) -> list[Head]:
        """Return heads for the virtual token of the place that asks, and for each symbol that the user gave.

        Those of the first symbols leave 0 where a number of the token is theirs, and -1 elsewhere; the last symbols are
        copied behind these.
        """
        (length, width), v, copied = self.shape, self.vocabulary, self.packed * self.vocabulary
        places = 2 * length + self.inputs - 1
        back = np.eye(places, k=length + self.inputs - 1)
        none = np.zeros((places, width))
        token = np.zeros((width + copied, width + places))
        token[:width, :width] = np.eye(width)
        heads = [(np.hstack([none, back]), np.hstack([none, np.eye(places)]), token)]
        anywhere = np.hstack([np.zeros(width), np.ones(places)])[None]
        picking = self.inputs - self.packed
        for j in range(self.inputs):
            value = np.zeros((width + copied, width + places))
            if j < picking:
                value[:width, :v] = _patterns(v, picking)[j].T
                value[:width, width:] = -1.0
            else:
                value[width + (j - picking) * v :][:v, :v] = np.eye(v)
            heads.append((anywhere, np.eye(1, width + places, k=width + length + j), value))
        return heads


def least_gap(
    vocabulary: int, length: int = 1, *, inputs: int = 0, packed: int | None = None, largest: float = 1.0
) -> float:
    """Return a gap of the logits with which `VirtualToken` generates every target.

    ``log(2 V N (2 + largest))`` without inputs, where `largest` is the largest entry of the embedding, and else
    ``log(2 L (inputs - packed + 1) (2 N + inputs - 1))`` with L = V levels, or 4 V^(V^packed) if something is packed
    (8.7).
    """
    v = _checks.integer(vocabulary, "vocabulary", minimum=2)
    n = _checks.integer(length, "length", minimum=1)
    x = _checks.integer(inputs, "inputs", minimum=0, maximum=_checks.MAX_COUNT)
    size = _checks.real(largest, "largest", minimum=0.0)
    if not x:
        return math.log(v) + math.log(2 * n) + math.log(2.0 + size)
    count = _packed(v, x, packed)
    levels = math.log(v) * float(v**count) + (math.log(4.0) if count else 0.0)
    return levels + math.log(2 * (x - count + 1)) + math.log(2 * n + x - 1)


def _packed(v: int, inputs: int, packed: int | None) -> int:
    """Return how many of the user's symbols pick a digit, checked; by default the most."""
    most = max((k for k in range(min(inputs, 6)) if v**k * math.log(v) <= math.log(_LEVELS)), default=0)
    if packed is None:
        return most
    why = "less than 'inputs', and float64 tells no more numbers apart"
    return _checks.integer(packed, "packed", minimum=0, maximum=most, limit=why)


def _patterns(v: int, count: int) -> Float64:
    """Return where each of V symbols is the j-th of so many, (count, V, V**count): the first varies slowest."""
    symbols = np.indices((v,) * count).reshape(count, 1, -1)
    return np.asarray((symbols == np.arange(v)[:, None]).astype(float))


def _symbols(value: Any, name: str, shape: tuple[int, ...], vocabulary: int) -> Int64:
    """Return an array of symbols."""
    array = _checks.reals(_checks.detached(value), name, minimum=0.0, maximum=vocabulary - 1.0, nan=False)
    _checks.shaped(array, name, shape, note=f" for a vocabulary of {vocabulary}")
    integers = array.astype(np.int64)
    if not np.array_equal(integers, array):
        raise ValueError(f"'{name}' must hold whole numbers, the symbols 0 to {vocabulary - 1}")
    return integers


def sequence_heads(length: int) -> list[Head]:
    """Return heads for the virtual token and for the place of the row that asks; rows hold token and place."""
    none, places = np.zeros((length, length)), np.eye(length)
    here = np.hstack([none, places])
    first = np.hstack([np.zeros(length), places[0]])[None]
    anywhere = np.hstack([np.zeros(length), np.ones(length)])[None]
    return [(anywhere, first, np.hstack([places, none])), (here, here, here)]


def nearest(number: float, vocabulary: int) -> int:
    """Return the symbol i whose i / vocabulary is nearest: the largest of the tangents of (x - 1/2)^2 there."""
    i = np.arange(vocabulary)
    return int(np.argmax((2.0 * i / vocabulary - 1.0) * number + 0.25 - np.square(i / vocabulary)))


def unpack_digits(number: float, vocabulary: int, count: int) -> Float64:
    """Return the digits (count,) of a code, over count stages of V - 1 steps of two ReLUs each."""
    remainder = float(vocabulary**count) * number  # a whole number, up to 1/4
    digits = np.empty(count)
    for i in reversed(range(count)):
        unit = float(vocabulary**i)
        ramps = np.maximum(2.0 * (remainder - unit * np.arange(1, vocabulary)) + 1.5, 0.0)
        digits[i] = (1.0 - np.maximum(1.0 - ramps, 0.0)).sum()
        remainder = remainder - unit * digits[i]
    return digits


def _summed(heads: list[Head], gap: float) -> AttentionLayer:
    """Return a layer that adds its heads, with logits of `gap` times the inner products."""
    rows = max(len(head[0]) for head in heads)
    query, key = (np.vstack([_padded(head[i], rows) for head in heads]) for i in (0, 1))
    value = np.vstack([head[2] for head in heads])
    out = np.tile(np.eye(len(heads[0][2])), len(heads))
    return AttentionLayer(query, key, value, out=out, heads=len(heads), scale=gap)


def _padded(weights: Float64, rows: int) -> Float64:
    return np.vstack([weights, np.zeros((rows - len(weights), weights.shape[1]))])
