"""Heads that are sums of kernels: the split head as torch's own attention, the core head as a sum of exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from ..._checks import concentration_text, instance
from ..core import CoreHead
from ..split import SplitHead
from .tensors import Stateful, attention_path, check, hold, in_parts, make_options

if TYPE_CHECKING:
    from ..head import Head


class _Rows(Stateful):
    """Control points and values as tensors, and the concentration as a number, or a tensor of one for each of them."""

    kind: ClassVar[type[Head]]
    scalars: ClassVar = {"concentration": float, "largest_concentration": float}
    control_points: Any
    values: Any
    concentration: Any

    def __init__(self, head: Head, *, dtype: Any = None, device: Any = None, trainable: bool = False) -> None:
        super().__init__()
        self.largest_concentration = instance(head, "head", self.kind)._largest_concentration
        options = make_options(head, dtype, device, largest=self.largest_concentration)
        # keys must have exact lengths, chords need not
        rows = head._directions() if isinstance(head, SplitHead) else head.control_points
        hold(self, "control_points", rows, trainable=trainable, options=options)
        hold(self, "values", head.values, trainable=trainable, options=options)
        if isinstance(head.concentration, np.ndarray):
            hold(self, "concentration", head.concentration, trainable=trainable, options=options)
        else:
            self.concentration = head.concentration

    def forward(self, x: Any) -> Any:
        """Return the head's values.

        Parameters
        ----------
        x : Tensor, shape (..., dim+1)
            Points of unit length, of the module's dtype and on its device.

        Returns
        -------
        Tensor, shape (...) or (..., p)

        Raises
        ------
        TypeError, ValueError
            If x has another type, shape or dtype, or its rows are not of unit length, where `SplitAttention` checks it.
        """
        points, values = self.control_points, self.values  # once: torch looks for each in several places
        check(x, points, points.shape[1])
        rows = x if x.ndim == 2 else x.reshape(-1, x.shape[-1])
        result = in_parts(
            lambda part: self._evaluate(part, points, values), rows, len(points), limit=self.numbers_at_once
        )
        return result if x.ndim == 2 == values.ndim else result.reshape((*x.shape[:-1], *values.shape[1:]))

    def _evaluate(self, rows: Any, points: Any, values: Any) -> Any:
        """Return the head's values at rows, (m, p) or (m,), from the control points and values."""
        raise NotImplementedError

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        (n, columns), concentration = self.control_points.shape, self.concentration
        if isinstance(concentration, torch.Tensor):
            concentration = concentration.detach().cpu().numpy()
        return f"n={n}, dim={columns - 1}, concentration={concentration_text(concentration)}"


class SplitAttention(_Rows):
    """A `SplitHead` as `torch.nn.functional.scaled_dot_product_attention`, of points to control points.

    Its arguments, but for the head, and its errors are those of `SplitHead.to_torch`.

    Notes
    -----
    Queries are the points, keys the control points, brought to unit length if they have it to less than float64's
    rounding, and the scale is the concentration; control points with concentrations of their own, a tensor of the
    module, are multiplied by these, and the scale is 1. On unit rows that is the head's softmax. Its logits
    ``concentration <x, b_k>`` have roundings that chords have not: in float64 the module is ``head(x)`` to 1e-12
    for concentrations to 1e3 and 1e-15 times the concentration beyond, relative to the largest of the |values|, if
    rows have unit length to rounding; in float32 to 5e-7 (1 + concentration). Rows of x must have unit length to 1e-3
    (1e-2 in half precision, under autocast). Nothing is checked where no length can be read: within `torch.compile`,
    `torch.export`, `torch.jit.trace`, `torch.vmap` and CUDA graphs; elsewhere on a GPU, reading it waits for x. Control
    points that are trained leave the sphere if they are let, and what is computed is attention to them all the same.
    Gradients are as good as the logits. Second derivatives need
    ``torch.nn.attention.sdpa_kernel(SDPBackend.MATH)`` around the call: torch's fast path has none.

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

    kind = SplitHead

    def _evaluate(self, rows: Any, points: Any, values: Any) -> Any:
        keys, scale = points, self.concentration
        if isinstance(scale, torch.Tensor):
            keys, scale = points * scale[:, None], 1.0
        query, key = rows.view(1, 1, *rows.shape), keys.view(1, 1, *keys.shape)
        value = values.view(1, 1, len(values), -1)
        with attention_path(self.largest_concentration, query, key, value):
            result = torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=scale)
        return result.reshape(result.shape[2:])


class ExponentialSum(_Rows):
    """A `CoreHead` as a module: a sum of exponentials, which is no attention, for nothing divides it.

    Its arguments, but for the head, and its errors are those of `CoreHead.to_torch`.

    Notes
    -----
    It is ``sum_k values_k exp(-concentration_k |x - b_k|^2 / 2)``, by chords as in ``head(x)``: relative to the sum of
    the |terms| the two agree, where some control point is near, to 1e-14 in float64 and 5e-6 in float32. The gradient
    can be taken once, not twice. ONNX has no `torch.cdist`: there a call of m rows holds m n (dim+1) numbers.

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

    kind = CoreHead

    def _evaluate(self, rows: Any, points: Any, values: Any) -> Any:
        if torch.onnx.is_in_onnx_export():  # which has no cdist
            squares = (rows[:, None] - points).square().sum(dim=2)  # (rows, n)
        else:
            squares = torch.cdist(rows, points, compute_mode="donot_use_mm_for_euclid_dist").square()
        return torch.exp(squares * (-0.5 * self.concentration)) @ values

    def extra_repr(self) -> str:
        """Return the text in the brackets of the module's repr."""
        return f"{super().extra_repr()}: a sum of exponentials, no attention"
