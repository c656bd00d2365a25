"""Distributions on the sphere as torch.distributions: von Mises-Fisher, power spherical and uniform.

What depends on the concentration alone is computed in float64, where the device has that, whatever the dtype: the
logarithms of the densities pass through 0 where their terms are as large as columns + concentration.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, ClassVar

import torch
from torch.distributions import Distribution, constraints, register_kl

from ..._checks import integer
from . import checks
from .bessel import widen
from .laws import Exponential, Power, draw_angle, place


class Zonal(Distribution):
    """A distribution whose density depends on the cosine with a mean direction."""

    arg_constraints: ClassVar = {"loc": checks.unit_rows, "concentration": constraints.nonnegative}
    support = checks.unit_rows
    has_rsample = True
    _kind: ClassVar = Exponential
    _validate_args: bool

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        loc, concentration = checks.floats(loc, concentration)
        validate = self._validate_args if validate_args is None else validate_args
        if validate:
            checks.rows(loc, "loc")
            checks.concentrations(concentration)
        self._law = self._kind(len(range(loc.shape[-1])))  # a number, of which `torch.compile` may make a symbol
        self._numbers = concentration  # of its own shape, that nothing is computed twice
        self._fill(loc, torch.broadcast_shapes(loc.shape[:-1], concentration.shape), validate)

    def _fill(self, loc: Any, batch: Any, validate: bool) -> None:
        """Set parameters of a batch shape; what is to be checked has been checked."""
        self.loc = loc.expand(*batch, -1)
        self.concentration = self._numbers if self._numbers.shape == batch else self._numbers.expand(batch)
        super().__init__(self.concentration.shape, loc.shape[-1:], validate_args=False)
        self._validate_args = validate

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """Return the distribution with parameters repeated to `batch_shape`, as `torch.Tensor.expand` does."""
        new = self._get_checked_instance(type(self), _instance)
        new._law, new._numbers = self._law, self._numbers
        new._fill(self.loc, batch_shape, self._validate_args)
        return new

    def log_prob(self, value: Any) -> Any:
        """Return the logarithm of the density at unit rows `value`, with respect to the surface measure.

        It is in terms of |value - loc|, which keeps the digits of near points. Rows of length 1 + d move it by some
        concentration d^2/2, and its gradients in `value` and `loc` count along the sphere, as
        `torch.nn.functional.normalize` passes them on. ValueError if `value` has other columns or lengths.
        """
        if self._validate_args:
            checks.points(value, self.event_shape[0], self.batch_shape)
        dtype = torch.promote_types(torch.promote_types(value.dtype, self.loc.dtype), torch.float32)
        difference, kappa = value.to(dtype) - self.loc.to(dtype), widen(self._numbers)
        s = widen(self._law.at_chord((difference * difference).sum(-1)))
        return self._round(self._law.log_peak(kappa) + kappa * s - self._law.log_area, value)

    def entropy(self) -> Any:
        """Return the differential entropy with respect to the surface measure, of `batch_shape`."""
        result = self._law.log_area - self._law.divergence(widen(self._numbers))
        return self._round(result).expand(self.batch_shape)

    @property
    def mean(self) -> Any:
        """The mean point, inside the sphere: `loc` times the mean cosine."""
        return self.loc * self._law.cosine(widen(self._numbers)).to(self.loc.dtype)[..., None]

    @property
    def mode(self) -> Any:
        """The point of largest density, `loc`."""
        return self.loc

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draw random points, of shape sample_shape + batch_shape + event_shape: exact, of unit length to rounding.

        Gradients in `loc` and `concentration` are pathwise, by implicit differentiation of the angle's distribution
        function, to 1e-10 in float64, and can be taken once.
        """
        shape = *sample_shape, *self.batch_shape, *self.event_shape
        kappa = widen(self.concentration).expand(shape[:-1])
        angle = draw_angle(kappa, torch.rand((), device=kappa.device), shape[-1], self._kind is Power)
        work = torch.promote_types(self.loc.dtype, torch.float32)
        return place(angle, self.loc.expand(shape).to(work)).to(self.loc.dtype)

    def _round(self, result: Any, *tensors: Any) -> Any:
        """Return a result in the dtype of the parameters and of more tensors."""
        dtypes = (tensor.dtype for tensor in (self.loc, self.concentration, *tensors))
        return result.to(reduce(torch.promote_types, dtypes))


class VonMisesFisher(Zonal):
    """The von Mises-Fisher distribution, of density proportional to e^(concentration <loc, x>).

    Parameters
    ----------
    loc : Tensor, shape (..., columns)
        Mean directions: unit rows of 2 to 1e5 columns.
    concentration : Tensor, shape (...), or float
        0, the uniform distribution, to 1e7 and more; broadcast with the leading axes of `loc`.
    validate_args : bool, optional
        Check the arguments, here and in `log_prob`; by default as torch does, which stops when something was compiled.
        Compiled code checks nothing, and `torch.func.vmap` needs False.

    Raises
    ------
    TypeError, ValueError
        If rows of `loc` are not of unit length, `concentration` is negative or not finite, or the shapes do not fit.

    Notes
    -----
    The normaliser, the mean cosine and their derivatives are right to 1e-13. `torch.distributions.kl_divergence` has
    closed forms for two of these, from these and `PowerSpherical` to `HypersphericalUniform`, and from `PowerSpherical`
    to these.

    References
    ----------
    M. Figurnov, S. Mohamed, A. Mnih (2018), Implicit reparameterization gradients, NeurIPS 31.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import VonMisesFisher
    >>> loc = torch.nn.functional.normalize(torch.arange(1.0, 9.0).reshape(2, 4), dim=-1)
    >>> q = VonMisesFisher(loc, torch.tensor([10.0, 1000.0]))
    >>> q.batch_shape, q.event_shape, q.rsample((5,)).shape
    (torch.Size([2]), torch.Size([4]), torch.Size([5, 2, 4]))
    >>> q.log_prob(loc)
    tensor([0.7366, 7.6052])
    """


class PowerSpherical(Zonal):
    """The power spherical distribution, of density proportional to (1 + <loc, x>)^concentration.

    Its arguments and errors are those of `VonMisesFisher`, which it comes near where the concentration is twice as
    large; it draws without rejection. At the point opposite to `loc`, where the density is 0, `log_prob` takes the
    cosine as -1 and a rounding.

    References
    ----------
    N. De Cao, W. Aziz (2020), The power spherical distribution, arXiv:2006.04437.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.directional.torch_modules import PowerSpherical
    >>> PowerSpherical(torch.tensor([0.0, 0.0, 1.0]), 8.0).mean
    tensor([0.0000, 0.0000, 0.8000])
    """

    _kind = Power


class HypersphericalUniform(Zonal):
    """The uniform distribution on the unit sphere.

    Parameters
    ----------
    event_size : int
        Columns of a point, at least 2: one more than the sphere's dimension.
    batch_shape : tuple of int, default ()
    dtype, device : optional
        Of what is drawn, by default torch's.
    validate_args : bool, optional
        As in `VonMisesFisher`.

    Examples
    --------
    >>> from spherapprox.directional.torch_modules import HypersphericalUniform
    >>> HypersphericalUniform(3, (5,)).sample().shape
    torch.Size([5, 3])
    """

    arg_constraints: ClassVar = {}

    def __init__(
        self,
        event_size: int,
        batch_shape: Any = (),
        *,
        dtype: Any = None,
        device: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        size = integer(event_size, "event_size", minimum=2)
        shape = (batch_shape,) if isinstance(batch_shape, int) else batch_shape
        loc = torch.zeros(*shape, size, dtype=dtype, device=device)
        loc[..., 0] = 1.0
        super().__init__(loc, 0.0, validate_args)

    @property
    def mode(self) -> Any:
        """None: every point is one."""
        raise NotImplementedError("the uniform distribution has no mode")


@register_kl(VonMisesFisher, HypersphericalUniform)
@register_kl(PowerSpherical, HypersphericalUniform)
def to_uniform(p: Zonal, q: HypersphericalUniform) -> Any:
    """Return the divergence from the uniform distribution."""
    _refuse_other_columns(p, q)
    return _finish(p._law.divergence(widen(p._numbers)), p, q)


@register_kl(PowerSpherical, VonMisesFisher)
@register_kl(VonMisesFisher, VonMisesFisher)
def to_kernel(p: Zonal, q: VonMisesFisher) -> Any:
    """Return the divergence from a von Mises-Fisher distribution, in peaks and complements of cosines."""
    _refuse_other_columns(p, q)
    own, kappa = widen(p._numbers), widen(q._numbers)
    square = (widen(p.loc) - widen(q.loc)).square().sum(-1)
    gap = p._law.cosine(own) * (0.5 * square) - p._law.deficit(own)
    return _finish(p._law.log_peak(own) + own * p._law.mean(own) + (kappa * gap - q._law.log_peak(kappa)), p, q)


def _finish(result: Any, p: Zonal, q: Zonal) -> Any:
    """Return a divergence in the dtype of the parameters, for every member of the common batch."""
    return p._round(result, q.loc, q.concentration).expand(torch.broadcast_shapes(p.batch_shape, q.batch_shape))


def _refuse_other_columns(p: Zonal, q: Zonal) -> None:
    """Refuse distributions on different spheres."""
    if p.event_shape != q.event_shape:
        sizes = f"{p.event_shape[0]} and {q.event_shape[0]}"
        raise ValueError(f"kl_divergence needs distributions of the same number of columns, got {sizes}")
