"""Random points as functions of the parameters: the angle's derivative by implicit differentiation, and the turn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from .laws import Exponential

WINDOW = 9.0
"""Length of the integral in units of 1/sqrt(steepness concentration + columns - 2)."""
_NODES, _WEIGHTS = (0.5 * torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(40))
# Gauss's rule in the cube root of the distance from the far end, where a power of the density may be singular
NODES, WEIGHTS = 1.0 - (0.5 - _NODES) ** 3, 3.0 * (0.5 - _NODES) ** 2 * _WEIGHTS


class Angle(torch.autograd.Function):
    """An angle that was drawn, as a function of the concentration at a fixed value of the distribution function."""

    @staticmethod
    def forward(ctx: Any, concentration: Any, angle: Any, law: Exponential) -> Any:
        """Return the angle."""
        ctx.save_for_backward(concentration, angle)
        ctx.law = law
        return angle.clone()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, grad: Any) -> tuple[Any, None, None]:
        """Return the gradient in the concentration."""
        concentration, angle = ctx.saved_tensors
        return grad * differentiate_angle(concentration, angle, ctx.law), None, None


def differentiate_angle(concentration: Any, angle: Any, law: Exponential) -> Any:
    """Return d theta / d concentration = -(dF/d concentration) / f(theta), F and f of the angle.

    dF/d concentration is the integral of (s - E s) f from 0 to theta, or minus that from theta to pi: the one of them
    whose integrand has one sign, by Gauss's rule relative to f(theta), so that nothing cancels: to 1e-10 relative for
    the power spherical law of 2 columns and concentrations below 1, to 1e-12 elsewhere.
    """
    tiny, eps = math.sqrt(torch.finfo(angle.dtype).tiny), torch.finfo(angle.dtype).eps
    angle = angle.clamp(tiny, math.pi)
    mean, n = law.mean(concentration), law.columns - 2.0
    inner = law.between(angle, torch.zeros_like(angle)) > mean
    room = torch.where(inner, angle, math.pi - angle)
    length = torch.minimum(room, WINDOW * (law.steepness * concentration + n).rsqrt())
    toward = torch.where(inner, -length, length)[..., None]
    here = angle[..., None]
    there = here + toward * NODES.to(angle)
    # log sin there - log sin here, from sin a - sin b = 2 cos((a+b)/2) sin((a-b)/2)
    rise = 2.0 * torch.cos(0.5 * (there + here)) * torch.sin(0.5 * (there - here)) / torch.sin(here).clamp(min=tiny)
    log = concentration[..., None] * law.between(there, here) + n * torch.log1p(rise.clamp(min=0.5 * eps - 1.0))
    excess = law.between(there, torch.zeros_like(there)) - mean[..., None]
    return -length * (excess.abs() * log.exp() * WEIGHTS.to(angle)).sum(-1)


def place(angle: Any, loc: Any) -> Any:
    """Draw a direction across each mean direction, and return the points at the angle from it along that direction.

    A uniform direction across the last axis e is reflected by the reflection that takes sign e to -loc, sign that of
    the last coordinate: it is differentiable in loc and stable, as 1 + |last| >= 1.
    """
    side, last = loc[..., :-1], loc[..., -1:]
    z = torch.randn_like(side)
    if side.shape[-1] == 1:  # the direction is a sign
        z = torch.copysign(torch.ones_like(z), z)
    else:
        z = z / torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    sign = torch.copysign(torch.ones_like(last), last).detach()
    cosine, sine = torch.cos(angle).to(loc.dtype)[..., None], torch.sin(angle).to(loc.dtype)[..., None]
    along = sine * (z * side).sum(-1, keepdim=True)
    return torch.cat([sine * z + (cosine - along / (1.0 + sign * last)) * side, cosine * last - sign * along], dim=-1)
