"""`token_separation`, `mapping_separation`: how far apart tokens are, and what a model gives them in their contexts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import _checks
from ..._norms import lengths, unit_of
from .weights import least_size, ragged, vocabulary

_WIDEST = 1e300
"""Of outputs: distances do not overflow."""


@dataclass(frozen=True)
class TokenSeparation:
    """How far apart the tokens of sequences are.

    They are tokenwise (a, b, e)-separated, as Hu et al. say, for all a below `smallest_norm`, b above `largest_norm`
    and e below `separation`.

    Parameters
    ----------
    vocabulary_size, length, token_dim : int
        Different tokens in all, those of the longest sequence, and numbers of each.
    separation : float
        The least distance of two different tokens, of one sequence or of two; inf if there is one only.
    smallest_norm, largest_norm : float
        The least and the largest length of a token.
    repeats : tuple of int
        Sequences that have a token twice: no theorem on contexts holds for them. Positions, added, make them different.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import token_separation
    >>> token_separation([[[3.0, 4.0], [3.0, 4.0]], [[0.0, 1.0], [0.0, 2.0]]]).repeats
    (0,)
    """

    vocabulary_size: int
    length: int
    token_dim: int
    separation: float
    smallest_norm: float
    largest_norm: float
    repeats: tuple[int, ...]

    @property
    def arguments(self) -> dict[str, Any]:
        """All but `repeats`: the arguments of `bounds.prompts.context_separation`, for these tokens."""
        return {name: value for name, value in vars(self).items() if name != "repeats"}


def token_separation(sequences: Any) -> TokenSeparation:
    """Measure how far apart the tokens of sequences are, what theorems on contexts ask of them.

    See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences of tokens, with what positions add to them.

    Returns
    -------
    TokenSeparation
        Lengths and the least distance, right to 1e-15 (1 + d) of their size.

    Raises
    ------
    TypeError, ValueError
        If tokens are not finite, or all smaller than 1e-70, or one is larger than 1e70.

    References
    ----------
    Hu et al. (2024), arXiv:2411.16525, Definitions 2.4 and 2.5.

    Examples
    --------
    >>> from bounds import prompts
    >>> from spherapprox.prompts.contextual import token_separation
    >>> sequences = [[[1.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [1.0, 1.0]]]
    >>> measured = token_separation(sequences)
    >>> measured.vocabulary_size, measured.separation, measured.largest_norm
    (3, 1.0, 2.0)
    >>> print(prompts.context_separation(**measured.arguments, theorem="sharp"))
    sharp: context separation >= 10^-79.00  [docs/theorems/8.9-contextual-mapping.md]
    """
    tokens, counts, *_ = vocabulary(sequences)
    _checks.operations(float(len(tokens)) ** 2 * tokens.shape[1], "the distances of all tokens", "take fewer tokens")
    norms = lengths(tokens)
    repeats = tuple(np.flatnonzero(counts.max(axis=1) > 1.0).tolist())
    apart = least_size(tokens, lengths)
    longest = int((counts > 0.0).sum(axis=1).max())
    sizes = len(tokens), longest, tokens.shape[1]
    return TokenSeparation(*sizes, apart, float(norms.min()), float(norms.max()), repeats=repeats)


@dataclass(frozen=True)
class MappingSeparation:
    """How far apart the outputs of a mapping are where tokens or their contexts differ.

    It is a (g, e)-contextual mapping of the sequences, as Hu et al. say, for all g above `size` and e below
    `separation`.

    Parameters
    ----------
    size : float
        The largest length of an output.
    separation : float
        The least distance of two outputs at different tokens, or in sequences with different sets of tokens; inf if
        there are no such two.
    places : tuple of two (int, int), or None
        Where these two are: the sequence and the place in it.

    Examples
    --------
    >>> from spherapprox.prompts.contextual import mapping_separation
    >>> mapping_separation([[[0.0], [1.0]]], [[[5.0], [7.0]]])
    MappingSeparation(size=7.0, separation=2.0, places=((0, 0), (0, 1)))
    """

    size: float
    separation: float
    places: tuple[tuple[int, int], tuple[int, int]] | None


def mapping_separation(sequences: Any, outputs: Any) -> MappingSeparation:
    """Measure how far apart the outputs of any model are where tokens or their contexts differ.

    For the outputs of one attention head, which may be as near as 10^-300, see `context_separation`. What a separation
    guarantees: along the direction of `separating_direction` for the outputs, a layer of as many ReLUs as there are
    different ones gives each of them any label. See docs/theorems/8.9-contextual-mapping.md.

    Parameters
    ----------
    sequences : array_like, shape (N, n, d), or list of arrays (n_i, d)
        Sequences of tokens, with what positions add to them: contexts are compared as sets.
    outputs : array_like, shape (N, n, p), or list of arrays (n_i, p)
        What a model, or a layer of it, has at each token.

    Returns
    -------
    MappingSeparation
        Right to 1e-15 (1 + p) of its size.

    Raises
    ------
    TypeError, ValueError
        If arrays are not finite or do not fit together, or an output is larger than 1e300.

    Notes
    -----
    All pairs of outputs are compared: 2000 of 64 numbers take 0.4 s.

    References
    ----------
    Hu et al. (2024), arXiv:2411.16525, Definition 2.6.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.contextual import mapping_separation
    >>> sequences = np.array([[[1.0], [2.0]], [[1.0], [3.0]]])
    >>> mapping_separation(sequences, sequences - 0.5 * sequences.mean(axis=1, keepdims=True))
    MappingSeparation(size=2.0, separation=0.25, places=((0, 0), (1, 0)))
    """
    tokens, counts, ids, owners = vocabulary(sequences)
    arrays = ragged(outputs, "outputs")
    shape = [len(array) for array in arrays], np.bincount(owners).tolist()
    if shape[0] != shape[1]:
        raise ValueError("'outputs' must have a row for each token of each sequence: lengths differ from 'sequences'")
    rows = _checks.reals(np.concatenate(arrays), "outputs", minimum=-_WIDEST, maximum=_WIDEST)
    unit = 2.0 * unit_of(rows)
    rows /= unit
    _checks.operations(float(len(rows)) ** 2 * rows.shape[1], "the distances of all outputs", "take fewer sequences")
    sets = np.unique(counts > 0.0, axis=0, return_inverse=True)[1].reshape(-1)
    kinds = sets[owners] * len(tokens) + ids
    least, places = math.inf, None
    for i in range(len(rows) - 1):
        others = i + 1 + np.flatnonzero(kinds[i + 1 :] != kinds[i])
        if len(others):
            chords = rows[others] - rows[i]
            squares = np.einsum("ij,ij->i", chords, chords)
            best = int(np.argmin(squares if squares.min() > 1e-280 else lengths(chords)))
            if (distance := float(lengths(chords[best]))) < least:
                least, places = distance, (i, int(others[best]))
    starts = np.searchsorted(owners, owners)
    where = None if places is None else tuple((int(owners[p]), int(p - starts[p])) for p in places)
    return MappingSeparation(unit * float(lengths(rows).max()), unit * least, where)  # type: ignore[arg-type]
