"""Tokens spent over heads where errors fall most."""

from __future__ import annotations

import torch

from .problem import Heads, Targets, Tokens, errors, part_of
from .selection import attend_most
from .solving import closed_form

_LENGTHS = (0.25, 0.5, 1.0, 2.0)
"""Numbers of tokens over the mean one, at which errors are measured."""
_QUERIES = 1024
"""Queries of which every second one is fitted to, and the others are those of the errors."""


def curve(heads: Heads, targets: Targets, count: int, bias: bool, ridge: float) -> tuple[list[int], torch.Tensor]:
    """Return numbers of tokens, and squared errors (lengths, G) of tokens in closed form, over a layer's squares.

    Errors are at other queries than those of the fit, which has few, and the layer's squares are the mean over its
    heads: errors count as they do in the output of all.
    """
    n, m = heads.key.shape[1], heads.queries.shape[1]
    lengths = sorted({min(max(round(share * count), 1), n) for share in _LENGTHS})
    rows = torch.linspace(0, m - 1, min(m, _QUERIES)).long()
    (some, answers), (others, truth) = (part_of(heads, targets, rows[start::2]) for start in (0, 1))
    sizes = truth.outputs.square().sum(dim=(1, 2))
    squares = []
    for length in lengths:
        places = attend_most(answers, length)
        key, value = (gather(part, places) for part in (heads.key, heads.value))
        biases, value = closed_form(some, answers, key, value, bias, ridge)
        error = errors(Tokens(key, value, biases, places), others, truth)[0]
        squares.append(error.square() * sizes / sizes.mean())
    return lengths, torch.stack(squares)


def gather(rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return the rows (G, t, s) at places (G, t)."""
    return rows.gather(1, places[..., None].expand(-1, -1, rows.shape[-1]))


def spend(curves: list[tuple[list[int], torch.Tensor]], total: int) -> list[list[int]]:
    """Return the tokens of each head of each curve, `total` of them at most: the steepest falls of convex hulls first.

    Each head gets the shortest length measured at least.
    """
    counts = [[lengths[0]] * squares.shape[1] for lengths, squares in curves]
    left = total - sum(map(sum, counts))
    falls = []
    for number, (lengths, squares) in enumerate(curves):
        for head, line in enumerate(squares.T.tolist()):
            falls += [(slope, number, head, end) for slope, end in _hull(lengths, line)]
    for slope, number, head, end in sorted(falls, key=lambda fall: -fall[0]):
        more = min(end - counts[number][head], left)
        if slope > 0.0 and more > 0:
            counts[number][head] += more
            left -= more
    return counts


def _hull(lengths: list[int], squares: list[float]) -> list[tuple[float, int]]:
    """Return the slopes at which squares fall, least ones last, and where each ends."""
    falls, here = [], 0
    while here < len(lengths) - 1:
        slopes = [
            ((squares[here] - squares[k]) / (lengths[k] - lengths[here]), k) for k in range(here + 1, len(lengths))
        ]
        slope, here = max(slopes)
        falls.append((slope, lengths[here]))
    return falls
