"""The lemmas of Petrov (2025), appendix B, from B.2.6 on, as numbers: as printed, and corrected.

docs/theorems/2-thesis.md and 3-errata.md state them. The arguments are the same throughout: `dim` is m, 1 to 1e6;
`eps`, `lipschitz` (L), `sup_norm` (F), `radius` (phi, in radians) and the sizes and errors of a quotient (`numerator`,
`denominator`, `product`, `numerator_error`, `denominator_error`) are 1e-200 to 1e200, `concentration` (lambda) 0 to
1e150, `inputs` (T) from 1 on; `log_delta`, `log_slope`, `log_mass` and `mask` are logarithms. A ValueError or
TypeError names the argument that is not. Results beyond the largest float are inf; `printed` asks for the text's form.
"""

from __future__ import annotations

import math

from spherapprox.special import log_cap_measure
from spherapprox.vmf import VonMisesFisher

from ...covering import log_rogers_constant
from .._search import log_sum
from ._arguments import checked

_LOG_LARGEST = 460.0
"""Log of the concentration from which c e^lambda is its leading term, a power of lambda."""
_LOG_SMALL = -300.0
"""Log of the angle below which a cap is a Euclidean ball."""


@checked
def cap_counts(log_delta: float, dim: int) -> tuple[float, float, float]:
    """Bound the log of N_delta, the least number of covering caps <x, b> >= 1 - delta, by Lemma B.2.6: three numbers.

    ``2 / I_(delta(2-delta))(m/2, 1/2) <= N_delta < Phi(m) / (delta(2-delta))^((m+1)/2) < Phi(m) / delta^(m+1)``, for
    0 < delta < 1. Printed for m >= 8; the last holds for every m >= 2 (docs/theorems/4.2-covering-numbers.md). The
    middle one needs sqrt(delta(2-delta)) <= 1/(m+1) too, and is inf without it.

    Examples
    --------
    >>> [round(number, 4) for number in cap_counts(math.log(0.01), 8)]
    [17.6499, inf, 46.7212]
    """
    delta = math.exp(log_delta)
    log_sine = 0.5 * (log_delta + math.log(2.0 - delta))
    lower = -_log_cap(log_delta, dim)
    rogers = log_rogers_constant(dim) if dim >= 2 else math.inf
    middle = rogers - (dim + 1.0) * log_sine if log_sine <= -math.log(dim + 1.0) else math.inf
    return lower, middle, rogers - (dim + 1.0) * log_delta


def _log_cap(log_delta: float, dim: int) -> float:
    """Return log sigma of the cap <x, b> >= 1 - delta; of a ball if delta underflows (B.2.6)."""
    log_angle = 0.5 * (log_delta + math.log(2.0))
    if log_angle < _LOG_SMALL:
        return float(log_cap_measure(dim, math.exp(_LOG_SMALL))) + dim * (log_angle - _LOG_SMALL)
    return float(log_cap_measure(dim, 2.0 * math.asin(math.sqrt(0.5 * math.exp(log_delta)))))


@checked
def log_riemann_error(log_slope: float, radius: float, *, printed: bool = True) -> float:
    """Bound the log of the error of a Riemann sum on cells within phi of their points by 3 L_g phi (Lemma B.2.7).

    Printed with the factor 3; 1 is enough, from the Lipschitz constant L_g in y alone.

    Examples
    --------
    >>> round(log_riemann_error(2.0, 0.1), 6)
    0.796027
    """
    return math.log(3.0 if printed else 1.0) + log_slope + math.log(radius)


@checked
def log_peak(log_concentration: float, dim: int) -> float:
    """Return log(c e^lambda), the kernel's maximum, from log lambda (B.2.8)."""
    if log_concentration <= _LOG_LARGEST:
        return float(VonMisesFisher(dim, math.exp(log_concentration)).log_density(1.0))
    start = float(VonMisesFisher(dim, math.exp(_LOG_LARGEST)).log_density(1.0))
    return start + 0.5 * dim * (log_concentration - _LOG_LARGEST)


@checked
def log_kernel_slope(concentration: float, dim: int, *, printed: bool = False) -> float:
    """Return the log of lambda c e^lambda, a Lipschitz constant of the kernel (Lemma B.2.8).

    Printed without the factor lambda, which fails from lambda = 3 on.

    Examples
    --------
    >>> round(log_kernel_slope(100.0, 8), 6)
    19.125335
    """
    if concentration == 0.0:
        return 0.0 if printed else -math.inf
    log_lambda = math.log(concentration)
    return log_peak(log_lambda, dim) + (0.0 if printed else log_lambda)


@checked
def log_modulus(concentration: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return log((L + lambda F) c e^lambda), a Lipschitz constant of y -> f(y) K(<x, y>) (B.2.8 in B.2.9).

    Examples
    --------
    >>> round(log_modulus(100.0, 8, lipschitz=1.0, sup_norm=1.0), 6)
    19.135285
    """
    return _log_modulus(
        math.log(concentration) if concentration > 0.0 else -math.inf, dim, lipschitz, sup_norm=sup_norm
    )


def _log_modulus(log_concentration: float, dim: int, lipschitz: float, sup_norm: float) -> float:
    slope = log_sum(math.log(lipschitz), log_concentration + math.log(sup_norm))
    return slope + log_peak(log_concentration, dim)


@checked
def log_delta(concentration: float, eps: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return log delta = log((eps / (3 pi (L + lambda F) c e^lambda))^2); caps of 4.12 are <x, b> >= 1 - delta."""
    log_lambda = math.log(concentration) if concentration > 0.0 else -math.inf
    return log_delta_at(log_lambda, eps, dim, lipschitz=lipschitz, sup_norm=sup_norm)


def log_delta_at(log_concentration: float, eps: float, dim: int, *, lipschitz: float, sup_norm: float) -> float:
    """Return `log_delta` from log lambda."""
    modulus = _log_modulus(log_concentration, dim, lipschitz, sup_norm=sup_norm)
    return 2.0 * (math.log(eps) - math.log(3.0 * math.pi) - modulus)


def log_count_of(log_delta: float, dim: int) -> float:
    """Return log(Phi(m) / delta^(m+1)); Phi(1) is taken as Phi(2)."""
    return log_rogers_constant(max(dim, 2)) - (dim + 1) * log_delta


@checked
def quotient_error(
    numerator_error: float, denominator_error: float, *, numerator: float, denominator: float, product: float
) -> float:
    """Bound the error of a quotient of approximations (B.3.1).

    It is ``|a/c - b/d| <= (e1 |c| + e2 |a|) / |c d|`` for e1 = |a - b|, e2 = |c - d| and |c d| >= product.

    Examples
    --------
    >>> round(quotient_error(0.1, 0.2, numerator=1.0, denominator=2.0, product=1.5), 6)
    0.266667
    """
    return (numerator_error * denominator + denominator_error * numerator) / product


@checked
def denominator_error(
    eps: float, concentration: float, dim: int, *, lipschitz: float, sup_norm: float, printed: bool = False
) -> float:
    """Bound the distance of ``(c/N) sum exp(lambda <x, b_k>)`` from 1, lambda and N of B.2.10 at eps (Lemma B.3.2).

    Corrected: ``lambda eps / (2 sqrt(m+1) (L + lambda F))``. Printed (B.22) without the factor lambda.

    Examples
    --------
    >>> round(denominator_error(0.1, 100.0, 8, lipschitz=1.0, sup_norm=1.0), 6)
    0.016502
    """
    share = (1.0 if printed else concentration) / (lipschitz + concentration * sup_norm)
    return 0.5 * eps / math.sqrt(dim + 1.0) * share


@checked
def inner_accuracy(eps: float, dim: int, *, lipschitz: float, sup_norm: float, printed: bool = False) -> float:
    """Return the accuracy eps' of the numerator with which the quotient reaches eps (Theorem B.3.3).

    Corrected: ``eps / (3/2 + eps / (2 sqrt(m+1) F))``. Printed: ``2 eps L / (2 L + F)``.
    """
    if printed:
        return 2.0 * eps * lipschitz / (2.0 * lipschitz + sup_norm)
    return eps / (1.5 + eps / (2.0 * math.sqrt(dim + 1.0) * sup_norm))


@checked
def split_error(inner: float, dim: int, *, sup_norm: float) -> float:
    """Return the split head's error in B.3.3, corrected: `inner_accuracy` inverted; inf from 2 sqrt(m+1) F on."""
    size = math.sqrt(dim + 1.0) * sup_norm
    off = 0.5 * inner / size
    if off >= 1.0:
        return math.inf
    return quotient_error(inner, off, numerator=size, denominator=1.0, product=1.0 - off)


@checked
def mask_error(log_mass: float, mask: float, *, sup_norm: float, inputs: int = 1) -> float:
    """Return the error F' T e^M / (T e^M + S) of a finite mask M, S = sum_k exp(lambda <x, b_k>) (Lemma 4.16).

    Printed as exact, for M -> -inf. For T >= 2 inputs M is the logit between inputs: docs/theorems/3-errata.md, 3.7.

    Examples
    --------
    >>> mask_error(0.0, -10.0, sup_norm=1.0) < 5e-5
    True
    """
    gap = log_mass - mask - math.log(inputs)
    return sup_norm / (1.0 + math.exp(gap)) if gap < 700.0 else sup_norm * math.exp(-gap)
