"""log I_v(x) and I_{v+1}(x)/I_v(x) in torch's operations, with their derivatives in x.

Debye's expansion (DLMF 10.41.3) at orders from 20 on, and for lower ones as many steps of the recurrence from there.
All is a fixed number of elementwise operations, so that `torch.compile` and `torch.func.vmap` apply.
"""

from __future__ import annotations

import math
from typing import Any

import torch

from ..._checks import real
from ..._scalars.gamma import HALF_LOG_2PI, STIRLING_FROM, log_gamma, stirling
from . import expansion
from .checks import tensor

NEXT = {"log": "ratio", "log_scaled": "deficit", "ratio": "slope", "deficit": "slope", "slope": "curvature"}
"""Kinds of functions of x, each with its derivative: log 0F1(; v+1; x^2/4), the same less x, A = I_{v+1}/I_v, A - 1, A'
and A''. The kind "divergence" is x A - log 0F1, whose derivative is x A'."""


class Derivative(torch.autograd.Function):
    """A function of `NEXT`; it can be differentiated down to A''."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, v: Any, kind: str) -> Any:
        """Return the function of that kind at x, a tensor of `widen`."""
        return calculate(x, v, kind)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, Any, str], output: Any) -> None:
        """Keep the arguments."""
        x, v, kind = inputs
        ctx.kind = kind
        ctx.number = None if isinstance(v, torch.Tensor) else v
        ctx.save_for_backward(x, *([v] if ctx.number is None else []))

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple[Any, None, None]:
        """Return the gradient in x."""
        if ctx.kind == "curvature":
            raise NotImplementedError("iv_ratio can be differentiated twice in x, and log_iv three times")
        x, *order = ctx.saved_tensors
        v = order[0] if order else ctx.number
        if ctx.kind == "divergence":
            return grad * (x * Derivative.apply(x, v, "slope")), None, None
        return grad * Derivative.apply(x, v, NEXT[ctx.kind]), None, None


def widen(x: Any) -> Any:
    """Return a tensor in float64, where its device has that.

    float32 would not do inside: log I_v and log c pass through 0 where their terms are as large as v + x.
    """
    return x if x.device.type == "mps" else x.double()


def calculate(x: Any, v: Any, kind: str) -> Any:
    """Return the function of a kind by the expansion at an order v + n >= `LOWEST`, and n steps down from there."""
    x = torch.where(x >= 0.0, x, math.nan).clamp(max=0.25 * math.sqrt(torch.finfo(x.dtype).max))
    steps = int(expansion.LOWEST) if isinstance(v, torch.Tensor) else max(0, math.ceil(expansion.LOWEST - v))
    at = expansion.locate(v + steps, x)
    orders = [v + k for k in range(steps, 0, -1)]
    if kind in ("slope", "curvature"):
        return descend_slope(at, orders, bent=kind == "curvature")
    if kind in ("ratio", "deficit"):
        e = expansion.gap(at)
        for m in orders:
            e = step_down(m, x, e)
        return (x if kind == "ratio" else -e) / (x + e)
    return descend_log(at, orders, kind)


def step_down(m: Any, x: Any, e: Any) -> Any:
    """Return the gap at the order m - 1 from that at m: 1/A_{m-1} = 2m/x + A_m without the cancellation of 1 - A."""
    return 2.0 * m - e * (x / (x + e))


def descend_log(at: expansion.Point, orders: list[Any], kind: str) -> Any:
    """Return log 0F1 at the last order less 1, plain, scaled or in the divergence."""
    x, (plain, scaled), total = at.x, expansion.log_0f1(at), 0.0
    e = expansion.gap(at) if orders or kind == "divergence" else None
    for m in orders:  # 0F1 grows by the factor 1 + x A_m/(2m) at a step
        total = total + torch.log1p(x / (2.0 * m) * (x / (x + e)))
        e = step_down(m, x, e)
    if kind == "divergence":
        flat = x < at.v  # both forms keep their digits about there
        return torch.where(flat, x * (x / (x + e)) - plain, -x * (e / (x + e)) - scaled) - total
    return (plain if kind == "log" else scaled) + total


def descend_slope(at: expansion.Point, orders: list[Any], bent: bool) -> Any:
    """Return A' at the last order less 1, or A''."""
    x = at.x
    square, e, (slope, curvature) = x * x, expansion.gap(at), expansion.slope(at, bent)
    for m in orders:
        above = 1.0 / (x + e)  # A_m / x
        e = step_down(m, x, e)
        g = 1.0 / (x + e)
        n = 2.0 * m - square * slope
        if bent:  # A''_{m-1} / x, from A'_{m-1} = n g^2 and g = 1/(2m + x A_m)
            curvature = -g * g * ((2.0 * slope + square * curvature) + 2.0 * g * n * (above + slope))
        slope = n * g * g
    return x * curvature if bent else slope


def log_iv(order: Any, x: Any) -> Any:
    """Return log I_v(x), the logarithm of the modified Bessel function of the first kind, differentiable in x.

    Parameters
    ----------
    order : float or Tensor
        v, 0 to 1e6; a tensor is broadcast with `x` and must not require gradients.
    x : Tensor
        0 to 1e150; nan where it is negative.

    Returns
    -------
    Tensor
        In the dtype of `x`, on its device: within 1e-14 (v + x) of `special.log_iv` in float64, and rounded from there
        in others, as are three derivatives. At x = 0 it is -inf, or 0 for the order 0.

    Raises
    ------
    TypeError, ValueError
        If `order` is outside its range or requires gradients, or `x` does not hold real numbers.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import log_iv
    >>> log_iv(63.0, torch.tensor([1.0, 100.0]))
    tensor([-244.6737,   77.4401])
    """
    v, x = _check(order, x)
    wide = widen(x)
    result = Derivative.apply(wide, v, "log") + _offset(v)
    if isinstance(v, torch.Tensor):
        result = result + v * torch.where(v > 0.0, wide / (2.0 * v.clamp(min=1.0)), 1.0).log()
    elif v > 0.0:
        result = result + v * (wide / (2.0 * max(v, 1.0))).log()
    return result.to(x.dtype)


def iv_ratio(order: Any, x: Any) -> Any:
    """Return I_{v+1}(x) / I_v(x), for v = columns/2 - 1 the mean cosine of von Mises-Fisher's distribution.

    Parameters
    ----------
    order, x : float or Tensor, Tensor
        As for `log_iv`.

    Returns
    -------
    Tensor
        In [0, 1], in the dtype of `x`: within 1e-15 relative of `special.iv_ratio` in float64, two derivatives within
        1e-13, and rounded from there in others.

    Raises
    ------
    TypeError, ValueError
        As `log_iv`.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import iv_ratio
    >>> iv_ratio(0.5, torch.tensor(100.0))
    tensor(0.9900)
    """
    v, x = _check(order, x)
    return Derivative.apply(widen(x), v, "ratio").to(x.dtype)


def _check(order: Any, x: Any) -> tuple[Any, Any]:
    """Return the order as a float, or a tensor in float64, and x as a tensor of floats."""
    x = tensor(x, "x")
    if not isinstance(order, torch.Tensor):
        return real(order, "order", minimum=0.0, maximum=1e6), x
    if order.requires_grad:
        raise ValueError("'order' must not require gradients, which are in 'x' alone: pass order.detach()")
    return widen(order.to(x.device)), x


def _offset(v: Any) -> Any:
    """Return v log max(v, 1) - log Gamma(v+1)."""
    if isinstance(v, torch.Tensor):
        return v * v.clamp(min=1.0).log() - torch.lgamma(v + 1.0)
    if v < STIRLING_FROM:
        return v * math.log(max(v, 1.0)) - log_gamma(v)
    return v - 0.5 * math.log(v) - HALF_LOG_2PI - stirling(v)
