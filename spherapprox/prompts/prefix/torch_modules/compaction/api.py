"""`compress_cache`: the cache of a whole model made shorter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import EncoderDecoderCache, PreTrainedModel
from transformers.cache_utils import (
    CacheLayerMixin,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionCacheLayerMixin,
)

from ..... import _checks
from ..heads.options import CONTEXT, METHODS
from ..heads.problem import FOLDS
from ..heads.shortening import Plan, warn_of_few
from ..models.checking import check_cache, check_weights
from ..models.reading import Reading
from .cache import CompactedLayer, copied
from .collecting import collect, read_context, take_queries
from .inputs import Inputs, real_tokens
from .options import CacheOptions
from .result import CacheCompaction
from .slopes import check_slopes, measure_slopes
from .work import Work, holds_tokens

_RANDOM, _PIECE = 1024, 64
"""Random tokens that are read where there is no text, and tokens of a context that are worth being read anew."""


def compress_cache(
    model: Any, cache: Any, *, text: Any = None, context: Any = None, ratio: float = 0.1, method: str = "descent",
    bias: bool = True, options: CacheOptions | None = None,
) -> CacheCompaction:  # fmt: skip
    """Compress the cache of a model of transformers: few tokens in each head that act as all that it has read.

    Parameters
    ----------
    model : transformers.PreTrainedModel
        In evaluation; a decoder, or an encoder-decoder model, whose cross-attention is kept as it is.
    cache : transformers.DynamicCache or EncoderDecoderCache
        What the model has made of the n tokens of a context. It is not changed.
    text : ids, dict of inputs, a list of such, or Reading, optional
        What is read behind the context, each text anew, for the queries at which the few tokens have to act as all:
        token ids (T,), (1, T) or (batch, T), or what the model takes, as a tokenizer returns it (of an encoder-decoder
        model with ``decoder_input_ids``). The closer it is to what will be asked, the better. Or the queries of one:
        ``of_model(model).read(input_ids=ids, cache=cache)``.
    context : ids or dict of inputs, optional
        The n tokens that the cache is of. Its mask says what is padding, on the left, which is never kept. Where no
        text is given, it is read once more behind itself, in pieces as long as there are positions for, or, if there
        are none, its own queries are taken. With neither, random tokens are read.
    ratio : float, default 0.1
        Tokens of each head that are left, over n, in (0, 1].
    method : str, default "descent"
        One of those in Notes.
    bias : bool, default True
        Whether tokens have biases that stand for the mass of those left out. The cache then needs a model that attends
        by this library, ``model.set_attn_implementation("spherapprox")``: other attention, and a compiled model,
        raise. Without, any does.
    options : CacheOptions, optional
        Queries, budgets by head, limits of work and time; ``CacheOptions()`` by default.

    Returns
    -------
    CacheCompaction
        Its `cache` is one of transformers of the same length n, which models and ``generate`` take as they did the
        whole one: positions, masks of n + T columns, beams and batches stay as they are. Its `table` has tokens and
        errors of each head at queries that were held out, every fifth token's of the text; `compare` says how logits
        of the next token agree; `save` writes it.

    Raises
    ------
    ImportError
        If transformers is not installed.
    TypeError, ValueError
        If arguments do not fit together, the model is in training, adds biases by position to its logits (T5, ALiBi),
        has attention sinks or attends by itself, or the cache is compacted, static, quantized, not finite, or padded on
        the right.

    Warns
    -----
    RuntimeWarning
        If queries are so few that errors elsewhere may be several times larger.

    Notes
    -----
    Methods, the most accurate first; all but the last four find biases by nonnegative least squares of the mass and
    values by least squares of the outputs:

    - "descent": keys and biases are free, found by L-BFGS with the values eliminated, from means of clusters of keys
      and from the next one's. Every fifth query of the fit is kept out of it, and says when to stop and in which heads
      the next one is better; that it is, too, where a descent is too much work (`CacheOptions`), or numbers at the
      queries are less than three times the free ones.
    - "attention matching": keys are chosen by matching pursuit of the mass (Zweiger et al.), some at once.
    - "top attention": keys with the largest root mean square of attention; the fastest of these.
    - "snapkv", "h2o": the published choices by the context's own attention, which is read for it; "recent", "uniform":
      the last tokens, and such at even distances. Keys and values stay, and there are no biases.

    A layer with a sliding window that the context has filled keeps it; one that has not is compacted by selection, and
    tokens leave the window at their own positions. Logits behind a softcap are fitted as they are computed. Each
    sequence of a batch is compacted for itself. Work is done in float32, least squares and models of float64 in
    float64, where the cache is, on a GPU too; beside one layer's keys, values and queries some 2 GiB are held at most.
    Errors with each method, seconds and memory, on a model trained with 4096 tokens of context, are measured by
    benchmarks/cache_compaction.py: there the context read anew serves as well as texts that go on with it, and random
    tokens are the last resort, with divergences one and a half to two times as large.

    References
    ----------
    Zweiger, Fu, Guo and Kim (2026), Fast KV Compaction via Attention Matching, arXiv:2602.16284; Li et al. (2024),
    SnapKV, arXiv:2404.14469; Zhang et al. (2023), H2O: Heavy-Hitter Oracle, arXiv:2306.14048.

    Examples
    --------
    >>> import torch, transformers
    >>> from spherapprox.prompts.prefix import compress_cache
    >>> config = transformers.LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=32, num_hidden_layers=2,
    ...     num_attention_heads=4, num_key_value_heads=2, bos_token_id=0, eos_token_id=None)
    >>> model = transformers.LlamaForCausalLM(config).eval()
    >>> ids = torch.randint(50, (1, 60), generator=torch.Generator().manual_seed(0))
    >>> cache = model(ids[:, :50]).cache
    >>> short = compress_cache(model, cache, context=ids[:, :50], method="top attention")
    >>> short.cache.get_seq_length(), {record.tokens for record in short.records}
    (50, {5})
    >>> with short.attending(model):
    ...     model.generate(ids, cache=short.cache, max_new_tokens=3).shape
    torch.Size([1, 63])
    """
    # Step 1: check the arguments
    options = CacheOptions() if options is None else _checks.instance(options, "options", CacheOptions)
    share = _checks.real(ratio, "ratio", above=0.0, maximum=1.0)
    plan = Plan(_checks.choice(method, "method", METHODS), _checks.flag(bias, "bias"), options)
    layers, cross = _parts(model, cache)
    first = next((layer for layer in layers if holds_tokens(layer)), None)
    if first is None:
        raise ValueError("'cache' must hold tokens in a layer of attention, got none: let the model read a text")
    batch, length = len(first.keys), int(cache.get_seq_length())
    count = min(max(round(share * length), 1), length)
    # Step 2: queries
    texts, whole = _texts(model, text, context, batch=batch, length=length)
    if plan.method in CONTEXT and whole is None:
        raise TypeError(f"method={plan.method!r} chooses by what the context attends to: give its ids as 'context'")
    masks = ([] if whole is None else [whole.mask]) + [one.before for one in texts if one.before is not None]
    real = real_tokens(masks[:1], batch, length, device=first.keys.device)
    _check_finite(layers, real)
    by_error, slopes = options.budget == "error" and count < length, None
    if by_error:
        check_slopes(model, text)
    if isinstance(text, Reading):
        queries, sources = take_queries(text, batch, options.queries), "reading"
    else:
        read, sources = _sources(model, texts, whole, real)
        if sources == "context":
            queries = read_context(model, read[0], options.queries)
        else:
            queries = collect(model, cache, read, real, options.queries)
        if by_error:
            slopes = measure_slopes(model, None if sources == "context" else cache, read, real)
    own = read_context(model, whole, options.queries) if whole is not None and plan.method in CONTEXT else {}
    # Step 3: tokens
    work = Work(layers, queries, own, real, plan, count, slopes)
    with torch.no_grad():
        compacted = tuple(work.run())
    warn_of_few(work.coverage, "text", count, "ratio")
    return CacheCompaction(tuple(work.records), plan.method, length, sources, compacted, cross)


def _parts(model: Any, cache: Any) -> tuple[list[CacheLayerMixin], tuple[CacheLayerMixin, ...] | None]:
    """Return the layers of a cache, checked, and those of cross-attention, which are kept."""
    _checks.instance(
        model, "model", PreTrainedModel, remedy="of PEFT: model.get_base_model(), of torch.compile: model._orig_mod"
    )
    check_weights(model)
    if model.training:
        raise ValueError("'model' must compute the same each time: model.eval()")
    check_cache(model, cache, "cache")
    cross = None
    if isinstance(cache, EncoderDecoderCache):
        cross = tuple(copied(layer) for layer in cache.cross_attention_cache.layers)
        cache = cache.self_attention_cache
    for number, layer in enumerate(cache.layers):
        if isinstance(layer, CompactedLayer):
            raise ValueError("'cache' must be a whole one, got one that is compacted: take a smaller 'ratio' at once")
        if type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) and not isinstance(
            layer, LinearAttentionCacheLayerMixin
        ):
            raise TypeError(
                f"'cache' must be a DynamicCache, layer {number} is a {type(layer).__name__}: let the model fill a "
                "DynamicCache(config=model.config)"
            )
    return list(cache.layers), cross


def _check_finite(layers: list[CacheLayerMixin], real: torch.Tensor) -> None:
    for number, layer in enumerate(layers):
        if holds_tokens(layer):
            finite = (layer.keys.isfinite().all(-1) & layer.values.isfinite().all(-1)).all(1)
            if not bool((finite | ~real[:, -finite.shape[1] :]).all()):
                raise ValueError(
                    f"'cache' must be finite, layer {number} has nan or inf: so have the model's weights, often"
                )


def _texts(model: Any, text: Any, context: Any, *, batch: int, length: int) -> tuple[list[Inputs], Inputs | None]:
    """Return the texts, and the context, that are given."""
    several = isinstance(text, Sequence) and len(text) > 0 and isinstance(text[0], Mapping | torch.Tensor)
    parts = [] if text is None or isinstance(text, Reading) else list(text) if several else [text]
    names = [f"text[{number}]" if several else "text" for number in range(len(parts))]
    texts = [Inputs.of(one, name, model, batch=batch, length=length) for one, name in zip(parts, names, strict=True)]
    whole = None if context is None else Inputs.of(context, "context", model, batch=batch, length=0)
    if whole is not None and whole.ids.shape[1] != length:
        raise ValueError(f"'context' must have the {length} tokens that the cache has read, got {whole.ids.shape[1]}")
    return texts, whole


def _sources(model: Any, texts: list[Inputs], whole: Inputs | None, real: torch.Tensor) -> tuple[list[Inputs], str]:
    """Return what is read for the queries, behind the cache but where it is the "context" itself, and where from."""
    if texts:
        return texts, "text"
    places = getattr(model.config.get_text_config(decoder=True), "max_position_embeddings", None) or math.inf
    length = real.shape[1]
    free = places - length
    if whole is not None and free >= min(length, _PIECE):
        return whole.split(int(min(length, free))), "context, repeated"
    if whole is not None:
        return [whole], "context"
    generator = torch.Generator().manual_seed(0)
    size, number = model.get_input_embeddings().weight.shape[0], int(min(_RANDOM, free))
    if number < FOLDS:
        raise ValueError(f"'text' or 'context' must be given: the model has no {FOLDS} positions left")
    ids = torch.randint(size, (number,), generator=generator)
    return [Inputs.of(ids, "text", model, batch=len(real), length=length)], "random tokens"
