"""Laws of the angle between a random point and its mean direction: what the distributions differ in.

The density, with respect to the uniform measure, is e^(log_peak + concentration s), where s <= 0 is 0 at the mean
direction: cos theta - 1 for von Mises-Fisher's, log[(1 + cos theta)/2] for the power spherical. Tensors are in float64
as `bessel.widen` makes them, and `columns` is the length of a point. A law has

log_peak, divergence : the logarithm of the density at the mean direction, and the mean of log density
cosine, deficit, mean : the means of the cosine, the cosine less 1, and of s
at_chord, between : s at points of a squared distance from the mean direction, and s(a) - s(b) for angles
draw : an angle for each concentration
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ..._scalars.beta import log_surface_area
from ..._scalars.gamma import STIRLING_FROM, stirling
from .bessel import Derivative

PROPOSALS, ROUNDS = 4, 64
"""Proposals to a point in a round of rejection, and the most rounds: these do not suffice with probability 1e-100."""
STEPS = int(STIRLING_FROM)
WINDOW = 9.0
"""Length of the integral in units of 1/sqrt(steepness concentration + columns - 2)."""
_NODES, _WEIGHTS = (0.5 * torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(40))
# Gauss's rule in the cube root of the distance from the far end, where a power of the density may be singular
NODES, WEIGHTS = 1.0 - (0.5 - _NODES) ** 3, 3.0 * (0.5 - _NODES) ** 2 * _WEIGHTS


class Exponential:
    """Von Mises-Fisher's law."""

    steepness = 1.0  # -s'' at the angle 0

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.order = 0.5 * columns - 1.0
        self.log_area = log_surface_area(columns - 1.0)

    def log_peak(self, concentration: Any) -> Any:  # noqa: D102
        return -Derivative.apply(concentration, None, self.order, "log_scaled")

    def divergence(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, None, self.order, "divergence")

    def cosine(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, None, self.order, "ratio")

    def deficit(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, None, self.order, "deficit")

    mean = deficit

    def at_chord(self, square: Any) -> Any:  # noqa: D102
        return -0.5 * square

    def between(self, a: Any, b: Any) -> Any:  # noqa: D102
        return -2.0 * torch.sin(0.5 * (a + b)) * torch.sin(0.5 * (a - b))

    def draw(self, concentration: Any) -> Any:
        """Draw an angle for each concentration by Wood's (1994) rejection, as `vmf.sampling` does."""
        m, flat = self.columns - 1.0, concentration.reshape(-1)
        root = (4.0 * flat * flat + m * m).sqrt()
        mode, complement = 2.0 * flat / (m + root), 2.0 * m / (2.0 * flat + root + m)  # x_0 and 1 - x_0
        versine, pending = torch.full_like(flat, math.nan), torch.arange(len(flat), device=flat.device)
        for _ in range(ROUNDS):
            lifts = raised_cosine(m, flat.new_empty((PROPOSALS, len(pending))))  # 1 + S
            below = (2.0 - lifts) + complement[pending] * (lifts - 1.0)  # 1 - x_0 S
            cost = m * (mode[pending] * (lifts - 1.0) / below + below.log())
            accepted = cost <= torch.empty_like(cost).exponential_()
            first = accepted.int().argmax(0, keepdim=True)
            versine[pending] = complement[pending] * (lifts / below).gather(0, first)[0]
            pending = pending[~accepted.any(0)]
            if len(pending) == 0:
                break
        versine[pending] = math.nan
        versine = versine.reshape(concentration.shape)
        return 2.0 * torch.atan2(versine.sqrt(), (2.0 - versine).clamp(min=0.0).sqrt())


class Power(Exponential):
    """The power spherical law, where (1 + cos theta)/2 has a beta distribution (De Cao, Aziz 2020)."""

    steepness = 0.5

    def __init__(self, columns: int) -> None:
        super().__init__(columns)
        self.b = 0.5 * (columns - 1)  # of the beta distribution, whose first parameter is the concentration more

    def log_peak(self, concentration: Any) -> Any:  # noqa: D102
        return log_gamma_rise(concentration + self.b, self.b) + (self.log_area - self.b * math.log(4.0 * math.pi))

    def divergence(self, concentration: Any) -> Any:  # noqa: D102
        return (self.log_peak(concentration) + concentration * self.mean(concentration)).clamp(min=0.0)  # of rounding

    def cosine(self, concentration: Any) -> Any:  # noqa: D102
        return concentration / (concentration + 2.0 * self.b)

    def deficit(self, concentration: Any) -> Any:  # noqa: D102
        return -2.0 * self.b / (concentration + 2.0 * self.b)

    def mean(self, concentration: Any) -> Any:  # noqa: D102
        return -digamma_rise(concentration + self.b, self.b)

    def at_chord(self, square: Any) -> Any:
        """Return s; at the opposite point, where it is -inf, the logarithm of a rounding."""
        return torch.log1p(-(0.25 * square).clamp(max=1.0 - 0.5 * torch.finfo(square.dtype).eps))

    def between(self, a: Any, b: Any) -> Any:  # noqa: D102
        rise = -2.0 * torch.sin(0.25 * (a + b)) * torch.sin(0.25 * (a - b))
        return 2.0 * torch.log1p(rise / torch.cos(0.5 * b).clamp(min=1e-17))

    def draw(self, concentration: Any) -> Any:
        """Draw by two gamma variables, whose quotient is tan^2(theta/2)."""
        b = torch.full_like(concentration, self.b)
        top, low = (torch.distributions.Gamma(a, 1.0, validate_args=False).sample() for a in (concentration + b, b))
        return 2.0 * torch.atan2(low.sqrt(), top.sqrt())


def raised_cosine(m: float, store: Any) -> Any:
    """Draw values of 1 + S, S any coordinate of a uniform point of S^m, in the shape of `store`."""
    uniform = torch.rand_like(store)
    if m == 1.0:
        return 2.0 * torch.sin(0.5 * math.pi * uniform) ** 2
    # Two coordinates have squared length r^2 with P(r^2 > q) = (1-q)^((m-1)/2), and a uniform angle.
    square = -torch.expm1(store.exponential_() * (-2.0 / (m - 1.0)))
    return 1.0 + square.sqrt() * torch.cos(math.pi * uniform)


@torch.library.custom_op("spherapprox::draw_angle", mutates_args=())
def draw_angle(concentration: torch.Tensor, ticket: torch.Tensor, columns: int, power: bool) -> torch.Tensor:
    """Draw an angle for each concentration; its gradient is at a fixed value of the distribution function.

    The ticket, any random tensor, is not used: without it torch's compiler takes two draws for the same.
    """
    return (Power if power else Exponential)(columns).draw(concentration).contiguous()


@torch.library.custom_op("spherapprox::differentiate_angle", mutates_args=())
def differentiate_angle(concentration: torch.Tensor, angle: torch.Tensor, columns: int, power: bool) -> torch.Tensor:
    """Return d theta / d concentration = -(dF/d concentration) / f(theta), F and f of the angle.

    dF/d concentration is the integral of (s - E s) f from 0 to theta, or minus that from theta to pi: the one of them
    whose integrand has one sign, by Gauss's rule relative to f(theta), so that nothing cancels: to 1e-10 relative for
    the power spherical law of 2 columns and concentrations below 1, to 1e-12 elsewhere.
    """
    law = (Power if power else Exponential)(columns)
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
    return (-length * (excess.abs() * log.exp() * WEIGHTS.to(angle)).sum(-1)).contiguous()


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    """Keep what `differentiate_angle` takes."""
    concentration, _, *ctx.law = inputs
    ctx.save_for_backward(concentration, output)


def _differentiate(ctx: Any, grad: Any) -> tuple[Any, None, None, None]:
    """Return the gradient in the concentration."""
    return grad * differentiate_angle(*ctx.saved_tensors, *ctx.law), None, None, None


draw_angle.register_autograd(_differentiate, setup_context=_keep)
for operator in (draw_angle, differentiate_angle):
    operator.register_fake(lambda concentration, *rest: concentration.new_empty(concentration.shape))


def place(angle: Any, loc: Any) -> Any:
    """Draw a direction across each mean direction, and return the points at the angle from it along that direction.

    A uniform direction across the last axis e is reflected by the reflection that takes sign e to -loc, sign that of
    the last coordinate: it is differentiable in loc and stable, as 1 + |last| >= 1.
    """
    side, last = loc[..., :-1], loc[..., -1:]
    z = torch.randn(side.shape, dtype=side.dtype, device=side.device)
    if side.shape[-1] == 1:  # the direction is a sign
        z = torch.copysign(torch.ones_like(z), z)
    else:
        z = z / torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    sign = torch.copysign(torch.ones_like(last), last).detach()
    cosine, sine = torch.cos(angle).to(loc.dtype)[..., None], torch.sin(angle).to(loc.dtype)[..., None]
    along = sine * (z * side).sum(-1, keepdim=True)
    return torch.cat([sine * z + (cosine - along / (1.0 + sign * last)) * side, cosine * last - sign * along], dim=-1)


def log_gamma_rise(a: Any, b: float) -> Any:
    """Return log Gamma(a + b) - log Gamma(a) for a tensor a > 0 and b > 0, without the cancellation."""
    # DLMF 5.5.1, up to where 5.11.1 holds
    total = torch.log1p(b / (a[..., None] + torch.arange(STEPS, device=a.device))).sum(-1)
    a = a + STEPS
    top = a + b
    return ((a - 0.5) * torch.log1p(b / a) + b * (top.log() - 1.0)) + (stirling(top) - stirling(a)) - total


def digamma_rise(a: Any, b: float) -> Any:
    """Return the derivative of `log_gamma_rise` in a, psi(a + b) - psi(a) > 0."""
    low = a[..., None] + torch.arange(STEPS, device=a.device)
    total = (b / (low * (low + b))).sum(-1)
    a = a + STEPS
    top = a + b
    return torch.log1p(b / a) + 0.5 * b / (a * top) + (_digamma_rest(a) - _digamma_rest(top)) + total


def _digamma_rest(a: Any) -> Any:
    """Return log a - 1/(2a) - psi(a)."""
    y = 1.0 / (a * a)
    return y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760))))))
