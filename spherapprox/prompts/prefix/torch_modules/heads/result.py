"""Heads of few tokens that act as many, as tensors, with their errors."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..... import _checks
from .problem import Heads, Tokens, widened

_FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class CompressedHeads:
    """Few tokens of each head that act as all of them, from `compress_heads`.

    Parameters
    ----------
    key, value : Tensor, shapes (..., length, s) and (..., length, p)
        In the dtype and on the device of those given.
    bias : Tensor, shape (..., length), or None
        What is added to the logits of each token, in the same dtype; None for plain tokens.
    indices : Tensor of int64, shape (..., length), or None
        Which tokens of the given ones these are, rising; None where keys are their own.
    error, mass_error : Tensor, shape (...), float64
        Of each head, at the queries of the fit: the root mean square of the change of the outputs, over that of the
        outputs, and the one of log masses.
    held_out, held_out_mass : Tensor, shape (...), float64
        The same at the queries held out, every fifth one, which no fit saw.
    method : str
        That of `compress_heads`.
    scale, softcap : float, and float or None
        Those of the logits.

    Notes
    -----
    ``torch.save(vars(short), path)`` writes one, and ``CompressedHeads(**torch.load(path))`` reads it.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix import compress_heads
    >>> key, value, queries = torch.randn(3, 2, 200, 8, generator=torch.Generator().manual_seed(0))
    >>> short = compress_heads(key, value, queries, 20)
    >>> short(queries).shape, short.log_mass(queries).shape
    (torch.Size([2, 200, 8]), torch.Size([2, 200]))
    """

    key: torch.Tensor
    value: torch.Tensor
    bias: torch.Tensor | None
    indices: torch.Tensor | None
    error: torch.Tensor
    mass_error: torch.Tensor
    held_out: torch.Tensor
    held_out_mass: torch.Tensor
    method: str
    scale: float
    softcap: float | None = None

    def __call__(self, queries: torch.Tensor) -> torch.Tensor:
        """Return the outputs at queries.

        Parameters
        ----------
        queries : Tensor
            As in `compress_heads`; any number of them.

        Returns
        -------
        Tensor, shape of the queries with p columns
            In float32, or in float64 if queries are.

        Raises
        ------
        TypeError, ValueError
            If queries are no tensor of these heads, or elsewhere.
        """
        outputs, _ = self._attend(queries)
        return outputs.reshape(*queries.shape[:-1], -1)

    def log_mass(self, queries: torch.Tensor) -> torch.Tensor:
        """Return the log masses at queries, logarithms of sums of the exponentials of logits and biases.

        Parameters
        ----------
        queries : Tensor
            As in `compress_heads`; any number of them.

        Returns
        -------
        Tensor, shape of the queries without columns

        Raises
        ------
        TypeError, ValueError
            If queries are no tensor of these heads, or elsewhere.
        """
        return self._attend(queries)[1].reshape(queries.shape[:-1])

    def _attend(self, queries: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        check_rows(queries, "queries", like=self.key)
        rows = widened(grouped(queries, self.key)).flatten(1, 2) * self.scale
        key, value = (widened(part).reshape(len(rows), *part.shape[-2:]) for part in (self.key, self.value))
        bias = None if self.bias is None else widened(self.bias).reshape(len(rows), -1)
        with torch.autocast(rows.device.type, enabled=False):
            return Tokens(key, value, bias, None).attend(Heads(key, value, rows, self.softcap))

    def table(self) -> str:
        """Return a text table with a line for each head."""
        from tabulate import tabulate

        columns = (self.held_out, self.held_out_mass, self.error, self.mass_error)
        lines = zip(*(column.flatten().tolist() for column in columns), strict=True)
        rows = [[number, self.key.shape[-2], *(f"{x:.3g}" for x in line)] for number, line in enumerate(lines)]
        headers = ["head", "tokens", "held out", "held out mass", "error", "mass error"]
        return str(tabulate(rows, headers, disable_numparse=True))

    def __repr__(self) -> str:
        (n, s), p = self.key.shape[-2:], self.value.shape[-1]
        worst = float(self.held_out.max())
        return f"CompressedHeads(heads={tuple(self.key.shape[:-2])}, n={n}, s={s}, p={p}, held_out={worst:.3g})"


def check_rows(rows: torch.Tensor, name: str, like: torch.Tensor | None = None) -> torch.Tensor:
    """Return finite rows of floats (..., n, s), those of the dtype and the device of others."""
    _checks.instance(rows, name, torch.Tensor, remedy="torch.as_tensor(array) makes one")
    if rows.dtype not in _FLOATS or rows.is_nested or rows.layout != torch.strided or rows.ndim < 2 or not rows.numel():
        form = "nested tensors" if rows.is_nested else f"{rows.dtype}, {rows.layout}, of shape {tuple(rows.shape)}"
        raise ValueError(
            f"'{name}' must be dense rows (..., n, s) of float16, bfloat16, float32 or float64, got {form}"
        )
    if like is not None and (rows.dtype, rows.device) != (like.dtype, like.device):
        raise ValueError(
            f"'{name}' must be of {like.dtype} on {like.device}, as the keys, got {rows.dtype} on {rows.device}: "
            f"{name}.to(key)"
        )
    if rows.device.type in ("meta", "mps"):
        raise ValueError(f"'{name}' must be on a device that computes in float64, got {rows.device}: {name}.cpu()")
    if not bool(rows.isfinite().all()):
        raise ValueError(f"'{name}' must be finite, got nan or inf")
    return rows


def grouped(queries: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """Return queries (G, r, m, s) of G heads of keys (..., n, s), of each r heads of queries share."""
    heads, s = key.shape[:-2], key.shape[-1]
    shape = queries.shape
    apart = queries.ndim in (key.ndim, key.ndim + 1) and shape[: len(heads)] == heads
    behind = heads and queries.ndim == key.ndim and shape[:-3] == heads[:-1] and shape[-3] % heads[-1] == 0
    if shape[-1] == s and (apart or behind):
        return queries.reshape(heads.numel(), -1, *shape[-2:])
    raise ValueError(
        f"'queries' must have shape {(*heads, 'm', s)}, or heads that share a key behind one another or in an axis of "
        f"their own, got {tuple(shape)}"
    )
