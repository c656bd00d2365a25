"""Records as documents for JSON: dicts of text, numbers, lists and None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import CONSTANTS, Target

from ..validation.claims import Claim


def plain(value: Any) -> Any:
    """Return numbers that JSON has, None for infinity and nan, and text for what else there is."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [plain(entry) for entry in value]
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def error(found: ErrorInterval) -> dict[str, Any]:
    """Return an error interval with its certificate."""
    certificate = None if found.certificate is None else vars(found.certificate)
    return {name: plain(getattr(found, name)) for name in ("lower", "upper", "at", "reason")} | {
        "certificate": plain(certificate)
    }


def claim(stated: Claim) -> dict[str, Any]:
    """Return a claim with its outcome."""
    return {name: plain(getattr(stated, name)) for name in ("name", "stated", "found", "outcome", "reason", "at")}


def head(made: Head | None) -> dict[str, Any] | None:
    """Return the numbers of a head, without its arrays."""
    if made is None:
        return None
    points = None if made.points is None else repr(made.points)
    return {"kind": type(made).__name__, "n": len(made), "dim": made.dim, "concentration": plain(made.concentration),
            "n_outputs": made.n_outputs, "points": points}  # fmt: skip


def target(known: Target | None) -> dict[str, Any] | None:
    """Return the constants of a target with their origins."""
    if known is None:
        return None
    names = ("name", "unit", "dim", "exponent", "n_outputs", "provenance", *CONSTANTS)
    origins = {name: known.origin(name) for name in CONSTANTS if getattr(known, name) is not None}
    return {name: plain(getattr(known, name)) for name in names} | {"origins": origins}
