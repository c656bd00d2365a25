"""What modules of programs share: checks of inputs and bounds, and parameters that are copied from arrays."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch

from ...._types import Float64
from ....heads.torch_modules.tensors import fits_dtype, held, look
from ..network import Network


def check_input(module: Any, x: Any, dim: int) -> None:
    """Check that x is a tensor of sequences for a module, and the module as it was made."""
    like = module.readout.weight
    if like.dtype != module.dtype:
        remedy = f"to_torch({module.kind!r}, dtype=...) makes others"
        raise TypeError(f"the module must keep {module.dtype}, which its gates are for, got {like.dtype}: {remedy}")
    if not isinstance(x, torch.Tensor):
        remedy = f"torch.as_tensor(x, dtype={like.dtype}) makes one"
        raise TypeError(f"'x' must be a Tensor, got {type(x).__name__}: {remedy}")
    if x.ndim not in (2, 3) or x.shape[-1] != dim:
        raise ValueError(f"'x' must have shape (L, {dim}) or (batch, L, {dim}), got {tuple(x.shape)}")
    if not fits_dtype(x, like.dtype):
        raise TypeError(f"'x' must be of the module's dtype {like.dtype}, got {x.dtype}: x.to({like.dtype}) is")
    if x.device != like.device:
        raise ValueError(f"'x' must be on the module's device {like.device}, got {x.device}: x.to() moves it")
    if look(lambda x: [torch.isfinite(x).all()], x) == [0.0]:
        raise ValueError("'x' must be finite, got inf or nan")


def value_bound_of(network: Network, kind: str, value_bound: float | None) -> float:
    """Return a bound of all values of layers: what is given, or the network's own."""
    bound = network.value_bound if value_bound is None else value_bound
    if bound is None:
        raise ValueError(
            f"'value_bound' must be given, as bounds of variables of {network!r} are missing: recurrent.validate("
            f"program, {kind!r}) says which, and value_bound= stands for all"
        )
    return bound


def copy(module: Any, arrays: dict[str, Float64]) -> None:
    """Set parameters of a module."""
    with torch.no_grad():
        for name, array in arrays.items():
            parameter = getattr(module, name)
            parameter.copy_(held(array, parameter.dtype, "network"))


def precise(x: Any) -> Any:
    """Return the context in which a GPU does not round float32 to 10 bits."""
    if not x.is_cuda:
        return nullcontext()
    now = torch.backends.cudnn
    return now.flags(enabled=now.enabled, benchmark=now.benchmark, deterministic=now.deterministic, allow_tf32=False)
