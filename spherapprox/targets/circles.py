"""Values of targets along great circles, on which a polynomial of degree n is a trigonometric one of degree n."""

from __future__ import annotations

import math

import numpy as np

from .._types import Float64, Floats
from ..target import Target


def on_great_circles(target: Target, circles: int, per_circle: int, rng: np.random.Generator) -> tuple[Float64, Floats]:
    """Evaluate a target at equidistant points of random great circles.

    Returns the points, shape (circles, per_circle, dim+1), and the values, shape (circles, per_circle, p).
    """
    angles = 2.0 * math.pi / per_circle * np.arange(per_circle)
    frames, _ = np.linalg.qr(rng.standard_normal((circles, target.dim + 1, 2)))
    x = (frames @ np.stack([np.cos(angles), np.sin(angles)])).transpose(0, 2, 1)  # (circles, per_circle, dim+1)
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    return x, target(x.reshape(-1, target.dim + 1)).reshape(circles, per_circle, -1)
