"""Heads as `torch.nn.Module`: split and classical heads as torch's own attention, and the core head as its sum."""

try:
    import torch as torch
except ImportError as error:
    raise ImportError('to_torch needs PyTorch: pip install "spherapprox[torch]"') from error

from .classical import ClassicalAttention
from .kernel_sums import ExponentialSum, SplitAttention

__all__ = ["ClassicalAttention", "ExponentialSum", "SplitAttention"]
