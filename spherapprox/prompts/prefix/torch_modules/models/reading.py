"""`Reading`: what the attention layers of a model computed in one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ....._checks import integer, memory, show
from ....._types import Float64
from ...figures import draw_shares, draw_weights
from .interface import score_keys, take_mask
from .layers import LayerRecord

_AT_ONCE = 2**24
"""Logits that are held at once."""


@dataclass(frozen=True, eq=False, repr=False)
class LayerReading:
    """What an attention layer computed, for B sequences of T tokens, of which R asked are kept.

    Parameters
    ----------
    record : LayerRecord
        Which layer it is.
    query : Tensor, shape (B, heads, R, s)
        Behind rotary positions, norms and adapters, as are keys and values.
    key, value : Tensor, shapes (B, key_value_heads, n, s) and (B, key_value_heads, n, p)
        Those of the cache first.
    mask : Tensor, up to shape (B, heads, R, n), or None
        Added to the logits: biases, and -inf, or the least number of its dtype, where a key is hidden.
    scale, softcap : float; float or None
        Logits are ``scale * <q, k>``, or ``c tanh(scale * <q, k> / c)``.
    output : Tensor, shape (B, heads, R, p)
        Of the heads.
    result : Tensor, shape (B, T, d)
        Of the module: behind the weights that join the heads, where it has them.
    seen : Tensor of bool, shape (B, R)
        False for padding, which no token sees.
    rows : Tensor of int, shape (R,)
        The tokens whose queries are kept.

    Examples
    --------
    >>> import torch, transformers
    >>> from spherapprox.prompts.prefix import of_model
    >>> config = transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=1, n_head=2)
    >>> attention = of_model(transformers.GPT2LMHeadModel(config))
    >>> layer = attention.read(input_ids=torch.arange(6)[None]).layers[0]
    >>> layer
    LayerReading(transformer.h.0.attn, queries=(1, 2, 6, 8), keys=(1, 2, 6, 8))
    >>> layer.logits(0).shape
    torch.Size([2, 6, 6])
    """

    record: LayerRecord
    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    mask: torch.Tensor | None
    scale: float
    softcap: float | None
    output: torch.Tensor
    result: torch.Tensor
    seen: torch.Tensor
    rows: torch.Tensor

    def __repr__(self) -> str:
        return f"LayerReading({self.record.name}, queries={tuple(self.query.shape)}, keys={tuple(self.key.shape)})"

    def logits(self, sequence: int, rows: slice = slice(None)) -> torch.Tensor:
        """Return the logits of one sequence in float64, -inf where a key is hidden.

        Parameters
        ----------
        sequence : int
            Which of the batch.
        rows : slice, optional
            Of the tokens whose queries are kept; all by default.

        Returns
        -------
        Tensor, shape (heads, R, n)
        """
        times = self.query.shape[1] // self.key.shape[1]
        query, key = self.query[sequence, :, rows].double(), self.key[sequence].double()
        logits = score_keys(query, key.repeat_interleave(times, dim=0), self.scale, self.softcap)
        return logits if self.mask is None else logits + take_mask(self.mask, self.query, sequence, rows)

    def _weights(self, sequence: int) -> Float64:
        """Return the attention (heads, R, n) of one sequence, 0 for a token that sees no key."""
        return np.asarray(torch.softmax(self.logits(sequence), dim=-1).nan_to_num(0.0).cpu().numpy())


@dataclass(frozen=True, eq=False, repr=False)
class Reading:
    """What the attention layers of a model computed in one run: ``of_model(model).read(...)``.

    Parameters
    ----------
    layers : tuple of LayerReading
        Queries, keys, values, masks and outputs, as tensors of the model's dtype on its device.
    logits : Tensor
        The model's output: logits, or last hidden states.

    Raises
    ------
    ValueError
        By methods, for layers that are not there.

    Examples
    --------
    >>> import torch, transformers
    >>> from spherapprox.prompts.prefix import of_model
    >>> config = transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    >>> attention = of_model(transformers.GPT2LMHeadModel(config))
    >>> reading = attention.read(input_ids=torch.arange(6)[None])
    >>> reading.weights(1).shape, reading.share(1)[:, :].shape, reading.share(1, per_token=True).shape
    ((1, 2, 6, 6), (2, 2), (2, 1, 2, 6))
    >>> reading.share(6).round(12).tolist()  # all columns
    [[1.0, 1.0], [1.0, 1.0]]
    >>> figures = reading.draw(0, tokens=list("abcdef")), reading.draw_shares(1)
    """

    layers: tuple[LayerReading, ...]
    logits: torch.Tensor

    def __repr__(self) -> str:
        batch, _, n, _ = self.layers[0].query.shape
        return f"Reading(layers={len(self.layers)}, sequences={batch}, tokens={n})"

    def weights(self, layer: int | str) -> Float64:
        """Return the attention of a layer's heads, right to roundings of float64.

        Parameters
        ----------
        layer : int or str
            The index of its record, or its name.

        Returns
        -------
        ndarray, shape (batch, heads, R, n)
            Of sums 1; 0 for a token that sees no key.

        Raises
        ------
        ValueError
        """
        own = self._layer(layer)
        batch, heads, r, _ = own.query.shape
        memory(16.0 * batch * heads * r * own.key.shape[2], "weights", "read with fewer 'queries'")
        return np.stack([own._weights(sequence) for sequence in range(batch)])

    def share(self, columns: int, *, per_token: bool = False) -> Float64:
        """Compute the share of attention that the first columns take: those of a prefix in the cache.

        Parameters
        ----------
        columns : int
            How many: the length L of the prefix.
        per_token : bool, default False
            Whether to return the share of each token.

        Returns
        -------
        ndarray, shape (layers, heads), or (layers, batch, heads, R)
            Means over tokens that are no padding; or of each token, nan for padding. Layers with fewer heads, or
            tokens, than others have nan in the places that they lack. Shares are ``exp`` of differences of log masses
            in float64: to a relative 1e-15 times the size of logits, however small they are.

        Raises
        ------
        ValueError
            If there are fewer columns.

        References
        ----------
        docs/theorems/8.1-what-a-prefix-does.md
        """
        least = min(own.key.shape[2] for own in self.layers)
        length = integer(columns, "columns", minimum=0, maximum=least, why="so many keys a token may see")
        shares = [token_shares(own, length) for own in self.layers]
        return stack_shares(shares if per_token else map(mean_shares, shares))

    def draw(
        self, layer: int | str, *, heads: Sequence[int] | None = None, sequence: int = 0,
        tokens: Sequence[str] | None = None, prefix: int = 0,
    ) -> Any:  # fmt: skip
        """Draw the attention of a layer's heads as small maps, a row for each token that asks.

        Parameters
        ----------
        layer : int or str
            The index of its record, or its name.
        heads : sequence of int, optional
            Those drawn; the first 12 by default.
        sequence : int, default 0
            Which of the batch.
        tokens : sequence of str, optional
            What the columns behind the prefix are.
        prefix : int, default 0
            Columns of a prefix, set apart by a line.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        TypeError, ValueError
        """
        own = self._layer(layer)
        place = integer(sequence, "sequence", minimum=0, maximum=len(own.query) - 1, why="so many were read")
        asking = None if len(own.rows) == own.result.shape[1] else own.rows.cpu().numpy()
        return draw_weights(
            own._weights(place), heads=heads, tokens=tokens, prefix=prefix, asking=asking, title=own.record.name
        )

    def draw_shares(self, columns: int) -> Any:
        """Draw the map, layers by heads, of the share that the first columns take.

        Parameters
        ----------
        columns : int
            As in `share`.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ValueError
        """
        return draw_shares(self.share(columns), layers=[own.record.index for own in self.layers])

    def _layer(self, layer: Any) -> LayerReading:
        for own in self.layers:
            if layer in (own.record.index, own.record.name) and not isinstance(layer, bool):
                return own
        indices = ", ".join(str(own.record.index) for own in self.layers)
        raise ValueError(f"'layer' must be one of those read, {indices}, or a name of them, got {show(layer)}")


def token_shares(layer: LayerReading, columns: int) -> Float64:
    """Return the shares (batch, heads, R) of the first columns, nan for padding and for what sees no key."""
    batch, heads, count, _ = layer.query.shape
    shares = np.empty((batch, heads, count))
    step = max(_AT_ONCE // (heads * layer.key.shape[2]), 1)
    for sequence in range(batch):
        for start in range(0, count, step):
            rows = slice(start, start + step)
            logits = layer.logits(sequence, rows)
            far, near = logits[..., :columns].logsumexp(-1), logits[..., columns:].logsumexp(-1)
            share = torch.exp(-torch.logaddexp(torch.zeros_like(far), near - far))
            shares[sequence, :, rows] = share.cpu().numpy()
    shares[~np.broadcast_to(layer.seen.cpu().numpy()[:, None], shares.shape)] = np.nan
    return shares


def mean_shares(shares: Float64) -> Float64:
    """Return the mean of each head over the tokens (batch, heads, R) that have a share."""
    return np.asarray(np.nanmean(np.moveaxis(shares, 1, 0).reshape(shares.shape[1], -1), axis=1))


def stack_shares(shares: Iterable[Float64]) -> Float64:
    """Return the shares of several layers as one array, nan where one has fewer heads or tokens than others."""
    parts = [*shares]
    stack = np.full((len(parts), *np.max([part.shape for part in parts], axis=0)), np.nan)
    for row, part in zip(stack, parts, strict=True):
        row[tuple(map(slice, part.shape))] = part
    return stack
