"""Biases by nonnegative least squares of the mass, values by least squares of the outputs, of many heads at once."""

from __future__ import annotations

import math

import torch

from .problem import Heads, Targets

_PRECISE, _RIDGES = (1e-12, 8.0), (1.0, 1e3, 1e6, 1e9)
"""Precision of products at least, and over the roundings of their type; ridges over it and the number of columns, which
are of length 1, in turns: with one sets of columns do not recur."""
_EXCHANGES, _CHANCES = 50, 3
"""Exchanges with a ridge, and those of all wrong columns that may leave as many wrong before one is exchanged alone."""
_TOLERANCE = 1e-10
"""Part of the largest slope at no weights that another may be off by, if that precision is not more."""
_COLUMNS = 256
"""Columns whose inner products with those before them are taken at once."""
_LEAST_OWN = 0.3
"""Least weight of a chosen token over its own one: those that are not wanted for the mass keep values of their size."""


def squares_of(columns: torch.Tensor) -> torch.Tensor:
    """Return the inner products (G, t, t) of columns (G, m, t), in little more than half the work of all."""
    gram = columns.new_empty(len(columns), columns.shape[2], columns.shape[2])
    for start in range(0, columns.shape[2], _COLUMNS):
        rows, end = slice(start, start + _COLUMNS), slice(start + _COLUMNS)
        part = columns[..., rows].transpose(1, 2) @ columns[..., end]
        gram[:, rows, end], gram[:, end, rows] = part, part.transpose(1, 2)
    return gram


def solve_nonnegative(gram: torch.Tensor, moment: torch.Tensor, passive: torch.Tensor | None = None) -> torch.Tensor:
    """Return the weights w >= 0 (t,) of least ``w' gram w / 2 - moment' w``, of one head.

    By block principal pivoting (Kim and Park 2011), from columns that may be `passive`, not 0, as `solve_nonnegative`
    of compression/least_squares.py does; an exchange waits for the device twice.
    """
    count, precision = len(moment), max(_PRECISE[0], _PRECISE[1] * torch.finfo(gram.dtype).eps)
    scales = gram.diagonal().clamp(min=1e-30).rsqrt()
    damped, right = gram * scales * scales[:, None], scales * moment
    tolerance = max(_TOLERANCE, precision) * right.abs().amax()
    first, least, best = right > 0.0 if passive is None else passive, math.inf, torch.zeros_like(right)
    for factor in _RIDGES:
        ridge = factor * precision * count
        damped.diagonal().fill_(1.0 + ridge)
        passive, fewest, chances = first, count + 1, _CHANCES
        for _ in range(_EXCHANGES):
            weights, failed = _solve_passive(damped, right, passive)
            feasible = weights.clamp(min=0.0)
            square = feasible @ (damped @ feasible - ridge * feasible - 2.0 * right)
            wrong = torch.where(passive, weights < 0.0, damped @ weights - right < -tolerance)
            numbers = torch.stack([square.double(), wrong.sum().double(), failed.double()]).tolist()
            if numbers[2]:  # the ridge is less than roundings in float32
                break
            changes = int(numbers[1])
            if numbers[0] < least:
                least, best = numbers[0], feasible
            if changes == 0 or (chances == 0 and precision > _TOLERANCE):  # roundings recur
                return scales * best
            chances = _CHANCES if changes < fewest else chances - 1
            fewest = min(changes, fewest)
            passive = passive ^ (wrong if chances >= 0 else wrong & (wrong.cumsum(dim=0) == changes))
    return scales * best


def _solve_passive(
    gram: torch.Tensor, moment: torch.Tensor, passive: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the least squares (t,) over some columns, and a number that is not 0 where they have none."""
    rows = passive.nonzero()[:, 0]
    lower, failed = torch.linalg.cholesky_ex(gram.index_select(0, rows).index_select(1, rows))
    half = torch.linalg.solve_triangular(lower, moment[rows, None], upper=False)
    solved = torch.linalg.solve_triangular(lower.mT, half, upper=True)
    return torch.zeros_like(moment).index_copy_(0, rows, solved[:, 0]), failed


def match_masses(logits: torch.Tensor, targets: Targets, own: bool) -> torch.Tensor:
    """Return the biases (G, t) with which the masses of tokens of logits (G, m, t) sum up to those of all.

    Squares are of masses over the mass of all at each query. Biases of the heads' `own` tokens have a least one; of
    others, those that are not wanted have -inf.
    """
    relative = logits - targets.log_masses[..., None]
    shift = relative.amax(dim=1, keepdim=True)
    columns, shift = (relative - shift).exp_(), shift[:, 0]
    gram, moment = squares_of(columns), columns.sum(dim=1)
    least = _LEAST_OWN * shift.clamp(max=0.0).exp() if own else torch.zeros_like(shift)
    missing = moment - (gram @ least[..., None])[..., 0]
    weights = least + torch.stack([solve_nonnegative(*pair) for pair in zip(gram, missing, strict=True)])
    biases = weights.log() - shift
    return biases.clamp(min=math.log(_LEAST_OWN)) if own else biases


def solve_values(weights: torch.Tensor, outputs: torch.Tensor, start: torch.Tensor, ridge: float) -> torch.Tensor:
    """Return the values (G, t, p) of least squares of the outputs, with a ridge on what they differ from a start.

    Normal equations in float64, of tokens or of queries, whichever are fewer; the ridge is relative to the mean square
    of the columns of the attention `weights` (G, m, t), so that of 16 digits ``16 + log10(ridge)`` are left.
    """
    wide, missing = weights.double(), (outputs - weights @ start).double()
    few_rows = wide.shape[1] < wide.shape[2]
    gram = squares_of(wide.transpose(1, 2) if few_rows else wide)
    trace = gram.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
    gram.diagonal(dim1=-2, dim2=-1).add_((ridge * trace / wide.shape[2]).clamp(min=1e-300)[:, None])
    factor = torch.linalg.cholesky(gram)
    if few_rows:
        change = wide.transpose(1, 2) @ torch.cholesky_solve(missing, factor)
    else:
        change = torch.cholesky_solve(wide.transpose(1, 2) @ missing, factor)
    return start + change.to(start.dtype)


def attention_of(logits: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """Return the attention (G, m, t) among tokens."""
    return torch.softmax(logits if bias is None else logits + bias[:, None], dim=-1)


def closed_form(
    heads: Heads, targets: Targets, key: torch.Tensor, value: torch.Tensor, bias: bool, ridge: float
) -> tuple[torch.Tensor | None, torch.Tensor]:
    """Return the biases (G, t), if any, and values (G, t, p) of the heads' own tokens at keys, near given values."""
    logits = heads.logits(heads.queries, key)
    biases = match_masses(logits, targets, own=True) if bias else None
    return biases, solve_values(attention_of(logits, biases), targets.outputs, value, ridge)
