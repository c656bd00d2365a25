"""A sum has the same bits whatever ran before it in a process, in whatever order, on any number of threads."""

import json
import random

import pytest
from processes import run

HISTORY = """
import hashlib, json, os, sys
import numpy as np
from spherapprox import EqualMeasurePartition, SplitHead, VonMisesFisher, attention, evaluate, points, special, sphere
from spherapprox.summation import angle_mean, evaluate_log

def rows(n, dim, seed):
    return sphere.uniform(dim, n, rng=seed)

def values(n, p=1, seed=5):
    return np.random.default_rng(seed).standard_normal((n, p))

SUMS = {
    "tiny": lambda: evaluate(rows(1, 2, 1), rows(10, 2, 2), values(10), 20.0),
    "columns": lambda: evaluate(rows(50, 7, 1), rows(90, 7, 2), values(90, 3), 5.0, normalize=True),
    "single": lambda: evaluate(*(a.astype(np.float32) for a in (rows(40, 2, 1), rows(70, 2, 2), values(70))), 9.0),
    "products": lambda: evaluate(rows(60, 40, 1), rows(80, 40, 2), values(80), 3.0),
    "far": lambda: evaluate(rows(40, 2, 1), rows(30, 2, 2), values(30), 1e5, normalize=True),
    "decades": lambda: evaluate(rows(9, 2, 1), rows(9, 2, 2), np.geomspace(1e-300, 1e300, 9), 400.0),
    "keys": lambda: evaluate(rows(20, 2, 1), rows(30, 2, 2), values(30), np.linspace(1.0, 900.0, 30), normalize=True),
    "logarithms": lambda: evaluate_log(rows(20, 2, 1), rows(30, 2, 2), abs(values(30)), 1e4),
    "large": lambda: evaluate(rows(3000, 2, 1), rows(3000, 2, 2), values(3000), 20.0),
    "circle": lambda: evaluate(rows(4000, 1, 1), rows(4000, 1, 2), values(4000), 20.0),
    "tolerant": lambda: evaluate(rows(3000, 3, 1), rows(3000, 3, 2), values(3000), 2.0, rtol=1e-6),
    "near": lambda: evaluate(rows(4000, 2, 1), rows(4000, 2, 2), values(4000), 1e5),
    "angles": lambda: angle_mean(rows(30, 2, 1), rows(40, 2, 2), 30.0),
    "attention": lambda: attention(values(20, 4, 1), values(30, 4, 2), values(30, 2, 3)),
    "head": lambda: SplitHead(rows(30, 2, 2), values(30), 50.0)(rows(20, 2, 1)),
}
OTHERS = (
    lambda: EqualMeasurePartition(2, 500).centers(),
    lambda: special.log_iv(np.linspace(0.0, 50.0, 300), 3.0),
    lambda: points.greedy(rows(20, 2, 1), 30),
    lambda: VonMisesFisher(2, 20.0).rvs([0.0, 0.0, 1.0], 50, rng=0),
    lambda: evaluate(rows(2, 2, 1), rows(3, 2, 2), np.ones(3), 2.0, method="numpy"),
)
for step, name in enumerate(json.loads(sys.argv[1])):
    if step % 3 == 1:
        OTHERS[step % len(OTHERS)]()
    print(name, hashlib.sha256(np.ascontiguousarray(SUMS[name]()).tobytes()).hexdigest())
"""
NAMES = (
    "tiny", "columns", "single", "products", "far", "decades", "keys", "logarithms", "large", "circle", "tolerant",
    "near", "angles", "attention", "head",
)  # fmt: skip


def digests(names, workers):
    """The digests of the results of sums, evaluated one after another in a process of their own."""
    lines = run(HISTORY, json.dumps(names), SPHERAPPROX_WORKERS=str(workers)).splitlines()
    return [line.split() for line in lines]


@pytest.fixture(scope="module")
def expected():
    return dict(digests(NAMES, 1))


@pytest.mark.once
@pytest.mark.parametrize("seed", range(2))
def test_the_bits_of_sums_depend_on_no_history(seed, expected):
    rng = random.Random(seed)
    history = rng.choices(NAMES, k=12) + rng.sample(NAMES, len(NAMES))
    for name, digest in digests(history, workers=1 + seed % 3):
        assert digest == expected[name], name
