"""Prefixes of the layers of a model, as caches of transformers and as embeddings of PEFT."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...._checks import detached, floating, instance, integer, needs, show
from ..layer.rows import Prefix, as_prefix, finite


def past_key_values(
    prefixes: Sequence[Prefix], *, batch_size: int = 1, dtype: Any = None, device: Any = None
) -> tuple[tuple[Any, Any], ...]:
    """Return the keys and values of the prefixes of a model's layers, as a cache has them.

    Parameters
    ----------
    prefixes : sequence of Prefix
        One for each layer, of shapes (heads, L, s), all of the same L; heads are those of keys, fewer than those of
        queries in grouped-query attention.
    batch_size : int, default 1
        Number of sequences; all see the same prefixes.
    dtype : torch.dtype, optional
        The model's, of floats; torch's default by default.
    device : optional
        As of `torch.tensor`.

    Returns
    -------
    tuple of (key, value)
        A pair for each layer, of shapes (batch_size, heads, L, s) and (batch_size, heads, L, p): num_heads,
        num_virtual_tokens and head_dim in PEFT's words. The tuple is no cache for models of transformers 5: they
        take `dynamic_cache`.

    Raises
    ------
    TypeError, ValueError
        If prefixes differ in length, are of one head without an axis of heads, or overflow in the dtype, or the dtype
        is none of floats.

    Notes
    -----
    A model treats them as tokens that it has read: the content's positions begin at L, and `attention_mask` needs L
    more columns of ones on the left, where it is given. Keys are those behind rotary embeddings, which are not turned
    once more.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix
    >>> from spherapprox.prompts.prefix.torch_modules import past_key_values
    >>> layers = [Prefix(np.ones((4, 3, 8)), np.zeros((4, 3, 8)))] * 2
    >>> [tuple(key.shape) for key, value in past_key_values(layers, batch_size=5)]
    [(5, 4, 3, 8), (5, 4, 3, 8)]
    """
    size = integer(batch_size, "batch_size", minimum=1)
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point and _is_signed(dtype)):
        raise TypeError(f"'dtype' must be a torch.dtype of floats, got {show(dtype)}: model.dtype is one")
    check_device(device)
    options = {"dtype": torch.get_default_dtype() if dtype is None else dtype, "device": device}
    pairs = []
    for number, prefix in enumerate(of_layers(prefixes)):
        key, value = (torch.tensor(array, **options) for array in (prefix.key, prefix.value))
        if not all(part.double().isfinite().all() for part in (key, value)):
            raise ValueError(f"'prefixes[{number}]' must be finite in {key.dtype}: another 'dtype' has more range")
        pairs.append((key.repeat(size, 1, 1, 1), value.repeat(size, 1, 1, 1)))
    return tuple(pairs)


def check_device(device: Any) -> None:
    """Check that tensors can be made on a device."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ValueError(f"'device' must be one that torch has here, got {show(device)}: {error}") from None


def _is_signed(dtype: torch.dtype) -> bool:
    """Tell whether tensors of a dtype can be made, and have negative numbers."""
    try:
        return bool(torch.tensor(-1.0).to(dtype).item() == -1.0)
    except RuntimeError:
        return False


def dynamic_cache(prefixes: Sequence[Prefix], *, batch_size: int = 1, dtype: Any = None, device: Any = None) -> Any:
    """Return a cache of transformers that holds the prefixes of a model's layers.

    Parameters
    ----------
    prefixes, batch_size, dtype, device
        As in `past_key_values`.

    Returns
    -------
    transformers.DynamicCache
        A model adds what it reads to it: make one for each call, for its argument ``past_key_values``, or ``cache``
        from transformers 5.24 on. An encoder-decoder model takes
        ``EncoderDecoderCache(dynamic_cache(prefixes), DynamicCache())``: prefixes of its decoder's self-attention.

    Raises
    ------
    ImportError
        If transformers is not installed.
    TypeError, ValueError
        As `past_key_values` does.

    Notes
    -----
    ``model.generate`` needs `attention_mask` of L + T columns for T tokens: without one it takes the first L tokens for
    those that the cache holds, and drops them; `spherapprox.prompts.prefix.prefixed_inputs` makes both, for padded
    sequences and beams too. Behind a compressed prefix, content has the places that it had behind ``long`` tokens by
    ``position_ids=long + torch.arange(T)[None]``, and in PEFT, which adds L, by as many less L; keys of rotary models
    are turned instead (`spherapprox.prompts.prefix.turn_keys`).

    ``generate`` of a decoder with prefix tuning by PEFT 0.21 loses the prefix with transformers 5.24, where models read
    ``cache`` and PEFT hands it on as ``past_key_values``; its forward does not. The base model's ``generate``, with the
    cache of ``from_past_key_values(model.get_prompt(1))``, has it.

    Examples
    --------
    >>> from spherapprox.prompts.prefix.torch_modules import dynamic_cache
    >>> cache = dynamic_cache(prefixes, batch_size=2)  # doctest: +SKIP
    >>> model(tokens, past_key_values=cache).logits  # doctest: +SKIP
    >>> model.generate(**prefixed_inputs(prefixes, tokens))  # doctest: +SKIP
    """
    pairs = past_key_values(prefixes, batch_size=batch_size, dtype=dtype, device=device)
    with needs("transformers", "dynamic_cache", "interop"):
        from transformers import DynamicCache
    cache = DynamicCache()
    for number, (key, value) in enumerate(pairs):
        cache.update(key, value, number)
    return cache


def from_past_key_values(pairs: Iterable[Any]) -> tuple[Prefix, ...]:
    """Return the prefixes that a cache holds, one for each layer: (heads, L, s) and (heads, L, p), in float64.

    Parameters
    ----------
    pairs : iterable of (key, value), or transformers.Cache
        A pair for each layer, of shapes (batch, heads, L, s) and (batch, heads, L, p), as `past_key_values` returns
        them or as a model does for the tokens that it has read; of an encoder-decoder model's cache the self-attention.

    Raises
    ------
    TypeError, ValueError
        If arrays have other shapes or are not finite, the sequences of a batch differ, or the cache does not hold all
        tokens that it has read.

    Notes
    -----
    Layers with a sliding window keep its last tokens alone, which are no prefix of theirs: let the model fill a plain
    ``DynamicCache()``, which keeps all. Where the model numbers positions from 0 at the tokens that made the cache, the
    prefixes do in another call what these tokens did in theirs.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix
    >>> from spherapprox.prompts.prefix.torch_modules import from_past_key_values, past_key_values
    >>> prefix = Prefix(np.ones((4, 3, 8)), np.zeros((4, 3, 8)))
    >>> from_past_key_values(past_key_values([prefix]))
    (Prefix(heads=4, length=3, s=8, p=8),)
    """
    cache = getattr(pairs, "self_attention_cache", pairs)
    parts = getattr(cache, "layers", cache)
    if isinstance(parts, Mapping | str) or not isinstance(parts, Iterable):
        raise TypeError(
            f"'pairs' must be a cache, or pairs of keys and values, got a {type(pairs).__name__}: a model's output has "
            "one, .past_key_values, and model.get_prompt(1) of PEFT is one"
        )
    layers = []
    for number, layer in enumerate(parts):
        name = f"pairs[{number}]"
        key, value = _whole(layer, name)
        layers.append(Prefix(_of_batch(key, f"{name}[0]"), _of_batch(value, f"{name}[1]")))
    return tuple(of_layers(layers, "pairs"))


def prompt_embeddings(prefixes: Sequence[Prefix], *, dtype: Any = None, device: Any = None) -> Any:
    """Return the prefixes of a model's layers as PEFT's prefix tuning stores them.

    Parameters
    ----------
    prefixes, dtype, device
        As in `past_key_values`; values as wide as keys, and as many heads in all layers.

    Returns
    -------
    Tensor, shape (L, 2 * layers * heads * s)
        Of num_virtual_tokens rows and 2 * num_layers * token_dim columns: keys of layer 0, its values, keys of layer 1
        and so on, each head beside the next. ``model.prompt_encoder["default"].load_prompt_embeddings`` takes it, if
        the adapter has no `prefix_projection`.

    Raises
    ------
    TypeError, ValueError
        As `past_key_values` does, and if layers differ in shape, or keys and values do.

    Notes
    -----
    Embeddings of prompt tuning, (num_virtual_tokens, token_dim), are no prefixes of layers but inputs of the model,
    which all layers change: `from_past_key_values` reads what a model makes of them.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix import Prefix
    >>> from spherapprox.prompts.prefix.torch_modules import prompt_embeddings
    >>> prompt_embeddings([Prefix(np.ones((4, 3, 8)), np.zeros((4, 3, 8)))] * 2).shape
    torch.Size([3, 128])
    """
    pairs = past_key_values(prefixes, dtype=dtype, device=device)
    parts = [part[0] for pair in pairs for part in pair]
    shapes = sorted({tuple(part.shape) for part in parts})
    if len(shapes) > 1:
        raise ValueError(f"'prefixes' must have keys and values of one shape in all layers, got {shapes}")
    return torch.stack(parts).permute(2, 0, 1, 3).flatten(1)  # (2 layers, heads, L, s) to (L, 2 layers heads s)


def from_prompt_embeddings(embeddings: Any, *, layers: int, heads: int, head_dim: int) -> tuple[Prefix, ...]:
    """Return the prefixes (heads, L, s) that PEFT's prefix tuning stores, one for each layer.

    Parameters
    ----------
    embeddings : Tensor or array_like, shape (L, 2 * layers * heads * s)
        `prompt_embeddings` of a saved adapter, or ``model.get_prompt_embedding_to_save("default")``.
    layers, heads, head_dim : int
        `num_layers`, `num_attention_heads` and ``token_dim // num_attention_heads`` of the adapter's configuration; the
        heads are those of keys, and s is `head_dim`.

    Raises
    ------
    TypeError, ValueError
        If numbers are not finite, or there are other columns, as embeddings of prompt tuning have.

    Examples
    --------
    >>> import numpy as np
    >>> from spherapprox.prompts.prefix.torch_modules import from_prompt_embeddings
    >>> from_prompt_embeddings(np.ones((3, 128)), layers=2, heads=4, head_dim=8)
    (Prefix(heads=4, length=3, s=8, p=8), Prefix(heads=4, length=3, s=8, p=8))
    """
    counts = (("layers", layers), ("heads", heads), ("head_dim", head_dim))
    parts = [integer(number, name, minimum=1) for name, number in counts]
    shape, note = ("L", 2 * math.prod(parts)), " of 2 * layers * heads * head_dim columns"
    remedy = "those of prompt tuning are inputs of the model, from_past_key_values reads what it makes of them"
    rows = floating(detached(embeddings), "embeddings", shape, note=note, remedy=remedy).astype(np.float64)
    arrays = rows.reshape(len(rows), 2 * parts[0], *parts[1:]).transpose(1, 2, 0, 3)  # (2 layers, heads, L, s)
    return tuple(Prefix(key, value) for key, value in zip(arrays[::2], arrays[1::2], strict=True))


def of_layers(prefixes: Sequence[Prefix], name: str = "prefixes") -> Sequence[Prefix]:
    """Return prefixes of layers, checked."""
    remedy = "one Prefix for each layer: [prefix]; from_past_key_values reads caches and PEFT's model.get_prompt(1)"
    instance(prefixes, name, list, tuple, remedy=remedy)
    if not prefixes:
        raise ValueError(f"'{name}' must have a Prefix for each layer, got none")
    for number, prefix in enumerate(prefixes):
        pair = isinstance(prefix, tuple)
        remedy = as_prefix(prefix, "from_past_key_values reads pairs" if pair else "Prefix(key, value) makes one")
        instance(prefix, f"{name}[{number}]", Prefix, remedy=f"one for each layer; {remedy}")
        if prefix.key.ndim != 3:
            raise ValueError(
                f"'{name}[{number}]' must have keys (heads, L, s), got {prefix.key.shape}: key[None] is of one head"
            )
    lengths = [len(prefix) for prefix in prefixes]
    if len(set(lengths)) > 1:
        raise ValueError(f"'{name}' must be of one length L in all layers, which share a mask, got {lengths}")
    return prefixes


def _whole(layer: Any, name: str) -> tuple[Any, Any]:
    """Return the keys and values of a layer of a cache, or of a pair, checked to be those of all tokens."""
    key: Any
    if hasattr(layer, "get_seq_length"):
        key, value = getattr(layer, "keys", None), getattr(layer, "values", None)
        lost = getattr(key, "ndim", 0) == 4 and key.shape[-2] != int(layer.get_seq_length())
    else:
        try:
            key, value, *extras = layer
        except (TypeError, ValueError):
            raise TypeError(f"'{name}' must be a pair of keys and values, got a {type(layer).__name__}") from None
        window = extras[0] if extras and getattr(extras[0], "ndim", None) == 0 else None  # as transformers iterates
        lost = window is not None and getattr(key, "ndim", 0) == 4 and key.shape[-2] >= int(window) - 1
    if lost:
        raise ValueError(
            f"'{name}' must hold all tokens that the model has read, got {key.shape[-2]} rows of a sliding window, or "
            "of a cache that is compacted, static or quantized: have the model fill a plain DynamicCache()"
        )
    return key, value


def _of_batch(tensor: Any, name: str) -> Any:
    """Return the keys or values (heads, L, s) that all sequences of a batch have."""
    if tensor is None:
        raise ValueError(f"'{name}' must be a tensor, got None: this layer of the cache is empty, or has no attention")
    array = finite(tensor, name)
    if array.ndim != 4 or not len(array):
        raise ValueError(f"'{name}' must have shape (batch, heads, L, s), got {array.shape}")
    if not np.array_equal(array, np.broadcast_to(array[:1], array.shape)):
        raise ValueError(f"'{name}' must have one prefix, got {len(array)} sequences that differ: key[:1] is of one")
    return array[0]
