"""Prefixes of all layers of a model in closed form, in one run: each is fitted where its layer is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ....._checks import generator, instance, warn_inaccurate
from ....._threads import one_blas_thread
from ....._types import Float64
from ...fits.interpolation import FittedPrefix, fit_groups
from ...fits.values import Examples, Heads, least_values
from ...layer.contexts import Contexts
from ...layer.rows import Prefix
from .adapters import count_virtual_tokens
from .calls import run
from .contexts import contexts_of, join_contexts
from .generation import place_behind
from .interface import Call, find_hidden
from .layers import LayerRecord, find_cached
from .probing import Probe, make_probes, read_output
from .reading import Reading
from .recording import Order

_QUIET = 40.0
"""How far the logits of a prefix that is to do nothing are below the log mass of the content."""
_LOST = 1e-9
"""Errors over the outputs that are roundings."""


def fit_prefixes(
    model: Any, records: Sequence[LayerRecord], targets: Reading, inputs: Mapping[str, Any], *, length: int,
    examples: int, rng: Any,
) -> tuple[FittedPrefix, ...]:  # fmt: skip
    """Return prefixes of the layers of a model: see `ModelAttention.fit`."""
    instance(targets, "targets", Reading, remedy="attention.read(...) makes one")
    own = find_cached(records)
    if count_virtual_tokens(model):
        raise ValueError("'model' must have no prefix of its own: of_model(model.get_base_model()) is of one without")
    readings = _read_targets(targets, own)
    arguments, _ = place_behind(model, inputs, [_blank_prefix(record, length) for record in own])
    maps, random, order = make_probes(model, own, inputs, 0), generator(rng), Order(records)
    prefixes: list[FittedPrefix] = []

    def listen(call: Call, _: torch.Tensor) -> torch.Tensor | None:
        record, visible = order.take(call)
        if record.kind != "self":
            return None
        result, rows = readings[len(prefixes)]
        if result.shape[:2] != call.query.shape[::2]:
            raise ValueError(
                f"'targets' must be read of the same tokens, got {tuple(result.shape[:2])} sequences and tokens, and "
                f"inputs of {tuple(call.query.shape[::2])}"
            )
        places = _find_places(call, visible, rows, length)
        if len(places) > examples:
            places = places[np.sort(random.choice(len(places), examples, replace=False))]
        prefix = _fit_layer(call, next(maps), result, torch.tensor(places), length)
        prefixes.append(prefix)
        key, value = call.key.clone(), call.value.clone()
        for tensor, array in ((key, prefix.key), (value, prefix.value)):
            tensor[:, :, :length] = torch.as_tensor(array).to(tensor)
        return call._replace(key=key, value=value).attend()

    run(model, arguments, listen)
    order.finish()
    return tuple(prefixes)


def _read_targets(targets: Reading, records: Sequence[LayerRecord]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the outputs that are wanted of the layers of records, and the tokens whose queries were read."""
    layers = [layer for layer in targets.layers if layer.record.kind == "self"]
    sizes = [(layer.record.heads, layer.record.value_dim) for layer in layers]
    if sizes != [(record.heads, record.value_dim) for record in records]:
        raise ValueError(
            f"'targets' must be read of all {len(records)} layers with a cache, of as many heads and columns, got "
            f"{len(layers)} layers"
        )
    return [(layer.result, layer.rows) for layer in layers]


def _blank_prefix(record: LayerRecord, length: int) -> Prefix:
    """Return a prefix of zeros for a layer: of the columns that the cache has before there is a fitted one."""
    shape = record.key_value_heads, length
    return Prefix(np.zeros((*shape, record.head_dim)), np.zeros((*shape, record.value_dim)))


def _find_places(call: Call, visible: torch.Tensor, rows: torch.Tensor, length: int) -> Any:
    """Return the sequences and tokens (N, 2) that are read, are no padding, and see content and some of the prefix."""
    candidates = torch.zeros_like(visible)
    candidates[:, rows.to(visible.device)] = True
    if call.mask is not None:
        columns = (~find_hidden(call.mask)).any(dim=1)  # (batch, T, n)
        candidates = candidates & columns[..., :length].any(-1) & columns[..., length:].any(-1)
    places = torch.nonzero(candidates & visible).cpu().numpy()
    if not len(places):
        raise ValueError("'inputs' must have tokens that see the prefix, got none: windows, or masks, hide it from all")
    return places


def _fit_layer(call: Call, probe: Probe, result: torch.Tensor, places: torch.Tensor, length: int) -> FittedPrefix:
    """Return the prefix of a layer for examples at places (N, 2)."""
    weight, bias = (part.cpu().numpy() for part in read_output(probe))
    heads, p = probe.record.heads, probe.record.value_dim
    out = np.moveaxis(weight.reshape(-1, heads, p), 1, 0)  # (heads, d_out, p)
    outputs = result[places[:, 0], places[:, 1]].double().cpu().numpy()
    contexts, size = contexts_of(call, places, length), heads // probe.record.key_value_heads
    shared = [slice(first, first + size) for first in range(0, heads, size)]
    groups = [Heads(join_contexts(contexts[part]), out[part]) for part in shared]
    with one_blas_thread():
        prefix, nearer = fit_groups(groups, outputs - bias, length)
        return prefix if nearer else _quiet_prefix(groups, outputs - bias, prefix, probe.record.name)


def _quiet_prefix(groups: Sequence[Heads], outputs: Float64, prefix: FittedPrefix, name: str) -> FittedPrefix:
    """Return a prefix that is attended to little where it is nearer to outputs than a fitted one."""
    examples = Examples([*groups], outputs)
    candidates = [prefix, *_turn_away(examples, len(prefix))]
    errors = [float(np.linalg.norm(examples.missed(own.key, own.value)[0])) for own in candidates]
    best, before, size = int(np.argmin(errors)), np.linalg.norm(examples.change()), np.linalg.norm(outputs)
    if not errors[best] <= before + _LOST * size:
        warn_inaccurate(
            f"{name}: no prefix of {len(prefix)} tokens that was found is nearer to 'targets' than none is, errors of "
            f"the layer grow from {before / size:.3g} to {errors[best] / size:.3g} of its outputs: take a larger "
            "'length', or more 'examples'"
        )
    return candidates[best]


def _turn_away(examples: Examples, length: int) -> Iterator[FittedPrefix]:
    """Yield prefixes whose keys all point away from the queries.

    Where these lie on one side of 0, the first one is not attended to at all; values of others are of least squares.
    """
    contexts = [heads.contexts for heads in examples.groups]
    ways, leasts, means = zip(*map(_find_way, contexts), strict=True)
    sides = [([2.0**power - 1.0] * len(ways), means) for power in range(5)]  # logits of 0, -1, -3, ... in the mean
    if min(leasts) > 0.0:
        sides.insert(0, ([max(_QUIET - float(own.log_mass.min()), 0.0) for own in contexts], leasts))
    for depths, products in sides:
        rows = [-depth / max(size, 1e-300) * way for way, depth, size in zip(ways, depths, products, strict=True)]
        keys = np.repeat(np.array(rows)[:, None], length, axis=1)
        blank = np.zeros((*keys.shape[:2], contexts[0].mean.shape[1]))
        values = blank if products is leasts else least_values(examples, keys)[0]
        missed, share = examples.missed(keys, values)
        error = float(np.abs(missed).max())
        yield FittedPrefix(keys, values, None, error=error, condition=1.0, share=share)


def _find_way(contexts: Contexts) -> tuple[Float64, float, float]:
    """Return a direction toward the queries, its least product with them, times the scale, and the mean one.

    It is the point of their hull that is nearest to 0, if that is no point of it; biases and caps allow for no least.
    """
    query = contexts.query
    nearest = query.mean(axis=0)
    for _ in range(200):  # Gilbert's steps
        toward = query[int((query @ nearest).argmin())] - nearest
        size, gain = float(toward @ toward), -float(toward @ nearest)
        if not gain > _LOST * size:
            break
        nearest = nearest + min(gain / size, 1.0) * toward
    products = contexts.scale * (query @ nearest)
    plain = contexts.softcap is None and contexts.bias is None
    least = float(products.min()) if plain else 0.0
    if not least > 0.0:
        nearest = query.mean(axis=0)
        products = contexts.scale * (query @ nearest)
    return nearest, least, float(products.mean())
