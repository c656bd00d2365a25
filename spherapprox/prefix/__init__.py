"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from .api import compress, select
from .by_layer import LayerReachability, reachable_by_layer
from .floors import Floor, prefix_floor
from .layer import AttentionLayer
from .reachability import Reachability, reachable
from .reading import as_layer
from .result import CompressedPrefix, Trial
from .rows import Prefix

__all__ = [
    "AttentionLayer",
    "CompressedPrefix",
    "Floor",
    "LayerReachability",
    "Prefix",
    "Reachability",
    "Trial",
    "as_layer",
    "compress",
    "prefix_floor",
    "reachable",
    "reachable_by_layer",
    "select",
]
