"""Samples of functions, points, partitions and targets."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import pickle
from itertools import product
from typing import Any

import numpy as np
from recorder import Recorder


def rows(dim: int, n: int, seed: int = 0) -> np.ndarray:
    """Return random points of S^dim, made without the packages."""
    x = np.random.default_rng([seed, dim]).standard_normal((n, dim + 1))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def height(x: Any) -> np.ndarray:
    """Return a smooth function with values in R."""
    x = np.asarray(x, float)
    return np.sin(2.0 * x[:, 0]) + x[:, -1] ** 2


def pair(x: Any) -> np.ndarray:
    """Return a smooth function with values in R^2."""
    x = np.asarray(x, float)
    return np.stack([x[:, 0] * x[:, -1], np.exp(x[:, -1])], axis=1)


def either(*names: str) -> Any:
    """Import the first of some modules that there is: one that moves keeps its samples."""
    for name in names[:-1]:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return importlib.import_module(names[-1])


def by_numpy(r: Recorder) -> None:
    """Small sums of a fresh process, which NumPy takes: to be called before all others."""
    from spherapprox import evaluate

    for dim, (normalize, log) in product((1, 2, 8), product((False, True), repeat=2)):
        values = np.abs(rows(1, 40, 9)[:, 0])
        r(evaluate, rows(dim, 30, 1), rows(dim, 40, 2), values, 7.5, normalize=normalize, log=log, explain=True)


def warm(r: Recorder) -> None:
    """Load all compiled code by work that is worth it, so that no later result depends on the clock."""
    import time

    from spherapprox import evaluate, special

    start, t = time.perf_counter(), np.linspace(0.1, 0.9, 9000)
    while time.perf_counter() - start < 0.4:  # plain Python, until arrays of any size are compiled
        special.log_iv(0.5, t[:64])
    special.log_iv(0.5, np.linspace(0.1, 0.9, 20000))
    for n, dtype, log, normalize in (
        (15000, float, False, True),
        *product((2000,), (float, np.float32), (False, True), (False, True)),
    ):
        x, b = (rows(2, n, seed).astype(dtype) for seed in (1, 2))
        evaluate(x, b, np.ones(n, dtype), 1e3, normalize=normalize, method="dense", log=log)
    for dim, method in ((1, "harmonic"), (2, "harmonic"), (2, "lowrank"), (2, "truncated")):
        rate = 1e4 if method == "truncated" else 2.0
        evaluate(rows(dim, 4000, 1), rows(dim, 4000, 2), np.ones(4000), rate, method=method, rtol=1e-8)
    r.keep("done", True)


def special(r: Recorder) -> None:
    from spherapprox import special as s

    orders, x = np.array([0.0, 0.5, 1.0, 3.5, 31.0, 500.0, 1e6]), np.geomspace(1e-8, 1e9, 35)
    grid = orders[:, None], x[None, :]
    for function in (s.log_iv, s.iv_ratio, s.iv_ratio_complement, s.log_iv_ratio):
        r(function, *grid)
        for v, z in product((0.0, 3.5, 500.0), (1e-3, 2.0, 750.0)):
            r(function, v, z)
    for step in (0, 2, 7, 40):
        for function in (s.iv_ratio, s.iv_ratio_complement, s.log_iv_ratio):
            r(function, *grid, step=step)
    r(s.iv_ratio_inverse, orders[:, None], np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 0.999, 1 - 1e-12]))
    dims, angles = (
        np.array([1, 2, 3, 8, 64, 1000, 10**6])[:, None],
        np.concatenate([np.geomspace(1e-30, 3.1, 40), [0, np.pi]]),
    )
    r(s.log_cap_measure, dims, angles)
    r(s.cap_angle, dims, -np.geomspace(1e-9, 600.0, 40))
    r(s.log_surface_area, np.array([1, 2, 3, 8, 64, 1000, 10**6]))
    degrees, t = np.array([0, 1, 2, 3, 10, 57, 400])[:, None], np.linspace(-1.0, 1.0, 41)
    for dim in (1, 2, 3, 8, 100):
        r(s.gegenbauer, degrees, dim, t)
        for order in (0, 1, 2, 5):
            r(s.gegenbauer_derivative, degrees, dim, t, order)
            r(s.gegenbauer_derivative_bound, degrees, dim, order)
            r(s.gegenbauer_derivative_bound, degrees, dim, order, log=True)
        for function in (s.gegenbauer_lipschitz, s.gegenbauer_max_zero, s.gegenbauer_max_zero_angle):
            r(function, degrees[1:], dim)
    for dim, angle in product((1, 2, 8), (1e-20, 0.1, 1.5, 3.0)):
        r(s.log_cap_measure, dim, angle)
    r(s.log_iv, -1.0, 2.0), r(s.log_iv, "a", 2.0), r(s.gegenbauer, 1.5, 2, 0.1), r(s.gegenbauer, 3, 2, 1.5)
    r(s.log_cap_measure, 0, 1.0), r(s.cap_angle, 2, 1.0), r(s.iv_ratio, 1.0, 2.0, step=-1), r(s.log_iv, 1.0, math.nan)


def sphere(r: Recorder) -> None:
    from spherapprox import sphere as s

    for dim in (1, 2, 3, 8):
        x, y = rows(dim, 50, 1), rows(dim, 50, 2)
        r(s.distance, x, y), r(s.distance, x, x), r(s.to_polar, x), r(s.from_polar, s.to_polar(x))
        r(s.stereographic, x), r(s.inverse_stereographic, s.stereographic(x)), r(s.uniform, dim, 20, 7)
        (
            r.named(f"uniform {dim} of a generator", s.uniform, dim, 5, rng=np.random.default_rng(3)),
            r(s.distance, x, -x),
            r(s.distance, x[:1], y),
        )
    r(s.from_latitude_longitude, [10.0, -50.0], [20.0, 170.0]), r(s.to_latitude_longitude, rows(2, 30))
    r(s.to_latitude_longitude, rows(2, 30), degrees=False), r(s.distance, [1.0, 2.0], [0.0, 1.0])
    r(s.from_latitude_longitude, 95.0, 0.0), r(s.uniform, 0, 3), r(s.uniform, 2, -1), r(s.uniform, 2, 3, "x")


def vmf(r: Recorder) -> None:
    from spherapprox import VonMisesFisher

    t = np.linspace(-1.0, 1.0, 33)
    for dim, lam in product((1, 2, 3, 8, 64, 1000), (0.0, 1e-6, 0.7, 30.0, 1e4, 1e9)):
        k = VonMisesFisher(dim, lam)
        r.group = f"vmf dim={dim} lambda={lam:g}"
        r.keep("log_normalizer", k.log_normalizer), r.keep("repr", repr(k)), r(k.mean_one_minus_cos)
        for measure in ("normalized", "surface"):
            r(k.log_density, t, measure), r(k, t, measure), r(k.entropy, measure)
        r(k.eigenvalues, 40), r(k.eigenvalues, 40, log=True)
        r(k.eigenvalue, np.arange(12)), r(k.eigenvalue, 3), r(k.eigenvalue_complement, np.arange(12))
        for power in (1.0, 0.5, 2.0):
            r(k.mean_angle, power)
        for radius, log in product((1e-6, 0.1, 1.0), (False, True)):
            r(k.shift_variation, radius, log=log), r(k.shifted_mean_angle, radius, log=log)
        r(k.rvs, np.eye(dim + 1)[0], 6, rng=1)
    r.group = "vmf"
    for dim, method in product((1, 2, 5), ("mle", "marginal", "x")):
        x = VonMisesFisher(dim, 20.0).rvs(np.eye(dim + 1)[0], 300, rng=2)
        r(VonMisesFisher.fit, x, method=method), r(VonMisesFisher.fit, x, np.arange(1.0, 301.0), method=method)
    mean = VonMisesFisher(2, 5.0, [0.0, 0.6, 0.8])
    r(mean.logpdf, rows(2, 9)), r(mean.pdf, rows(2, 9)), r(mean.rvs, size=(2, 3), rng=4), r(mean.rvs, random_state=4)
    r.keep("aliases", [mean.mu, mean.kappa, VonMisesFisher(mu=[0.0, 1.0], kappa=2.0)])
    r.keep(
        "equal",
        [
            mean == VonMisesFisher(2, 5.0, [0.0, 0.6, 0.8]),
            mean == VonMisesFisher(2, 5.0),
            pickle.loads(pickle.dumps(mean)) == mean,
        ],
    )
    r(VonMisesFisher, 0, 1.0), r(VonMisesFisher, 2, -1.0), r(VonMisesFisher, 2, "x"), r(VonMisesFisher, 2)
    r(mean.eigenvalue, -1), r(mean.log_density, 2.0), r(mean.shift_variation, 4.0), r(mean.log_density, 0.0, "x")


def partition(r: Recorder) -> None:
    from spherapprox import EqualMeasurePartition

    for dim, n, kind in product((1, 2, 3, 4, 8), (1, 2, 3, 17, 600), ("midpoint", "centroid", "smallest-cap")):
        p = EqualMeasurePartition(dim, n, centers=kind)
        r.group = f"partition dim={dim} n={n} {kind}"
        r(p.centers), r(p.radii), r(p.locate, rows(dim, 200)), r(p.cell_radius), r(p.cell_radius_is_exact)
        r(p.cell_diameter_bound), r(p.cell, n // 2), r(p.sample, n // 2, 3, 4), r.keep("collars", p.collar_counts)
        r(p.centers, n // 3, n // 3 + 2), r.keep("repr", [repr(p), len(p), p.measure, p.dim, p.n, p.center_kind])
    for dim, n in product((2, 3, 8, 20), (10**6, 10**9, 10**12)):
        for kind in ("midpoint", "centroid", "smallest-cap"):
            if kind != "midpoint" and (n > 10**9 or dim > 8):
                continue
            p = EqualMeasurePartition(dim, n, centers=kind)
            r.group = f"partition dim={dim} n={n:.0e} {kind}"
            r(p.centers, n // 2, n // 2 + 5), r(p.radii, n - 3, n), r(p.locate, rows(dim, 50)), r(p.cell, 12345)
            r(p.sample, 12345, 3), r(p.cell_radius), r(p.cell_radius_is_exact)
            if dim < 20:
                r(p.cell_diameter_bound)
            r.keep("collars", p.collar_counts)
    r.group = "partition"
    r(EqualMeasurePartition, 0, 5), r(EqualMeasurePartition, 2, 0), r(EqualMeasurePartition, 2, 5, "x")
    p = EqualMeasurePartition(2, 50)
    r(p.cell, 50), r(p.centers, 5, 3), r(p.locate, np.ones((2, 3))), r(p.centers, workers=2), r(p.sample, -1)
    r.keep(
        "equal",
        [
            p == EqualMeasurePartition(2, 50),
            p == EqualMeasurePartition(2, 51),
            hash(p) == hash(EqualMeasurePartition(2, 50)),
            pickle.loads(pickle.dumps(p)) == p,
        ],
    )
    out = np.empty((50, 3), np.float32)
    r.named("centers(out=float32)", p.centers, out=out)
    for old in ("radius", "radius_exact", "diameter_bound", "center"):
        r.named(old, functools.partial(getattr, p, old))


def points(r: Recorder) -> None:
    from spherapprox import EqualMeasurePartition, PointSet
    from spherapprox import points as s

    made = {
        "gauss 1": (s.gauss_product, 1, 8),
        "gauss 2": (s.gauss_product, 2, 11),
        "gauss 4": (s.gauss_product, 4, 5),
        "fibonacci": (s.fibonacci, 300),
        "uniform 1": (s.uniform, 1, 40, 1),
        "uniform 3": (s.uniform, 3, 200, 1),
        "sobol 2": (s.sobol, 2, 128, 1),
        "sobol 5": (s.sobol, 5, 64, 1),
        "design 1": (s.spherical_design, 1, 6),
        "design 2": (s.spherical_design, 2, 5),
        "design 2, 12": (s.spherical_design, 2, 12),
        "design 3": (s.spherical_design, 3, 4),
        "design 7": (s.spherical_design, 7, 3),
        "design 5": (s.spherical_design, 5, 3),
        "greedy 2": (s.greedy, EqualMeasurePartition(2, 30), 60),
        "greedy 1": (s.greedy, s.uniform(1, 5, 0), 20),
        "greedy 5": (s.greedy, s.uniform(5, 20, 0), 40),
        "relax 2": (s.relax, s.fibonacci(60)),
        "relax 3": (s.relax, s.uniform(3, 50, 2)),
        "merged": (s.fibonacci(50).merge, s.gauss_product(2, 4), 0.3),
        "relax log": (functools.partial(s.relax, s.fibonacci(60), exponent=0.0, steps=30),),
        "rotated": (s.fibonacci(50).rotate, np.roll(np.eye(3), 1, axis=0)),
        "given": (PointSet, rows(2, 60, 5), np.arange(1.0, 61.0) / 1830.0),
        "bound": (PointSet, rows(3, 60, 5), None, 1.2, 1),
    }
    for name, (maker, *arguments) in made.items():
        r.group = f"points {name}"
        p = r.named("made", maker, *arguments)
        r.keep("arrays", [p.points, p.weights, p.dim, p.degree, len(p), repr(p), p.covering_is_known])
        r(p.covering_bound), r(p.smallest_distance), r(p.mesh_separation_ratio)
        if p.dim <= 7:
            r(p.covering_interval), r(p.covering_interval, 0.01), r(p.cap_discrepancy, "sup", cells=500)
        for degree in (1, 4, 7):
            r(p.quadrature_error, degree), r(p.quadrature_error, degree, by_degree=True, workers=2)
        (
            r(p.cap_discrepancy),
            r(p.integrate, height),
            r(p.integrate, pair),
            r.named("integrate(values)", p.integrate, p.points),
        )
        for old in ("covering_radius", "mesh_ratio", "separation"):
            r.named(old, functools.partial(getattr, p, old))
    r.group = "points"
    for dim, degree in product((1, 2, 3, 8), (1, 4, 9)):
        r(s.design_bound, dim, degree)
    r.keep("design 23", s.spherical_design(23, 7).points)
    r(s.nodes, EqualMeasurePartition(2, 9)), r(s.nodes, s.fibonacci(9)), r(s.nodes, rows(2, 9))
    r(s.fibonacci, 0), r(s.gauss_product, 2, -1), r(s.spherical_design, 2, 4, 3), r(s.greedy, s.fibonacci(9), 5)
    r(PointSet, np.ones((3, 3))), r(PointSet, rows(2, 4), [1.0, 2.0]), r(PointSet, rows(2, 4), None, 1e-3)
    p = s.fibonacci(9)
    r.keep("equal", [p == s.fibonacci(9), p == s.fibonacci(10), pickle.loads(pickle.dumps(p)) == p])
    r.keep("int", s.uniform(2, 4, rng=5).points), r(p.cap_discrepancy, "x"), r(p.quadrature_error, -1)


GROUPS = (by_numpy, warm, special, sphere, vmf, partition, points)
