"""Kullback-Leibler divergences that have closed forms, for `torch.distributions.kl_divergence`."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import register_kl

from .bessel import widen
from .distributions import HypersphericalUniform, PowerSpherical, VonMisesFisher, Zonal


@register_kl(VonMisesFisher, HypersphericalUniform)
@register_kl(PowerSpherical, HypersphericalUniform)
def to_uniform(p: Zonal, q: HypersphericalUniform) -> Any:
    """Return the divergence from the uniform distribution."""
    _refuse_other_columns(p, q)
    return _finish(p._law.divergence(widen(p._numbers)), p, q)


@register_kl(VonMisesFisher, VonMisesFisher)
def between_kernels(p: VonMisesFisher, q: VonMisesFisher) -> Any:
    """Return log c_1 - log c_2 + A(k_1) (k_1 - k_2 <mu_1, mu_2>), in peaks and complements of cosines."""
    kappa = widen(p._numbers)
    return _finish(p._law.log_peak(kappa) + kappa * p._law.deficit(kappa) + _cross(p, q), p, q)


@register_kl(PowerSpherical, VonMisesFisher)
def from_power(p: PowerSpherical, q: VonMisesFisher) -> Any:
    """Return the divergence of a power spherical distribution from a von Mises-Fisher distribution."""
    return _finish(p._law.divergence(widen(p._numbers)) + _cross(p, q), p, q)


def _cross(p: Zonal, q: VonMisesFisher) -> Any:
    """Return the mean of -log q under p, with respect to the uniform measure."""
    _refuse_other_columns(p, q)
    kappa, own = widen(q._numbers), widen(p._numbers)
    square = (widen(p.loc) - widen(q.loc)).square().sum(-1)
    return kappa * (p._law.cosine(own) * (0.5 * square) - p._law.deficit(own)) - q._law.log_peak(kappa)


def _finish(result: Any, p: Zonal, q: Zonal) -> Any:
    """Return a divergence in the dtype of the parameters, for every member of the common batch."""
    batch = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    return p._round(result, q.loc, q.concentration).expand(batch)


def _refuse_other_columns(p: Zonal, q: Zonal) -> None:
    """Refuse distributions on different spheres."""
    if p.event_shape != q.event_shape:
        sizes = f"{p.event_shape[0]} and {q.event_shape[0]}"
        raise ValueError(f"kl_divergence needs distributions of the same number of columns, got {sizes}")
