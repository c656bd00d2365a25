"""Prefixes of attention heads: what a long one does, with few tokens."""

from .api import compress, select
from .result import CompressedPrefix, Trial

__all__ = ["CompressedPrefix", "Trial", "compress", "select"]
