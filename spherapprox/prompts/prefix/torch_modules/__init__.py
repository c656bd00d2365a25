"""Prefixes in torch: attention with a trainable prefix, caches of transformers, embeddings of PEFT."""

from typing import Any

from .... import _extras
from ...._checks import needs

with needs("PyTorch", "spherapprox.prompts.prefix.torch_modules", "torch"):
    import torch as torch

from .attention import PrefixAttention
from .interchange import dynamic_cache, from_past_key_values, from_prompt_embeddings, past_key_values, prompt_embeddings
from .programmed import ProgrammedAttention, program_module
from .projections import head_inputs

__all__ = [
    "PrefixAttention",
    "ProgrammedAttention",
    "dynamic_cache",
    "from_past_key_values",
    "from_prompt_embeddings",
    "head_inputs",
    "past_key_values",
    "program_module",
    "prompt_embeddings",
]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)  # compaction, heads, models
