"""Caches of whole models made shorter: queries collected, tokens chosen or fitted, a cache that `generate` takes."""

from ....._checks import needs

with needs("transformers", "spherapprox.prompts.prefix.torch_modules.compaction", "interop"):
    import transformers as transformers

from .cache import CompactedCache, CompactedLayer
from .options import CacheOptions
from .result import Agreement, CacheCompaction, HeadRecord, load_cache

__all__ = [
    "Agreement",
    "CacheCompaction",
    "CacheOptions",
    "CompactedCache",
    "CompactedLayer",
    "HeadRecord",
    "load_cache",
]
