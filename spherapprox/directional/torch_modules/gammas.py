"""Increments of log Gamma and of its derivative in torch's operations, without the cancellation of a difference."""

from __future__ import annotations

from typing import Any

import torch

from ..._scalars.gamma import STIRLING_FROM, stirling

STEPS = int(STIRLING_FROM)


def log_gamma_rise(a: Any, b: float) -> Any:
    """Return log Gamma(a + b) - log Gamma(a) for a tensor a > 0 and a number b > 0."""
    # DLMF 5.5.1, up to where 5.11.1 holds
    total = sum(torch.log1p(b / (a + j)) for j in range(STEPS))
    a = a + STEPS
    top = a + b
    return ((a - 0.5) * torch.log1p(b / a) + b * (top.log() - 1.0)) + (stirling(top) - stirling(a)) - total


def digamma_rise(a: Any, b: float) -> Any:
    """Return the derivative of `log_gamma_rise` in a, psi(a + b) - psi(a) > 0."""
    total = sum(b / ((a + j) * (a + b + j)) for j in range(STEPS))
    a = a + STEPS
    top = a + b
    return torch.log1p(b / a) + 0.5 * b / (a * top) + (_rest(a) - _rest(top)) + total


def _rest(a: Any) -> Any:
    """Return log a - 1/(2a) - psi(a)."""
    y = 1.0 / (a * a)
    return y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760))))))
