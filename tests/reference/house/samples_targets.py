"""Samples of harmonics and targets."""

from __future__ import annotations

import functools

import numpy as np
from recorder import Recorder
from samples import height, pair, rows


def harmonics(r: Recorder) -> None:
    from spherapprox import harmonics as s

    x, c = rows(2, 40, 3), np.random.default_rng(4).standard_normal(81)
    for normalization in s.NORMALIZATIONS:
        r(s.associated_legendre, 12, np.linspace(-1, 1, 15), normalization=normalization)
        r(s.real_spherical_harmonics, 8, x, normalization=normalization)
        r(s.synthesize, c, x, normalization=normalization), r(s.gradient, c, x, normalization=normalization)
        r(s.project, height, 8, normalization=normalization)
        r(s.bandlimited_maximum, c[:25], normalization=normalization)
    r(s.column, 5, -3), r(s.degrees, 5), r(s.project, height, 5, band_limit=9), r(s.column, 2, 3)
    for dim, degree in ((1, 6), (2, 5), (3, 4), (6, 2)):
        r(s.hyperspherical_degrees, degree, dim), r(s.hyperspherical_harmonics, degree, rows(dim, 20))
        r(s.zonal_harmonic, degree, rows(dim, 20), np.eye(dim + 1)[0])
    r(s.synthesize, c[:80], x), r(s.associated_legendre, -1, 0.5), r(s.synthesize, c, x, normalization="x")


def targets(r: Recorder) -> None:
    from spherapprox import Target
    from spherapprox import targets as s

    made = {
        "distance 1": (s.distance, 1),
        "distance 8": (s.distance, 8),
        "zonal 2": (s.zonal_harmonic, 2),
        "zonal 5": (s.zonal_harmonic, 5, 7),
        "bump 2": (s.bump, 2),
        "bump 8": (s.bump, 8, 50.0),
        "field": (s.geomagnetic_field,),
        "field 1950": (s.geomagnetic_field, 1950.5),
        "land": (s.land,),
        "vector": (s.geomagnetic_vector,),
        "rotation 3": (s.rotation_field, 3),
        "tangent 2": (s.tangent_projection, 2),
        "frame 3": (s.moving_frame, 3),
        "frame 2": (s.moving_frame, 2),
        "bandlimited 2": (s.random_bandlimited, 2, 8, 1),
        "bandlimited 4": (s.random_bandlimited, 4, 3, 1),
        "smooth 2": (s.random_smooth, 2, 1.5, 1),
        "smooth 3": (s.random_smooth, 3, 2.5, 1),
        "local": (functools.partial(s.geomagnetic_vector, 2000.0, frame="local"),),
        "pole": (functools.partial(s.distance, 2, pole=[0.0, 0.6, 0.8]),),
        "make": (s.make, "distance"),
        "own": (functools.partial(Target, pair, 2, lipschitz=3.0, exponent=0.5, sup_norm=2.8, n_outputs=2),),
    }
    for name, (maker, *arguments) in made.items():
        r.group = f"targets {name}"
        t = r.named("made", maker, *arguments)
        if t is None:
            continue
        r.keep("constants", [t.dim, t.lipschitz, t.exponent, t.sup_norm, t.n_outputs, t.name, t.unit, t.provenance])
        (
            r.named("values", t, rows(t.dim, 60)),
            r.named("float32", t, rows(t.dim, 9).astype(np.float32)),
            r(t.modulus, 0.3),
        )
    r.group = "targets"
    (
        r(s.names),
        r(s.digits),
        r(s.geomagnetic_coefficients),
        r(s.geomagnetic_coefficients, 1912.25),
        r(s.make, "x"),
        r(s.geomagnetic_field, 1800.0),
    )
    for name in s.names():
        r(s.make, name, dim=2, **({"rng": 1} if name.startswith("random") else {}))
    r(Target, 3, 2), r(Target, height, 2, lipschitz=-1.0), r(Target(height, 2), np.ones((2, 3))), r(s.distance, 0)
    r(Target(lambda x: x[:-1, 0], 2), rows(2, 4)), r(Target(lambda x: x[:, 0] * np.inf, 2), rows(2, 4))


GROUPS = (harmonics, targets)
