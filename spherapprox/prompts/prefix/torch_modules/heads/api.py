"""`compress_heads`: the tokens of attention heads, as tensors, made fewer."""

from __future__ import annotations

import math
import sys
import time
from functools import partial

import torch

from ..... import _checks
from ....._threads import in_order, slices
from .options import CONTEXT, METHODS, HeadOptions
from .peers import WINDOW
from .problem import FOLDS, Heads, Tokens, attend, errors, hold_out, rounded, sum_attention, widened
from .result import CompressedHeads, check_rows, grouped
from .shortening import Plan, joined, warn_of_few

_NUMBERS, _WEIGHTS = 2**23, 2**25
"""Numbers of keys and values, and of attention among few tokens, of heads that are done together."""
Part = tuple[Tokens, torch.Tensor, float]


def compress_heads(
    key: torch.Tensor, value: torch.Tensor, queries: torch.Tensor, length: int, *, method: str = "descent",
    bias: bool = True, scale: float | None = None, options: HeadOptions | None = None,
) -> CompressedHeads:  # fmt: skip
    """Compress attention heads that are tensors: few tokens in each that act as all of them do at given queries.

    Parameters
    ----------
    key, value : Tensor, shapes (..., n, s) and (..., n, p)
        Tokens of heads (G,), of batches of them (B, G), or of a single one; in float16, bfloat16, float32 or float64.
    queries : Tensor, shape (..., m, s), (B, r G, m, s) or (..., r, m, s)
        Where the few tokens have to act as all: m >= 5, of one head for each head of keys, or of r that share it, one
        behind another as in grouped-query attention, or in an axis of their own. Every fifth one is held out.
    length : int
        Tokens that are left in each head, at most n; with n they are returned as they are.
    method : str, default "descent"
        "descent", "attention matching", "top attention", "snapkv", "h2o", "recent" or "uniform", as in
        `compress_cache`. "snapkv" and "h2o" choose by the attention that the given queries pay, the last 32 of them and
        all: these must be the context's own, in order; each sees all keys here.
    bias : bool, default True
        Whether tokens have biases that stand for the mass of those left out; of the first three methods.
    scale : float, optional
        Factor of the inner products, 1 / sqrt(s) by default.
    options : HeadOptions, optional
        A softcap, limits of work and time, progress; ``HeadOptions()`` by default.

    Returns
    -------
    CompressedHeads
        Keys, values and biases, in the dtype and on the device of those given, with errors of each head at the queries
        of the fit and at those held out.

    Raises
    ------
    TypeError, ValueError
        If arguments are no tensors, do not fit together, differ in dtype or device, or are not finite, or if results
        are too large for the dtype.

    Warns
    -----
    RuntimeWarning
        If queries are so few that errors elsewhere may be several times larger.

    Notes
    -----
    Work is done where the tensors are, a GPU too, in float32, least squares and tensors of float64 in float64. Heads
    are done together, as many as there is memory for: beside what is given and returned some 1 GiB is held at 32 768
    tokens of 128 columns for each of torch's threads (``torch.set_num_threads``). On a CPU each takes heads of its
    own, so that no result depends on their number; only heads that are all done together share the threads of torch's
    operations, whose number then changes roundings. A descent is left out where it is too much work
    (`HeadOptions`), as at 32 768 tokens to 3276, or queries are few, as in `compress_cache`: tokens are then chosen as
    in "attention matching". Seconds and memory are on the page on performance. An interruption takes effect when the
    heads that are being done have been.

    References
    ----------
    Those of `compress_cache`.

    Examples
    --------
    >>> import torch
    >>> from spherapprox.prompts.prefix import compress_heads
    >>> key, value, queries = torch.randn(3, 4, 300, 16, generator=torch.Generator().manual_seed(0))
    >>> short = compress_heads(key, value, queries.repeat(1, 2, 1), 30, method="attention matching")
    >>> short.key.shape, bool(short.held_out.max() < 0.7)
    (torch.Size([4, 30, 16]), True)
    >>> torch.equal(short.key, key.gather(1, short.indices[..., None].expand(-1, -1, 16)))
    True
    """
    # Step 1: check the arguments
    remedy = "HeadOptions(...), of spherapprox.prompts.prefix.torch_modules.heads"
    options = HeadOptions() if options is None else _checks.instance(options, "options", HeadOptions, remedy=remedy)
    plan = Plan(_checks.choice(method, "method", METHODS), _checks.flag(bias, "bias"), options)
    check_rows(key, "key")
    heads, (n, s) = key.shape[:-2], key.shape[-2:]
    _checks.shaped(check_rows(value, "value", like=key), "value", (*heads, n, "p"), note=", as keys have")
    rows = grouped(check_rows(queries, "queries", like=key), key)
    if rows.shape[2] < FOLDS:
        raise ValueError(f"'queries' must be {FOLDS} or more, got {rows.shape[2]}: a fifth is held out")
    count = _checks.integer(length, "length", minimum=1, maximum=n, limit="the given heads have no more")
    factor = s**-0.5 if scale is None else _checks.real(scale, "scale", above=0.0)
    # Step 2: blocks of heads
    arrays = key.detach().reshape(-1, n, s), value.detach().reshape(heads.numel(), n, -1), rows.detach()
    size = min(_NUMBERS // (n * (s + value.shape[-1])), _WEIGHTS // (rows.shape[1] * rows.shape[2] * count))
    blocks = slices(heads.numel(), max(size, 1))
    threads = torch.get_num_threads()
    shared = len(blocks) > 1 and key.device.type == "cpu"
    shorten = partial(_shorten, plan, count, *arrays, factor, options.softcap, shared)
    parts, begin = [], time.monotonic()
    try:
        for block, part in zip(blocks, in_order(shorten, blocks, threads if shared else 1), strict=True):
            parts.append(part)
            if options.progress:
                words = f"{block.stop} of {heads.numel()} heads: error up to {float(part[1][2].max()):.3g}"
                print(f"{words}, {time.monotonic() - begin:.1f} s", file=sys.stderr, flush=True)
    finally:
        if shared:
            torch.set_num_threads(threads)  # of threads that begin later
    # Step 3: the result
    warn_of_few(min(coverage for *_, coverage in parts), "queries", count, "length")
    tokens = joined([tokens for tokens, *_ in parts])
    error, mass_error, held_out, held_out_mass = torch.cat([part[1] for part in parts], dim=1).view(4, *heads)
    return CompressedHeads(
        key=tokens.key.to(key.dtype).view(*heads, count, -1),
        value=tokens.value.to(key.dtype).view(*heads, count, -1),
        bias=None if tokens.bias is None else tokens.bias.to(key.dtype).view(*heads, count),
        indices=None if tokens.places is None else tokens.places.view(*heads, count),
        error=error, mass_error=mass_error, held_out=held_out, held_out_mass=held_out_mass, method=plan.method,
        scale=factor, softcap=options.softcap,
    )  # fmt: skip


def _shorten(
    plan: Plan, count: int, key: torch.Tensor, value: torch.Tensor, queries: torch.Tensor, scale: float,
    softcap: float | None, shared: bool, block: slice,
) -> Part:  # fmt: skip
    """Return the tokens of some heads, four rows of errors (4, g), and how many numbers there are at the queries."""
    if shared:
        torch.set_num_threads(1)  # of this thread
    with torch.no_grad(), torch.autocast(key.device.type, enabled=False):
        key, value, rows = (widened(part[block]) for part in (key, value, queries))
        rows = rows * scale
        some, others = hold_out(key, value, rows, softcap)
        if count == key.shape[1]:
            every = torch.arange(count, device=key.device).expand(len(key), -1)
            return Tokens(key, value, None, every), key.new_zeros(4, len(key), dtype=torch.float64), math.inf
        scores = None
        if plan.method in CONTEXT:
            late = rows[:, :, -WINDOW:] if plan.method == "snapkv" else rows
            scores = sum_attention(Heads(key, value, late.flatten(1, 2), softcap))
        targets, answers = attend(some), attend(others)
        if not bool(targets.log_masses.isfinite().all() & answers.log_masses.isfinite().all()):
            raise ValueError(f"'queries' times 'key' must be in the range of {key.dtype}: take a smaller 'scale'")
        tokens = rounded(plan.shorten(some, targets, count, scores), queries.dtype)
        numbers = torch.stack([*errors(tokens, some, targets), *errors(tokens, others, answers)]).double()
        return tokens, numbers, plan.coverage(some, count)
