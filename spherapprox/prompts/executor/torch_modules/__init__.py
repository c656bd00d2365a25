"""Executors in torch, of its own attention and linear layers."""

from ...._checks import needs

with needs("PyTorch", "to_torch", "torch"):
    import torch as torch

from .module import ExecutorModule, ResidualBlock

__all__ = ["ExecutorModule", "ResidualBlock"]
