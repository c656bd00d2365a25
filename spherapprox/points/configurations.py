"""Spherical designs by construction: simplices, polytopes, root systems, shells of lattices, and bases."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._types import Float64, Int64
from .symmetry import GOLDEN, binary_icosahedral, binary_octahedral, binary_tetrahedral, parities


@dataclass(frozen=True)
class Configuration:
    """A design by construction.

    Parameters
    ----------
    n : int
        The number of points.
    degree : int
        The largest degree that it integrates exactly.
    name : str
    points : callable
        Makes the points, shape (n, dim+1), of any one length.
    covering_radius : float, optional
        In closed form; None where none is known.
    """

    n: int
    degree: int
    name: str
    points: Callable[[], NDArray[np.number]]
    covering_radius: float | None = None


def configurations(dim: int) -> list[Configuration]:
    """Return the designs by construction on S^m, m >= 2, from few points to many."""
    d = dim + 1
    some = [
        Configuration(2, 1, "two antipodes", lambda: _antipodes(d), math.pi / 2),
        Configuration(d + 1, 2, "simplex", lambda: _simplex(d), math.acos(1.0 / d)),
        Configuration(2 * d, 3, "cross-polytope", lambda: _cross(d), math.acos(1.0 / math.sqrt(d))),
        *_SPORADIC.get(dim, ()),
        *_bases(d),
    ]
    return sorted(some, key=lambda known: known.n)


def _bases(d: int) -> Iterator[Configuration]:
    """Yield the designs of mutually unbiased bases of R^d."""
    size = d.bit_length() - 1
    if d == 2**size and size in (4, 6, 8):
        yield Configuration(d * (d + 2), 5, "Kerdock bases", lambda: kerdock_bases(size))
    p = d // 2
    if d == 2 * p and 2 < p <= 10**6 and all(p % k for k in range(2, math.isqrt(p) + 1)):
        yield Configuration(5 * p * (p + 1), 4, "unbiased bases, 5 phases", lambda: unbiased_bases(p, 5))
        yield Configuration(6 * p * (p + 1), 5, "unbiased bases, 6 phases", lambda: unbiased_bases(p, 6))


def _antipodes(d: int) -> Float64:
    """Return the two ends of the last axis."""
    x = np.zeros((2, d))
    x[:, -1] = 1.0, -1.0
    return x


def _simplex(d: int) -> Float64:
    """Return d + 1 points of R^d with equal distances, each coordinate being -1 until it points to its own vertex."""
    k = np.arange(d, 0, -1.0)
    radius = np.sqrt((d + 1) * (k + 1.0) * k) / math.sqrt(d) / (k + 1.0) / k  # height of the axis over 1 / k
    x = np.tril(np.broadcast_to(-radius, (d + 1, d)), -1)
    x[np.arange(d), np.arange(d)] = radius * k
    return np.asarray(x[:, ::-1])


def _cross(d: int) -> Float64:
    """Return the ends of all axes."""
    x = np.zeros((2 * d, d))  # pages of zeros are not written
    x[np.arange(d), np.arange(d)], x[np.arange(d, 2 * d), np.arange(d)] = 1.0, -1.0
    return x


def icosahedron() -> Float64:
    """Return the 12 vertices of the icosahedron."""
    rows = np.array([[0.0, a, b * GOLDEN] for a in (1.0, -1.0) for b in (1.0, -1.0)])
    return np.vstack([np.roll(rows, shift, axis=1) for shift in range(3)])


def kerdock_bases(size: int) -> Int64:
    """Return the points of d/2 + 1 mutually unbiased orthonormal bases of R^d, d = 2^size, size even, and antipodes.

    The axes and (-1)^(Q_a(u) + <b, u>) / sqrt(d) for the quadratic forms of Kerdock's set [1]_: on pairs u = (v, e) of
    GF(2^(size-1)) x GF(2), Q_a(v, e) = sum_i Tr((a v)^(2^i + 1)) + e Tr(a v), 1 <= i <= (size - 2)/2. The difference of
    two forms has full rank, so products of points in two bases are +-1/sqrt(d).

    References
    ----------
    .. [1] A. R. Calderbank, P. J. Cameron, W. M. Kantor, J. J. Seidel, "Z4-Kerdock codes, orthogonal spreads, and
       extremal Euclidean line-sets", Proceedings of the London Mathematical Society 75 (1997), 436-480.
    """
    r, d = size - 1, 2**size
    power, log, trace = _binary_field(r)
    v = np.arange(d // 2)
    forms = np.zeros((d // 2, 2, d // 2), dtype=np.int64)  # (a, e, v)
    for a in range(1, d // 2):
        exponent = log[v[1:]] + log[a]
        for i in range(1, (r - 1) // 2 + 1):
            forms[a, :, 1:] ^= trace[power[exponent * (2**i + 1) % (d // 2 - 1)]]
        forms[a, 1, 1:] ^= trace[power[exponent % (d // 2 - 1)]]
    signs = 1 - 2 * (forms.reshape(-1, 1, d) ^ parities(size)).reshape(-1, d)
    axes = math.isqrt(d) * np.eye(d, dtype=np.int64)
    return np.vstack([axes, signs, -axes, -signs])


def _binary_field(r: int) -> tuple[Int64, Int64, Int64]:
    """Return powers of a generator of GF(2^r), logarithms to it, and traces; elements are the bits of their index."""
    modulus = {3: 0b1011, 5: 0b100101, 7: 0b10000011}[r]
    power, log = np.ones(2**r - 1, dtype=np.int64), np.zeros(2**r, dtype=np.int64)
    for i in range(1, 2**r - 1):
        power[i] = power[i - 1] << 1
        power[i] ^= modulus * (power[i] >> r)
        log[power[i]] = i
    conjugates = power[log[1:, None] * 2 ** np.arange(r) % (2**r - 1)]
    return power, log, np.append(0, np.bitwise_xor.reduce(conjugates, axis=1))


def unbiased_bases(p: int, phases: int) -> Float64:
    """Return the p + 1 mutually unbiased bases of C^p, p an odd prime, times the roots of unity, in R^(2p).

    Together they are a complex projective 2-design: polynomials of degree (2, 2) in z and its conjugate are integrated
    exactly [1]_, and those of degree (a, b) with a - b not divisible by the number of phases sum to zero over them.

    References
    ----------
    .. [1] A. Klappenecker, M. Roetteler, "Mutually unbiased bases are complex projective 2-designs", Proceedings ISIT
       2005, 1740-1744; the bases are those of I. D. Ivanovic, Journal of Physics A 14 (1981), 3241-3245.
    """
    j = np.arange(p)
    quadratic = (j[:, None, None] * j**2 + j[:, None] * j) % p  # (a, b, j)
    turns = [np.exp(2j * np.pi / p * quadratic).reshape(-1, p) / math.sqrt(p), np.eye(p)]
    z = (np.exp(2j * np.pi / phases * np.arange(phases))[:, None, None] * np.vstack(turns)).reshape(-1, p)
    return np.asarray(z.view(np.float64).reshape(len(z), p, 2).transpose(0, 2, 1).reshape(len(z), 2 * p))


def reed_muller_shell(rank: int) -> Int64:
    """Return the 240 shortest vectors of E8 (rank 3) or the 4320 of the Barnes-Wall lattice BW16 (rank 4).

    Words of half length of the first-order Reed-Muller code carry signs, an even number of them negative for BW16; E8
    has 2 e_i besides, BW16 all +-2 e_i +- 2 e_j [1]_.

    References
    ----------
    .. [1] J. H. Conway, N. J. A. Sloane, "Sphere Packings, Lattices and Groups", Springer, sections 4.8 and 4.10.
    """
    size = 2**rank
    words = np.vstack([parities(rank)[1:], 1 - parities(rank)[1:]])
    signed = _signed(words, even=rank == 4)
    if rank == 3:
        return np.vstack([signed, 2 * np.eye(8, dtype=np.int64), -2 * np.eye(8, dtype=np.int64)])
    return np.vstack([signed, _pairs(size, 2)])


@functools.lru_cache(maxsize=1)
def leech_shell() -> NDArray[np.int8]:
    """Return the 196560 shortest vectors of the Leech lattice times sqrt(8), of length sqrt(32).

    Signed octads of the Golay code, (-+3, +-1^23) with signs in the code, and +-4 e_i +- 4 e_j [1]_.

    References
    ----------
    .. [1] J. H. Conway, N. J. A. Sloane, "Sphere Packings, Lattices and Groups", Springer, section 4.11.
    """
    golay = _golay()
    octads = _signed(2 * golay[golay.sum(1) == 8], even=True)
    odd = 1 - 4 * np.eye(24, dtype=np.int64)
    odd = ((1 - 2 * golay)[:, None, :] * odd).reshape(-1, 24)
    rows = np.vstack([octads, odd, _pairs(24, 4)]).astype(np.int8)
    rows.flags.writeable = False
    return rows


def _golay() -> Int64:
    """Return the 4096 words of the extended binary Golay code, from the quadratic residues modulo 23."""
    residues = np.zeros(23, dtype=np.int64)
    residues[np.arange(1, 23) ** 2 % 23] = 1
    generators = np.ones((12, 24), dtype=np.int64)
    for shift in range(11):
        generators[shift, :23] = 1 - np.roll(residues, shift)
        generators[shift, 23] = generators[shift, :23].sum() % 2
    bits = (np.arange(4096)[:, None] >> np.arange(12)) % 2
    return bits @ generators % 2


def _signed(words: Int64, *, even: bool) -> Int64:
    """Return the words of one weight with all signs, or those with an even number of minus signs."""
    weight = int((words[0] != 0).sum())
    signs = 1 - 2 * ((np.arange(2**weight)[:, None] >> np.arange(weight)) % 2)
    if even:
        signs = signs[signs.prod(1) > 0]
    rows = np.zeros((len(words), len(signs), words.shape[1]), dtype=np.int64)
    place = np.nonzero(words)[1].reshape(len(words), 1, weight)
    np.put_along_axis(rows, np.broadcast_to(place, (*rows.shape[:2], weight)), signs[None] * words.max(), axis=2)
    return rows.reshape(-1, words.shape[1])


def _pairs(d: int, size: int) -> Int64:
    """Return all +-size e_i +- size e_j."""
    i, j = np.triu_indices(d, 1)
    rows = np.zeros((4, len(i), d), dtype=np.int64)
    for block, (a, b) in zip(rows, ((1, 1), (1, -1), (-1, 1), (-1, -1)), strict=True):
        block[np.arange(len(i)), i] = a * size
        block[np.arange(len(i)), j] = b * size
    return rows.reshape(-1, d)


def layer(shell: NDArray[np.integer], anchors: Int64, products: Int64) -> Float64:
    """Return the rows with given products with the anchors, in coordinates of the anchors' orthogonal complement."""
    shell = shell[(shell @ anchors.T == products).all(axis=1)]
    complement = np.linalg.qr(anchors.T.astype(np.float64), mode="complete")[0][:, len(anchors) :]
    return np.asarray(shell @ complement)


_LONG = np.array([[5] + 23 * [1]])  # of the Leech lattice's third shell, length sqrt(48)


def _root_layer(*products: int) -> Float64:
    """Return the roots of E8 with given products with one root or two, at 120 degrees."""
    shell = reed_muller_shell(3)
    roots = np.vstack([2 * np.eye(1, 8, dtype=np.int64), shell[shell[:, 0] == -1][:1]])
    return layer(shell, roots[: len(products)], np.array(products))


def _leech_layer(first: Int64, products: tuple[int, ...]) -> Float64:
    """Return shortest vectors with given products with a vector and, where asked for, one of its own layer."""
    shell = leech_shell()
    anchors = first
    if len(products) > 1:
        anchors = np.vstack([first, shell[shell @ first[0] == products[0]][:1]])
    return layer(shell, anchors, np.array(products))


_MINIMAL = np.array([[4, 4] + 22 * [0]])
_SPORADIC: dict[int, tuple[Configuration, ...]] = {
    2: (Configuration(12, 5, "icosahedron", icosahedron),),
    3: (
        Configuration(24, 5, "24-cell", binary_tetrahedral, math.pi / 4),
        Configuration(48, 7, "roots of F4", binary_octahedral, math.acos((2.0 + math.sqrt(2.0)) / 4.0)),
        Configuration(120, 11, "600-cell", binary_icosahedral, math.acos(GOLDEN**2 / math.sqrt(8.0))),
    ),
    5: (
        Configuration(27, 4, "Schlaefli's polytope", lambda: _root_layer(2, 0), math.pi / 3),
        Configuration(72, 5, "roots of E6", lambda: _root_layer(0, 0), math.acos(math.sqrt(3.0 / 8.0))),
    ),
    6: (
        Configuration(56, 5, "Hesse's polytope", lambda: _root_layer(2), math.acos(1.0 / math.sqrt(3.0))),
        Configuration(126, 5, "roots of E7", lambda: _root_layer(0), math.acos(1.0 / math.sqrt(3.0))),
    ),
    7: (Configuration(240, 7, "roots of E8", lambda: reed_muller_shell(3), math.pi / 4),),
    15: (Configuration(4320, 7, "shortest vectors of BW16", lambda: reed_muller_shell(4)),),
    21: (
        Configuration(275, 4, "McLaughlin's graph", lambda: _leech_layer(_LONG, (24, 16))),
        Configuration(891, 5, "kissing of a kissing of the Leech lattice", lambda: _leech_layer(_MINIMAL, (16, 16))),
    ),
    22: (
        Configuration(552, 5, "276 equiangular lines", lambda: _leech_layer(_LONG, (24,))),
        Configuration(4600, 7, "kissing of the Leech lattice's", lambda: _leech_layer(_MINIMAL, (16,))),
    ),
    23: (Configuration(196560, 11, "shortest vectors of the Leech lattice", leech_shell),),
}
"""Constructions of one dimension each."""
