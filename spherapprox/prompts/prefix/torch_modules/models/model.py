"""`ModelAttention`: the attention layers of a model of transformers, read by what they compute."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate
from transformers import PreTrainedModel

from ....._checks import integer, show
from ....._types import Float64
from ...fits.interpolation import FittedPrefix
from ...layer.layer import AttentionLayer
from .calls import base_of, find_output, make_inputs, run
from .checking import check_weights, checked_inputs
from .fitting import fit_prefixes
from .layers import LayerRecord, find_layers, find_remedy
from .probing import read_layer
from .reading import Reading
from .recording import measure_prefix, read_model


@dataclass(frozen=True, eq=False)
class ModelAttention:
    """The attention layers of a model: `of_model` makes one.

    Parameters
    ----------
    model : transformers.PreTrainedModel or peft.PeftModel
        It is neither copied nor changed.
    layers : tuple of LayerRecord
        A record for each call of an attention layer, in the order of the calls.
    inputs : dict
        Those by which the layers were found.

    Raises
    ------
    TypeError, ValueError
        By methods, for inputs that do not fit.

    Notes
    -----
    All methods run the model as in evaluation, without dropout and without graphs, and leave it as it was.

    Examples
    --------
    >>> import torch, transformers
    >>> from spherapprox.prompts.prefix import of_model
    >>> torch.manual_seed(0)
    <torch._C.Generator object at ...>
    >>> config = transformers.LlamaConfig(
    ...     vocab_size=50, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    ...     num_key_value_heads=2, bos_token_id=0, eos_token_id=1)
    >>> model = transformers.LlamaForCausalLM(config)
    >>> attention = of_model(model)
    >>> print(attention.table())
      layer  module                    kind      heads    keys    s    p  window    cap    bias
    -------  ------------------------  ------  -------  ------  ---  ---  --------  -----  ------
          0  model.layers.0.self_attn  self          4       2    8    8  -         -      -
          1  model.layers.1.self_attn  self          4       2    8    8  -         -      -
    >>> prompt, content = torch.arange(40)[None], torch.arange(30)[None]
    >>> long = transformers.DynamicCache()
    >>> answer = model(prompt, cache=long)
    >>> reading = attention.read(input_ids=content, cache=long)
    >>> reading, reading.share(40).shape
    (Reading(layers=2, sequences=1, tokens=30), (2, 4))
    >>> attention.as_layer(1, position=10)
    AttentionLayer(d=32, heads=4, key_value_heads=2, s=8, p=8)
    >>> prefixes = attention.fit(reading, 4, input_ids=content)  # 4 tokens for 40
    >>> attention.prefix_share(prefixes, input_ids=content).shape
    (2, 4)
    """

    model: Any
    layers: tuple[LayerRecord, ...]
    inputs: dict[str, Any]

    def __repr__(self) -> str:
        return f"ModelAttention({type(base_of(self.model)).__name__}, layers={len(self.layers)})"

    def table(self) -> str:
        """Return the records of the layers as a text table."""
        head = ["layer", "module", "kind", "heads", "keys", "s", "p", "window", "cap", "bias"]
        rows = [
            [r.index, r.name, r.kind, r.heads, r.key_value_heads, r.head_dim, r.value_dim,
             r.window or "-", r.softcap or "-", "positions" if r.positions else "-"]
            for r in self.layers
        ]  # fmt: skip
        return tabulate(rows, head)

    def read(self, *, queries: int | None = None, layers: Any = None, **inputs: Any) -> Reading:
        """Run the model once and keep what its attention layers compute.

        Parameters
        ----------
        queries : int, optional
            At most so many tokens of each sequence have their queries kept, evenly spaced, the last one among them; all
            by default. Keys and values are kept of all.
        layers : sequence of int or str, optional
            Indices, or names, of the layers that are kept; all by default.
        inputs : dict
            What the model takes: ``**tokenizer(text, return_tensors="pt")``. A cache stays as it is.

        Returns
        -------
        Reading
            Tensors in the model's dtype, on its device: for each layer about ``batch * tokens * (2 heads + 2 keys) *
            s`` numbers.

        Raises
        ------
        TypeError, ValueError
            If inputs are none of the model's, or run through other layers than those of the records.
        """
        count = None if queries is None else integer(queries, "queries", minimum=1)
        names = layers if isinstance(layers, Iterable) and not isinstance(layers, str) else [layers]
        chosen = self.layers if layers is None else [self._layer(layer, "layers") for layer in names]
        if not chosen:
            raise ValueError("'layers' must name a layer, got none")
        return read_model(self.model, self.layers, checked_inputs(self.model, inputs), count, chosen)

    def prefix_share(self, prefix: Any = None, **inputs: Any) -> Float64:
        """Compute the share of attention that a prefix takes in each layer and head.

        Parameters
        ----------
        prefix : sequence of Prefix, or transformers.Cache, optional
            A prefix for each layer of the cache, or a cache, which stays as it is. By default what a model of PEFT has
            of its own: by prefix tuning, or, in a decoder alone, by virtual tokens before its inputs.
        inputs : dict
            What the model takes, for the content alone: masks are extended by the prefix's columns.

        Returns
        -------
        ndarray, shape (layers, heads)
            Of layers with a cache, in the order of the calls: means over tokens that are no padding, as
            `Reading.share` has them.

        Raises
        ------
        TypeError, ValueError
        """
        return measure_prefix(self.model, self.layers, prefix, checked_inputs(self.model, inputs))

    def as_layer(self, layer: int | str, *, position: int = 0) -> AttentionLayer:
        """Return an attention layer's weights as arrays, in float64, as the module computes with them at a position.

        Parameters
        ----------
        layer : int or str
            The index of a record, or its name.
        position : int, default 0
            The place of what asks and answers. Rotary positions turn queries and keys, by a matrix that is fixed at a
            place: the layer then is that of tokens at this place; keys of a prefix are free, and are those of the
            cache. Others do not depend on it.

        Returns
        -------
        AttentionLayer
            Adapters of PEFT are part of it, merged or not. Its inputs are the module's: behind the norm before it. A
            copy of the module in float64 is probed, by zeros and unit vectors, and the layer checked against it at
            random inputs, to 1e-5 of the outputs' size.

        Raises
        ------
        TypeError, ValueError
            If queries, keys or values are no affine functions of inputs, as with norms of Qwen 3 and Gemma 3, or logits
            are capped or have biases by positions: no `AttentionLayer` has that, `read` and `fit` do.
        """
        record = self._layer(layer, "layer")
        place = integer(position, "position", minimum=0)
        return read_layer(self.model, record, self.inputs, place)

    def fit(
        self, targets: Reading, length: int, *, examples: int = 1024, rng: Any = 0, **inputs: Any
    ) -> tuple[FittedPrefix, ...]:
        """Fit prefixes of all layers to what their outputs are to be, in closed form, in one run of the model.

        Layer by layer from the first, with the prefixes of the layers before in place: keys are those of `fit_layer`,
        values those of least squares of the layer's outputs, of all heads at once, behind what joins the heads.

        Parameters
        ----------
        targets : Reading
            The layers' outputs that are wanted, for the same tokens: read with a long prompt in the cache, with an
            adapter, or of another model of the same shape. If it has fewer queries, these are the examples.
        length : int
            Tokens of the prefixes, the same in all layers.
        examples : int, default 1024
            At most so many tokens are fitted to, chosen at random.
        rng : int or Generator, default 0
            By which they are.
        inputs : dict
            What the model takes, for the content alone: masks are extended by the prefix's columns. The content's
            positions begin at `length`, as the model and PEFT place it behind a cache, unless `position_ids` say
            otherwise.

        Returns
        -------
        tuple of FittedPrefix
            One for each layer of the cache, of shapes (key_value_heads, length, ...), for `dynamic_cache`; errors are
            those of the layer's outputs at the examples. In the root mean square no layer is farther from its targets
            than without a prefix, but by roundings, or there is a warning that says so.

        Raises
        ------
        TypeError, ValueError
            If the model has a prefix of its own, keeps no cache, or targets are of other tokens or layers.

        Warns
        -----
        RuntimeWarning
            If some layer is farther from its targets than without a prefix.
        """
        return fit_prefixes(
            self.model, self.layers, targets, checked_inputs(self.model, inputs),
            length=integer(length, "length", minimum=1), examples=integer(examples, "examples", minimum=1), rng=rng,
        )  # fmt: skip

    def _layer(self, layer: Any, name: str) -> LayerRecord:
        """Return the record of an index or a name."""
        for record in self.layers:
            if layer in (record.index, record.name) and not isinstance(layer, bool):
                return record
        example = self.layers[-1].name
        raise ValueError(
            f"'{name}' must be from 0 to {len(self.layers) - 1}, or a name as {example!r}, got {show(layer)}"
        )


def of_model(model: Any, **inputs: Any) -> ModelAttention:
    """Read the attention layers of a model of transformers, or of PEFT, by what they compute.

    Parameters
    ----------
    model : transformers.PreTrainedModel or peft.PeftModel
        With adapters, merged or not, or with a prefix of PEFT. It is run twice, with its own attention and with one
        that is watched, and has to compute the same; it is not changed.
    inputs : dict
        What it takes; a few tokens by default. Layers that these do not reach are not read.

    Returns
    -------
    ModelAttention
        Its records of the layers; methods read queries, keys, values and weights, shares of prefixes, the layers as
        affine maps, and fit prefixes in closed form.

    Raises
    ------
    ImportError
        If transformers is not installed.
    TypeError, ValueError
        If it is no such model, needs inputs of its own, has layers that attend by themselves, carry tokens in another
        way or have attention sinks, or computes something else by attention that is watched than by its own.

    Notes
    -----
    Layers are watched in transformers' AttentionInterface: what they hand to it is behind rotary positions, norms and
    adapters, and heads may share keys. Outputs agree if they differ by less than the root of the dtype's roundoff,
    or of float32's if it is larger, times their largest. See `ModelAttention`.

    Examples
    --------
    >>> import torch, transformers
    >>> from spherapprox.prompts.prefix import of_model
    >>> config = transformers.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2, n_head=2)
    >>> attention = of_model(transformers.GPT2LMHeadModel(config))
    >>> attention
    ModelAttention(GPT2LMHeadModel, layers=2)
    >>> attention.layers[0].name, attention.layers[0].head_dim
    ('transformer.h.0.attn', 8)
    """
    model = getattr(model, "_orig_mod", model)  # what torch.compile wraps
    if not isinstance(base_of(model), PreTrainedModel):
        kind = type(model).__name__
        raise TypeError(
            f"'model' must be a PreTrainedModel of transformers or a PeftModel, got a {kind}: {find_remedy(model)}"
        )
    check_weights(base_of(model))
    arguments = checked_inputs(model, inputs) if inputs else make_inputs(model)
    try:
        expected = find_output(run(model, arguments))
    except Exception as error:
        if inputs:
            raise
        raise TypeError(
            "'model' must run on a few tokens, or be given inputs of its own, of_model(model, ...); "
            f"{type(base_of(model)).__name__} says: {error}"
        ) from error
    return ModelAttention(model, find_layers(model, arguments, expected), arguments)
