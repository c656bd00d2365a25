"""Samples of validations, studies, figures and the command."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

from recorder import Recorder
from samples import height, rows


def validations(r: Recorder) -> None:
    import bounds
    from spherapprox import CoreHead, EqualMeasurePartition, PointSet, SplitHead, Target, points, sup_error, targets

    sets = {
        "cells": EqualMeasurePartition(2, 200),
        "centroids": EqualMeasurePartition(2, 200, "centroid"),
        "gauss": points.gauss_product(2, 12),
        "fibonacci": points.fibonacci(200),
        "cells 8": EqualMeasurePartition(8, 200),
        "bare": rows(2, 90),
        "cells 1": EqualMeasurePartition(1, 50),
        "wrong": PointSet(rows(2, 90), None, 0.25, 6),
    }
    for (name, p), cls in product(sets.items(), (CoreHead, SplitHead)):
        if cls is SplitHead and name == "gauss":
            continue
        dim = getattr(p, "dim", 2)
        for t in (
            targets.distance(dim),
            targets.zonal_harmonic(dim),
            dataclasses.replace(targets.distance(dim), lipschitz=0.5),
        ):
            r.group = f"validate {name} {cls.__name__} {t.name} {t.lipschitz:.3g}"
            head = cls.from_target(t, p, 300.0)
            found = r.named("found", bounds.validate, head, t, n=800)
            r.keep("text", str(found)), r.keep("summary", [found.ok, found.violated, found.summary])
        r.named("quick", bounds.validate, head, t, n=300, claims=False, worst_case=False, rng=3)
    r.group = "validate"
    t = targets.distance(2)
    head = SplitHead.from_target(t, sets["cells"], 300.0)
    (
        r.named("error", bounds.validate, head, t, error=sup_error(head, t, n=500), n=300),
        r.named("unknown", bounds.validate, head, Target(height, 2), n=300),
    )
    r.named(
        "vector",
        bounds.validate,
        SplitHead.from_target(v := targets.rotation_field(3), EqualMeasurePartition(3, 100), 90.0),
        v,
        n=300,
    )
    (
        r(bounds.validate, 3, t),
        r(bounds.validate, head, height),
        r(bounds.validate, head, targets.distance(3)),
        r(bounds.validate, head, t, n=0),
    )
    field = targets.geomagnetic_field()
    r.named(
        "field",
        lambda: str(bounds.validate(SplitHead.from_target(field, EqualMeasurePartition(2, 500), 200.0), field, n=1000)),
    )


def studies(r: Recorder) -> None:
    import bounds
    from spherapprox import EqualMeasurePartition, SplitHead, targets

    for name, options in (
        ("distance", {"dim": 2}),
        ("distance", {"dim": 8}),
        ("geomagnetic_field", {}),
        ("rotation_field", {"dim": 3}),
        ("bump", {"dim": 1}),
    ):
        r.group = f"study {name} {options}"
        found = r.named("run", bounds.study.run, targets.make(name, **options), [60, 150], points=800)
        (
            r.keep("document", found.document()),
            r.keep("table", found.table()),
            r.keep("notes", found.notes),
            r.named("figure", bounds.plot.error_figure, found),
        )
        r.named("series", found.series, "split", "theory")
    r.group = "study"
    r.named(
        "estimated", lambda: bounds.study.run(height, [60], dim=2, points=500, estimate=True, choices=[30.0]).document()
    )
    (
        r(bounds.study.run, height, [60]),
        r(bounds.study.run, targets.distance(2), []),
        r(bounds.study.run, targets.distance(2), [9], choices=["x"]),
    )
    r.named("grid", bounds.plot.error_grid, [found]), r(bounds.plot.slope, [10, 100], [1.0, 0.1])
    r.named("curves", bounds.plot.coefficients_figure, [bounds.plot.Curve("a", [10, 100], [0.1, 0.01])], "t")
    t = targets.distance(2)
    r.named(
        "maps",
        bounds.plot.maps_figure,
        SplitHead.from_target(t, EqualMeasurePartition(2, 99), 30.0),
        t,
        0.5,
        resolution=31,
    )
    r.named("cells", bounds.plot.partition_figure, EqualMeasurePartition(2, 60))
    r.group = "makers"
    for dim in (1, 2, 3):
        made = r(bounds.makers.compare, dim, [10, 40])
        (
            r.keep(f"shown {dim}", [made.table(), made.records(), made.notes]),
            r.named(f"series {dim}", made.series, "partition"),
        )
        r.named(f"figure {dim}", bounds.plot.covering_figure, made)
    (
        r(bounds.makers.compare, 2, [10], makers=["x"]),
        r(bounds.makers.compare, 3, [10], makers=["fibonacci"]),
        r(bounds.makers.compare, 2, [0]),
    )


def commands(r: Recorder) -> None:
    for line in (
        "--help",
        "--version",
        "study --help",
        "bounds --help",
        "points --help",
        "warmup --help",
        "",
        "x",
        "bounds --dim 8 --eps 0.1",
        "bounds --dim 8 --eps 0.1 --json",
        "bounds --dim 2 --eps 0.3 --lipschitz 2 --sup-norm 3 --ragozin 2",
        "bounds --dim 0 --eps 1",
        "bounds --dim 8 --eps -1",
        "bounds --dim 8",
        "points --n 10 40 --dim 2 --makers partition fibonacci sobol",
        "points --n 30 --dim 3 --json -q",
        "points --n 10 --makers x",
        "study --target distance --dim 2 --n 60 120 --concentration theory --points 500 --out OUT -q",
        "study --target distance --dim 3 --n 60 --concentration 30 --points 500 --out OUT -q --json --eps 0.2",
        "study --target rotation_field --dim 3 --n 60 --points 500 --concentration best --out OUT -q --eps 0.5",
        "study --target x --out OUT",
        "study --target land --n 60 --points 400 --concentration mean --estimate-lipschitz --out OUT -q",
        "points --n 10 40 --makers partition greedy --out OUT -q",
        "study --target math:nothing --out OUT",
        "study --target distance --year 1990 --out OUT",
    ):
        r.named(f"spherapprox {line}", _run, line.split())


def _run(arguments: Sequence[str]) -> Any:
    """Run the command; returns its exit status, what it printed, and the text files that it wrote."""
    from bounds.cli import main

    out, error = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory() as folder:
        words = [folder if word == "OUT" else word for word in arguments]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                status: Any = main(words)
            except SystemExit as stop:
                status = f"exit {stop.code}"
        texts = {
            path.name: path.read_text() if path.suffix in (".csv", ".json") else path.suffix
            for path in sorted(Path(folder).iterdir())
        }
    return [status, out.getvalue().replace(folder, "OUT"), error.getvalue().replace(folder, "OUT"), texts]


GROUPS = (validations, studies, commands)
