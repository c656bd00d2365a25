"""Compiled programs as torch's own RNN, LSTM and GRU, and as Hawk."""

from ...._checks import needs

with needs("PyTorch", "to_torch", "torch"):
    import torch as torch

from .blocks import RGLRU
from .hawk import HawkModule
from .stock import RecurrentModule

__all__ = ["RGLRU", "HawkModule", "RecurrentModule"]
