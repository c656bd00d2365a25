"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from .api import compress, select
from .floors import Floor, prefix_floor
from .layer import AttentionLayer
from .reading import as_layer
from .result import CompressedPrefix, Trial
from .rows import Prefix

__all__ = [
    "AttentionLayer",
    "CompressedPrefix",
    "Floor",
    "Prefix",
    "Trial",
    "as_layer",
    "compress",
    "prefix_floor",
    "select",
]
