"""Tensors of the modules of heads: making and checking them, and calling torch's attention a part at a time."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..._checks import flag, show
from ..._types import Float64, Floats
from ..classical import INTERACTIONS

if TYPE_CHECKING:
    from ..head import Head

NUMBERS = 2**24
"""Logits, or entries of tokens, that a call makes at a time; gradients keep those of all parts."""
LOGIT_ROUNDING = 0.01
"""Roundings of logits beyond which gradients need that logits are not computed twice."""
UNIT_TOLERANCE = (1e-3, 1e-2)
"""Largest deviations of lengths of rows from 1, the second in half precision: logits stretch as much."""
_USUAL = nullcontext()


class Whole(torch.nn.Module):
    """A module that loads a state as a whole or not at all."""

    def load_state_dict(self, state_dict: Any, strict: bool = True, assign: bool = False) -> Any:
        """Load a state as a whole or not at all: torch itself copies what fits before it complains of the rest."""
        torch.nn.Module.load_state_dict(copy.deepcopy(self), state_dict, strict, assign)
        return super().load_state_dict(state_dict, strict, assign)


class Stateful(Whole):
    """A module whose scalars are in its state_dict too."""

    scalars: ClassVar[dict[str, Callable[[float], Any]]]
    """What makes each of its number."""
    numbers_at_once: int = NUMBERS

    def get_extra_state(self) -> Any:
        """Return the scalars as a tensor, which every format of files holds."""
        numbers = [_number(getattr(self, name)) for name in self.scalars]
        return torch.tensor(numbers, dtype=torch.float64, device="cpu")

    def set_extra_state(self, state: Any) -> None:
        """Restore the scalars of `get_extra_state`."""
        for (name, kind), number in zip(self.scalars.items(), state.tolist(), strict=True):
            if not isinstance(getattr(self, name), torch.Tensor) and not (kind is float and math.isnan(number)):
                setattr(self, name, kind(number))


def _number(scalar: Any) -> float:
    """Return the number of a scalar: nan for None and for what is a tensor, a place for a word."""
    if scalar is None or isinstance(scalar, torch.Tensor):
        return math.nan
    return float(INTERACTIONS.index(scalar) if isinstance(scalar, str) else scalar)


def float_dtype(dtype: Any) -> Any:
    """Return torch.float32 or torch.float64, which is the default."""
    if dtype not in (None, torch.float32, torch.float64):
        raise TypeError(f"'dtype' must be torch.float32 or torch.float64, got {show(dtype)}")
    return torch.float64 if dtype is None else dtype


def make_options(head: Head, dtype: Any, device: Any, largest: float) -> dict[str, Any]:
    """Return the dtype and the device of a head's tensors, checked to hold its numbers."""
    if dtype is None:
        own = np.result_type(head.control_points, head.values)
        dtype = torch.float32 if own == np.float32 else torch.float64
    dtype = float_dtype(dtype)
    largest = max(largest, float(np.abs(head.values).max()))
    if largest > torch.finfo(dtype).max / 4.0:
        raise ValueError(
            f"'dtype' must hold the head's numbers, got {dtype} for numbers up to {largest:.3g}: take torch.float64"
        )
    return {"dtype": dtype, "device": device}


def hold(module: Any, name: str, array: Floats, trainable: bool, options: dict[str, Any]) -> None:
    """Register an array as a parameter of a module, or as a buffer."""
    tensor = torch.tensor(array, **options)
    if flag(trainable, "trainable"):
        module.register_parameter(name, torch.nn.Parameter(tensor))
    else:
        module.register_buffer(name, tensor)


def held(array: Float64, dtype: Any, owner: str) -> Any:
    """Return an array as a tensor that has a dtype in which none of its numbers is lost."""
    sizes = np.abs(array[array != 0.0])
    limits = torch.finfo(dtype)
    if sizes.size and not limits.tiny <= sizes.min() <= sizes.max() <= limits.max:
        raise ValueError(
            f"'dtype' must hold the {owner}'s numbers, got {dtype} for numbers from {sizes.min():.3g} to "
            f"{sizes.max():.3g}" + (": take torch.float64" if dtype != torch.float64 else "")
        )
    return torch.tensor(array, dtype=dtype, device="cpu")


def frozen_attention(query: Floats, key: Floats, value: Floats, options: dict[str, Any]) -> Any:
    """Return torch's attention of one head, frozen, from matrices (d, d) whose rows make outputs."""
    d = len(query)
    attention = torch.nn.utils.skip_init(  # the usual start would draw random numbers
        torch.nn.MultiheadAttention, d, 1, bias=False, batch_first=True, **options
    ).requires_grad_(False)
    with torch.no_grad():
        attention.in_proj_weight.copy_(torch.tensor(np.concatenate([query, key, value]), **options))
        attention.out_proj.weight.copy_(torch.eye(d, **options))
    return attention


def in_parts(function: Callable[[Any], Any], x: Any, numbers: int, *, limit: int = NUMBERS) -> Any:
    """Return a function's results for the items of x, a part at a time, each item taking some numbers."""
    if exported():
        return function(x)
    size = max(1, limit // numbers)
    return function(x) if len(x) <= size else torch.cat([function(part) for part in x.split(size)])


def exported() -> bool:
    """Tell whether a graph is made for any number of rows, which a part at a time would fix."""
    return torch.jit.is_tracing() or exporting()


def exporting() -> bool:
    """Tell whether `torch.export` makes the graph, which `torch.onnx` calls too."""
    return bool(getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)())


def look(statistics: Callable[[Any], Any], x: Any) -> list[float] | None:
    """Return statistics of a tensor as floats; None where it has none to read: in graphs, on "meta", under a vmap."""
    if torch.compiler.is_compiling() or torch.jit.is_tracing():  # asked for first: the rest is in no graph
        return None
    if x.numel() == 0 or (x.is_cuda and torch.cuda.is_current_stream_capturing()):
        return None
    numbers = statistics(x.detach() if x.requires_grad else x)
    try:
        return [float(number) for number in numbers]
    except RuntimeError:
        return None


def fits_dtype(x: Any, dtype: Any) -> bool:
    """Tell whether a tensor has a dtype, or autocast will see to it: float64 it leaves alone."""
    return x.dtype == dtype or (autocasts(x) and torch.float64 not in (x.dtype, dtype))


def autocasts(x: Any) -> bool:
    """Tell whether autocast is on where a tensor is: torch does not say of "meta"."""
    return not x.is_meta and torch.is_autocast_enabled(x.device.type)


def unrounded(x: Any) -> AbstractContextManager[Any]:
    """Return the context in which autocast does not round to half precision, in which programs do not run."""
    return torch.autocast(x.device.type, enabled=False) if autocasts(x) else nullcontext()


def check(x: Any, like: Any, width: int, *, sequences: bool = False) -> None:
    """Check that x is a tensor of unit rows in the module's space, of the dtype of its tensors."""
    if not isinstance(x, torch.Tensor):
        remedy = f"torch.as_tensor(x, dtype={like.dtype}) makes one"
        raise TypeError(f"'x' must be a Tensor, got {type(x).__name__}: {remedy}")
    if x.ndim == 0 or x.shape[-1] != width or (sequences and x.ndim not in (2, 3)):
        shapes = f"(T, {width}) or (batch, T, {width})" if sequences else f"(..., {width})"
        raise ValueError(f"'x' must have shape {shapes}, got {tuple(x.shape)}")
    if not fits_dtype(x, like.dtype):
        raise TypeError(f"'x' must be of the module's dtype {like.dtype}, got {x.dtype}: x.to({like.dtype}) is")
    check_lengths(x, "x")


def check_lengths(x: Any, name: str) -> None:
    """Check that the rows of a tensor have unit length."""
    extremes = look(_extreme_lengths, x)
    if extremes is None:
        return
    low, high = extremes
    worst = high if abs(high - 1.0) >= abs(low - 1.0) else low
    if not abs(worst - 1.0) <= UNIT_TOLERANCE[x.element_size() < 4]:
        remedy = f"torch.nn.functional.normalize({name}, dim=-1)" if worst else "zeros have no direction, drop them"
        raise ValueError(f"'{name}' must have rows of unit length, got length {worst:.9g}: {remedy}")


def _extreme_lengths(x: Any) -> Any:
    """Return the least and the largest length of rows."""
    precise = torch.float32 if x.element_size() < 4 else None
    return torch.aminmax(torch.linalg.vector_norm(x, dim=-1, dtype=precise))


def attention_path(logit: float, x: Any, *tensors: Any) -> AbstractContextManager[Any]:
    """Return the context of attention for logits up to a size.

    Torch's fast paths compute logits once more for gradients, and not to the same bit: where these differ by more than
    700, gradients are inf or nan. Its plain path keeps the weights.
    """
    gradients = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, *tensors))
    if not gradients or logit * torch.finfo(x.dtype).eps < LOGIT_ROUNDING:
        return _USUAL
    plain: AbstractContextManager[Any] = sdpa_kernel(SDPBackend.MATH)
    return plain
