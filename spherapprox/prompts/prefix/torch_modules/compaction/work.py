"""The layers of a cache, compacted one after another, with a record for each head."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from transformers.cache_utils import CacheLayerMixin, DynamicLayer, DynamicSlidingWindowLayer

from ..heads.problem import FOLDS, Heads, Targets, Tokens, attend, errors, hold_out, parted, rounded, widened
from ..heads.shortening import Plan
from .budget import spend, weigh
from .cache import CompactedLayer, Rows, copied
from .collecting import LayerQueries
from .result import HeadRecord


def holds_tokens(layer: Any) -> bool:
    """Tell whether a layer holds keys of its own and all tokens that its queries see."""
    return isinstance(layer, DynamicLayer) and layer.is_initialized and layer.keys.numel() > 0


class Work:
    """The layers of a cache, the queries of each, and of a context that is read anew; what is no padding; the plan.

    `slopes` are those of budgets by head, None where all are alike.
    """

    def __init__(
        self, layers: list[CacheLayerMixin], queries: dict[int, LayerQueries], context: dict[int, LayerQueries],
        real: torch.Tensor, plan: Plan, count: int, slopes: dict[int, torch.Tensor] | None,
    ) -> None:  # fmt: skip
        self.layers, self.queries, self.context, self.real = layers, queries, context, real
        self.plan, self.count, self.slopes = plan, count, slopes
        self.records: list[HeadRecord] = []
        self.coverage = math.inf  # the least of all layers

    def run(self) -> list[CacheLayerMixin]:
        """Return the layers of the compacted cache."""
        counts = self._counts()
        width = max((max(max(part) for part in parts) for parts in counts.values()), default=self.count)
        layers = []
        for number, layer in enumerate(self.layers):
            begin = time.monotonic()
            if number in counts:
                layers.append(self._compacted(number, layer, counts[number], width))
            else:
                layers.append(self._kept(number, layer))
            if self.plan.options.progress:
                mine = [record.error for record in self.records if record.layer == number]
                words = f"error up to {max(mine):.3g}" if number in counts else "kept"
                seconds = time.monotonic() - begin
                print(f"layer {number} of {len(self.layers)}: {words}, {seconds:.1f} s", file=sys.stderr, flush=True)
        return layers

    def _window(self, number: int) -> int | None:
        layer = self.layers[number]
        own = getattr(layer, "sliding_window", None)
        return own if own is not None else self.queries[number].window if number in self.queries else None

    def _counts(self) -> dict[int, list[list[int]]]:
        """Return the tokens of each head of each sequence, for layers that are compacted."""
        length, counts = self.real.shape[1], {}
        for number, layer in enumerate(self.layers):
            window = self._window(number)
            if not holds_tokens(layer) or (window is not None and length >= window):
                continue
            if number not in self.queries:
                raise ValueError(
                    f"'model' must attend by transformers' AttentionInterface with the cache's keys, layer {number} "
                    "does not"
                )
            counts[number] = [[min(self.count, int(n))] * layer.keys.shape[1] for n in self.real.sum(dim=1)]
        free = [number for number in counts if self._window(number) is None]
        for sequence, mask in enumerate(self.real):
            n = int(mask.sum())
            if self.slopes is not None and free and self.count < n:
                weights = [
                    weigh(self.slopes[k][sequence], widened(self.layers[k].values[sequence][:, mask])) for k in free
                ]
                for number, shares in zip(free, spend(weights, self.count, n), strict=True):
                    counts[number][sequence] = shares
        return counts

    def _problem(self, number: int, sequence: int) -> tuple[Heads, Targets, Heads]:
        """Return the heads of a sequence in a layer at queries of the fit, what they compute there, and held out."""
        layer, own, mask = self.layers[number], self.queries[number], self.real[sequence]
        key, value = (widened(part[sequence][:, mask]) for part in (layer.keys, layer.values))
        queries = own.at(sequence)
        if queries.shape[2] < FOLDS:
            raise ValueError(
                f"'text' must have {FOLDS} tokens or more in each sequence, and 'context' where it is read in its "
                f"place, got {queries.shape[2]}: a fifth is held out"
            )
        heads, others = hold_out(key, value, queries, own.softcap)
        return heads, attend(heads), others

    def _compacted(self, number: int, layer: CacheLayerMixin, counts: list[list[int]], width: int) -> CompactedLayer:
        """Return the compacted layer."""
        rows = [self._rows(number, layer, sequence, each) for sequence, each in enumerate(counts)]
        return CompactedLayer(rows, self.real.shape[1], width, self._window(number))

    def _rows(self, number: int, layer: CacheLayerMixin, sequence: int, counts: list[int]) -> Rows:
        """Return the tokens of one sequence in a layer, in its dtype, and note the errors of its heads."""
        mask, dtype = self.real[sequence], layer.keys.dtype
        key, value = (widened(part[sequence][:, mask]) for part in (layer.keys, layer.values))
        real, every = key.shape[1], torch.arange(key.shape[1], device=key.device)[None]
        parts = [Tokens(key[g, None], value[g, None], None, every) for g in range(len(key))]
        misses = [(0.0, 0.0)] * len(key)
        if any(count < real for count in counts):
            heads, targets, others = self._problem(number, sequence)
            answers = attend(others)
            for g, tokens in self._shorter(number, sequence, (heads, targets), counts):
                parts[g] = rounded(tokens, dtype)
                one = slice(g, g + 1)
                error, mass_error = errors(parts[g], others.at(one), answers.at(one))
                misses[g] = float(error), float(mass_error)
        biased = any(part.bias is not None for part in parts)
        biases = [torch.zeros_like(part.key[0, :, 0]) if part.bias is None else part.bias[0] for part in parts]
        for g, (part, bias) in enumerate(zip(parts, biases, strict=True)):
            limits = (float(bias.min()), float(bias.max())) if biased else (math.nan, math.nan)
            record = HeadRecord(number, sequence, g, part.key.shape[1], real, *limits, *misses[g], "compacted")
            self.records.append(record)
        keys, values = (torch.cat([getattr(part, name)[0] for part in parts]).to(dtype) for name in ("key", "value"))
        positions = None
        if self._window(number) is not None:
            positions = torch.cat([part.places[0] for part in parts if part.places is not None]) + len(mask) - real
        amounts = torch.tensor([part.key.shape[1] for part in parts], device=keys.device)
        return Rows(keys, values, torch.cat(biases) if biased else None, positions, amounts, real)

    def _shorter(
        self, number: int, sequence: int, problem: tuple[Heads, Targets], counts: list[int]
    ) -> Iterator[tuple[int, Tokens]]:
        """Yield the heads that lose tokens, and those that are left to each; as many ones are found together."""
        (heads, targets), plan, own = problem, self.plan, self.context.get(number)
        if self._window(number) is not None and plan.method == "descent":  # tokens need the positions of their keys
            plan = replace(plan, method="attention matching")
        scores = None
        if own is not None and own.votes is not None and own.sums is not None:
            scores = (own.votes if plan.method == "snapkv" else own.sums)[sequence][:, self.real[sequence]]
        for count in sorted(set(counts) - {heads.key.shape[1]}):
            rows = [g for g, each in enumerate(counts) if each == count]
            group = torch.tensor(rows, device=heads.key.device)
            some = Heads(heads.key[group], heads.value[group], heads.queries[group], heads.softcap)
            answers = Targets(targets.outputs[group], targets.log_masses[group], targets.squares[group])
            tokens = plan.shorten(some, answers, count, None if scores is None else scores[group])
            yield from zip(rows, parted(tokens), strict=True)
        self.coverage = min(self.coverage, plan.coverage(heads, max(counts)))

    def _kept(self, number: int, layer: CacheLayerMixin) -> CacheLayerMixin:
        """Return a layer as it is, or what is left of it inside its window."""
        window = self._window(number)
        if holds_tokens(layer):
            words = "kept" if window is None else "window, kept"
            if window is not None and type(layer) is DynamicLayer:
                full, layer = layer, DynamicSlidingWindowLayer(window)
                layer.update(full.keys[:, :, 1 - window :], full.values[:, :, 1 - window :])
                layer.cumulative_length = full.keys.shape[2]
            nan = math.nan
            self.records += [
                HeadRecord(number, b, g, layer.keys.shape[2], layer.keys.shape[2], nan, nan, nan, nan, words)
                for b in range(layer.keys.shape[0])
                for g in range(layer.keys.shape[1])
            ]
        return copied(layer)
