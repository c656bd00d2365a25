"""Least errors of prefixes against random ones: how many beat them.

``python tests/reference/reachable.py --cases 3000 --seed 0`` takes some minutes. Each case has random contexts at
equal, near and different queries, and limits or none. Prefixes at random, and near the witness, must have larger errors
than `reachable` states, with `coupled` too where it can be asked for; the witness must have the error measured, and
that of the floor at one query, or where it is said to be attained. The last line has the number of violations.
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

from spherapprox.prompts.prefix import Limits, Prefix, reachable


def sizes(rows, norm):
    """Return the length of each row."""
    return np.abs(rows).max(-1) if norm == "max" else np.linalg.norm(rows, axis=-1)


def problem(rng):
    """Return queries, keys, values, targets and options."""
    groups, s, p = int(rng.integers(1, 5)), int(rng.integers(1, 6)), int(rng.integers(1, 6))
    counts = rng.integers(1, 6, groups)
    spread = rng.choice([0.0, 0.02, 0.3, 3.0])
    query = np.repeat(rng.standard_normal(s) + spread * rng.standard_normal((groups, s)), counts, axis=0)
    size = 10.0 ** rng.uniform(-1, 1.5)
    key = [size * rng.standard_normal((int(rng.integers(1, 7)), s)) for _ in query]
    value = [rng.standard_normal((len(rows), p)) for rows in key]
    targets = rng.standard_normal((len(query), p)) * 10.0 ** rng.uniform(-2, 1)
    if rng.random() < 0.3:  # small changes
        targets = np.array([rows.mean(0) for rows in value]) + 0.01 * targets
    options = {"scale": float(10 ** rng.uniform(-1, 0.5)), "norm": ("max", "euclidean")[rng.integers(2)]}
    if rng.random() < 0.5:
        options["length"] = int(rng.integers(1, 6))
    if rng.random() < 0.5:
        options["key_norm"] = float(10 ** rng.uniform(-2, 1))
    if rng.random() < 0.5:
        options["value_bound"] = float(10 ** rng.uniform(-1.5, 1))
    if {"key_norm", "value_bound"} <= options.keys() and options["norm"] == "max" and len(query) < 9:
        options["coupled"] = bool(rng.random() < 0.5)
    return query, key, value, targets, options


def prefix_at_random(rng, witness, shape, options):
    """Return a prefix within the limits, near the witness or anywhere."""
    s, p = shape
    length = options.get("length", int(rng.integers(1, 6)))
    if witness is not None and len(witness) and rng.random() < 0.6:
        step = 10.0 ** rng.uniform(-6, 0)
        key = witness.key[:50] * (1 + step * rng.standard_normal(witness.key[:50].shape))
        value = witness.value[:50] + step * rng.standard_normal(witness.value[:50].shape)
        if "length" in options and len(key) != options["length"]:
            return None
    else:
        key = 10.0 ** rng.uniform(-1, 2) * rng.standard_normal((length, s))
        value = 10.0 ** rng.uniform(-1, 2) * rng.standard_normal((length, p))
    if "key_norm" in options:
        key = key * np.minimum(1.0, options["key_norm"] / np.maximum(np.linalg.norm(key, axis=1), 1e-300))[:, None]
    if "value_bound" in options:
        lengths = np.maximum(sizes(value, options["norm"]), 1e-300)
        value = value * np.minimum(1.0, options["value_bound"] / lengths)[:, None]
    return Prefix(key, value)


def error(prefix, query, key, value, targets, options):
    """Return the largest error of the outputs with a prefix."""
    rows = zip(query, key, value, strict=True)
    outputs = [prefix.attend(q[None], k, v, scale=options["scale"])[0] for q, k, v in rows]
    return sizes(np.array(outputs) - targets, options["norm"]).max()


def faults(rng, tries):
    """Return what is wrong in one case."""
    query, key, value, targets, options = problem(rng)
    limits = Limits(**{name: value for name, value in options.items() if name not in ("scale", "norm")})
    result = reachable(query, key, value, targets, scale=options["scale"], norm=options["norm"], limits=limits)
    size = max(np.abs(targets).max(), *(np.abs(rows).max() for rows in value))
    wrong = []
    if not result.upper >= result.error - 1e-12 * size:
        wrong.append(f"upper {result.upper} below error {result.error}")
    if result.prefix is not None:
        achieved = error(result.prefix, query, key, value, targets, options)
        if not abs(achieved - result.upper) <= 1e-9 * max(result.upper, size):
            wrong.append(f"witness has {achieved}, not {result.upper}")
    if result.attained and not result.upper <= result.error * (1 + 1e-8) + 1e-11 * size:
        wrong.append(f"attained, but {result.upper} above {result.error}")
    buildable = "key_norm" not in options or "length" in options  # else more tokens than are built may be needed
    alone = len(result.groups) == 1 and options["norm"] == "max" and result.error == result.errors.max()
    if (
        alone and buildable and not result.upper <= result.error + 1e-6 * size
    ):  # where the floor is a limit, masses are finite
        wrong.append(f"the witness has {result.upper}, the floor is {result.error}")
    for _ in range(tries):
        trial = prefix_at_random(rng, result.prefix, (query.shape[1], targets.shape[1]), options)
        if trial is not None:
            size_of_error = error(trial, query, key, value, targets, options)
            if not size_of_error >= result.error * (1 - 1e-11) - 1e-12 * size:
                wrong.append(f"a prefix has {size_of_error}, below {result.error}")
    return [f"{line}: {options}, groups {[len(g) for g in result.groups]}" for line in wrong]


def main():
    """Run the cases and print violations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--tries", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    count = 0
    for case in tqdm(range(chosen.cases)):
        for line in faults(np.random.default_rng([chosen.seed, case]), chosen.tries):
            print(f"case {case}: {line}", flush=True)
            count += 1
    print(f"{chosen.cases} cases, {chosen.cases * chosen.tries} prefixes: {count} violations")


if __name__ == "__main__":
    main()
