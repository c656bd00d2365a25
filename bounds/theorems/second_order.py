"""Second-order bounds of a given split head's error at each point: docs/theorems/4.H-second-order.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spherapprox._types import Float64
from spherapprox.harmonics import TangentDerivatives
from spherapprox.summation import TangentMoments
from spherapprox.target import Target


class Expansion(NamedTuple):
    """The moments of a head's weights at points x, and the target's derivatives there where they are wanted."""

    moments: TangentMoments
    derivatives: TangentDerivatives | None


@dataclass(frozen=True)
class PointwiseTheorem:
    """One theorem on ``|f(x) - h(x)|`` for a split head with values f(b_k).

    `name`, `reference` and `statement` are as in `Theorem`, `constants` the attributes of the target that it needs;
    `bound` maps (target, expansion) to bounds of the errors, (n,), and `local` tells whether it needs the target's
    derivatives at x, which polynomials have here.
    """

    name: str
    reference: str
    statement: str
    constants: tuple[str, ...]
    bound: Callable[[Target, Expansion], Float64]
    local: bool = False

    def lack(self, target: Target) -> str:
        """Return the hypothesis that a target lacks, in words, empty for none."""
        missing = [name for name in self.constants if getattr(target, name) is None]
        if target.exponent != 1.0 and "lipschitz" in self.constants:
            missing.append("exponent=1")
        if missing:
            return f"the target's {' and '.join(missing)} (targets.with_constants proves them for polynomials)"
        if self.local and (target.degree is None or target.remainder):
            return "a target with a degree and no remainder, whose derivatives are known"
        return ""


def _length(vectors: Float64) -> Float64:
    return np.asarray(np.linalg.norm(vectors, axis=1))


def _spread(there: Expansion) -> Float64:
    """Return m2, the mean square distance to the control points, (n,) (4.H)."""
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
    constants=("lipschitz", "smoothness"), bound=_by_constants,
)  # fmt: skip
BY_LAPLACIAN = PointwiseTheorem(
    "second-order-laplacian", f"{_PAGE} (ii)", "the same by L, H, Lap and T",
    constants=("lipschitz", "smoothness", "laplacian", "third_derivative"), bound=_by_laplacian,
)  # fmt: skip
BY_DERIVATIVES = PointwiseTheorem(
    "second-order-local", f"{_PAGE} (iii)", "the same by the derivatives at x and T",
    constants=("third_derivative",), bound=_by_derivatives, local=True,
)  # fmt: skip
