"""What the methods of summation have in common: bits for any number of threads, progress, obstacles."""

import numpy as np
import pytest
from sums import problem, sphere

from spherapprox import evaluate
from spherapprox.summation import dense, harmonic, lowrank, plan, truncated
from spherapprox.summation.method import Tolerance
from spherapprox.summation.problem import Problem


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("method", "dim", "concentration", "normalize"),
    [("dense", 2, 30.0, True), ("truncated", 2, 300.0, False), ("truncated", 2, 1e8, True), ("lowrank", 3, 1.0, True)],
)
def test_any_number_of_workers_gives_the_same_bits(method, dim, concentration, normalize, dtype):
    x, b = (sphere(n, dim, n).astype(dtype) for n in (3001, 40_000))  # several parts, and several tasks of each
    values = np.random.default_rng(28).standard_normal((40_000, 2)).astype(dtype)
    options = {"normalize": normalize, "method": method}
    alone = evaluate(x, b, values, concentration, workers=1, **options)
    for workers in (3, -1):
        np.testing.assert_array_equal(evaluate(x, b, values, concentration, workers=workers, **options), alone)
    if method == "dense":
        np.testing.assert_array_equal(evaluate(x[1234:1240], b, values, concentration, **options), alone[1234:1240])


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    ("module", "dim", "m", "n", "concentration"),
    [
        (dense, 2, 700, 900, 1.0), (truncated, 2, 700, 900, 1e8), (harmonic, 1, 17, 17, 2.0), (lowrank, 2, 1, 1, 1.0),
        (lowrank, 2, 40_000, 999, 1.0), (lowrank, 2, 999, 40_000, 1.0),
    ],
)  # fmt: skip
def test_every_pair_is_reported(module, dim, m, n, concentration, normalize):
    for values in (np.ones((n, 3)), np.zeros((n, 3))):
        heard = []
        task = problem(sphere(m, dim), sphere(n, dim, 1), values, concentration, normalize=normalize)
        module.sums(task, Tolerance(1e-9, 1e-9), 2, heard.append)
        assert sum(heard) == m * n
        assert min(heard) >= 0
        assert len(heard) > {lowrank: 2, harmonic: 3}.get(module, 0) or m * n == 1


@pytest.mark.parametrize("module", [truncated, harmonic, lowrank])
def test_angles_are_for_the_dense_method(module):
    x, tolerance = sphere(3, 2), Tolerance(1e-6, 1e-6)
    angles = Problem(x, x, 1.0, np.dtype(np.float64), None)
    offsets = Problem(x, x, 1.0, np.dtype(np.float64), np.ones((3, 1)), offset=np.zeros(3))
    assert "angles" in module.obstacle(angles, tolerance)
    assert ("offsets" in module.obstacle(offsets, tolerance)) == (module is not truncated)
    assert module.obstacle(problem(x, x, np.ones(3), 1.0), tolerance) == ""
    name = module.__name__.rpartition(".")[2]
    with pytest.raises(ValueError, match=rf"'method' '{name}' cannot be used here: .*angles.*method=\"auto\""):
        plan.evaluated(angles, plan.Wish(name, 1e-14, 1), False)
