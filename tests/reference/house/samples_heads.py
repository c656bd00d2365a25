"""Samples of sums, coefficients, heads and errors."""

from __future__ import annotations

import functools
import math
import pickle
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from recorder import Recorder
from samples import height, pair, rows

V1 = Path(__file__).with_name("v1")
"""Files in version 1 of the format, as the code before wrote them."""


def sums(r: Recorder) -> None:
    from spherapprox import EqualMeasurePartition, evaluate
    from spherapprox.summation import angle_mean

    for dim, lam, normalize in product((1, 2, 3, 8, 30), (0.0, 3.0, 300.0, 1e7), (False, True)):
        x, b, v = rows(dim, 97, 1), rows(dim, 131, 2), np.random.default_rng(3).standard_normal((131, 3))
        for values, options in (
            (v[:, 0], {}),
            (v, {}),
            (v, {"rtol": None}),
            (v[:, :1] ** 2, {"log": True}),
            (v, {"rtol": 1e-4}),
            (v.astype(np.float32), {}),
        ):
            dtype = values.dtype
            r.group = f"sums dim={dim}"
            r(evaluate, x.astype(dtype), b.astype(dtype), values, lam, normalize=normalize, explain=True, **options)
    r.group = "sums methods"
    for dim, lam, method in (
        (1, 2.0, "harmonic"),
        (1, 50.0, "harmonic"),
        (2, 2.0, "harmonic"),
        (2, 60.0, "harmonic"),
        (2, 1.0, "lowrank"),
        (5, 0.5, "lowrank"),
        (8, 0.2, "lowrank"),
        (1, 1e5, "truncated"),
        (2, 1e4, "truncated"),
        (3, 3e3, "truncated"),
        (2, 20.0, "dense"),
        (20, 20.0, "dense"),
        (8, 300.0, "truncated"),
        (3, 1.0, "harmonic"),
    ):
        x, b, v = rows(dim, 1500, 1), rows(dim, 2100, 2), np.random.default_rng(3).standard_normal((2100, 2))
        for rtol, normalize in product((1e-6, 1e-12), (False, True)):
            r(evaluate, x, b, v, lam, method=method, rtol=rtol, normalize=normalize, explain=True)
            r(evaluate, x, b, v[:, 0] ** 2, lam, method=method, rtol=rtol, normalize=normalize, log=True, explain=True)
        single = [a.astype(np.float32) for a in (x, b, v)]
        r(evaluate, *single, lam, method=method, rtol=1e-4, explain=True)
    r.group = "sums auto"
    for dim, n, lam in (
        (1, 20000, 3.0),
        (2, 20000, 1.0),
        (2, 20000, 1e5),
        (3, 8000, 1e4),
        (8, 4000, 0.1),
        (8, 4000, 50.0),
    ):
        x, b, v = rows(dim, n, 1), rows(dim, n, 2), np.ones(n)
        for rtol in (1e-14, 1e-8, 1e-4):
            r(evaluate, x, b, v, lam, rtol=rtol, explain=True), r(evaluate, x, b, v, lam, rtol=rtol, workers=2)
    r.group = "sums edges"
    x, b, v = rows(2, 50, 1), rows(2, 70, 2), 10.0 ** np.linspace(-300, 300, 70)
    (
        r(evaluate, x, b, v, 5.0),
        r(evaluate, x, b, v, 5.0, normalize=True),
        r(evaluate, x, b, v, 1e5, log=True, explain=True),
    )
    (
        r(evaluate, x, -x[:1], [1.0], 1e6),
        r(evaluate, x, -x[:1], [1.0], 1e6, normalize=True),
        r(evaluate, x, b, 0.0 * v, 2.0, log=True),
    )
    (
        r(evaluate, x[:0], b, v, 2.0),
        r(evaluate, x, b[:0], v[:0], 2.0),
        r(evaluate, x, b, v[:-1], 2.0),
        r(evaluate, 2.0 * x, b, v, 2.0),
    )
    r(evaluate, x, b, v, -1.0), r(evaluate, x, b, v, 1.0, method="x"), r(evaluate, x, b, -v, 1.0, log=True)
    (
        r(evaluate, x, b, v, 1.0, method="truncated", rtol=None),
        r(evaluate, x, b, v, 1.0, rtol=-1.0),
        r(evaluate, x, rows(3, 4), v, 1.0),
    )
    r(evaluate, x, b, v, 1.0, workers=0), r(evaluate, x.tolist(), b, v, 1.0), r(evaluate, x, b, v, 1.0, out=np.empty(3))
    out = np.empty(50)
    r.keep("out", evaluate(x, b, v, 1.0, out=out) is out), r.keep("out holds", out), r(evaluate, x, b, v, math.nan)
    for dim, lam in product((1, 2, 8), (0.0, 5.0, 1e6)):
        r(angle_mean, rows(dim, 60, 1), rows(dim, 80, 2), lam)
    c = EqualMeasurePartition(2, 3000).centers()
    r(evaluate, c, c, c[:, 0], 2e3, explain=True), r(evaluate, c, c, c[:, 0], 2e3, normalize=True, explain=True)


def spread(r: Recorder) -> None:
    """Sums over blocks, by the tasks of a cluster in this thread."""
    import dask.array as da

    from spherapprox.summation import distributed

    x, b, v = rows(2, 100, 1), rows(2, 150, 2), np.random.default_rng(3).standard_normal(150)
    for normalize, log in product((False, True), repeat=2):
        options: dict[str, Any] = {"normalize": normalize, "log": log, "chunks": (30, 70)}
        lazy = distributed.evaluate(da.from_array(x, chunks=(30, -1)), b, np.abs(v), 40.0, **options)
        r.named(f"lazy {normalize} {log}", functools.partial(lazy.compute, scheduler="synchronous"))
    r(distributed.evaluate, x, b, v[:-1], 2.0), r(distributed.evaluate, x, b, v, 2.0, chunks=(0, 5))


def coefficients(r: Recorder) -> None:
    from spherapprox import EqualMeasurePartition
    from spherapprox import points as s
    from spherapprox.coefficients import core_values, split_values, well_conditioned_concentration

    sets = {
        "cells 2": EqualMeasurePartition(2, 80),
        "gauss 2": s.gauss_product(2, 11),
        "gauss 1": s.gauss_product(1, 20),
        "gauss 3": s.gauss_product(3, 7),
        "cells 5": EqualMeasurePartition(5, 90),
        "bare": rows(2, 60),
    }
    for (name, p), lam, f in product(sets.items(), (0.0, 5.0, 200.0), (height, pair)):
        r.group = f"coefficients {name} {f.__name__} lambda={lam:g}"
        for rule in ("riemann", "interpolation", "least_squares", "spectral"):
            r.named(f"core {rule}", core_values, f, p, lam, rule)
            r.named(f"split {rule}", split_values, f, p, lam, rule)
        r.named("core spectral 3", core_values, f, p, lam, "spectral", degree=3)
        for rule in ("interpolation", "least_squares"):
            r.named(f"core ridge {rule}", core_values, f, p, lam, rule, regularization=1e-3)
            r.named(f"split ridge {rule}", split_values, f, p, lam, rule, regularization=1e-3)
        r.named("core samples", core_values, f, p, lam, "least_squares", samples=300)
    r.group = "coefficients"
    for name, p in sets.items():
        r.named(f"well conditioned {name}", well_conditioned_concentration, p)
        r.named(f"well conditioned {name} 1e6", well_conditioned_concentration, p, 1e6)
    big = EqualMeasurePartition(2, 4400)  # beyond the factorisation
    r.named("iterated interpolation", core_values, height, big, 4000.0, "interpolation")
    r(core_values, height, rows(2, 9), 1.0, "x"), r(core_values, height, rows(2, 9), 1.0, "riemann", degree=3)
    r(core_values, height, np.ones((2, 3)), 1.0), r(core_values, lambda x: x[:3, 0], rows(2, 9), 1.0)


def heads(r: Recorder) -> None:
    from spherapprox import ClassicalHead, CoreHead, EqualMeasurePartition, SplitHead, load
    from spherapprox import points as s

    for cls, dim, lam, f in product((CoreHead, SplitHead, ClassicalHead), (1, 2, 8), (4.0, 300.0), (height, pair)):
        r.group = f"heads {cls.__name__} dim={dim} lambda={lam:g} {f.__name__}"
        head, x = cls.from_target(f, EqualMeasurePartition(dim, 150), lam), rows(dim, 40, 1)
        r.keep(
            "state",
            [head.control_points, head.values, head.concentration, head.dim, head.n_outputs, len(head), repr(head)],
        )
        (
            r.named("call", head, x),
            r.named("float32", head, x.astype(np.float32)),
            r.named("truncated", head, x, method="truncated", rtol=1e-6),
        )
        r.named("none", head, x, rtol=None), r(head.gradient, x), r(head.gradient, x, method="dense", rtol=None)
        r.named("refined", lambda h=head, g=f: h.refine(g, 2).values)
        r.named("rotated", lambda h=head, d=dim: h.rotate(np.roll(np.eye(d + 1), 1, axis=0)).control_points)
        r.named("part", lambda h=head: [h[3:9].values, repr(h[3:9])])
        with tempfile.TemporaryDirectory() as folder:
            head.save(path := Path(folder) / "head.npz")
            again = load(path)
        r.keep("saved", [again == head, repr(again.points), again.values, pickle.loads(pickle.dumps(head)) == head])
        if cls is ClassicalHead:
            r(head.attend, x[:7]), r(head.interaction_bound, 3), r(head.interaction_bound, 3, log=True)
            r.keep(
                "matrices",
                [head.query, head.key, head.value, head.prefix, head.embedding_dim, head.mask, head.interaction],
            )
            r(head.embed, x[:3]), r.named("project", lambda h=head, y=x[:3]: h.project(h.embed(y)))
    r.group = "heads"
    for interaction, mask in (("none", None), ("printed", None), ("printed", -9.0), ("flag", -5.0)):
        head = ClassicalHead.from_target(height, EqualMeasurePartition(2, 20), 5.0, interaction=interaction, mask=mask)
        (
            r.named(f"attend {interaction} {mask}", head.attend, rows(2, 6)),
            r.named(f"bound {interaction}", head.interaction_bound, 4),
        )
    p = s.gauss_product(2, 9)
    for cls, rule in product((CoreHead, SplitHead), ("interpolation", "least_squares", "spectral", "riemann")):
        r.named(
            f"{cls.__name__} {rule}",
            lambda c=cls, k=rule: c.from_target(height, p, 9.0, k, **({"degree": 4} if k == "spectral" else {})).values,
        )
    r.named("own concentration", lambda: CoreHead.from_target(height, p, coefficients="interpolation").concentration)
    r.named("sum", lambda: (CoreHead(rows(2, 5), np.ones(5), 3.0) + CoreHead(rows(2, 4, 1), np.ones(4), 3.0)).values)
    x, y = rows(2, 120, 5), pair(rows(2, 120, 5))
    for cls, options in product(
        (CoreHead, SplitHead),
        (
            {},
            {"concentration": 20.0},
            {"n": 12, "rng": 1},
            {"n": 12, "regularization": 1e-3, "concentration": 9.0, "rng": 2},
        ),
    ):
        r.named(
            f"fit {cls.__name__} {options}",
            lambda c=cls, o=options: [(h := c.fit(x, y, **o)).control_points, h.values, h.concentration],
        )
    h = SplitHead(rows(2, 5), np.ones(5), 3.0)
    (
        r(SplitHead, rows(2, 5), np.ones(4), 3.0),
        r(SplitHead, rows(2, 5), np.ones(5), -3.0),
        r(h, rows(3, 2)),
        r(h.rotate, np.ones((3, 3))),
    )
    (
        r(SplitHead.from_target, height, rows(2, 5)),
        r(SplitHead.fit, x, y, n=0),
        r(lambda: h + h),
        r(SplitHead.from_target, height, p, 3.0),
    )
    r(ClassicalHead.from_head, h, interaction="x"), r(load, "/tmp/there-is-no-such-file"), r(h.gradient, x, method="x")
    for path in sorted(V1.glob("*.npz")):
        found = r.named(f"file {path.name}", load, path)
        if hasattr(found, "control_points"):
            (
                r.named(f"file {path.name} call", found, rows(found.dim, 9)),
                r.keep(path.name, [found.control_points, found.values]),
            )


def learners(r: Recorder) -> None:
    from spherapprox import ClassicalHead, CoreHead, EqualMeasurePartition, HeadRegressor, SplitHead

    X = np.random.default_rng(1).standard_normal((80, 3))
    for kind, embedding in product(("split", "core"), ("stereographic", "normalize", "x")):
        model = HeadRegressor(kind, n_control_points=15, concentration=8.0, embedding=embedding, random_state=0)
        r.named(f"regressor {kind} {embedding}", lambda m=model: m.fit(X, X[:, 0] ** 2).predict(X))
    import torch

    torch.set_num_threads(1)
    for cls in (CoreHead, SplitHead, ClassicalHead):
        module = cls.from_target(pair, EqualMeasurePartition(2, 40), 9.0).to_torch()
        r.named(f"torch {cls.__name__}", module, torch.from_numpy(rows(2, 12)))
        r.keep(
            f"state {cls.__name__}",
            {k: np.asarray(v.detach().numpy()) for k, v in module.state_dict().items() if hasattr(v, "detach")},
        )
        r.keep(f"repr {cls.__name__}", repr(module))


def errors(r: Recorder) -> None:
    from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, sup_error, targets, worst_case_error
    from spherapprox import points as s

    for cls, dim in product((CoreHead, SplitHead), (1, 2, 3, 9)):
        t = targets.distance(dim)
        head = cls.from_target(t, EqualMeasurePartition(dim, 120), 60.0)
        r.group = f"errors {cls.__name__} dim={dim}"
        r.named("sup", sup_error, head, t, n=2000), r.named("plain", sup_error, head, t, n=500, refine=0)
        r.named("points", sup_error, head, t, points=rows(dim, 100)), r.named("rng", sup_error, head, t, n=500, rng=5)
        (
            r.named("own", sup_error, lambda x: x[:, 0], height, dim=dim, n=500),
            r.named("two", sup_error, head, t, n=500, workers=2),
        )
    r.group = "errors"
    for dim, lam in product((1, 2, 3, 9), (0.0, 100.0, 1e6)):
        (
            r(worst_case_error, EqualMeasurePartition(dim, 60), lam, n=1000),
            r(worst_case_error, s.uniform(dim, 40, 1), lam, n=500, rng=2),
        )
    (
        r(sup_error, height, height),
        r(sup_error, 3, height),
        r(sup_error, height, pair, dim=2),
        r(worst_case_error, rows(2, 4), -1.0),
    )
    r(worst_case_error, s.gauss_product(2, 4), 3.0)


def rest(r: Recorder) -> None:
    from spherapprox import __version__, show_config

    (
        r.keep("version", __version__),
        r.keep("config", {k: sorted(v) if isinstance(v, dict) else "" for k, v in show_config("dicts").items()}),
    )
    r(show_config, "x")


GROUPS = (sums, spread, coefficients, heads, learners, errors, rest)
