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

import torch

from ..._scalars.beta import log_surface_area
from .bessel import Derivative
from .gammas import digamma_rise, log_gamma_rise

PROPOSALS, ROUNDS = 4, 64
"""Proposals to a point in a round of rejection, and the most rounds: these do not suffice with probability 1e-100."""


class Exponential:
    """Von Mises-Fisher's law."""

    steepness = 1.0  # -s'' at the angle 0

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.order = 0.5 * columns - 1.0
        self.log_area = log_surface_area(columns - 1.0)

    def log_peak(self, concentration: Any) -> Any:  # noqa: D102
        return -Derivative.apply(concentration, self.order, "log_scaled")

    def divergence(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, self.order, "divergence")

    def cosine(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, self.order, "ratio")

    def deficit(self, concentration: Any) -> Any:  # noqa: D102
        return Derivative.apply(concentration, self.order, "deficit")

    mean = deficit

    def at_chord(self, square: Any) -> Any:  # noqa: D102
        return -0.5 * square

    def between(self, a: Any, b: Any) -> Any:  # noqa: D102
        return -2.0 * torch.sin(0.5 * (a + b)) * torch.sin(0.5 * (a - b))

    def draw(self, concentration: Any) -> Any:
        """Draw by the rejection of A. T. A. Wood (1994), Commun. Stat. Simul. Comput. 23, 157-164, as vmf.sampling."""
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
        return self.log_peak(concentration) + concentration * self.mean(concentration)

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
