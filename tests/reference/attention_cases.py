"""Random cases of dot-product attention: masks, groups, ragged lengths, numbers of all sizes, against long double.

Each output, and each logarithm of a sum, has to lie inside the bound that the plan proves; where torch has the same
case, and numbers of ordinary size, its float64 has to agree. 10 000 cases take some ten minutes::

    python tests/reference/attention_cases.py [number of cases] [first seed]
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from spherapprox.summation import AttentionSolver, explain_attention

Array = Any
KINDS = ("ordinary", "ordinary", "huge", "tiny", "mixed", "large logits", "far", "outlier", "equal", "zero")
MASKS = (None, None, "bool", "float", "window", "padding", "lowest", "by key", "hidden")


class Case(NamedTuple):
    """Arguments of a call, its options and the kind of numbers in it."""

    query: Array
    key: Array
    value: Array
    mask: Array
    options: dict[str, Any]
    kind: str


def draw(rng: np.random.Generator) -> Case:
    """Draw a case."""
    m, n = (int(np.exp(rng.uniform(0.0, np.log(300.5)))) for _ in range(2))
    if rng.random() < 0.02:
        n = int(rng.integers(513, 1300))  # several tiles of keys
    s, p = (int(np.exp(rng.uniform(0.0, np.log(130.5)))) for _ in range(2))
    kind, dtype = str(rng.choice(KINDS)), rng.choice(["float32", "float64"])
    batch, groups = ((), (2,), (2, 3))[rng.integers(3)], int(rng.integers(1, 4))
    gqa = len(batch) == 2 and bool(rng.random() < 0.5)
    query = rng.normal(size=(*batch[:-1], batch[-1] * groups, m, s) if gqa else (*batch, m, s))
    shared = batch if gqa or rng.random() < 0.5 else batch[1:]
    key, value = rng.normal(size=(*shared, n, s)), rng.normal(size=(*shared, n, p))
    query, key, value = (a.astype(dtype) for a in sized(kind, query, key, value, rng, single=dtype == "float32"))
    leading = query.shape[:-2]
    options: dict[str, Any] = {"enable_gqa": gqa, "is_causal": [False, False, True, "upper_left"][rng.integers(4)]}
    if rng.random() < 0.2:
        options["scale"] = float(np.exp(rng.normal()))
    drawn = mask(rng, (*leading, m, n), dtype)
    if drawn is None and options["is_causal"] is False and rng.random() < 0.3:
        options["solver"] = AttentionSolver(str(rng.choice(["auto", "lifted", "truncated", "cholesky"])), rtol=1e-8)
    else:
        options["solver"] = AttentionSolver("dense", workers=int(rng.integers(1, 4)))
    return Case(query, key, value, drawn, options, kind)


def sized(kind: str, q: Array, k: Array, v: Array, rng: np.random.Generator, *, single: bool) -> tuple[Array, ...]:
    """Return queries, keys and values of a kind."""
    top = 18.0 if single else 140.0
    if kind == "huge":
        q, k, v = (
            q * 10.0 ** rng.uniform(0.0, top),
            k * 10.0 ** rng.uniform(0.0, top),
            v * 10.0 ** rng.uniform(0.0, 2 * top),
        )
    elif kind == "tiny":
        q, k, v = (
            q * 10.0 ** -rng.uniform(0.0, top),
            k * 10.0 ** rng.uniform(-top, top),
            v * 10.0 ** -rng.uniform(0.0, 2 * top),
        )
    elif kind == "mixed":
        q, k, v = (a * np.exp(rng.uniform(0.0, 5.0) * rng.normal(size=(*a.shape[:-1], 1))) for a in (q, k, v))
    elif kind == "large logits":
        q, k = 30.0 * q, 30.0 * k
    elif kind == "far":
        k = k + 10.0 ** rng.uniform(0.0, 4.0) * rng.normal(size=k.shape[-1])
    elif kind == "outlier":
        k[..., 0, :] *= 1e6
    elif kind == "equal":
        k[...] = k[..., :1, :]
    elif kind == "zero":
        q[..., ::2, :] = 0.0
        v[..., 0] = 0.0
    return q, k, v


def mask(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Array:
    """Return a mask of some kind for logits of a shape."""
    kind, (*leading, m, n) = rng.choice(np.array(MASKS, object)), shape
    rows, columns, own = (
        np.arange(m)[:, None],
        np.arange(n),
        leading[len(leading) - int(rng.integers(len(leading) + 1)) :],
    )
    if kind is None:
        return None
    if kind == "bool":
        return rng.random((*own, m, n)) < rng.choice([0.05, 0.5, 0.95])
    if kind == "window":
        width = int(rng.integers(1, n + 1))
        return (columns <= rows + n - m) & (columns > rows + n - m - width)
    if kind == "padding":
        return columns < rng.integers(0, n + 1, size=(*own, 1, 1))
    if kind == "lowest":  # as transformers has it
        hidden = rng.random((m, n)) < 0.5 if rng.random() < 0.5 else columns > rows
        return np.where(hidden, np.finfo(dtype).min, np.array(0.0)).astype(dtype)
    biases = 10.0 ** rng.uniform(-2.0, 3.0) * rng.normal(size=(*own, 1 if kind == "by key" else m, n))
    biases[rng.random(biases.shape) < 0.2] = -np.inf
    if kind == "hidden":
        biases[..., rng.random(m) < 0.5, :] = -np.inf
    return biases.astype(dtype)


def exact(case: Case) -> tuple[Array, Array]:
    """Return outputs and logarithms of sums in long double."""
    q, k, v = (a.astype(np.longdouble) for a in case[:3])
    groups = q.shape[-3] // k.shape[-3] if case.options["enable_gqa"] else 1
    k, v = (np.repeat(a, groups, axis=-3) if groups > 1 else a for a in (k, v))
    (m, s), n = q.shape[-2:], k.shape[-2]
    logits = np.longdouble(case.options.get("scale", s**-0.5)) * (q @ np.swapaxes(k, -1, -2))
    last = np.arange(m)[:, None] + {False: n, "upper_left": 0, True: n - m}[case.options["is_causal"]]
    biases = np.where(np.arange(n) <= last, np.longdouble(0.0), -np.inf)
    if case.mask is not None:
        given = np.where(case.mask, 0.0, -np.inf) if case.mask.dtype == bool else case.mask
        biases = biases + given.astype(np.longdouble)
    largest = biases.max(axis=-1, keepdims=True)  # beside which logits may be small
    logits = logits + np.where(largest > -np.inf, biases - np.where(largest > -np.inf, largest, 0.0), -np.inf)
    top = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - np.where(np.isfinite(top), top, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = (top + np.log(total) + largest)[..., 0]
    return weights @ v / np.where(total > 0.0, total, 1.0), logs


def checked(case: Case) -> tuple[float, float]:
    """Hold a case against its bounds: the largest shares of these, of outputs and of logarithms."""
    output, plan = explain_attention(*case[:4], **case.options)
    wanted, logs = exact(case)
    assert output.shape == wanted.shape
    error = np.abs(output - wanted).max(axis=-1)
    assert error.shape == plan.error.shape
    assert (error <= plan.error).all(), (error - plan.error).max()
    hidden = logs == -np.inf
    assert (plan.log_sum_exp[hidden] == -np.inf).all()
    log_error = np.abs(plan.log_sum_exp[~hidden] - logs[~hidden])
    bounds = plan.log_sum_exp_error[~hidden]
    assert (log_error <= bounds).all(), (log_error - bounds).max()
    assert (output[hidden] == 0.0).all()
    some = plan.error > 0.0
    shares = [(error[some] / plan.error[some]).max(initial=0.0), (log_error / bounds).max(initial=0.0)]
    agreed_by_torch(case, output, plan.error, hidden)
    return float(shares[0]), float(shares[1])


def agreed_by_torch(case: Case, output: Array, bounds: Array, hidden: Array) -> None:
    """Compare with torch's attention in float64, where it takes the same arguments and its own error is small."""
    causal = case.options["is_causal"]
    if case.kind != "ordinary" or causal is True or (causal and case.mask is not None):
        return
    try:
        import torch
    except ImportError:
        return
    arrays = [torch.tensor(a.astype(np.float64)) for a in case[:3]]
    attn_mask = None if case.mask is None else torch.tensor(
        case.mask if case.mask.dtype == bool else case.mask.astype(np.float64)
    )  # fmt: skip
    if arrays[0].ndim > arrays[1].ndim:
        arrays[1:] = [a.expand(*arrays[0].shape[:-2], *a.shape[-2:]) for a in arrays[1:]]
    theirs = torch.nn.functional.scaled_dot_product_attention(
        *arrays, attn_mask=attn_mask, is_causal=bool(causal), enable_gqa=case.options["enable_gqa"],
        scale=case.options.get("scale"),
    ).numpy()  # fmt: skip
    lost = hidden  # and where torch's sums of logits and biases have lost the former
    if case.mask is not None and case.mask.dtype != bool:
        lost = lost | (np.broadcast_to(case.mask.max(axis=-1), lost.shape) < -1e6)
    apart = np.abs(output - theirs).max(axis=-1)[~lost]
    assert (apart <= bounds[~lost] + 1e-8).all(), apart.max()


def main() -> None:
    """Check the cases and print the largest shares of the bounds."""
    count, first = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 10_000), (2, 0)))
    worst = np.zeros(2)
    for seed in range(first, first + count):
        case = draw(np.random.default_rng(seed))
        try:
            worst = np.maximum(worst, checked(case))
        except (AssertionError, ValueError):
            print(f"seed {seed}: {case.kind}, {[a.shape for a in case[:3]]}, {case.query.dtype}, {case.options}")
            raise
        if seed % 500 == 499:
            print(f"{seed + 1 - first} cases, shares of the bounds at most {worst.round(4)}", flush=True)
    print(f"{count} cases, shares of the bounds at most {worst.round(4)}")


if __name__ == "__main__":
    main()
