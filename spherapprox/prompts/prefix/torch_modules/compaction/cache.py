"""Caches of transformers whose layers hold a few tokens that stand for many: ragged, with biases, at old positions."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch

from ....._checks import needs
from ..models.calls import memo_of
from ..models.interface import with_bias

with needs("transformers", "compress_cache", "interop"):
    from transformers import DynamicCache
    from transformers.cache_utils import Cache, CacheLayerMixin, DynamicLayer, LinearAttentionCacheLayerMixin


class Rows(NamedTuple):
    """Tokens of one sequence in one layer, those of each head behind those of the one before.

    Keys (N, s), values (N, p), biases (N,) or None, and positions (N,), rising in each head, or None; `counts` (heads,)
    has the tokens of each head, N in all; `real` is the number of tokens that they stand for, padding left out.
    """

    key: torch.Tensor
    value: torch.Tensor
    bias: torch.Tensor | None
    position: torch.Tensor | None
    counts: torch.Tensor
    real: int

    def columns(self, width: int) -> torch.Tensor:
        """Return which of `width` columns (heads, width) hold tokens: the last ones of each head."""
        return torch.arange(width, 0, -1, device=self.counts.device) <= self.counts[:, None]

    def last(self, width: int) -> Rows:
        """Return the last tokens of each head, at most `width`."""
        behind = torch.cat([torch.arange(int(n), 0, -1, device=self.counts.device) for n in self.counts])
        mask = behind <= width
        key, value, bias, position = (None if part is None else part[mask] for part in self[:4])
        return self._replace(key=key, value=value, bias=bias, position=position, counts=self.counts.clamp(max=width))


class CompactedLayer(DynamicLayer):
    """A layer of a cache: few tokens that stand for the first `length` ones, and all that were read since.

    `keys` and `values` are those of the tokens read since. In `update` the few stand in `width` columns, aligned to the
    right, so that they take the places just before position `length` in the model's masks: no token is hidden by a
    mask that has zeros on its left for padding, nor by a window before its own position leaves it.
    """

    is_croppable, record_past = True, False

    def __init__(self, rows: Sequence[Rows], length: int, width: int, window: int | None = None) -> None:
        super().__init__()
        self.rows, self.length, self.width, self.window = list(rows), length, width, window
        self.is_sliding = window is not None
        first = self.rows[0]
        shape = (len(self.rows), len(first.counts), 0)
        self.keys = first.key.new_empty(*shape, first.key.shape[1])
        self.values = first.value.new_empty(*shape, first.value.shape[1])
        self.device, self.fixed = first.key.device, length  # crop stops there
        self.is_initialized = True

    @property
    def is_plain(self) -> bool:
        """Whether any attention may read the layer: no biases, and no columns to hide but those of padding."""
        return self.window is None and all(
            rows.bias is None and bool((rows.counts == min(self.width, rows.real)).all()) for rows in self.rows
        )

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: object, **kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add tokens, and return the keys, which carry the biases, and the values that they see."""
        start, count = self.get_seq_length(), key_states.shape[-2]
        if key_states.shape[:2] != self.keys.shape[:2] or key_states.shape[3] != self.keys.shape[3]:
            shapes = tuple(self.keys.shape), tuple(key_states.shape)
            raise ValueError(
                f"the cache is of sequences, heads and columns {shapes[0]}, the model gives it {shapes[1]}"
            )
        self.keys, self.values = (
            torch.cat(pair, dim=-2) for pair in ((self.keys, key_states), (self.values, value_states))
        )
        keys = self._laid([rows.key for rows in self.rows], self.keys)
        values = self._laid([rows.value for rows in self.rows], self.values)
        if not self.is_plain:
            keys = with_bias(keys, self._biases(start, count))
        if not self.record_past:
            self._expire()
        return keys, values

    def _laid(self, parts: list[torch.Tensor], tail: torch.Tensor) -> torch.Tensor:
        """Return the tokens in their columns, and the tail behind them."""
        batch, heads, count, size = tail.shape
        laid = tail.new_zeros(batch, heads, self.width + count, size)
        laid[:, :, self.width :] = tail
        for number, (rows, part) in enumerate(zip(self.rows, parts, strict=True)):  # laid may have a graph
            if len(part) == heads * self.width:
                laid[number, :, : self.width] = part.view(heads, self.width, size)
            else:
                laid[number, :, : self.width][rows.columns(self.width)] = part
        return laid

    def _biases(self, start: int, count: int) -> torch.Tensor:
        """Return the biases (batch, heads, 1 or count, width) for queries from a position on."""
        batch, heads = self.keys.shape[:2]
        dtype = torch.promote_types(self.keys.dtype, torch.float32)
        biases = self.keys.new_full((batch, heads, self.width), -torch.inf, dtype=dtype)
        places = torch.zeros_like(biases, dtype=torch.long)
        for bias, place, rows in zip(biases, places, self.rows, strict=True):
            columns = rows.columns(self.width)
            bias[columns] = 0.0 if rows.bias is None else rows.bias.to(dtype)
            if rows.position is not None:
                place[columns] = rows.position
        if self.window is None:
            return biases[:, :, None]
        asked = torch.arange(start, start + count, device=biases.device)[:, None]
        return biases[:, :, None].masked_fill(asked - places[:, :, None] >= self.window, -torch.inf)

    def _expire(self) -> None:
        """Drop the columns that no later query sees through the window."""
        drop = 0 if self.window is None else self.width + self.keys.shape[-2] - (self.window - 1)
        if drop > 0:
            behind = max(drop - self.width, 0)
            self.keys, self.values = self.keys[:, :, behind:], self.values[:, :, behind:]
            self.width = max(self.width - drop, 0)
            self.rows = [rows.last(self.width) for rows in self.rows]
            self.length += behind
            self.fixed = self.get_seq_length()

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        """Return the columns of the mask, and the position of the first."""
        held = self.width + self.keys.shape[-2]
        return held + query_length, self.get_seq_length() - held

    def get_seq_length(self) -> int:
        """Return the tokens that were read, those that others stand for included: the next one's position."""
        return self.length + int(self.keys.shape[-2])

    def get_max_length(self) -> int:
        """Return the window, -1 without one."""
        return -1 if self.window is None else self.window

    def crop(self, tokens_to_remove: int) -> None:
        """Remove the last tokens, a negative number of them, of those read since compaction."""
        most = self.get_seq_length() - self.fixed
        if not -most <= tokens_to_remove <= 0:
            raise ValueError(
                f"'tokens_to_remove' must be between {-most} and 0, got {tokens_to_remove}: tokens that others stand "
                "for, or that left a window, do not come back; activate_past_recording() keeps these until crop"
            )
        super().crop(tokens_to_remove)
        self._expire()

    def activate_past_recording(self) -> None:
        """Keep what leaves a window until `crop`, as assisted generation asks."""
        self.record_past = True

    def reset(self) -> None:
        """Forget all tokens."""
        self.rows, self.length, self.width, self.fixed = [rows.last(0) for rows in self.rows], 0, 0, 0
        self.keys, self.values = self.keys[:, :, :0], self.values[:, :, :0]

    def reorder_cache(self, beam_idx: torch.Tensor) -> None:
        """Take sequences in another order; those of beams share their tokens."""
        self.batch_select_indices(beam_idx)

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep some of the sequences."""
        places = torch.arange(len(self.rows))[indices.cpu()]
        self.rows = [self.rows[int(i)] for i in places]
        self.keys, self.values = (part[places.to(part.device)] for part in (self.keys, self.values))

    def batch_repeat_interleave(self, repeats: int) -> None:
        """Repeat each sequence, which shares its tokens with its copies."""
        self.batch_select_indices(torch.arange(len(self.rows)).repeat_interleave(repeats))

    def offload(self) -> None:
        """Move nothing: the layer stays where it is."""

    def prefetch(self, *args: object) -> None:
        """Move nothing."""


class CompactedCache(DynamicCache):
    """A cache of transformers, some of whose layers are a `CompactedLayer`.

    Models and ``generate`` take it as ``cache=`` with the ids and the mask of all tokens, as the cache that it stands
    for. With biases, or other numbers of tokens in each head, the model has to attend by this library:
    ``model.set_attn_implementation("spherapprox")``; other attention raises.
    """

    def __init__(self, layers: Sequence[CacheLayerMixin]) -> None:
        Cache.__init__(self, layers=list(layers))

    def __iter__(self) -> Iterator[tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]]:
        raise TypeError("a compacted cache is no list of keys and values: its layers have rows, keys and values")

    def copy(self) -> CompactedCache:
        """Return a cache to which tokens may be added; both share what they hold."""
        return CompactedCache([copied(layer) for layer in self.layers])


def copied(layer: CacheLayerMixin) -> CacheLayerMixin:
    """Return a layer to which tokens may be added, without its graph; keys and values are shared, states are not."""
    if isinstance(layer, LinearAttentionCacheLayerMixin) or not isinstance(layer, DynamicLayer):
        return copy.deepcopy(layer, memo_of([layer]))
    new = copy.copy(layer)
    vars(new).update((name, part.detach()) for name, part in vars(layer).items() if isinstance(part, torch.Tensor))
    return new
