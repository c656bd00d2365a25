"""Attention tile by tile: products by BLAS, exponentials in registers, tiles of hidden keys left out.

A tile of logits, of some queries and keys, becomes exponentials relative to the largest logit of each query so far,
which what was summed before is multiplied down to. Nothing depends on the order in which tiles of queries are done.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import math

import numpy as np

from ..jit import njit, subroutine
from ..simd.decay import decay_block
from ..simd.flush import flush_tiny, restore_tiny
from ..simd.registers import RUN, lanes, load_like, run_of
from ..simd.vectors import add, larger, load, store, subtract
from .layout import ATTENTION_TILE
from .tiles import aligned

_LOWEST, _LOWEST_SINGLE = float(np.finfo(np.float64).min), float(np.finfo(np.float32).min)


@subroutine
def _reduce(room, width, of_sums):
    """Return the sum or the largest of the first numbers of `room`, by vectors; it is written over."""
    lanes = 64 // room.itemsize
    vector = load(room, 0)
    for j in range(lanes, width, lanes):
        vector = add(vector, load(room, j)) if of_sums else larger(vector, load(room, j))
    store(room, 0, vector)
    result = room[0]
    for j in range(1, lanes):
        result = result + room[j] if of_sums else max(result, room[j])
    return result


@subroutine
def _exponentials(logits, first, last, width, room, peak, rates, floor):
    """Replace logits by exponentials relative to the largest, and to `peak`; returns that and the sum."""
    top = run_of(logits, peak)
    for j in range(first, last, width):
        top = larger(load_like(logits, j, top), top)
    store(room, 0, top)
    peak = _reduce(room, width, False)
    top, least, total = run_of(logits, peak), run_of(logits, floor), run_of(logits, 0.0)
    for j in range(first, last, width):
        e = decay_block(larger(subtract(load_like(logits, j, top), top), least), rates)
        store(logits, j, e)
        total = add(total, e)
    store(room, 0, total)
    return peak, _reduce(room, width, True)


@subroutine
def _mask(logits, at, bias, top, first, last):
    """Add a row's biases, relative to the largest, to its logits from `first` to `last`, or hide those of flags 0."""
    if bias.itemsize == 1:
        for j in range(first, last):
            logits[at + j] = logits[at + j] if bias[j] != 0 else -np.inf
    else:
        for j in range(first, last):
            logits[at + j] += bias[j] - top


@subroutine
def _add_tile(logits, keys, spans, bias, tops, peak, total, factors, room, rates, floor):
    """Mask a tile of logits (rows, columns) of the keys from ``keys[0]`` on, and make exponentials of it.

    The largest logits and the sums of all keys so far are brought up to date; `factors` are what the sums, and those of
    values, had to be multiplied by.
    """
    columns, width, flat = logits.shape[1], room.size, logits.reshape(-1)
    for i in range(logits.shape[0]):
        at = i * columns
        first, last = max(spans[i, 0] - keys, 0), min(spans[i, 1] - keys, columns)
        factors[i] = 1.0
        if first >= last:
            flat[at : at + columns] = 0.0
            continue
        if spans[i, 2]:
            row = min(i, bias.shape[0] - 1)
            _mask(flat, at, bias[row, keys:], tops[i], first, last)
        whole, end = first // width * width, (last + width - 1) // width * width
        flat[at : at + whole], flat[at + end : at + columns] = 0.0, 0.0
        flat[at + whole : at + first], flat[at + last : at + end] = -np.inf, -np.inf
        old = peak[i]
        peak[i], added = _exponentials(flat, at + whole, at + end, width, room, old, rates, floor)
        if peak[i] > old:
            factors[i] = math.exp(old - peak[i])
        total[i] = total[i] * factors[i] + added


@subroutine
def _mean(rows, result):
    """Write the mean (s,) of rows (n, s), which need not be exact."""
    share = rows.dtype.type(1.0 / rows.shape[0])
    result[:] = 0.0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            result[j] += share * rows[i, j]


@njit(fastmath={"reassoc", "contract"})
def measure(rows, centred, factor, centres, lengths, longest):
    """Write the lengths (heads, n) of rows (heads, n, s) about centres (heads, s), times a factor, and the longest.

    Where rows are to be `centred`, their means are written first, as the centres.
    """
    for h in range(rows.shape[0]):
        if centred:
            _mean(rows[h], centres[h])
        longest[h] = 0.0
        for i in range(rows.shape[1]):
            square = rows.dtype.type(0.0)
            for j in range(rows.shape[2]):
                square += (rows[h, i, j] - centres[h, j]) ** 2
            lengths[h, i] = factor * math.sqrt(square)
            longest[h] = max(longest[h], lengths[h, i])


@njit(fastmath={"reassoc", "nnan", "nsz"})
def intervals(mask, stops, reach, spans, largest):
    """Write the ``spans`` (m, 3) of `attend` for a mask (1 or m, n), biases or flags, and its largest biases (m,).

    Query i sees keys below ``stops[i]``, of those whose biases are within `reach` of the largest.
    """
    is_flag = mask.itemsize == 1
    for i in range(len(stops)):
        row = mask[min(i, len(mask) - 1), : stops[i]]
        if i > 0 and len(mask) == 1 and stops[i] == stops[i - 1]:
            spans[i], largest[i] = spans[i - 1], largest[i - 1]
            continue
        top = row.dtype.type(1)
        least = top
        if not is_flag:
            top = row.dtype.type(-np.inf)
            for j in range(len(row)):
                top = max(top, row[j])
            least = row.dtype.type(max(top - reach, _LOWEST if row.itemsize == 8 else _LOWEST_SINGLE))
        first, last, seen, equal = 0, 0, 0, 0
        for start in range(0, len(row), 64):  # most of these are seen, or hidden, as a whole
            begin, end, count, same = start, min(start + 64, len(row)), 0, 0
            for j in range(begin, end):
                count += row[j] >= least
                same += row[j] == top
            if count > 0:
                while row[begin] < least:
                    begin += 1
                while row[end - 1] < least:
                    end -= 1
                first, last = begin if seen == 0 else first, end
                seen, equal = seen + count, equal + same
        if seen == 0:
            spans[i], largest[i] = 0, -np.inf
            continue
        spans[i, 0], spans[i, 1], spans[i, 2] = first, last, min(seen, equal) < last - first
        largest[i] = 0.0 if is_flag else top


@subroutine
def _copy(rows, first, centre, factor, result):
    """Write rows from the first on to `result`, relative to a centre and scaled; beyond the last row 0."""
    count = min(rows.shape[0] - first, result.shape[0])
    for i in range(count):
        for j in range(rows.shape[1]):
            result[i, j] = (rows[first + i, j] - centre[j]) * factor
    result[count:] = 0.0


@njit
def attend(units, q, k, v, heads, centres, factors, bias, tops, spans, rates, floor, sizes, peaks, totals, out):
    """Compute attention ``out`` (heads, m, p) for tiles ``units[0]``, ..., ``units[1] - 1``; 0 where no key is seen.

    Unit u is tile ``u % tiles`` of the queries of head ``u // tiles``, of which ``heads`` (heads, 4) names the queries
    ``q`` (-, m, s), keys ``k`` (-, n, s) and values ``v`` (-, n, p), and the mask: ``spans`` (-, m, 3) are the first
    key that a query sees, that after the last one, and whether those between have biases, ``bias`` (-, 1 or m, n), of
    which ``tops`` (-, m) are the largest, or flags. ``factors`` (heads, 3) multiply the three, keys relative to
    ``centres`` (-, s); quotients are multiplied by ``sizes`` (heads,). The largest logits go to ``peaks`` (heads, m),
    the sums relative to them to ``totals``.
    """
    (m, s), p, (height, length), width = q.shape[1:], v.shape[2], ATTENTION_TILE, RUN * lanes(q)
    length = min(length, (k.shape[1] + width - 1) // width * width)
    height, tiles, one_row = min(height, m), (m + height - 1) // height, bias.shape[1] == 1
    logits, part, room = aligned(height, length, q).reshape(-1), aligned(height, p, q), aligned(1, width, q).reshape(-1)
    own_q, own_k, own_v = aligned(height, s, q), aligned(length, s, q), aligned(length, p, q)
    rescaled, origin, before = np.empty(height), np.zeros(max(s, p), q.dtype), flush_tiny()
    for unit in range(units[0], units[1]):
        h, start = unit // tiles, unit % tiles * height
        stop, own = min(start + height, m), heads[h]
        rows, span, count = slice(start, stop), spans[own[3], start:stop], stop - start
        peak, total, sums, product = peaks[h, rows], totals[h, rows], out[h, start:stop], part[:count]
        peak[:], total[:], sums[:] = -np.inf, 0.0, 0.0
        own_bias = bias[own[3]] if one_row else bias[own[3], start:stop]
        first, last = k.shape[1], 0
        for i in range(count):
            if span[i, 0] < span[i, 1]:
                first, last = min(first, span[i, 0]), max(last, span[i, 1])
        _copy(q[own[0]], start, origin, factors[h, 0], own_q[:count])
        for keys in range(first // width * width, last, length):
            size = min(length, (last - keys + width - 1) // width * width)
            tile = logits[: count * size].reshape(count, size)
            _copy(k[own[1]], keys, centres[own[1]], factors[h, 1], own_k[:size])
            _copy(v[own[2]], keys, origin, factors[h, 2], own_v[:size])
            np.dot(own_q[:count], own_k[:size].T, tile)
            _add_tile(tile, keys, span, own_bias, tops[own[3], rows], peak, total, rescaled, room, rates, floor)
            np.dot(tile, own_v[:size], product)
            for i in range(count):
                factor = q.dtype.type(rescaled[i])
                for c in range(p):
                    sums[i, c] = sums[i, c] * factor + product[i, c]
    restore_tiny(before)
    # 4.16, pairs: the last division, of queries that see a key
    for unit in range(units[0], units[1]):
        h, start = unit // tiles, unit % tiles * height
        for i in range(start, min(start + height, m)):
            factor = q.dtype.type(sizes[h] / totals[h, i] if totals[h, i] > 0.0 else 0.0)
            for c in range(p):
                out[h, i, c] *= factor
