"""Records as documents for JSON: dicts of text, numbers, lists and None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spherapprox.error import ErrorInterval
from spherapprox.heads.head import Head
from spherapprox.target import CONSTANTS, Target

from .claims import Claim


def to_json(value: Any) -> Any:
    """Return numbers that JSON has, None for infinity and nan, and text for what else there is."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, int | float):
        return value if abs(value) < float("inf") else None
    if isinstance(value, Mapping):
        return {str(key): to_json(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(entry) for entry in value]
    return to_json(value.tolist()) if hasattr(value, "tolist") else str(value)


def describe_error(error: ErrorInterval) -> dict[str, Any]:
    """Return an error interval with its certificate."""
    certificate = None if error.certificate is None else vars(error.certificate)
    return {name: to_json(getattr(error, name)) for name in ("lower", "upper", "at", "reason")} | {
        "certificate": to_json(certificate)
    }


def describe_claim(claim: Claim) -> dict[str, Any]:
    """Return a claim with its outcome."""
    return {name: to_json(getattr(claim, name)) for name in ("name", "stated", "found", "outcome", "reason", "at")}


def describe_head(head: Head | None) -> dict[str, Any] | None:
    """Return the numbers of a head, without its arrays."""
    if head is None:
        return None
    points = None if head.points is None else repr(head.points)
    return {"kind": type(head).__name__, "n": len(head), "dim": head.dim, "concentration": to_json(head.concentration),
            "n_outputs": head.n_outputs, "points": points}  # fmt: skip


def describe_target(target: Target | None) -> dict[str, Any] | None:
    """Return the constants of a target with their origins."""
    if target is None:
        return None
    names = ("name", "unit", "dim", "exponent", "n_outputs", "provenance", *CONSTANTS)
    origins = {name: target.origin(name) for name in CONSTANTS if getattr(target, name) is not None}
    return {name: to_json(getattr(target, name)) for name in names} | {"origins": origins}
