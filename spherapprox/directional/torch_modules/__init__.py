"""Distributions of directions as `torch.distributions`, in any dimension, and the Bessel functions they are made of."""

from ..._checks import needs

with needs("PyTorch", "spherapprox.directional.torch_modules", "torch"):
    import torch as torch

from .bessel import iv_ratio, log_iv
from .distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher

__all__ = ["HypersphericalUniform", "PowerSpherical", "VonMisesFisher", "iv_ratio", "log_iv"]
