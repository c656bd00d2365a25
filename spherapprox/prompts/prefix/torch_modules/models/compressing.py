"""Heads of a trained prefix made short for the queries of a text, and what is lost at each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit
from tqdm.auto import tqdm

from ....._checks import warn_inaccurate
from ....._types import Float64
from ...compression.api import compress
from ...compression.result import CompressedPrefix
from ...compression.search import Descent
from ...fits.values import attention_alone
from ...layer.contexts import Contexts
from ...layer.rows import Prefix
from .contexts import join_contexts

_MASS = 0.7
"""The factor of the mass over that of first order: next tokens of small models diverge less than with 1."""
_LEAST = 1e-3
"""The least weight of a query over the largest one."""


@dataclass(frozen=True)
class ShortenedHead:
    """What was lost at one head of keys.

    Parameters
    ----------
    layer, head : int
        Numbers of the layer and of the head of keys; in an encoder-decoder where layers share a prefix, the first one.
    error, held_out : float
        Root mean square of the change of the outputs of the heads of queries that share these keys, beside their
        content, over the root mean square of the outputs: at the queries that the keys were made for, and at those of
        the sequences that were held out.
    share : float
        Mean share of the attention that the long prefix had there.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import ShortenedHead
    >>> ShortenedHead(layer=0, head=1, error=0.02, held_out=0.03, share=0.4).held_out
    0.03
    """

    layer: int
    head: int
    error: float
    held_out: float
    share: float


Queries = list[list[Contexts]]
"""Those of each layer and head of keys."""


def compress_prefixes(
    stored: Sequence[Prefix], sources: list[int], texts: tuple[Queries, Queries], length: int, solver: Descent,
    visible: bool,
) -> tuple[list[Prefix], list[ShortenedHead]]:  # fmt: skip
    """Return the short prefixes, and the errors of each head of keys, for queries of a text and of one held out."""
    users = {k: [layer for layer, source in enumerate(sources) if source == k] for k in range(len(stored))}
    short = [Prefix(p.key[:, :length], p.value[:, :length]) for p in stored]  # of those that no layer uses
    rows, doubts = [], []
    with tqdm(total=len(stored[0].key) * len(set(sources)), desc="heads", disable=not visible) as bar:
        for k in sorted(set(sources)):
            heads = []
            for head, (key, value) in enumerate(zip(stored[k].key, stored[k].value, strict=True)):
                prefix = Prefix(key, value)
                queries, held_out = (join_contexts([text[layer][head] for layer in users[k]]) for text in texts)
                with warnings.catch_warnings(record=True) as messages:
                    warnings.simplefilter("always")
                    heads.append(_compress_head(prefix, queries, length, solver))
                doubts += [str(warning.message) for warning in messages]
                (error, _), (outside, share) = (_measure(prefix, heads[-1], part) for part in (queries, held_out))
                rows.append(ShortenedHead(users[k][0], head, error, outside, share))
                bar.update()
            short[k] = Prefix(np.stack([head.key for head in heads]), np.stack([head.value for head in heads]))
    if doubts:
        warn_inaccurate(f"at {len(doubts)} of {len(rows)} heads 'inputs' and 'tokens' give few queries: {doubts[0]}")
    return short, sorted(rows, key=lambda row: (row.layer, row.head))


def _attend(prefix: Prefix, contexts: Contexts) -> tuple[Float64, Float64, Float64]:
    """Return a prefix's outputs, those beside the content, and its shares (N, 1)."""
    weights, log_mass = attention_alone(contexts, prefix.key)
    outputs, share = weights @ prefix.value, expit(log_mass - contexts.log_mass)[:, None]
    return outputs, contexts.mean + share * (outputs - contexts.mean), share


def _compress_head(prefix: Prefix, queries: Contexts, length: int, solver: Descent) -> CompressedPrefix:
    """Return the compressed prefix of a head.

    To first order an output changes by ``share (r + (1 - share) s (p - c))`` for errors r of the prefix's output p and
    s of its log mass beside content c, so squares are weighted by those of the shares, and the mass by its factor.
    """
    outputs, _, share = _attend(prefix, queries)
    squares = np.square(share[:, 0])
    weights = np.maximum(squares, _LEAST * squares.max())
    if solver.mass is None:
        change = np.square((1.0 - share) * (outputs - queries.mean)).sum(axis=1)
        spread, largest = math.sqrt(weights @ change / weights.sum()), np.linalg.norm(outputs, axis=1).max()
        solver = replace(solver, mass=_MASS * spread / largest if largest > 0.0 else _MASS)
    return compress(
        prefix, queries.query, length=length, bias=False, scale=queries.scale, weights=weights, solver=solver
    )


def _measure(prefix: Prefix, short: CompressedPrefix, queries: Contexts) -> tuple[float, float]:
    """Return the error of a short prefix's outputs beside the content, and the mean share of the long one."""
    _, before, share = _attend(prefix, queries)
    _, after, _ = _attend(Prefix(short.key, short.value), queries)
    change, size = float(np.linalg.norm(after - before)), float(np.linalg.norm(before))
    return change / size if size > 0.0 else change, float(share.mean())
