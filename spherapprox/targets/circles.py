"""Values of targets along great circles, on which a polynomial of degree n is a trigonometric one of degree n."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .._norms import unit_of
from .._types import Float64, Floats
from ..target import Target

_POINTS, _LEAST = 10_000, 256  # points of all circles together, and of one at least


def on_great_circles(target: Target, circles: int, per_circle: int, rng: np.random.Generator) -> tuple[Float64, Floats]:
    """Evaluate a target at equidistant points of random great circles.

    Returns the points, shape (circles, per_circle, dim+1), and the values, shape (circles, per_circle, p).
    """
    angles = 2.0 * math.pi / per_circle * np.arange(per_circle)
    frames, _ = np.linalg.qr(rng.standard_normal((circles, target.dim + 1, 2)))
    x = (frames @ np.stack([np.cos(angles), np.sin(angles)])).transpose(0, 2, 1)  # (circles, per_circle, dim+1)
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    return x, target(x.reshape(-1, target.dim + 1)).reshape(circles, per_circle, -1)


def refutation(target: Target) -> str:
    """Tell in words which constant that a target states its values along great circles refute; empty if none.

    What survives is not proven: features that all circles miss are not seen. Changes of values below 6e-8 of their
    range (1e-3 in single precision) count as rounding, beside the target's stated accuracy.
    """
    degree = -1 if target.degree is None or target.degree > _POINTS // 4 else target.degree
    per_circle = max(_LEAST, 2 * (degree + 1 + degree // 2))
    _, returned = on_great_circles(target, max(4, _POINTS // per_circle), per_circle, rng=np.random.default_rng(0))
    size = max(float(np.abs(returned).max()), target.sup_norm or 0.0)
    if size == 0.0:
        return ""
    with np.errstate(over="ignore"):
        single = np.array_equal(returned, returned.astype(np.float32))
    unit, eps = unit_of(size), float(np.finfo(np.float32 if single else np.float64).eps)
    values = returned.astype(np.float64) / unit
    largest = float(np.linalg.norm(values, axis=2).max())
    noise = target.accuracy * size / unit + 16.0 * (degree + 2) * eps * largest  # that of the points included
    rounding = 4.0 * math.sqrt(eps) * float(np.ptp(values, axis=(0, 1)).max()) + 4.0 * noise
    for name, change, words, bound in _statements(target, values, degree):
        limit = bound / unit + (rounding if name in _CHANGES else noise)
        if not change <= limit * (1.0 + 1e-9):
            return (
                f"{name}={getattr(target, name):.6g} is refuted: {words} {change * unit:.4g}, by it at most {bound:.4g}"
            )
    return ""


def refuse_refuted(target: Target) -> None:
    """Refuse a target that states a constant which its values refute: nothing can be proven from it."""
    if wrong := refutation(target):
        raise ValueError(
            f"'target' must have the constants that it states, got {target.name!r}: {wrong}; state true ones, none, or "
            "the accuracy of its values"
        )


_CHANGES = ("lipschitz", "smoothness", "third_derivative")  # bounds of first, second and third differences


def _statements(target: Target, values: Float64, degree: int) -> Iterator[tuple[str, float, str, float]]:
    """Yield constants, what values (circles, per_circle, p) have of it at most, in words, and the bound, in units."""
    per_circle = values.shape[1]
    if target.sup_norm is not None:
        yield "sup_norm", float(np.linalg.norm(values, axis=2).max()), "a value is", target.sup_norm
    for order, name in enumerate(_CHANGES, 1):
        constant, power = getattr(target, name), target.exponent if order == 1 else float(order)
        for angle, change in differences(values, order) if constant is not None else ():
            words = f"a difference of order {order} over angles of {angle:.3g} is"
            yield name, change, words, constant * angle**power
    if degree >= 0:
        beyond = np.abs(np.fft.rfft(values, axis=1))[:, degree + 1 :] / per_circle
        excess, words = math.sqrt(2.0 * float(np.square(beyond).sum(axis=(1, 2)).max())), "beyond it a great circle has"
        yield "degree", excess, f"{words}, with remainder={target.remainder:.3g},", target.remainder


def differences(values: Float64, order: int) -> Iterator[tuple[float, float]]:
    """Yield angles, and the largest difference of an order, over these, of values (circles, per_circle, p)."""
    per_circle = values.shape[1]
    for lag in (2 ** np.arange(int(math.log2(per_circle)) - 2 * (order > 1))).tolist():
        change = values
        for _ in range(order):
            change = np.roll(change, -lag, axis=1) - change
        yield 2.0 * math.pi * lag / per_circle, float(np.linalg.norm(change, axis=2).max())
