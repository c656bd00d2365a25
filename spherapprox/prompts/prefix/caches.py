"""`compress_cache`: the cache of a whole model made shorter, for which torch is loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._loading import load

if TYPE_CHECKING:
    from .torch_modules.compaction.options import CacheOptions
    from .torch_modules.compaction.result import CacheCompaction


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
    text : ids, dict of inputs, or a list of such, optional
        What is read behind the context, each text anew, for the queries at which the few tokens have to act as all:
        token ids (T,), (1, T) or (batch, T), or what the model takes, as a tokenizer returns it (of an encoder-decoder
        model with ``decoder_input_ids``). The closer it is to what will be asked, the better.
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
        by this library, ``model.set_attn_implementation("spherapprox")``: other attention raises. Without, any does.
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
        has attention sinks or attends by itself, or the cache is compacted, static, quantized, or padded on the right.

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
      the next one is better; that it is, too, where a descent is too much work (`CacheOptions`).
    - "attention matching": keys are chosen by matching pursuit of the mass (Zweiger et al.), some at once.
    - "top attention": keys with the largest root mean square of attention; the fastest of these.
    - "snapkv", "h2o": the published choices by the context's own attention, which is read for it; "recent", "uniform":
      the last tokens, and such at even distances. Keys and values stay, and there are no biases.

    A layer with a sliding window that the context has filled keeps it; one that has not is compacted by selection, and
    tokens leave the window at their own positions. Logits behind a softcap are fitted as they are computed. Each
    sequence of a batch is compacted for itself. Work is done in float32, least squares in float64, where the cache is,
    on a GPU too; beside one layer's keys, values and queries in float32 some 2 GiB are held at most.
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
    found: CacheCompaction = load(f"{__package__}.torch_modules.compaction.api").compact(
        model, cache, text=text, context=context, ratio=ratio, method=method, bias=bias, options=options
    )
    return found
