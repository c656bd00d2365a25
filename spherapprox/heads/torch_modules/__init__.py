"""Heads as `torch.nn.Module`: split and classical heads as torch's own attention, and the core head as its sum."""

from ..._checks import needs

with needs("PyTorch", "to_torch", "torch"):
    import torch as torch

from .classical import ClassicalAttention
from .kernel_sums import ExponentialSum, SplitAttention

__all__ = ["ClassicalAttention", "ExponentialSum", "SplitAttention"]
