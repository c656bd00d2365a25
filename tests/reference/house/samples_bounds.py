"""Samples of what `bounds` computes."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from recorder import Recorder
from samples import either, height

THEOREMS = (
    "thesis-core",
    "thesis-vector",
    "thesis-split",
    "thesis-split-corrected",
    "sharp-core",
    "sharp-core-centroid",
    "sharp-core-quadrature",
    "sharp-core-spectral",
    "sharp-core-interpolation",
    "sharp-core-rank",
    "sharp-split-mean",
    "sharp-split-equal",
    "sharp-split-pack",
    "sharp-split-random",
    "sharp-split-nearest",
    "sharp-split",
    "lower",
    "lower-continuous",
    "lower-any",
    "lower-bits",
)
METHODS = (
    "best",
    "circle",
    "polytope",
    "zonal",
    "lattice",
    "volume",
    "random",
    "greedy",
    "rogers",
    "boroczky-wintsche",
    "best-lower",
    "lower",
    "fejes-toth",
    "simplex",
)


def lengths(r: Recorder) -> None:
    from bounds import prefix_length as f

    for theorem in THEOREMS:
        r.group = f"prefix_length {theorem}"
        for eps, dim in product((1e-9, 0.01, 0.1, 0.5, 0.99, 1.5), (1, 2, 3, 8, 9, 24, 64)):
            bound = r(f, eps, dim=dim, theorem=theorem)
            if bound is not None and dim == 8:
                r.keep(f"shown eps={eps} dim={dim}", [str(bound), bound.value, bound.log10, bound.holds, bound.failed])
        r(f, 0.1, dim=1000, theorem=theorem), r(f, 1e-3, dim=10**6, theorem=theorem)
        for options in (
            {"lipschitz": 3.0, "sup_norm": 2.0},
            {"exponent": 0.5},
            {"concentration": 500.0},
            {"concentration": 1e5},
            {"covering": "greedy", "ragozin": 1, "harmonic": 1, "slack": 0},
            {"covering": "volume"},
            {"covering": "rogers"},
            {"slack": 1e-6},
            {"slack": 0},
            {"ragozin": 2.0, "harmonic": 3.0},
            {"sup_norm": 0.05},
            {"strict": True},
            {"degree": 6},
            {"smoothness": 6.0},
            {"bits": 8.0},
            {"covering": "x"},
            {"concentration": -1.0},
            {"slack": 2.0},
        ):
            for dim in (2, 8):
                r(f, 0.1, dim=dim, theorem=theorem, **options)
        r(f, [0.1, 0.3], dim=[[2], [8]], theorem=theorem)
    r.group = "prefix_length"
    (
        r(f, 0.1, dim=8, theorem="thesis"),
        r(f, 0.1, dim=8, theorem="sharp"),
        r(f, 0.1),
        r(f, 0.1, dim=0),
        r(f, -0.1, dim=2),
    )
    r(f, 0.1, dim=8, theorem="sharp-spilt"), r(f, 0.1, dim=2, lipschitz=0.0), r(f, "x", dim=2), r(f, 1e-70, dim=2)
    (
        r(f, 0.1, dim=2, theorem="lower-bits", degree=3),
        r(f, 0.1, dim=2, degree=3, smoothness=2.0, theorem="sharp-core-rank"),
    )
    from spherapprox import Target, targets

    (
        r(f, 0.1, target=targets.distance(3)),
        r(f, 0.1, target=Target(height, 2)),
        r(f, 50.0, target=targets.geomagnetic_field()),
    )
    bound = f(0.3, dim=2)
    r(bound.as_integer), r(f(1e-300 * 1e240, dim=64).as_integer), r(f(1e-9, dim=8, theorem="thesis-core").as_integer)


def proven(r: Recorder) -> None:
    import bounds
    from bounds import certify

    for theorem, (eps, dim) in product(THEOREMS, ((0.1, 8), (0.3, 2))):
        r.group = f"certified {theorem}"
        bound = r(bounds.prefix_length, eps, dim=dim, theorem=theorem, certified=True)
        if bound is not None and bound.enclosure is not None:
            e = bound.enclosure
            r.keep(f"shown {eps} {dim}", [str(e), str(e.log10), e.floats, e.relative_width, e.contains(bound.log)])
    r.group = "certify"
    digits = {"digits": 20}
    for dim in (1, 2, 8):
        r(certify.log_cap_measure, dim, "0.1", **digits), r(certify.log_normalizer, dim, 100, **digits)
        r(certify.eigenvalue, dim, 30.0, 4, **digits), r(certify.eigenvalue_complement, dim, 30.0, 4, **digits)
        r(certify.mean_angle, dim, 100, digits=13), r(certify.log_shift_variation, dim, 30.0, 0.1, digits=13)
        (
            r(certify.log_centroid_variation, dim, 30.0, 0.1, digits=13),
            r(certify.log_shifted_mean_angle, dim, 30.0, 0.1, digits=13),
        )
        r(certify.log_tail, dim, 10, 30, digits=8), r(certify.log_covering_number, 0.3, dim=dim)
        r(certify.best_approximation, 5, dim, **digits), r(certify.ragozin_constant, dim, digits=13)
        r(certify.concentration, 0.05, dim=dim, digits=10), r(certify.printed_concentration, 0.05, dim=dim)
    (
        r(certify.bessel_zero, 0, **digits),
        r(certify.bessel_zero, 3.5),
        r(certify.log_covering_number, 0.3, dim=8, method="rogers"),
    )
    r(certify.eigenvalue, 2, -1.0, 3), r(certify.log_cap_measure, 2, "x")


def ladders(r: Recorder) -> None:
    import bounds
    from spherapprox import targets

    for eps, dim in product((1e-3, 0.1, 0.5), (1, 2, 8, 64)):
        for options in (
            {},
            {"ragozin": 1},
            {"covering": "greedy", "slack": 0},
            {"lipschitz": 2.0, "sup_norm": 0.4, "exponent": 0.7},
        ):
            found = r(bounds.ladder, eps, dim=dim, **options)
            r.named(f"table {eps} {dim} {options}", bounds.rungs.table, found)
            r.named(f"hypotheses {eps} {dim} {options}", bounds.rungs.hypotheses, found)
            r.named(f"records {eps} {dim} {options}", bounds.rungs.records, found)
        for theorem in ("sharp", "thesis", "sharp-core", "thesis-core", "lower"):
            (
                r(bounds.concentration, eps, dim=dim, theorem=theorem),
                r(bounds.concentration, eps, dim=dim, theorem=theorem, ragozin=1, lipschitz=3.0),
            )
        r(bounds.concentration, eps, dim=dim, exponent=0.5)
    r(bounds.ladder, 10.0, target=targets.geomagnetic_field()), r(bounds.ladder, 0.1), r(bounds.rungs.table, found[0])
    (
        r(bounds.rungs.curves, [0.1, 0.5], dim=8),
        r(bounds.rungs.curves, 0.1, dim=[1, 2, 8, 16], ragozin=1.0),
        r(bounds.rungs.curves, 0.1, dim=8),
    )
    curves = bounds.rungs.curves([0.1, 0.5], dim=8)
    r(curves.gap), r(bounds.plot.ladder_figure, curves)
    axis = np.geomspace(0.01, 1.0, 7)
    three = [
        bounds.concentration(axis, dim=8, theorem=t, **o)
        for t, o in (("thesis", {"ragozin": 1}), ("thesis", {}), ("sharp", {}))
    ]
    r.named("concentration_figure", bounds.plot.concentration_figure, axis, *three, 8)


def error_bounds(r: Recorder) -> None:
    import bounds
    from spherapprox import EqualMeasurePartition, points, targets

    given: dict[str, dict[str, Any]] = {
        "convolution": {},
        "sharp-core": {"radius": 0.05, "sup_norm": 1.0},
        "sharp-core-centroid": {"radius": 0.05, "sup_norm": 1.0},
        "thesis-core": {"radius": 1e-4, "sup_norm": 1.0},
        "sharp-core-quadrature": {"degree": 30, "sup_norm": 1.0},
        "sharp-core-spectral": {"degree": 6, "exactness": 30, "sup_norm": 1.0},
        "sharp-split-mean": {"radius": 0.1},
        "sharp-split-equal": {"radius": 0.1},
        "sharp-split-nearest": {"radius": 0.1, "n": 2000},
        "sharp-split-pack": {"radius": 0.1, "separation": 0.05},
        "sharp-split": {"radius": 0.1, "n": 2000},
        "lower": {"n": 2000},
        "sharp": {"radius": 0.1},
        "x": {},
    }
    for (theorem, options), dim, lam in product(given.items(), (1, 2, 8, 30), (20.0, 2000.0, 1e6)):
        r.group = f"error_bound {theorem}"
        r(bounds.error_bound, dim=dim, theorem=theorem, lipschitz=1.0, concentration=lam, **options)
        r(bounds.error_bound, dim=dim, theorem=theorem, lipschitz=2.0, exponent=0.6, concentration=lam, **options)
    for theorem in given:
        r.group = f"error_bound of things {theorem}"
        for p in (
            EqualMeasurePartition(2, 300),
            points.fibonacci(300),
            EqualMeasurePartition(8, 500, "centroid"),
            points.gauss_product(2, 12),
        ):
            r(bounds.error_bound, target=targets.distance(p.dim), points=p, theorem=theorem, concentration=100.0)
            r(bounds.best_concentration, target=targets.distance(p.dim), points=p, theorem=theorem)
        for options in (
            {"n": 2000},
            {"radius": 0.2, "n": 50},
            {"memory": 1e5},
            {"n": [10, 10**6]},
            {"n": 1e12, "slack": 1e-6},
            {},
        ):
            for dim in (2, 8):
                r(bounds.best_concentration, dim=dim, theorem=theorem, lipschitz=1.0, sup_norm=1.0, **options)
    r.group = "errors"
    (
        r(bounds.error_bound, dim=2, theorem="lower", lipschitz=1.0, n=[100, 10_000]),
        r(bounds.error_bound, dim=2, theorem="lower"),
    )
    r(bounds.tokens_within, 1e6, 3), r(bounds.tokens_within, 1e6, 3, 4), r(bounds.tokens_within, 3.0, 3)


def covers(r: Recorder) -> None:
    import bounds
    from bounds import covering as c

    ragozin, spectral = either("bounds.ragozin", "bounds.jackson"), either("bounds.spectral")

    radii = np.concatenate([np.geomspace(1e-12, 0.05, 12), [0.1, 0.2, 0.4, 0.6, 0.9, 1.2, 1.5, 1.6, 3.0, math.pi]])
    for method, dim in product(METHODS, (1, 2, 3, 4, 7, 8, 24, 64, 200)):
        r(c.covering_number, radii, dim=dim, method=method)
        r(c.covering_radius, np.array([1, 2, 3, 4, 9, 10, 100, 10**6, 1e30]), dim=dim, method=method)
    (
        r(c.covering_number, 0.1, dim=8, method="x"),
        r(c.covering_number, 0.0, dim=8),
        r(c.covering_number, 0.5, dim=2, method="rogers", strict=True),
    )
    (
        r(c.covering_bound, 0.3, 3, "best"),
        r(c.log_rogers_constant, 8),
        r.keep("methods", [c.METHODS, c.SUFFICIENT, c.NECESSARY]),
    )
    for dim in (1, 2, 3, 8, 64, 65, 1000):
        r(bounds.ragozin_constant, dim), r(bounds.ragozin_constant, dim, 7), r(bounds.approximation_error, 9, dim)
        (
            r(bounds.approximation_error, 10**6, dim),
            r(bounds.jackson_degree, 0.01, dim),
            r(bounds.jackson_degree, 0.5, dim, 3.0),
        )
        r(ragozin.ragozin_limit, dim), r(ragozin.ragozin_floor, dim, 5), r(ragozin.bessel_zero, dim / 2)
        (
            r(spectral.eigenvalue_bounds, 5, 30.0, dim),
            r(spectral.eigenvalue_bounds, 5000, 30.0, dim),
            r(spectral.mean_angle_upper, 30.0, dim),
        )
        r(spectral.mean_angle_lower, 30.0, dim), r(spectral.iv_ratio_bounds, dim / 2, np.array([0.0, 1.0, 50.0]))
    r(bounds.ragozin_constant, 0), r(bounds.jackson_degree, -1.0, 2), r(bounds.approximation_error, -1, 2)


def thesis(r: Recorder) -> None:
    t = either("bounds.thesis", "bounds.theorems.thesis")
    ones = {"lipschitz": 1.0, "ragozin": 1.0, "harmonic": 1.0}
    size = {"lipschitz": 2.0, "sup_norm": 3.0}
    for dim, eps, lam in product((2, 8, 64), (1e-4, 0.1), (0.0, 50.0, 1e6)):
        (
            r(t.best_approximation, 20, dim, lipschitz=3.0),
            r(t.eigenvalue_lower, 5, lam, dim),
            r(t.projection_error, 5, lam, dim, harmonic=2.0),
        )
        (
            r(t.concentration_at_degree, eps, 5, dim, harmonic=1.0),
            r(t.concentration_needed, eps, dim, **ones),
            r(t.log_concentration_needed, eps, dim, **ones),
        )
        for printed in (False, True):
            (
                r(t.concentration_series, eps, dim, **ones, printed=printed),
                r(t.log_kernel_slope, lam, dim, printed=printed),
            )
            (
                r(t.denominator_error, eps, lam, dim, **size, printed=printed),
                r(t.inner_accuracy, eps, dim, **size, printed=printed),
            )
            r(t.log_riemann_error, 2.0, 0.1, printed=printed)
        (
            r(t.convolution_error, lam, dim, **ones),
            r(t.cap_counts, math.log(eps), dim),
            r(t.log_peak, 3.0, dim),
            r(t.log_modulus, lam, dim, **size),
        )
        (
            r(t.log_delta, lam, eps, dim, **size),
            r(t.log_count, lam, eps, dim, **size),
            r(t.vector_error, eps, dim),
            r(t.split_error, eps, dim, sup_norm=1.0),
        )
    (
        r(t.quotient_error, 0.1, 0.2, numerator=1.0, denominator=2.0, product=3.0),
        r(t.mask_error, 3.0, -9.0, sup_norm=2.0, inputs=4),
    )
    r(t.zonal_harmonic_norms, np.cos, 8, 6), r(t.zonal_harmonic_bound, np.abs, 2, 9), r(t.eigenvalue_lower, -1, 1.0, 2)


GROUPS = (lengths, ladders, error_bounds, covers, thesis, proven)
