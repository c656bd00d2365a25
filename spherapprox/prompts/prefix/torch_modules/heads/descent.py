"""Free keys and biases: L-BFGS over many heads at once, with the values eliminated."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

from .problem import Heads, Targets, Tokens
from .solving import attention_of, match_masses, solve_values

_MEMORY, _HALVINGS, _ENOUGH = 12, 12, 1e-4
"""Steps that are remembered, halvings of one step, and the share of a slope's promise that a step has to keep."""
_FLAT, _FLAT_STEPS = 1e-4, 10
"""The gain, over so many steps, at which a descent ends."""
_FLOOR = 1e-3
"""Least spread of queries along a direction over the largest one, for the coordinates in which keys are sought."""
_ROUNDS = 10
"""Rounds of the clusters' means."""
_SHRINKS, _WORSE = (1.0, 0.5, 0.25, 0.125), 2.0
"""Keys are drawn to their mean by these, for long keys do not move; the longest within this of the least squares."""
_BRIEF = 25
"""Iterations from each start, before the best one is followed."""

_ASKED, _PATIENCE = 10, 3
"""Steps between judgements at other queries, and how many of these no head may gain by before a descent ends."""

Objective = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]
Judge = Callable[[torch.Tensor], torch.Tensor]
Stop = Callable[[], bool]


def descend(
    objective: Objective, start: torch.Tensor, iterations: int, stop: Stop, judge: Judge | None = None
) -> torch.Tensor:
    """Return points (G, P) of less value, by L-BFGS in each row: `objective` takes points and their rows' numbers.

    With a judge, whose measure (G,) of points is that of others' queries, the best of each row by that.
    """
    best, least, waited = start, None if judge is None else judge(start), 0
    rows = torch.arange(len(start), device=start.device)
    point, (value, slope) = start, objective(start, rows)
    steps: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    values = [value]
    for number in range(1, iterations + 1):
        if stop():
            break
        direction = _direction(slope, steps)
        descent = (direction * slope).sum(dim=-1)
        direction = torch.where((descent < 0.0)[:, None], direction, -slope)
        descent = (direction * slope).sum(dim=-1)
        size = torch.ones_like(value) if steps else 0.1 / slope.norm(dim=-1).clamp(min=1e-30)
        new, new_value, new_slope = point.clone(), value.clone(), slope.clone()
        open_ = rows
        for _ in range(_HALVINGS):
            trial = point[open_] + size[open_, None] * direction[open_]
            trial_value, trial_slope = objective(trial, open_)
            good = trial_value <= value[open_] + _ENOUGH * size[open_] * descent[open_]  # nan is not
            new[open_[good]], new_value[open_[good]], new_slope[open_[good]] = (
                trial[good], trial_value[good], trial_slope[good],
            )  # fmt: skip
            open_ = open_[~good]
            size[open_] *= 0.3
            if not len(open_):
                break
        moved, bent = new - point, new_slope - slope
        curvature = (moved * bent).sum(dim=-1)
        inverse = torch.where(curvature > 1e-12 * bent.square().sum(dim=-1), 1.0 / curvature, 0.0)
        steps = [*steps[1 - _MEMORY :], (moved, bent, inverse)]
        point, value, slope = new, new_value, new_slope
        if judge is not None and least is not None and (number % _ASKED == 0 or number == iterations):
            measure = judge(point)
            gained = measure < least
            best, least = torch.where(gained[:, None], point, best), torch.where(gained, measure, least)
            waited = 0 if bool(gained.any()) else waited + 1
            if waited == _PATIENCE:
                break
        values.append(value)
        if len(values) > _FLAT_STEPS and bool((value >= (1.0 - _FLAT) * values[-1 - _FLAT_STEPS]).all()):
            break
    return point if judge is None else best


def _direction(slope: torch.Tensor, steps: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """Return the two-loop recursion's directions (G, P)."""
    direction, parts = -slope, []
    for moved, bent, inverse in reversed(steps):
        part = inverse * (moved * direction).sum(dim=-1)
        direction = direction - part[:, None] * bent
        parts.append(part)
    if steps:
        _, bent, inverse = steps[-1]
        scale = 1.0 / (inverse * bent.square().sum(dim=-1)).clamp(min=1e-30)
        direction = direction * torch.where(inverse > 0.0, scale, 1.0)[:, None]
    for (moved, bent, inverse), part in zip(steps, reversed(parts), strict=True):
        direction = direction + moved * (part - inverse * (bent * direction).sum(dim=-1))[:, None]
    return direction


@dataclass(frozen=True)
class Fit:
    """The squares of outputs, and of log masses times `mass`, of tokens of each head, as a function of keys and biases.

    Keys are sought at queries ``(q - centre) factor`` of unit spread in all directions, where steps converge faster.
    """

    heads: Heads
    targets: Targets
    bias: bool
    mass: float
    ridge: float
    places: torch.Tensor
    centre: torch.Tensor
    factor: torch.Tensor
    size: torch.Tensor

    @classmethod
    def of(cls, heads: Heads, targets: Targets, bias: bool, mass: float, ridge: float) -> Fit:
        """Return the fit of heads; behind a softcap, and without biases, queries are not moved."""
        x = heads.queries
        centre = x.mean(dim=1, keepdim=True) * float(bias and heads.softcap is None)
        apart = (x - centre).double()  # squares of what float32 has
        spread, axes = torch.linalg.eigh(apart.transpose(1, 2) @ apart / x.shape[1])
        widths = spread.clamp(min=0.0).sqrt()
        widths = torch.maximum(widths, _FLOOR * widths.amax(dim=-1, keepdim=True)).clamp(min=1e-30)
        factor = (axes / widths[:, None]).to(x.dtype)
        size = targets.outputs.double().square().sum(dim=-1).mean(dim=-1).sqrt().to(x.dtype)
        size = size.clamp(min=torch.finfo(x.dtype).tiny)
        return cls(heads, targets, bias, mass, ridge, (x - centre) @ factor, centre, factor, size)

    def pack(self, key: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        """Return keys (G, t, s) and biases (G, t) as points (G, t (s + 1)), without biases (G, t s)."""
        inner = torch.linalg.solve(self.factor.double(), key.double().transpose(1, 2)).transpose(1, 2).to(key.dtype)
        if bias is None:
            return inner.flatten(1)
        shifted = bias + (key * self.centre).sum(dim=-1)
        return torch.cat([inner, shifted[..., None]], dim=-1).flatten(1)

    def unpack(self, point: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Return the keys and the biases of points."""
        inner, shifted = self._parts(point)
        key = inner @ self.factor.transpose(1, 2)
        return key, None if shifted is None else shifted - (key * self.centre).sum(dim=-1)

    def _parts(self, point: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        s = self.heads.key.shape[-1]
        parts = point.view(len(point), -1, s + self.bias)
        return parts[..., :s], parts[..., s] if self.bias else None

    def objective(self, point: torch.Tensor, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the squares (g,) and slopes (g, P) of some heads."""
        every = len(rows) == len(self.places)
        x, outputs, masses = (
            part if every else part[rows] for part in (self.places, self.targets.outputs, self.targets.log_masses)
        )
        (inner, shifted), count = self._parts(point), x.shape[1]
        logits, bent = x @ inner.transpose(1, 2), None
        if (cap := self.heads.softcap) is not None:
            logits = (bent := torch.tanh(logits / cap)) * cap
        logits = logits if shifted is None else logits + shifted[:, None]
        log_masses = torch.logsumexp(logits, dim=-1)
        weights = (logits - log_masses[..., None]).exp_()
        size = self.size[rows, None, None]
        zero = weights.new_zeros(*inner.shape[:2], outputs.shape[-1])
        value = solve_values(weights, outputs / size, zero, self.ridge)
        answers = weights @ value
        miss, mass_miss = answers - outputs / size, self.mass * (log_masses - masses)
        # the ridge, whose part of the slope is that of its own size, which is none of the envelope's
        square = (miss.square().sum(dim=(1, 2)) + mass_miss.square().sum(dim=1)) / count
        pull = miss @ value.transpose(1, 2) - (miss * answers).sum(dim=-1, keepdim=True)
        pull = 2.0 / count * weights * (pull + self.mass * mass_miss[..., None])
        slope_bias = pull.sum(dim=1)[..., None]
        if bent is not None:
            pull = pull * (1.0 - bent.square())
        slope = pull.transpose(1, 2) @ x
        if self.bias:
            slope = torch.cat([slope, slope_bias], dim=-1)
        return square, slope.flatten(1)

    def tokens(self, point: torch.Tensor) -> Tokens:
        """Return the tokens at points, with their values."""
        key, bias = self.unpack(point)
        weights = attention_of(self.heads.logits(self.heads.queries, key), bias)
        zero = weights.new_zeros(*key.shape[:2], self.heads.value.shape[-1])
        return Tokens(key, solve_values(weights, self.targets.outputs, zero, self.ridge), bias, None)


def operations(queries: int, s: int, p: int, count: int) -> float:
    """Return the operations of one evaluation for one head of `count` tokens; those in float64 count twice."""
    few = min(queries, count)
    return float(queries * count * (4.0 * s + 8.0 * p + 4.0 * few) + few**3)


def means(fit: Fit, count: int, generator: torch.Generator) -> torch.Tensor:
    """Return means (G, count, s) of clusters of keys, weighted by attention, near each other if their logits are."""
    inner = (
        torch.linalg.solve(fit.factor.double(), fit.heads.key.double().transpose(1, 2))
        .transpose(1, 2)
        .to(fit.factor.dtype)
    )
    weights = fit.targets.squares.sqrt()
    weights = weights + 1e-6 * weights.mean(dim=-1, keepdim=True) + 1e-30
    keys = []
    for places, shares in zip(inner, weights, strict=True):
        centres = places[torch.multinomial(shares.cpu(), count, generator=generator).to(places.device)]
        for _ in range(_ROUNDS):
            nearest = (centres.square().sum(dim=-1) - 2.0 * places @ centres.T).argmin(dim=-1)
            sums = shares.new_zeros(count).index_add_(0, nearest, shares)
            moments = torch.zeros_like(centres).index_add_(0, nearest, shares[:, None] * places)
            centres = torch.where(sums[:, None] > 0.0, moments / sums.clamp(min=1e-30)[:, None], centres)
        keys.append(centres)
    return torch.stack(keys) @ fit.factor.transpose(1, 2)


def shrunk(fit: Fit, key: torch.Tensor) -> torch.Tensor:
    """Return points at keys that are drawn to their mean, as little as keeps the squares small."""
    centre = key.mean(dim=1, keepdim=True)
    points, squares = [], []
    rows = torch.arange(len(key), device=key.device)
    for share in _SHRINKS:
        nearer = centre + share * (key - centre)
        bias = match_masses(fit.heads.logits(fit.heads.queries, nearer), fit.targets, own=False) if fit.bias else None
        if bias is not None:
            bias = torch.maximum(bias, bias.amax(dim=-1, keepdim=True) - math.log(1e3))  # light tokens do not move
        points.append(fit.pack(nearer, bias))
        squares.append(fit.objective(points[-1], rows)[0])
    table = torch.stack(squares)
    first = (table <= _WORSE * table.amin(dim=0)).int().argmax(dim=0)
    return torch.stack(points)[first, rows]


def refine(
    fit: Fit, starts: list[torch.Tensor], iterations: int, stop: Stop, measure: Callable[[Tokens], torch.Tensor]
) -> Tokens:
    """Return the tokens found from keys (G, t, s): briefly from each, and on from the best one of each head.

    Of those on the way, the best at other queries, where tokens are given a measure (G,).
    """

    def judge(point: torch.Tensor) -> torch.Tensor:
        return measure(fit.tokens(point))

    rows = torch.arange(len(fit.places), device=fit.places.device)
    brief = [descend(fit.objective, shrunk(fit, key), min(_BRIEF, iterations), stop) for key in starts]
    squares = torch.stack([fit.objective(point, rows)[0] for point in brief]).nan_to_num(nan=math.inf)
    point = torch.stack(brief)[squares.argmin(dim=0), rows]
    return fit.tokens(descend(fit.objective, point, max(iterations - _BRIEF, 0), stop, judge))
