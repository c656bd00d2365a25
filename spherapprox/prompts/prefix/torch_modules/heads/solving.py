"""Biases by nonnegative least squares of the mass, values by least squares of the outputs, of many heads at once."""

from __future__ import annotations

import math

import torch

from .problem import Heads, Targets

_ROUNDS, _KKT = 400, 1e-3
"""Steps of projected gradients at most, and the residual of the conditions of optimality at which they end."""
_COLUMNS = 256
"""Columns whose inner products with those before them are taken at once."""
_LEAST = 1e-9
"""Least weight of a token over the largest one: its logarithm is a bias."""


def squares_of(columns: torch.Tensor) -> torch.Tensor:
    """Return the inner products (G, t, t) of columns (G, m, t), in little more than half the work of all."""
    gram = columns.new_empty(len(columns), columns.shape[2], columns.shape[2])
    for start in range(0, columns.shape[2], _COLUMNS):
        rows, end = slice(start, start + _COLUMNS), slice(start + _COLUMNS)
        part = columns[..., rows].transpose(1, 2) @ columns[..., end]
        gram[:, rows, end], gram[:, end, rows] = part, part.transpose(1, 2)
    return gram


def nonnegative(
    gram: torch.Tensor, moment: torch.Tensor, start: torch.Tensor, rounds: int = _ROUNDS
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the weights w >= 0 (G, t) of least ``w' gram w / 2 - moment' w``, and the residuals (G,) left.

    Accelerated projected gradients, which start anew where they go uphill; `gram` (G, t, t) has no negative numbers, so
    that its largest sum of a row bounds its norm. The residual is the largest part of the gradient that a step could
    follow, over the largest moment.
    """
    step = 1.0 / gram.sum(dim=-1).amax(dim=-1, keepdim=True).clamp(min=1e-30)
    size = moment.abs().amax(dim=-1).clamp(min=1e-30)
    weights, point, pace = start, start, torch.ones_like(step)
    residual = torch.full_like(size, torch.inf)
    for number in range(rounds):
        gradient = (gram @ point[..., None])[..., 0] - moment
        new = (point - step * gradient).clamp(min=0.0)
        uphill = (gradient * (new - weights)).sum(dim=-1, keepdim=True) > 0.0
        following = torch.where(uphill, 1.0, (1.0 + (1.0 + 4.0 * pace.square()).sqrt()) / 2.0)
        point = torch.where(uphill, new, new + (pace - 1.0) / following * (new - weights))
        weights, pace = new, following
        if number % 10 == 9 or number == rounds - 1:
            gradient = (gram @ weights[..., None])[..., 0] - moment
            residual = torch.where(weights > 0.0, gradient.abs(), (-gradient).clamp(min=0.0)).amax(dim=-1) / size
            if bool((residual <= _KKT).all()):
                break
    return weights, residual


def match_masses(logits: torch.Tensor, targets: Targets) -> torch.Tensor:
    """Return the biases (G, t) with which the masses of tokens of logits (G, m, t) sum up to those of all.

    Squares are of masses over the mass of all at each query; columns are scaled to length 1.
    """
    relative = logits - targets.log_masses[..., None]
    shift = relative.amax(dim=1, keepdim=True)
    columns = (relative - shift).exp_()
    lengths = columns.norm(dim=1)
    columns /= lengths[:, None]
    # lengths * exp(shift) * weight is what is solved for: start from weights that share the mean mass alike
    scale = (shift[:, 0] + lengths.log()).clamp(min=-80.0, max=80.0)
    gram, moment = squares_of(columns), columns.sum(dim=1)
    start = scale.exp()
    along = (start * (gram @ start[..., None])[..., 0]).sum(dim=-1, keepdim=True).clamp(min=1e-30)
    start = start * ((start * moment).sum(dim=-1, keepdim=True) / along)
    solved, _ = nonnegative(gram, moment, start)
    log_weights = solved.clamp(min=1e-30).log() - scale
    log_weights = torch.where(solved > 0.0, log_weights, -torch.inf)
    least = log_weights.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0) + math.log(_LEAST)
    return torch.maximum(log_weights, least)


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
    """Return the biases (G, t), if there are any, and the values (G, t, p) of tokens at keys, near given values."""
    logits = heads.logits(heads.queries, key)
    biases = match_masses(logits, targets) if bias else None
    return biases, solve_values(attention_of(logits, biases), targets.outputs, value, ridge)
