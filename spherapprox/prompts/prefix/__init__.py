"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from typing import Any

from ... import _extras
from .caches import compress_cache
from .compression.api import compress, select
from .compression.result import CompressedPrefix as CompressedPrefix
from .compression.result import Trial as Trial
from .compression.search import Descent
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

__all__ = [
    "AttentionLayer",
    "Descent",
    "Limits",
    "Prefix",
    "VirtualToken",
    "as_layer",
    "collision",
    "compress",
    "compress_cache",
    "context",
    "fit_layer",
    "fit_prefix",
    "prefix_effect",
    "prefix_floor",
    "prefix_share",
    "program",
    "reachable",
    "reachable_by_layer",
    "select",
    "unavoidable_error",
]


def __getattr__(name: str) -> Any:
    return _extras.load_submodule(__name__, name)  # torch_modules


def __dir__() -> list[str]:
    return sorted(__all__)
