"""`Reading`: what the attention layers of a model computed in one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ....._checks import integer, memory, show
from ....._types import Float64
from ...figures import draw_shares, draw_weights
from .calls import first_tensor, main_output, run
from .interface import Call
from .records import LayerRecord

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
        logits = self.scale * (query @ key.repeat_interleave(times, dim=0).transpose(-1, -2))
        if self.softcap is not None:
            logits = self.softcap * torch.tanh(logits / self.softcap)
        if self.mask is None:
            return logits
        mask = self.mask.expand(len(self.query), -1, self.query.shape[2], -1)[sequence, :, rows]
        return logits + mask.double().masked_fill(hidden(mask), -torch.inf)


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
        parts = [torch.softmax(own.logits(b), dim=-1).nan_to_num(0.0) for b in range(batch)]
        return np.asarray(torch.stack(parts).cpu().numpy())

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
        shares = [_shares(own, length) for own in self.layers]
        parts = (
            shares
            if per_token
            else [np.nanmean(np.moveaxis(part, 1, 0).reshape(part.shape[1], -1), 1) for part in shares]
        )
        shape = [max(sizes) for sizes in zip(*(part.shape for part in parts), strict=True)]
        whole = np.full((len(parts), *shape), np.nan)
        for row, part in zip(whole, parts, strict=True):
            row[tuple(slice(size) for size in part.shape)] = part
        return whole

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
        weights = torch.softmax(own.logits(place), dim=-1).nan_to_num(0.0).cpu().numpy()
        asking = None if len(own.rows) == own.result.shape[1] else own.rows.cpu().numpy()
        return draw_weights(weights, heads=heads, tokens=tokens, prefix=prefix, asking=asking, title=own.record.name)

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
        found = [own for own in self.layers if layer in (own.record.index, own.record.name)]
        if not found or isinstance(layer, bool):
            read = ", ".join(str(own.record.index) for own in self.layers)
            raise ValueError(f"'layer' must be one of those read, {read}, or a name of them, got {show(layer)}")
        return found[0]


def hidden(mask: torch.Tensor) -> torch.Tensor:
    """Return where a mask hides a key: by -inf, or the least number of its dtype, which may have a bias."""
    return mask <= 0.5 * torch.finfo(mask.dtype).min


def _shares(own: LayerReading, columns: int) -> Float64:
    """Return the shares (batch, heads, R) of the first columns, nan for padding and for what sees no key."""
    batch, heads, r, _ = own.query.shape
    found = np.empty((batch, heads, r))
    step = max(_AT_ONCE // (heads * own.key.shape[2]), 1)
    for b in range(batch):
        for start in range(0, r, step):
            rows = slice(start, start + step)
            logits = own.logits(b, rows)
            far, near = logits[..., :columns].logsumexp(-1), logits[..., columns:].logsumexp(-1)
            share = torch.exp(-torch.logaddexp(torch.zeros_like(far), near - far))
            found[b, :, rows] = share.cpu().numpy()
    found[~np.broadcast_to(own.seen.cpu().numpy()[:, None], found.shape)] = np.nan
    return found


def visible_tokens(call: Call, before: torch.Tensor | None) -> torch.Tensor:
    """Return which tokens (batch, T) that ask are seen by any; in cross-attention as in the layer before."""
    batch, _, count, _ = call.query.shape
    if before is not None and before.shape == (batch, count):
        return before
    seen = torch.ones(batch, count, dtype=torch.bool, device=call.query.device)
    if call.mask is None or call.key.shape[2] < count:
        return seen
    columns = (~hidden(call.mask)).any(dim=1).any(dim=1)[:, -count:]  # the last keys are those of the tokens that ask
    return columns.expand(batch, -1)


def read_model(
    model: Any, records: Sequence[LayerRecord], inputs: Mapping[str, Any], queries: int | None,
    chosen: Sequence[LayerRecord],
) -> Reading:  # fmt: skip
    """Return what the chosen layers of a model compute for inputs."""
    kept, order, seen = {record.index for record in chosen}, iter(records), None
    parts: list[dict[str, Any]] = []
    waiting: dict[int, list[dict[str, Any]]] = {}

    def listen(call: Call, output: torch.Tensor) -> None:
        nonlocal seen
        record = checked_record(call, next(order, None))
        seen = visible_tokens(call, seen if record.kind == "cross" else None)
        if record.index not in kept:
            return
        rows = chosen_rows(call.query.shape[2], queries, call.query.device)
        mask = call.mask if call.mask is None or call.mask.shape[-2] == 1 else call.mask[..., rows, :]
        part = {
            "record": record, "query": call.query[:, :, rows], "key": call.key, "value": call.value, "mask": mask,
            "scale": call.scale, "softcap": call.softcap, "output": output[:, :, rows], "seen": seen[:, rows],
            "rows": rows,
        }  # fmt: skip
        parts.append(part)
        waiting.setdefault(id(call.module), []).append(part)

    def after(module: torch.nn.Module, _: Any, result: Any) -> None:
        for part in waiting.pop(id(module), ()):
            part["result"] = first_tensor(result)

    modules = dict(model.named_modules())
    handles = [modules[name].register_forward_hook(after) for name in {record.name for record in chosen}]
    try:
        output = run(model, inputs, listen)
    finally:
        for handle in handles:
            handle.remove()
    if (missing := next(order, None)) is not None:
        raise ValueError(
            f"the model did not call {missing.name} for these inputs: of_model(model, ...) takes such as these"
        )
    return Reading(tuple(LayerReading(**part) for part in parts), main_output(output))


def checked_record(call: Call, record: LayerRecord | None) -> LayerRecord:
    """Return the record of a call, if it is of the layer that was called in this place before."""
    shape = call.query.shape[1], call.key.shape[1], call.query.shape[3]
    if record is None or (record.heads, record.key_value_heads, record.head_dim) != shape:
        raise ValueError(
            "the model called other attention layers than those that were found: of_model(model, ...) takes inputs as "
            "these, and is to be called anew for a model that was changed"
        )
    return record


def chosen_rows(count: int, queries: int | None, device: Any) -> torch.Tensor:
    """Return the tokens whose queries are kept, evenly spaced, the last one among them."""
    if queries is None or queries >= count:
        return torch.arange(count, device=device)
    return torch.arange(1, queries + 1, device=device) * count // queries - 1
