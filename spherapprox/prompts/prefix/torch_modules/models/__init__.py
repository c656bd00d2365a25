"""Attention layers of models of transformers: read by what they compute, as arrays, with prefixes in closed form."""

from ....._checks import needs

with needs("transformers", "prompts.prefix.of_model", "interop"):
    import transformers as transformers

from .layers import LayerRecord
from .model import ModelAttention
from .reading import LayerReading, Reading

__all__ = ["LayerReading", "LayerRecord", "ModelAttention", "Reading"]
