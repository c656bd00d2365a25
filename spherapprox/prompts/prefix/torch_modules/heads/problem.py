"""Heads that are compacted together: keys, values and scaled queries, the outputs and masses that are to be kept."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from ....._threads import slices

FOLDS = 5
"""Of so many queries one is held out."""
_NUMBERS = 2**24
"""Logits that are held at once, 64 MiB of them in float32."""


def blocks(count: int, size: int) -> list[slice]:
    """Return slices of `count` rows, each of `size` numbers, few enough that they are held at once."""
    return slices(count, max(_NUMBERS // max(size, 1), 1))


def widened(rows: torch.Tensor) -> torch.Tensor:
    """Return rows in float32, or in float64 if they are."""
    return rows.to(torch.promote_types(rows.dtype, torch.float32))


@dataclass(frozen=True)
class Heads:
    """Heads of one sequence in one layer: keys (G, n, s), values (G, n, p), queries times the scale (G, m, s).

    They are `widened`, and queries of all heads that share a key stand one behind another.
    """

    key: torch.Tensor
    value: torch.Tensor
    queries: torch.Tensor
    softcap: float | None = None

    def at(self, heads: slice) -> Heads:
        """Return some of the heads."""
        return Heads(self.key[heads], self.value[heads], self.queries[heads], self.softcap)

    def logits(self, queries: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
        """Return the logits (G, m, t) of queries at keys, before biases."""
        logits = queries @ key.transpose(-1, -2)
        return logits if self.softcap is None else self.softcap * torch.tanh(logits / self.softcap)


@dataclass(frozen=True)
class Targets:
    """What is kept at the queries: outputs (G, m, p) and log masses (G, m); sums of squared attention (G, n)."""

    outputs: torch.Tensor
    log_masses: torch.Tensor
    squares: torch.Tensor

    def at(self, heads: slice) -> Targets:
        """Return those of some of the heads."""
        return Targets(self.outputs[heads], self.log_masses[heads], self.squares[heads])


def attend(heads: Heads) -> Targets:
    """Return what heads compute at their queries, of a few queries at a time."""
    outputs, masses, squares = [], [], heads.key.new_zeros(heads.key.shape[:2])
    for rows in blocks(heads.queries.shape[1], heads.key.shape[0] * heads.key.shape[1]):
        weights = heads.logits(heads.queries[:, rows], heads.key)
        largest = weights.amax(dim=-1, keepdim=True)
        sums = weights.sub_(largest).exp_().sum(dim=-1, keepdim=True)
        masses.append((largest + sums.log())[..., 0])
        outputs.append((weights @ heads.value) / sums)
        squares += (sums.square().reciprocal().transpose(1, 2) @ weights.square_())[:, 0]
    return Targets(torch.cat(outputs, dim=1), torch.cat(masses, dim=1), squares)


def sum_attention(heads: Heads) -> torch.Tensor:
    """Return the attention (G, n) that tokens get in sum over the queries."""
    sums = heads.key.new_zeros(heads.key.shape[:2])
    for rows in blocks(heads.queries.shape[1], heads.key.shape[0] * heads.key.shape[1]):
        sums += torch.softmax(heads.logits(heads.queries[:, rows], heads.key), dim=-1).sum(dim=1)
    return sums


def are_held_out(count: int, device: torch.device) -> torch.Tensor:
    """Return which of `count` queries are held out."""
    return torch.arange(count, device=device) % FOLDS == FOLDS - 1


def hold_out(
    key: torch.Tensor, value: torch.Tensor, queries: torch.Tensor, softcap: float | None
) -> tuple[Heads, Heads]:
    """Return heads at queries (G, r, m, s) to fit to, and at those held out: r heads of queries share a key."""
    out = are_held_out(queries.shape[2], queries.device)
    fit, others = (Heads(key, value, queries[:, :, part].flatten(1, 2), softcap) for part in (~out, out))
    return fit, others


def gather(rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """Return the rows (G, t, s) at places (G, t)."""
    return rows.gather(1, places[..., None].expand(-1, -1, rows.shape[-1]))


def part_of(heads: Heads, targets: Targets, rows: torch.Tensor) -> tuple[Heads, Targets]:
    """Return heads, and their targets, at some of the queries."""
    part = replace(targets, outputs=targets.outputs[:, rows], log_masses=targets.log_masses[:, rows])
    return replace(heads, queries=heads.queries[:, rows]), part


@dataclass(frozen=True)
class Tokens:
    """Few tokens of each head: keys (G, t, s), values (G, t, p), biases (G, t) or None; the places (G, t) of the keys.

    Places are None where keys are none of those given.
    """

    key: torch.Tensor
    value: torch.Tensor
    bias: torch.Tensor | None
    places: torch.Tensor | None

    def attend(self, heads: Heads) -> tuple[torch.Tensor, torch.Tensor]:
        """Return outputs (G, m, p) and log masses (G, m) at the queries of heads."""
        outputs, masses = [], []
        for rows in blocks(heads.queries.shape[1], self.key.shape[0] * self.key.shape[1]):
            logits = heads.logits(heads.queries[:, rows], self.key)
            logits = logits if self.bias is None else logits + self.bias[:, None]
            masses.append(torch.logsumexp(logits, dim=-1))
            outputs.append((logits - masses[-1][..., None]).exp_() @ self.value)
        return torch.cat(outputs, dim=1), torch.cat(masses, dim=1)


def rounded(tokens: Tokens, dtype: torch.dtype) -> Tokens:
    """Return tokens with keys, values and biases that a dtype has: models add biases in their own."""
    bias = None if tokens.bias is None else widened(tokens.bias.to(dtype))
    key, value = (widened(part.to(dtype)) for part in (tokens.key, tokens.value))
    if not bool(key.isfinite().all() & value.isfinite().all()):
        raise ValueError(f"tokens that are fitted must be in the range of {dtype}: bfloat16 and float32 have more")
    return replace(tokens, key=key, value=value, bias=bias)


def parted(tokens: Tokens) -> list[Tokens]:
    """Return the tokens of each head alone."""
    parts = ([None] * len(tokens.key) if part is None else part.split(1) for part in vars(tokens).values())
    return [Tokens(*one) for one in zip(*parts, strict=True)]


def errors(tokens: Tokens, heads: Heads, targets: Targets) -> tuple[torch.Tensor, torch.Tensor]:
    """Return errors (G,): root mean squares of outputs, over those of the outputs, and of log masses."""
    outputs, masses = tokens.attend(heads)
    squares, size = (part.double().square().sum(dim=(1, 2)) for part in (outputs - targets.outputs, targets.outputs))
    return (squares / size.clamp(min=1e-200)).sqrt(), (masses - targets.log_masses).square().mean(dim=1).sqrt()
