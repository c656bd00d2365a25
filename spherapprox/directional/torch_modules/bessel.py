"""log I_v(x) and I_{v+1}(x)/I_v(x) in torch's operations, with their derivatives in x.

Debye's expansion (DLMF 10.41.3) at orders from 20 on, and for lower ones as many steps of the recurrence from there.
That is one operator, into which `torch.compile` does not look: the code it made of that took it minutes.

The arguments are the same throughout: `order`, v from 0 to 1e6, a float or a tensor that is broadcast with `x` and does
not require gradients; `x`, a tensor, 0 to 1e150. Results are nan where it is negative, in its dtype and on its device.
Error names: TypeError and ValueError, if `order` is outside its range or requires gradients, or `x` holds no real
numbers.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ..._checks import real
from ..._scalars.gamma import stirling
from .checks import tensor

TERMS = 14
LOWEST = 20.0
"""Order from which the expansion is used: there its terms leave 1e-15 of log 0F1 and 1e-13 of A'' (measured)."""


def make_tables() -> Any:
    """Return the coefficients of (h d/dh + 2 y d/dy)^i S at [i, j, k], of y^j h^(k+1), for i = 0 to 3.

    S(y, h) is the logarithm of Debye's sum (DLMF 10.41.10) as a series in h = 1/R, y = (v/R)^2. The series
    w = x I_v'/I_v = sum_k w_k(y) h^(k-1) solves x w' + w^2 = R^2, and w_(k+1) = -(1-y) (k + 2 y d/dy) S_k.
    """
    tables = torch.zeros(4, TERMS + 1, TERMS, dtype=torch.float64)
    # n_k = 2^(2k-1) w_k, polynomials of integers: n_k = 2 (1-y) ((k-2) + 2 y d/dy) n_{k-1} - sum_{0<i<k} n_i n_{k-i}
    n: list[Any] = [None, np.array([-1, 1], dtype=object)]
    for k in range(1, TERMS + 1):
        j = np.arange(k + 1)
        rise = np.append(2 * (k - 1 + 2 * j) * n[k], 0)
        row = rise - np.roll(rise, 1) - sum(np.convolve(n[i], n[k + 1 - i]) for i in range(1, k + 1))
        n.append(row)
        quotient = np.cumsum(row)[:-1]  # of n_{k+1} by 1 - y
        for i in range(4):
            column = -quotient / 2 ** (2 * k + 1) * (k + 2 * j) ** (i - 1.0)
            tables[i, : k + 1, k - 1] = torch.from_numpy(column.astype(np.float64))
    return tables


TABLES = make_tables()


class Point:
    """An argument x at an order v >= `LOWEST`: R = sqrt(v^2 + x^2), h = 1/R, y = (v/R)^2 and 1 - y."""

    def __init__(self, v: Any, x: Any) -> None:
        self.v, self.x, self.r = v, x, (v * v + x * x).sqrt()
        self.h = 1.0 / self.r
        self.y, self.rest = (v * self.h) ** 2, (x * self.h) ** 2
        self.powers = [t[..., None].expand(*t.shape, TERMS).cumprod(-1) for t in (self.y, self.h)]


def debye(at: Point, power: int) -> Any:
    """Return (h d/dh + 2 y d/dy)^power S."""
    table, (y, h) = TABLES[power].to(at.h), at.powers
    return ((table[0] + y @ table[1:]) * h).sum(-1)


def expand_log(at: Point) -> tuple[Any, Any]:
    """Return log 0F1(; v+1; x^2/4) = log[Gamma(v+1) (2/x)^v I_v(x)], and the same less x."""
    # DLMF 10.41.3, and 5.11.1 for Gamma(v+1), as in _scalars.bessel
    z, w = at.x / at.v, at.r / at.v
    d = z * (z / (1.0 + w))  # sqrt(1 + z^2) - 1
    small = stirling(at.v) + debye(at, 0) - 0.5 * torch.log1p(d)
    log = torch.log1p(0.5 * d)
    # Terms of order 1/v cancel where x is far below v: Rayleigh's sums over zeros (DLMF 10.21(iv)) do not.
    s = 0.25 * at.x * at.x / (at.v + 1.0)
    short = s * (1.0 - 0.5 * s / (at.v + 2.0) * (1.0 - 4.0 / 3.0 * s / (at.v + 3.0)))
    near = s < 1e-5 * at.v
    plain = torch.where(near, short, small + at.v * (d - log))
    return plain, torch.where(near, short - at.x, small - at.v * ((d + z) / (w + z) + log))


def expand_gap(at: Point) -> Any:
    """Return e = x I_v(x) / I_{v+1}(x) - x > 0: I_{v+1}/I_v = x/(x + e) and 1 - I_{v+1}/I_v = e/(x + e)."""
    v, r, h = at.v, at.r, at.h
    bend = h * h * (0.5 + debye(at, 1))
    return (v * (1.0 + v / (r + at.x)) / (r + v) + at.x * bend) / (1.0 / (r + v) - bend)


def expand_slope(at: Point, bent: bool) -> tuple[Any, Any]:
    """Return the derivative of I_{v+1}/I_v, and, where `bent`, the second over x."""
    v, r, h, y, rest = at.v, at.r, at.h, at.y, at.rest
    first, second = 0.5 + debye(at, 1), debye(at, 2)
    slope = v * h / (r + v) + h * h * ((1.0 - 2.0 * y) * first + rest * second)
    if not bent:
        return slope, None
    terms = (8.0 * y - 2.0) * first + (6.0 * y - 3.0) * second - rest * debye(at, 3)
    return slope, h * h * (h * h * terms - v * (2.0 * r + v) * h / (r + v) ** 2)


NEXT = {"log": "ratio", "log_scaled": "deficit", "ratio": "slope", "deficit": "slope", "slope": "curvature"}
"""Kinds of functions of x, each with its derivative: log 0F1(; v+1; x^2/4), the same less x, A = I_{v+1}/I_v, A - 1, A'
and A''. The kind "divergence" is x A - log 0F1, whose derivative is x A'."""


class Derivative(torch.autograd.Function):
    """The function `calculate` of a tensor x of `widen`, which can be differentiated down to A''."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, orders: Any, order: float, kind: str) -> Any:
        """Return the function of that kind."""
        return calculate(x, orders, order, kind)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the arguments."""
        x, orders, ctx.order, ctx.kind = inputs
        ctx.save_for_backward(x, orders)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> tuple[Any, None, None, None]:
        """Return the gradient in x."""
        if ctx.kind == "curvature":
            raise NotImplementedError("iv_ratio can be differentiated twice in x, and log_iv three times")
        x, orders = ctx.saved_tensors
        factor = x if ctx.kind == "divergence" else 1.0
        slope = Derivative.apply(x, orders, ctx.order, NEXT.get(ctx.kind, "slope"))
        return grad * (factor * slope), None, None, None


def widen(x: Any) -> Any:
    """Return a tensor in float64, where its device has that.

    float32 would not do inside: log I_v and log c pass through 0 where their terms are as large as v + x.
    """
    return x if x.device.type == "mps" else x.double()


@torch.library.custom_op("spherapprox::bessel", mutates_args=())
def calculate(x: torch.Tensor, orders: torch.Tensor | None, order: float, kind: str) -> torch.Tensor:
    """Return the function of a kind by the expansion at an order v + n >= `LOWEST`, and n steps down from there.

    The order v is `order`, or a tensor `orders` of the shape of x.
    """
    v, steps = (order, max(0, math.ceil(LOWEST - order))) if orders is None else (orders, int(LOWEST))
    x = torch.where(x >= 0.0, x, math.nan).clamp(max=0.25 * math.sqrt(torch.finfo(x.dtype).max))
    at, square, total = Point(v + steps, x), x * x, torch.zeros_like(x)
    logs, slopes = kind in ("log", "log_scaled", "divergence"), kind in ("slope", "curvature")
    plain, scaled = expand_log(at) if logs else (total, total)
    slope, curvature = expand_slope(at, kind == "curvature") if slopes else (total, None)
    e: Any = expand_gap(at) if steps or kind not in ("log", "log_scaled") else None
    for m in (v + k for k in range(steps, 0, -1)):
        above = 1.0 / (x + e)  # A_m / x
        if logs:  # 0F1 grows by the factor 1 + x A_m/(2m)
            total = total + torch.log1p(x / (2.0 * m) * (x * above))
        e = 2.0 * m - e * (x * above)  # 1/A_{m-1} = 2m/x + A_m without the cancellation of 1 - A
        if slopes:
            g, n = 1.0 / (x + e), 2.0 * m - square * slope
            if curvature is not None:  # A''_{m-1} / x, from A'_{m-1} = n g^2 and g = 1/(2m + x A_m)
                curvature = -g * g * ((2.0 * slope + square * curvature) + 2.0 * g * n * (above + slope))
            slope = n * g * g
    if kind == "divergence":
        flat = x < at.v  # both forms keep their digits about there
        result = torch.where(flat, x * (x / (x + e)) - plain, -x * (e / (x + e)) - scaled) - total
    elif logs:
        result = (plain if kind == "log" else scaled) + total
    elif slopes:
        result = slope if curvature is None else x * curvature
    else:
        result = (x if kind == "ratio" else -e) / (x + e)
    return result.contiguous()


calculate.register_fake(
    lambda x, orders, *_: x.new_empty(x.shape if orders is None else torch.broadcast_shapes(x.shape, orders.shape))
)
calculate.register_autograd(Derivative.backward, setup_context=Derivative.setup_context)


@calculate.register_vmap
def _map(info: Any, dims: Any, x: Any, orders: Any, order: float, kind: str) -> Any:
    """Return the result for a batch, and its dimension."""
    x, orders = (a if dim is None else a.movedim(dim, 0) for a, dim in zip((x, orders), dims[:2], strict=True))
    return calculate(x, orders, order, kind), 0


def log_iv(order: Any, x: Any) -> Any:
    """Return log I_v(x), the logarithm of the modified Bessel function of the first kind, differentiable in x.

    The order v is a float or a tensor, 0 to 1e6, and x a tensor, 0 to 1e150. In float64 it is within 1e-14 (v + x) of
    `special.log_iv`, and rounded from there in others, as are three derivatives; at x = 0 it is -inf, or 0 for v = 0.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import log_iv
    >>> log_iv(63.0, torch.tensor([1.0, 100.0]))
    tensor([-244.6737,   77.4401])
    """
    x, wide, orders, order = _check(order, x)
    v = wide.new_full((), order) if orders is None else orders
    log = v * torch.where(v > 0.0, 0.5 * wide, 1.0).log() - torch.lgamma(v + 1.0)
    return (Derivative.apply(wide, orders, order, "log") + log).to(x.dtype)


def iv_ratio(order: Any, x: Any) -> Any:
    """Return I_{v+1}(x) / I_v(x), for v = columns/2 - 1 the mean cosine of von Mises-Fisher's distribution.

    The order v is a float or a tensor, 0 to 1e6, and x a tensor, 0 to 1e150. In float64 it is within 1e-15 relative of
    `special.iv_ratio`, two derivatives within 1e-13, and rounded from there in others.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import iv_ratio
    >>> iv_ratio(0.5, torch.tensor(100.0))
    tensor(0.9900)
    """
    x, *arguments = _check(order, x)
    return Derivative.apply(*arguments, "ratio").to(x.dtype)


def _check(order: Any, x: Any) -> tuple[Any, Any, Any, float]:
    """Return x as a tensor of floats, and x, orders and an order as `calculate` takes them."""
    x = tensor(x, "x")
    if not isinstance(order, torch.Tensor):
        return x, widen(x), None, real(order, "order", minimum=0.0, maximum=1e6)
    if tensor(order, "order").requires_grad:
        raise ValueError("'order' must not require gradients, which are in 'x' alone: pass order.detach()")
    return x, *torch.broadcast_tensors(widen(x), widen(order.to(x.device))), 0.0
