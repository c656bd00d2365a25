"""Attention heads as tensors made shorter: tokens chosen or fitted, for many heads together."""

from .options import FitOptions, HeadOptions
from .result import CompressedHeads

__all__ = ["CompressedHeads", "FitOptions", "HeadOptions"]
