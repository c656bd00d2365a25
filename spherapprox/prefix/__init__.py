"""Prefixes of attention heads and layers: what they do, can and cannot do, and how to make them."""

from .api import compress, select
from .interpolation import FittedPrefix, fit_layer, fit_prefix
from .layer import AttentionLayer
from .programmed import ProgrammedPrefix
from .programming import program
from .reading import as_layer
from .result import CompressedPrefix, Trial
from .rows import Prefix

__all__ = [
    "AttentionLayer",
    "CompressedPrefix",
    "FittedPrefix",
    "Prefix",
    "ProgrammedPrefix",
    "Trial",
    "as_layer",
    "compress",
    "fit_layer",
    "fit_prefix",
    "program",
    "select",
]
