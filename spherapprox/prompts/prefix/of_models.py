"""`of_model`: the attention layers of a model of transformers, for which torch is loaded when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._loading import load

if TYPE_CHECKING:
    from .torch_modules.models.model import ModelAttention


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
    found: ModelAttention = load(f"{__package__}.torch_modules.models.model").read_layers(model, **inputs)
    return found
