"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from .api import compress, select
from .layer import AttentionLayer
from .reading import as_layer
from .result import CompressedPrefix, Trial
from .rows import Prefix

__all__ = ["AttentionLayer", "CompressedPrefix", "Prefix", "Trial", "as_layer", "compress", "select"]
