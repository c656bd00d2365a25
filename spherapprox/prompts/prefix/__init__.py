"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _extras
from .compression.api import compress, select
from .compression.result import CompressedPrefix as CompressedPrefix
from .compression.result import Trial as Trial
from .compression.search import Descent
from .figures import draw_shares, draw_weights
from .fits.interpolation import FittedPrefix as FittedPrefix
from .fits.interpolation import fit_layer, fit_prefix
from .layer.effect import NextLogits as NextLogits
from .layer.effect import PrefixEffect as PrefixEffect
from .layer.effect import prefix_effect
from .layer.layer import AttentionLayer
from .layer.reading import as_layer
from .layer.rows import Prefix
from .layer.share import context, prefix_share
from .limits.by_layer import LayerReachability as LayerReachability
from .limits.by_layer import reachable_by_layer
from .limits.collision import collision, unavoidable_error
from .limits.floors import Floor as Floor
from .limits.floors import prefix_floor
from .limits.reachability import Reachability as Reachability
from .limits.reachability import reachable
from .limits.wishes import Limits
from .programs.programmed import ProgrammedPrefix as ProgrammedPrefix
from .programs.programming import program
from .programs.virtual import VirtualToken

if TYPE_CHECKING:
    from .torch_modules.compaction.api import compress_cache
    from .torch_modules.compaction.result import load_cache
    from .torch_modules.heads.api import compress_heads
    from .torch_modules.models.compressing import ShortenedHead
    from .torch_modules.models.distillation import distill_prefix
    from .torch_modules.models.divergence import Divergence, next_token_divergence
    from .torch_modules.models.generation import prefixed_inputs
    from .torch_modules.models.model import of_model
    from .torch_modules.models.positions import turn_keys
    from .torch_modules.models.shortening import ShortenedPrefix, shorten_prefix

__all__ = [
    "AttentionLayer",
    "Descent",
    "Divergence",
    "Limits",
    "Prefix",
    "ShortenedHead",
    "ShortenedPrefix",
    "VirtualToken",
    "as_layer",
    "collision",
    "compress",
    "compress_cache",
    "compress_heads",
    "context",
    "distill_prefix",
    "draw_shares",
    "draw_weights",
    "fit_layer",
    "fit_prefix",
    "load_cache",
    "next_token_divergence",
    "of_model",
    "prefix_effect",
    "prefix_floor",
    "prefix_share",
    "prefixed_inputs",
    "program",
    "reachable",
    "reachable_by_layer",
    "select",
    "shorten_prefix",
    "turn_keys",
    "unavoidable_error",
]


_OF_TORCH = {
    "Divergence": "models.divergence",
    "ShortenedHead": "models.compressing",
    "ShortenedPrefix": "models.shortening",
    "compress_cache": "compaction.api",
    "compress_heads": "heads.api",
    "distill_prefix": "models.distillation",
    "load_cache": "compaction.result",
    "next_token_divergence": "models.divergence",
    "of_model": "models.model",
    "prefixed_inputs": "models.generation",
    "shorten_prefix": "models.shortening",
    "turn_keys": "models.positions",
}
"""Public names that need torch, all but `compress_heads` transformers too, each with its module in torch_modules."""


def __getattr__(name: str) -> Any:
    if name in _OF_TORCH:
        return _extras.load(f"{__name__}.torch_modules.{_OF_TORCH[name]}", name)
    return _extras.load_submodule(__name__, name)  # torch_modules


def __dir__() -> list[str]:
    return sorted(__all__)
