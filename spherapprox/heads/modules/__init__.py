"""Heads as `torch.nn.Module`: split and classical heads as torch's own attention, and the core head as its sum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._checks import Floats, flag, show

try:
    import torch
except ImportError as error:
    raise ImportError('to_torch needs PyTorch: pip install "spherapprox[torch]"') from error

if TYPE_CHECKING:
    from .classical import ClassicalHead
    from .core import CoreHead
    from .split import SplitHead

NUMBERS = 2**24
"""Logits, or entries of tokens, that a call makes at a time; gradients keep those of all parts."""

__all__ = ["ClassicalAttention", "ExponentialSum", "SplitAttention"]


class _Rows(torch.nn.Module):
    """Control points and values as tensors, and the concentration as a number."""

    control_points: Any
    values: Any

    def __init__(self, head: CoreHead | SplitHead, dtype: Any, device: Any, trainable: bool) -> None:
        super().__init__()
        options = _options(head, dtype, device, head.concentration)
        self.concentration = head.concentration
        for name in ("control_points", "values"):
            _hold(self, name, getattr(head, name), trainable, options)

    def get_extra_state(self) -> dict[str, float]:
        """Return what belongs into a state_dict beside the tensors."""
        return {"concentration": self.concentration}

    def set_extra_state(self, state: dict[str, float]) -> None:
        """Take what `get_extra_state` has returned."""
        self.concentration = float(state["concentration"])

    def extra_repr(self) -> str:
        """Say what is in the brackets of the module's repr."""
        n, columns = self.control_points.shape
        return f"n={n}, dim={columns - 1}, concentration={self.concentration:g}"

    def _check(self, x: Any) -> None:
        """Raise unless points lie in the control points' space."""
        _columns(x, self.control_points.shape[1])


class SplitAttention(_Rows):
    """A `SplitHead` as `torch.nn.functional.scaled_dot_product_attention`, of points to control points.

    Parameters
    ----------
    head : SplitHead
    dtype, device, trainable
        As in `SplitHead.to_torch`.

    Notes
    -----
    Queries are the points, keys the control points, and the scale is the concentration: on unit rows that is the
    head's softmax. Its logits ``concentration <x, b_k>`` have roundings that chords have not: in float64 the module is
    ``head(x)`` to 1e-12 for concentrations to 1e3 and 1e-15 times the concentration beyond, relative to the largest of
    the |values|; in float32 to 5e-7 (1 + concentration). No lengths are checked; control points that are trained leave
    the sphere if they are let, and what is computed is attention to them all the same.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox import SplitHead
    >>> module = SplitHead(np.eye(2), [1.0, 2.0], 9.0).to_torch()
    >>> module
    SplitAttention(n=2, dim=1, concentration=9)
    >>> x = torch.tensor([0.6, 0.8], dtype=torch.float64, requires_grad=True)
    >>> y = module(x)
    >>> y.backward()
    >>> round(y.item(), 6), x.grad.numpy().round(6)
    (1.858149, array([-1.095564,  1.095564]))
    """

    def __init__(self, head: SplitHead, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__(head, dtype, device, trainable)

    def forward(self, x: Any) -> Any:
        """Return the head's values.

        Parameters
        ----------
        x : Tensor, shape (..., dim+1)
            Points of unit length, of the module's dtype and on its device.

        Returns
        -------
        Tensor, shape (...) or (..., p)
        """
        self._check(x)
        values = self.values if self.values.ndim == 2 else self.values[:, None]
        key, value = self.control_points[None, None], values[None, None]

        def attend(rows: Any) -> Any:
            query = rows[None, None]
            attention = torch.nn.functional.scaled_dot_product_attention
            return attention(query, key, value, scale=self.concentration)[0, 0]

        result = _in_parts(attend, x.reshape(-1, x.shape[-1]), len(values))
        return result.reshape((*x.shape[:-1], *self.values.shape[1:]))


class ClassicalAttention(torch.nn.Module):
    """A `ClassicalHead` as `torch.nn.MultiheadAttention`, of one head, over the prefix and the inputs.

    Parameters
    ----------
    head : ClassicalHead
    dtype, device, trainable
        As in `ClassicalHead.to_torch`.

    Notes
    -----
    `attention` holds the query, key and value matrices, without bias, and the identity behind them; `prefix` the tokens
    that keys and values begin with. Only inputs ask. Accuracy as of `SplitAttention`, against ``head.attend(x)``.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox import ClassicalHead
    >>> module = ClassicalHead(np.eye(2), [1.0, 2.0], 9.0).to_torch()
    >>> module.attention.embed_dim, tuple(module.prefix.shape)
    (6, (2, 6))
    >>> module(torch.tensor([[0.6, 0.8], [-0.8, 0.6]], dtype=torch.float64)).numpy().round(6)
    array([1.858149, 1.999997])
    """

    prefix: Any

    def __init__(self, head: ClassicalHead, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__()
        d = head.embedding_dim
        options = _options(head, dtype, device, max(head.concentration, -head.mask * math.sqrt(d)))
        self.dim, self.n_outputs, self.interaction = head.dim, head.n_outputs, head.interaction
        _hold(self, "prefix", head.prefix, trainable, options)
        options["device"] = self.prefix.device
        self.attention = torch.nn.utils.skip_init(  # the usual start would draw random numbers
            torch.nn.MultiheadAttention, d, 1, bias=False, batch_first=True, **options
        ).requires_grad_(False)
        with torch.no_grad():
            stacked = np.concatenate([head.query.T, head.key.T, head.value.T])  # torch multiplies from the right
            self.attention.in_proj_weight.copy_(torch.tensor(stacked, **options))
            self.attention.out_proj.weight.copy_(torch.eye(d, **options))

    def forward(self, x: Any) -> Any:
        """Return the attention's outputs.

        Parameters
        ----------
        x : Tensor, shape (T, dim+1) or (batch, T, dim+1)
            Sequences of inputs of unit length, of the module's dtype and on its device.

        Returns
        -------
        Tensor, shape (T,), (T, p), (batch, T) or (batch, T, p)
        """
        if x.ndim not in (2, 3):
            width = self.dim + 1
            raise ValueError(f"'x' must have shape (T, {width}) or (batch, T, {width}), got {tuple(x.shape)}")
        _columns(x, self.dim + 1)

        def attend(inputs: Any) -> Any:
            tokens = torch.cat([self.prefix.expand(len(inputs), -1, -1), inputs], dim=1)  # (batch, n + T, d)
            return self.attention(inputs, tokens, tokens, need_weights=False)[0]

        inputs = self.embed(x if x.ndim == 3 else x[None])  # (batch, T, d)
        rows = len(self.prefix) + inputs.shape[1]
        outputs = _in_parts(attend, inputs, rows * max(self.prefix.shape[1], inputs.shape[1]))
        result = outputs[..., 0] if self.n_outputs is None else outputs[..., : self.n_outputs]
        return result if x.ndim == 3 else result[0]

    def embed(self, x: Any) -> Any:
        """Return the tokens of inputs, shape (..., dim+1) to (..., d)."""
        flagged = self.interaction == "flag"
        tokens = torch.nn.functional.pad(x, (0, self.prefix.shape[1] - x.shape[-1] - flagged))
        return torch.nn.functional.pad(tokens, (0, 1), value=1.0) if flagged else tokens

    def extra_repr(self) -> str:
        """Say what is in the brackets of the module's repr."""
        return f"n={len(self.prefix)}, dim={self.dim}, interaction={self.interaction!r}"


class ExponentialSum(_Rows):
    """A `CoreHead` as a module: a sum of exponentials, which is no attention, for nothing divides it.

    Parameters
    ----------
    head : CoreHead
    dtype, device, trainable
        As in `CoreHead.to_torch`.

    Notes
    -----
    It is ``sum_k values_k exp(-concentration |x - b_k|^2 / 2)``, by chords as in ``head(x)``: relative to the sum of
    the |terms| the two agree, where some control point is near, to 1e-14 in float64 and 5e-6 in float32. The gradient
    can be taken once, not twice.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from spherapprox import CoreHead
    >>> module = CoreHead(np.eye(2), [1.0, 2.0], 3.0).to_torch()
    >>> module
    ExponentialSum(n=2, dim=1, concentration=3: a sum of exponentials, no attention)
    >>> module(torch.eye(2, dtype=torch.float64)).numpy().round(6)
    array([1.099574, 2.049787])
    """

    def __init__(self, head: CoreHead, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__(head, dtype, device, trainable)

    def forward(self, x: Any) -> Any:
        """Return the head's values.

        Parameters
        ----------
        x : Tensor, shape (..., dim+1)
            Points of unit length, of the module's dtype and on its device.

        Returns
        -------
        Tensor, shape (...) or (..., p)
        """
        self._check(x)
        by_differences = "donot_use_mm_for_euclid_dist"

        def add(rows: Any) -> Any:
            chords = torch.cdist(rows, self.control_points, compute_mode=by_differences)  # (rows, n)
            return torch.exp(chords.square() * (-0.5 * self.concentration)) @ self.values

        result = _in_parts(add, x.reshape(-1, x.shape[-1]), len(self.control_points))
        return result.reshape((*x.shape[:-1], *self.values.shape[1:]))

    def extra_repr(self) -> str:
        """Say what is in the brackets of the module's repr."""
        return f"{super().extra_repr()}: a sum of exponentials, no attention"


def _options(head: CoreHead | SplitHead, dtype: Any, device: Any, largest: float) -> dict[str, Any]:
    """Return dtype and device of a head's tensors, after checking that the dtype holds its numbers."""
    if dtype is None:
        both = np.result_type(head.control_points, head.values)
        dtype = torch.float32 if both == np.float32 else torch.float64
    if dtype not in (torch.float32, torch.float64):
        raise TypeError(f"'dtype' must be torch.float32 or torch.float64, got {show(dtype)}")
    largest = max(largest, float(np.abs(head.values).max()))
    if largest > torch.finfo(dtype).max / 4.0:
        raise ValueError(
            f"'dtype' must hold the head's numbers, got {dtype} for numbers up to {largest:.3g}: take torch.float64"
        )
    return {"dtype": dtype, "device": device}


def _hold(module: Any, name: str, array: Floats, trainable: bool, options: dict[str, Any]) -> None:
    """Make an array a parameter of a module, or a buffer."""
    tensor = torch.tensor(array, **options)
    if flag(trainable, "trainable"):
        module.register_parameter(name, torch.nn.Parameter(tensor))
    else:
        module.register_buffer(name, tensor)


def _in_parts(function: Callable[[Any], Any], x: Any, numbers: int) -> Any:
    """Return a function's results for the items of x, which take so many numbers each, a part at a time."""
    parts = x.split(max(1, NUMBERS // numbers))
    return function(x) if len(parts) == 1 else torch.cat([function(part) for part in parts])


def _columns(x: Any, width: int) -> None:
    """Raise unless the rows have as many columns as the sphere's space."""
    if x.ndim == 0 or x.shape[-1] != width:
        raise ValueError(f"'x' must have shape (..., {width}), got {tuple(x.shape)}")
