"""Linear equations by which tokens of a prefix, or its keys and values, act as given ones: their rank and solution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...._norms import lengths
from ...._types import Float64
from ..layer.layer import AttentionLayer

_WEAK = 1e-3
"""What parts depend on by less than this, relatively, is not used to make them small."""


@dataclass(frozen=True, eq=False)
class Interface:
    """How points y of the sphere enter a layer, as ``embedding @ y + shift``, and how its outputs are read.

    Parameters
    ----------
    embedding : ndarray, shape (d, m+1)
    shift : ndarray, shape (d,)
    readout : ndarray, shape (p_out, d_out)
    """

    embedding: Float64
    shift: Float64
    readout: Float64


@dataclass(frozen=True, eq=False)
class System:
    """Equations ``matrix @ unknowns + constant = side``.

    Parameters
    ----------
    matrix : ndarray, shape (equations, unknowns)
    constant : ndarray, shape (equations,)
    what : str
        What the unknowns are, and what they have to meet, in words.
    parts : ndarray, shape (numbers, unknowns), optional
    parts_constant : ndarray, shape (numbers,)
        Numbers ``parts @ unknowns + parts_constant`` that are to be small, as far as the equations leave them free.
    """

    matrix: Float64
    constant: Float64
    subject: str
    parts: Float64 | None = None
    parts_constant: Float64 | float = 0.0

    def solve(self, sides: Float64) -> tuple[Float64, float]:
        """Return unknowns for rows (N, equations) of right-hand sides, and the condition of scaled rows.

        They are the least, moved in the null space to where the sum of squares of the parts is least.
        """
        n, columns = self.matrix.shape
        norms = lengths(self.matrix)
        if not np.isfinite(norms).all():
            raise ValueError(
                f"'layer' must have weights whose products are finite: the equations of {self.subject} overflow, scale "
                "its weights, 'embedding' or 'readout' down"
            )
        basis, sizes, directions = np.linalg.svd(self.matrix / np.where(norms > 0.0, norms, 1.0)[:, None])
        rank = int(np.sum(sizes > max(n, columns) * np.finfo(np.float64).eps * sizes[0]))
        if rank < n:
            counts = f" and {n} are needed" if columns >= n else f": {n} equations need as many, got {columns}"
            raise ValueError(
                f"'layer' has too small a rank: the equations of {self.subject} have rank {rank} of {n} "
                f"in {columns} unknowns{counts}"
            )
        solutions = ((sides - self.constant) / norms @ basis / sizes) @ directions[:n]  # (N, unknowns)
        if self.parts is not None and columns > n:
            free = directions[n:].T  # (unknowns, free)
            u, strengths, v = np.linalg.svd(self.parts @ free, full_matrices=False)
            strong = strengths > _WEAK * lengths(self.parts.ravel())
            remains = solutions @ self.parts.T + self.parts_constant  # (N, numbers)
            solutions -= (remains @ u[:, strong] / strengths[strong]) @ v[strong] @ free.T
        if not np.isfinite(solutions).all():
            raise ValueError(
                f"'layer' must have larger weights: solutions of the equations of {self.subject} overflow, the "
                f"shortest row of the equations has length {norms.min():.3g}"
            )
        return np.asarray(solutions), float(sizes[0] / sizes[-1])


def levels(layer: AttentionLayer, inputs: Interface) -> Float64:
    """Return the queries (heads, s) of the shift: a key's products with them are the levels of its logits."""
    with np.errstate(over="ignore", invalid="ignore"):
        return (layer.query @ inputs.shift + layer.query_bias).reshape(layer.heads, layer.head_dim)


def logit_system(layer: AttentionLayer, inputs: Interface, group: int) -> System:
    """Return the equations of a key (s,): for each head that has it m+1 slopes, and a level unless all levels are 0."""
    s, times, level = layer.head_dim, layer.group_size, levels(layer, inputs)
    blocks = []
    for h in range(group * times, (group + 1) * times):
        slopes = (layer.query[h * s : (h + 1) * s] @ inputs.embedding).T  # (m+1, s)
        blocks.append(np.vstack([slopes, level[h]]) if level[h].any() else slopes)
    matrix = layer.scale * np.concatenate(blocks)
    subject = f"a key for head {group + 1} ({_counted(layer, inputs, times)})"
    return System(matrix, np.zeros(len(matrix)), subject)


def value_system(layer: AttentionLayer, inputs: Interface) -> System:
    """Return the equations of the values (groups * p,) of a token: its read-out where all weights are its own.

    Their parts are the read-outs behind each head.
    """
    g, times, p, n = layer.key_value_heads, layer.group_size, layer.value_dim, len(inputs.readout)
    readouts = np.moveaxis((inputs.readout @ layer.output_weights).reshape(n, g, times, p), 0, 2)
    parts = np.zeros((g, times, n, g, p))
    parts[np.arange(g), :, :, np.arange(g)] = readouts  # (groups, times, p_out, p)
    flat = parts.reshape(layer.heads * n, g * p)
    matrix = parts.sum(axis=(0, 1)).reshape(n, g * p)
    return System(matrix, inputs.readout @ layer.out_bias, f"values ({n} outputs)", parts=flat)


def token_system(layer: AttentionLayer, inputs: Interface) -> System:
    """Return the equations of a token (d,): those of its keys in all heads, then those of its values."""
    s = layer.head_dim
    rows, constants = [], []
    for g in range(layer.key_value_heads):
        keys = logit_system(layer, inputs, g)
        rows.append(keys.matrix @ layer.key[g * s : (g + 1) * s])
        constants.append(keys.matrix @ layer.key_bias[g * s : (g + 1) * s])
    values = value_system(layer, inputs)
    rows.append(values.matrix @ layer.value)
    constants.append(values.matrix @ layer.value_bias + values.constant)
    assert values.parts is not None
    return System(
        np.concatenate(rows), np.concatenate(constants),
        f"a token ({_counted(layer, inputs, layer.heads)} and {len(values.matrix)} outputs)",
        parts=values.parts @ layer.value, parts_constant=values.parts @ layer.value_bias,
    )  # fmt: skip


def logit_sides(layer: AttentionLayer, inputs: Interface, keys: Float64, offset: float, heads: range) -> Float64:
    """Return the right sides of the equations of the keys (N, m+1), a block for each of the heads."""
    level, raised = levels(layer, inputs), np.full((len(keys), 1), offset)
    return np.concatenate([part for h in heads for part in ([keys, raised] if level[h].any() else [keys])], axis=1)


def _counted(layer: AttentionLayer, inputs: Interface, heads: int) -> str:
    """Word the equations of keys: coordinates and levels, for each head of queries."""
    coordinates = inputs.embedding.shape[1]
    terms = "coordinates and a level" if levels(layer, inputs).any() else "coordinates"
    return f"{coordinates} {terms} for each of {heads} {'head' if heads == 1 else 'heads'}"
