"""Complaints about what is passed to distributions on the sphere."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributions import constraints

from ..._checks import broadcast_shape, show, wrong_type


class UnitRows(constraints.Constraint):
    """Rows of unit length, to 1e-3, or 1e-2 in half precision."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        """Tell which rows of the tensor `value` pass."""
        return (lengths(value) - 1.0).abs() <= (1e-2 if value.element_size() == 2 else 1e-3)


unit_rows = UnitRows()


def lengths(x: Any) -> Any:
    """Return the lengths of rows."""
    return torch.linalg.vector_norm(x.detach().to(torch.promote_types(x.dtype, torch.float32)), dim=-1)


def tensor(x: Any, name: str) -> Any:
    """Return a tensor of floats."""
    try:
        result = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError):
        raise wrong_type(x, name, "a torch.Tensor") from None
    if result.is_complex() or result.dtype == torch.bool or result.layout != torch.strided:
        raise wrong_type(x, name, "a torch.Tensor of real numbers, not sparse")
    return result if result.is_floating_point() else result.to(torch.get_default_dtype())


def floats(loc: Any, concentration: Any) -> tuple[Any, Any]:
    """Return mean directions and concentrations as tensors of floats whose shapes fit."""
    loc, numbers = tensor(loc, "loc"), tensor(concentration, "concentration")
    if not isinstance(concentration, torch.Tensor):  # Python's floats keep their digits
        numbers = torch.as_tensor(concentration, dtype=loc.dtype, device=loc.device)
    if loc.ndim == 0 or loc.shape[-1] < 2:
        raise ValueError(f"'loc' must hold rows of at least 2 columns, got shape {tuple(loc.shape)}")
    shape, batch = tuple(numbers.shape), tuple(loc.shape[:-1])
    column = shape == (*batch, 1) and max(batch, default=1) > 1
    ends = zip(shape[::-1], batch[::-1])  # noqa: B905 - strict=False is True to torch 2.6's compiler
    if column or any(a != b and 1 not in (a, b) for a, b in ends):
        remedy = ": pass concentration.squeeze(-1)" if column else ""
        words = f"a number for each row of 'loc', shape {batch} or one that broadcasts with it"
        raise ValueError(f"'concentration' must have {words}, got shape {shape}{remedy}")
    return loc, numbers


def rows(x: Any, name: str) -> None:
    """Refuse rows that are not of unit length; compiled code cannot look, and "meta" has no numbers."""
    if torch.compiler.is_compiling() or x.is_meta or bool((fine := unit_rows.check(x)).all()):
        return
    words = f"'{name}' must hold rows of unit length, got one of length {show(float(lengths(x)[~fine][0]))}"
    raise ValueError(f"{words}: torch.nn.functional.normalize({name}, dim=-1) makes them")


def concentrations(x: Any) -> None:
    """Refuse concentrations that are negative or not finite."""
    if torch.compiler.is_compiling() or x.is_meta or bool((fine := (x >= 0.0) & torch.isfinite(x)).all()):
        return
    words = f"'concentration' must be at least 0 and finite, got {show(float(x.detach()[~fine][0]))}"
    raise ValueError(f"{words}: torch.nn.functional.softplus(concentration) makes it so")


def points(x: Any, columns: int, batch: tuple[int, ...]) -> None:
    """Refuse points of other columns, not of unit length, or that do not broadcast with a batch."""
    if not isinstance(x, torch.Tensor):
        raise wrong_type(x, "value", "a torch.Tensor")
    if x.ndim == 0 or x.shape[-1] != columns:
        raise ValueError(f"'value' must have {columns} columns, got shape {tuple(x.shape)}")
    if not torch.compiler.is_compiling():
        broadcast_shape("value[:, None] gives all pairs", value=tuple(x.shape[:-1]), distributions=tuple(batch))
    rows(x, "value")
