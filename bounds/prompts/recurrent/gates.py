"""ReLUs and products by the gates of LSTMs and GRUs: their errors (10.3)."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

from numpy.typing import ArrayLike

from spherapprox import _checks
from spherapprox._integrals.piece import log_sum

from ...records.bound import Bound, over_arrays
from ...records.problem import WIDEST
from ..lengths import UNITS, between

REFERENCE = "docs/theorems/10.3-gates.md"
KINDS = ("lstm", "gru", "lstm-product", "gru-product")
RELU_GAP = 0.2784645427610738
"""The largest difference of x sigmoid(x) and max(x, 0): W(1/e) (10.3)."""


class _Parts(NamedTuple):
    """Logarithms of the parts of an error: of the sigmoid, of the tanh, and of their roundings."""

    gate: float
    tanh: float
    roundings: float


def gate_error(
    value: ArrayLike, *, sharpness: ArrayLike, scale: ArrayLike, kind: str = "lstm", factor: ArrayLike | None = None,
    past: ArrayLike | None = None, dtype: str | None = "float64",
) -> Bound:  # fmt: skip
    """Bound the error of a ReLU, or of a product, that an LSTM or a GRU computes with its own sigmoid and tanh.

    The cells carry ``scale`` times every value: ``tanh(scale a)`` behind the gate ``sigmoid(sharpness a)`` is relu(a),
    and two gates ``sigmoid(+-sharpness u)`` in front of ``tanh(scale v)`` have u v as their difference.

    Parameters
    ----------
    value : float or array_like
        Largest absolute value of a, or of u, from 0.
    sharpness : float or array_like
        Factor of the gate's argument: large for a ReLU (2^60), small for a product (2^-16).
    scale : float or array_like
        Factor of all values in the cell (2^-40).
    kind : str, default "lstm"
        ``"lstm"``, ``"gru"``: relu(a). ``"lstm-product"``, ``"gru-product"``: u v.
    factor : float or array_like
        Largest absolute value of v; products only.
    past : float or array_like, optional
        Largest absolute value of a before, h_0 / scale included, by default `value`; "gru" only, which holds one.
    dtype : {"float64", "float32", None}
        The arithmetic, whose roundings are part of the bound, those of a and of the read-out left out. None: exact.

    Returns
    -------
    Bound
        On the quantity "gate error" (docs/theorems/10.3-gates.md); or an array of them, for array arguments. Of its
        constants "gate" is the part of the sigmoid, "tanh" that of the tanh, and "roundings" theirs.

    Raises
    ------
    TypeError, ValueError

    Examples
    --------
    >>> from bounds.prompts import recurrent
    >>> print(recurrent.gate_error(100.0, sharpness=2.0**60, scale=2.0**-40, dtype=None))
    lstm: gate error <= 10^-18.10  [docs/theorems/10.3-gates.md]
    >>> print(recurrent.gate_error(1.0, kind="lstm-product", factor=1.0, sharpness=2.0**-16, scale=2.0**-40))
    lstm-product: gate error <= 10^-9.97  [docs/theorems/10.3-gates.md]
    """
    name = _checks.choice(kind, "kind", KINDS)
    unit = 0.0 if dtype is None else UNITS[_checks.choice(dtype, "dtype", UNITS)]
    product = name.endswith("-product")
    if product:
        _checks.given(factor, "factor", f" for kind={name!r}")
    else:
        _checks.left_out(factor, "factor", f"for kind={name!r}")
    if name != "gru":
        _checks.left_out(past, "past", f"for kind={name!r}")

    @over_arrays
    def entry(a: object, mu: object, eps: object, v: object, before: object) -> Bound:
        size = _least(a, "value")
        sharp, small = between(mu, "sharpness"), between(eps, "scale")
        second = _least(v, "factor") if product else max(size, _least(before, "past") if before is not None else size)
        parts = (_product if product else _relu)(name, size, second, sharp=sharp, scale=small, unit=unit)
        constants = tuple((part, math.exp(min(log, 700.0))) for part, log in parts._asdict().items())
        return Bound("gate error", log_sum(parts), "upper", theorem=name, reference=REFERENCE, constants=constants)

    return entry(value, sharpness, scale, factor, past)  # type: ignore[no-any-return]


def _relu(kind: str, size: float, past: float, *, sharp: float, scale: float, unit: float) -> _Parts:
    """Return the parts of the error of relu(a)."""
    # 10.3 (LSTM), (GRU), (roundings)
    share, largest, roundings = (2.0 / 3.0, size, 4.0) if kind == "lstm" else (1.0 / 3.0, past, 6.0)
    gate = math.log(RELU_GAP * (1.0 + 64.0 * unit)) - math.log(sharp)
    curve = math.log(share) + 2.0 * math.log(scale) + 3.0 * _log(largest)
    return _Parts(gate, curve, _log(roundings * unit) + _log(largest))


def _product(kind: str, u: float, v: float, *, sharp: float, scale: float, unit: float) -> _Parts:
    """Return the parts of the error of u v."""
    # 10.3 (product), (roundings)
    log_size, curved = _log(u) + _log(v), 2.0 * (math.log(scale) + _log(v))
    gate = log_size + 2.0 * (math.log(sharp) + _log(u)) - math.log(12.0)
    if kind == "lstm-product":
        share, roundings = 2.0 / 3.0, 12.0
    else:
        share, roundings = 1.0 / 3.0 + 3.0 / (1.0 + math.exp(-min(sharp * u, 700.0))) ** 2, 24.0
    rounded = _log(unit) + log_sum([math.log(roundings) + _log(v) - math.log(sharp), math.log(2.0) + log_size])
    return _Parts(gate, math.log(share) + log_size + curved, rounded)


def _log(value: float) -> float:
    return math.log(value) if value > 0.0 else -math.inf


_least = partial(_checks.real, minimum=0.0, maximum=WIDEST)
