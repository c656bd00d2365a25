"""Second-order bounds of a given split head's error at each point: docs/theorems/4.H-second-order.md."""

from __future__ import annotations

import numpy as np

from spherapprox._types import Float64
from spherapprox.target import Target

from ._pointwise import Expansion, PointwiseTheorem


def _length(vectors: Float64) -> Float64:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _spread(there: Expansion) -> Float64:
    """Return m2, the mean square distance to the control points, (n,)."""
    return np.asarray(np.einsum("nii->n", there.moments.second))


def _by_constants(target: Target, there: Expansion) -> Float64:
    """Bound the error by L and H: 4.H (i)."""
    assert target.lipschitz is not None
    assert target.smoothness is not None
    return target.lipschitz * _length(there.moments.first) + 0.5 * target.smoothness * _spread(there)


def _by_laplacian(target: Target, there: Expansion) -> Float64:
    """Bound the error by L, Lap, H for what of the second moment is no multiple of the identity, and T: 4.H (ii)."""
    assert target.lipschitz is not None
    assert target.smoothness is not None
    assert target.laplacian is not None
    assert target.third_derivative is not None
    spread = _spread(there)
    shares = np.linalg.eigvalsh(there.moments.second)[:, 1:] - spread[:, None] / target.dim  # the first, 0, is x's own
    return np.asarray(
        target.lipschitz * _length(there.moments.first)
        + target.laplacian / (2.0 * target.dim) * spread
        + 0.5 * target.smoothness * np.abs(shares).sum(axis=1)
        + target.third_derivative / 6.0 * there.moments.third
    )


def _by_derivatives(target: Target, there: Expansion) -> Float64:
    """Bound the error by the gradient and the Hessian at x, and T: 4.H (iii)."""
    assert there.derivatives is not None
    assert target.third_derivative is not None
    frame = there.derivatives.frame
    mean = np.einsum("nia,na->ni", frame, there.moments.first)
    products = np.einsum("nia,nab,njb->nij", frame, there.moments.second, frame, optimize=True)
    change = np.einsum("npi,ni->np", there.derivatives.first, mean)
    change += 0.5 * np.einsum("npij,nij->np", there.derivatives.second, products)
    return _length(change) + target.third_derivative / 6.0 * there.moments.third


_PAGE = "docs/theorems/4.H-second-order.md"

BY_CONSTANTS = PointwiseTheorem(
    "second-order", f"{_PAGE} (i)", "split head with given weights, by L and H",
    ("lipschitz", "smoothness"), _by_constants,
)  # fmt: skip
BY_LAPLACIAN = PointwiseTheorem(
    "second-order-laplacian", f"{_PAGE} (ii)", "the same by L, H, Lap and T",
    ("lipschitz", "smoothness", "laplacian", "third_derivative"), _by_laplacian,
)  # fmt: skip
BY_DERIVATIVES = PointwiseTheorem(
    "second-order-local", f"{_PAGE} (iii)", "the same by the derivatives at x and T",
    ("third_derivative",), _by_derivatives, local=True,
)  # fmt: skip
