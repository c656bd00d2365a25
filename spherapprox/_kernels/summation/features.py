"""Sums over monomials: moments of control points, and polynomials at many points, as products of small matrices.

The variables are parted in two. A monomial is one of the first part times one of the second, so that with rows of
values of the two, A and C, all moments ``sum_k w_k A_ik C_jk`` are a product of matrices, and so is the polynomial
``sum_i A_i (sum_j c_ij C_j)``: one fused multiply-add for a monomial and a point. Both parts come sorted by degree;
monomials beyond the polynomial's degree are left out by groups of rows.

A chunk of points is two vectors wide. The monomials of a part are made from those of one degree less, times a variable:
a segment ``(first, from, count, column)`` says that rows first, first + 1, ... are rows from, from + 1, ... times the
points' column.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]

from ..jit import njit, subroutine
from ..simd.emit import intrinsic
from ..simd.vectors import add, load, multiply, multiply_add, spread, store, zeros
from .monomials import CHUNK, FEW, LANES, MANY, RUN, SPAN

PANEL = 64  # rows of the second part whose values in a span stay in the first cache: 32 KiB. Tuned.


@intrinsic
def _lane_sums(typing_context: Any, a: Any, b: Any, c: Any, d: Any, e: Any, f: Any, g: Any, h: Any) -> Any:
    """Return the vector of the sums of the lanes of eight vectors."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vectors = list(arguments)
        for half in (1, 2, 4):
            low = [lane for lane in range(LANES) if lane & half == 0]
            picks = []
            for shift in (0, half):
                pick = [0] * LANES
                for lane in low:
                    pick[lane], pick[lane + half] = lane + shift, lane + shift + LANES
                picks.append(ir.Constant(ir.VectorType(ir.IntType(32), LANES), pick))
            vectors = [
                builder.fadd(*(builder.shuffle_vector(low_vector, high_vector, pick) for pick in picks))
                for low_vector, high_vector in zip(vectors[::2], vectors[1::2], strict=True)
            ]
        return vectors[0]

    return a(a, b, c, d, e, f, g, h), generate


@subroutine
def _transpose(points, start, count, chunk):
    """Write rows of points as columns of the chunk, (d, CHUNK), filled up with zeros."""
    for j in range(points.shape[1]):
        for i in range(count):
            chunk[j, i] = points[start + i, j]
        for i in range(count, CHUNK):
            chunk[j, i] = 0.0


@subroutine
def _monomials(chunk, segments, rows):
    """Write the monomials of one part, from row 1 on; row 0, of degree 0, is given."""
    for s in range(segments.shape[0]):
        column = segments[s, 3] * CHUNK
        xa, xb = load(chunk, column), load(chunk, column + LANES)
        shift = (segments[s, 1] - segments[s, 0]) * CHUNK
        first = segments[s, 0] * CHUNK
        for i in range(first, first + segments[s, 2] * CHUNK, CHUNK):
            store(rows, i, multiply(load(rows, i + shift), xa))
            store(rows, i + LANES, multiply(load(rows, i + shift + LANES), xb))


@subroutine
def _tile(rows_a, i, rows_c, j, chunks, total, at):
    """Add the products of FEW rows of each part, summed over the chunks, to the totals."""
    s00 = s01 = s02 = s03 = zeros(rows_a)
    s10 = s11 = s12 = s13 = zeros(rows_a)
    s20 = s21 = s22 = s23 = zeros(rows_a)
    s30 = s31 = s32 = s33 = zeros(rows_a)
    stride_a, stride_c = rows_a.shape[1], rows_c.shape[1]
    for _chunk in range(chunks):
        for half in range(0, CHUNK, LANES):
            a, c = i + half, j + half
            c0, c1 = load(rows_c, c), load(rows_c, c + CHUNK)
            c2, c3 = load(rows_c, c + 2 * CHUNK), load(rows_c, c + 3 * CHUNK)
            a0, a1 = load(rows_a, a), load(rows_a, a + CHUNK)
            s00, s01 = multiply_add(a0, c0, s00), multiply_add(a0, c1, s01)
            s02, s03 = multiply_add(a0, c2, s02), multiply_add(a0, c3, s03)
            s10, s11 = multiply_add(a1, c0, s10), multiply_add(a1, c1, s11)
            s12, s13 = multiply_add(a1, c2, s12), multiply_add(a1, c3, s13)
            a2, a3 = load(rows_a, a + 2 * CHUNK), load(rows_a, a + 3 * CHUNK)
            s20, s21 = multiply_add(a2, c0, s20), multiply_add(a2, c1, s21)
            s22, s23 = multiply_add(a2, c2, s22), multiply_add(a2, c3, s23)
            s30, s31 = multiply_add(a3, c0, s30), multiply_add(a3, c1, s31)
            s32, s33 = multiply_add(a3, c2, s32), multiply_add(a3, c3, s33)
        i += stride_a
        j += stride_c
    store(total, at, add(load(total, at), _lane_sums(s00, s01, s02, s03, s10, s11, s12, s13)))
    at += LANES
    store(total, at, add(load(total, at), _lane_sums(s20, s21, s22, s23, s30, s31, s32, s33)))


@njit
def moments(points, weights, segments_a, segments_c, counts, n_c, total):
    """Add the moments of the points under each column of weights to the totals.

    ``points`` (n, d), ``weights`` (p, n), ``counts`` (rows of the first part / FEW,) rows of the second part that meet
    each group of the first, multiples of FEW; ``n_c`` rows of the second part; ``total`` (p, FEW sum(counts)).
    """
    n, p = points.shape[0], weights.shape[0]
    chunk = np.empty((points.shape[1], CHUNK))
    plain = np.zeros((SPAN, FEW * counts.size * CHUNK))
    rows_a = plain if p == 1 else np.empty_like(plain)
    rows_c = np.zeros((SPAN, n_c * CHUNK))
    run_total = np.zeros_like(total)
    for start in range(0, n, SPAN * CHUNK):
        chunks = (min(n - start, SPAN * CHUNK) + CHUNK - 1) // CHUNK
        # Step 1: the monomials of both parts, at the points of a span
        for c in range(chunks):
            first = start + c * CHUNK
            count = min(CHUNK, n - first)
            _transpose(points, first, count, chunk)
            for i in range(CHUNK):
                rows_c[c, i] = 1.0
                plain[c, i] = 0.0 if i >= count else (weights[0, first + i] if p == 1 else 1.0)
            _monomials(chunk, segments_a, plain[c])
            _monomials(chunk, segments_c, rows_c[c])
        # Step 2: their products, summed over the span
        for r in range(p):
            if p > 1:
                _weigh(plain, weights[r], start, min(n - start, SPAN * CHUNK), rows_a)
            for panel in range(0, n_c, PANEL):
                at = r * total.shape[1] + panel * FEW
                for group in range(counts.size):
                    for j in range(panel, min(panel + PANEL, counts[group]), FEW):
                        _tile(rows_a, group * FEW * CHUNK, rows_c, j * CHUNK, chunks, run_total, at + (j - panel) * FEW)
                    at += counts[group] * FEW
        # Step 3: close a run: add its sums to the totals
        if start // (SPAN * CHUNK) % RUN == RUN - 1 or start + SPAN * CHUNK >= n:
            for r in range(p):
                for i in range(total.shape[1]):
                    total[r, i] += run_total[r, i]
                    run_total[r, i] = 0.0


@subroutine
def _weigh(plain, weights, start, n, rows_a):
    """Multiply all rows by the weights of n points."""
    for c in range((n + CHUNK - 1) // CHUNK):
        w = np.zeros(CHUNK)
        for i in range(min(CHUNK, n - c * CHUNK)):
            w[i] = weights[start + c * CHUNK + i]
        wa, wb = load(w, 0), load(w, LANES)
        first = c * plain.shape[1]
        for i in range(first, first + plain.shape[1], CHUNK):
            store(rows_a, i, multiply(load(plain, i), wa))
            store(rows_a, i + LANES, multiply(load(plain, i + LANES), wb))


@subroutine
def _group(rows_c, count, coefficients, at, rows_a, i, out):
    """Add MANY rows of the first part, times their polynomials in the second, to a column of the chunk's values."""
    s0a = s0b = s1a = s1b = s2a = s2b = s3a = s3b = zeros(rows_c)
    s4a = s4b = s5a = s5b = s6a = s6b = s7a = s7b = zeros(rows_c)
    for j in range((count - 1) * CHUNK, -1, -CHUNK):
        ca, cb = load(rows_c, j), load(rows_c, j + LANES)
        w0, w1 = spread(coefficients, at), spread(coefficients, at + 1)
        s0a, s0b = multiply_add(ca, w0, s0a), multiply_add(cb, w0, s0b)
        s1a, s1b = multiply_add(ca, w1, s1a), multiply_add(cb, w1, s1b)
        w2, w3 = spread(coefficients, at + 2), spread(coefficients, at + 3)
        s2a, s2b = multiply_add(ca, w2, s2a), multiply_add(cb, w2, s2b)
        s3a, s3b = multiply_add(ca, w3, s3a), multiply_add(cb, w3, s3b)
        w4, w5 = spread(coefficients, at + 4), spread(coefficients, at + 5)
        s4a, s4b = multiply_add(ca, w4, s4a), multiply_add(cb, w4, s4b)
        s5a, s5b = multiply_add(ca, w5, s5a), multiply_add(cb, w5, s5b)
        w6, w7 = spread(coefficients, at + 6), spread(coefficients, at + 7)
        s6a, s6b = multiply_add(ca, w6, s6a), multiply_add(cb, w6, s6b)
        s7a, s7b = multiply_add(ca, w7, s7a), multiply_add(cb, w7, s7b)
        at += MANY
    oa, ob = load(out, 0), load(out, LANES)
    for_a = multiply_add(load(rows_a, i + 7 * CHUNK), s7a, oa)
    for_b = multiply_add(load(rows_a, i + 7 * CHUNK + LANES), s7b, ob)
    for_a = multiply_add(load(rows_a, i + 6 * CHUNK), s6a, for_a)
    for_b = multiply_add(load(rows_a, i + 6 * CHUNK + LANES), s6b, for_b)
    for_a = multiply_add(load(rows_a, i + 5 * CHUNK), s5a, for_a)
    for_b = multiply_add(load(rows_a, i + 5 * CHUNK + LANES), s5b, for_b)
    for_a = multiply_add(load(rows_a, i + 4 * CHUNK), s4a, for_a)
    for_b = multiply_add(load(rows_a, i + 4 * CHUNK + LANES), s4b, for_b)
    for_a = multiply_add(load(rows_a, i + 3 * CHUNK), s3a, for_a)
    for_b = multiply_add(load(rows_a, i + 3 * CHUNK + LANES), s3b, for_b)
    for_a = multiply_add(load(rows_a, i + 2 * CHUNK), s2a, for_a)
    for_b = multiply_add(load(rows_a, i + 2 * CHUNK + LANES), s2b, for_b)
    for_a = multiply_add(load(rows_a, i + CHUNK), s1a, for_a)
    for_b = multiply_add(load(rows_a, i + CHUNK + LANES), s1b, for_b)
    store(out, 0, multiply_add(load(rows_a, i), s0a, for_a))
    store(out, LANES, multiply_add(load(rows_a, i + LANES), s0b, for_b))


@njit
def polynomials(points, coefficients, segments_a, segments_c, counts, n_c, out):
    """Write the polynomials at points (n, d) into out (n, p).

    ``counts`` (rows of the first part / MANY,) rows of the second part that meet each group of the first;
    ``coefficients`` (p, MANY sum(counts)): groups from the last to the first, in each the rows of the second part from
    the last to the first, and MANY coefficients for each.
    """
    chunk, column = np.empty((points.shape[1], CHUNK)), np.empty(CHUNK)
    rows_a, rows_c = np.zeros(MANY * counts.size * CHUNK), np.zeros(n_c * CHUNK)
    rows_a[:CHUNK] = 1.0
    rows_c[:CHUNK] = 1.0
    for start in range(0, points.shape[0], CHUNK):
        count = min(CHUNK, points.shape[0] - start)
        _transpose(points, start, count, chunk)
        _monomials(chunk, segments_a, rows_a)
        _monomials(chunk, segments_c, rows_c)
        for r in range(out.shape[1]):
            column[:] = 0.0
            at = r * coefficients.shape[1]
            for group in range(counts.size - 1, -1, -1):
                _group(rows_c, counts[group], coefficients, at, rows_a, group * MANY * CHUNK, column)
                at += counts[group] * MANY
            for i in range(count):
                out[start + i, r] = column[i]
