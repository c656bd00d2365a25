"""The command ``spherapprox validate``: one head, proven and held against every theorem."""

from __future__ import annotations

import argparse
import shlex
import sys
import warnings
from pathlib import Path

from spherapprox import PointSet, _checks, load, points, sphere
from spherapprox.error import Proof
from spherapprox.heads.head import Head
from spherapprox.heads.registry import HEADS
from spherapprox.partition import EqualMeasurePartition
from spherapprox.summation import show_progress
from spherapprox.target import Target

from ...error import best_concentration
from ...theorems.requirements import known_radius
from ...validation.api import validate
from ...validation.claims import VALUES
from ...validation.estimates import with_estimates, with_proofs
from .. import from_validation
from .._trial import LOCAL, Measure, can_choose, least_bound, least_error
from .options import STATUS, add_measuring, add_output, add_target, choice, chosen_target, count, show

FILES = from_validation.FILES

KINDS = {head.__name__.removesuffix("Head").lower(): head for head in HEADS}
"""Kinds of head that can be made."""
N = 1000
POINTS = ("partition", "fibonacci", "gauss_product")
"""Control points that a head can be made from."""
_SAMPLE = 20_000
_LEGEND = """\
ratio    predicted over achieved; PROVED: the error's proven upper end lies below the bound (of lower: W above it)
|f-K*f|  the parts of the error alone: kernel, control points (of core heads), the sum of kernels over its mean"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.epilog = STATUS
    add = parser.add_argument
    add_target(parser)
    heads = f"{', '.join(KINDS)}, or a saved head, FILE.npz (default: split)"
    add("--head", default="split", metavar="HEAD", help=heads)
    add("--n", type=count, help=f"number of control points (default: {N})")
    add("--maker", choices=POINTS, metavar="MAKER", help=f"{', '.join(POINTS)}: the points (default: partition)")
    ways = "'best' (least error found), 'theory', 'second-order', 'mean' or a number (default: best)"
    add("--concentration", type=choice, help=ways)
    slack = "of the proven upper ends over the largest found (default: %(default)s)"
    add("--slack", type=float, default=0.05, help=slack)
    add("--max-evaluations", type=float, default=1e6, help="budget of each proof (default: %(default)g)")
    add_measuring(parser)
    add_output(parser, "folder for validation.html, .json, .csv, .png and the head (default: validation)", "validation")


def run(options: argparse.Namespace) -> int:
    """Run the command; returns its exit status."""
    bare = chosen_target(options)
    target = with_proofs(bare)
    derived = target is not bare
    if options.estimate_lipschitz:
        target, _ = with_estimates(target, options.seed)
    _checks.integer(options.points, "--points", minimum=1)
    head = _head(options, target)
    proof = Proof(options.slack, options.max_evaluations, progress=not options.quiet and sys.stderr.isatty())
    with show_progress(not options.quiet):
        validation = validate(
            head, target, n=options.points, workers=options.workers, rng=options.seed,
            certified=False if options.no_proof else proof, examine=("claims", "worst case", "lemmas"),
        )  # fmt: skip
    command, source = shlex.join(["spherapprox", *options.typed]), _source(options, target, derived)
    files = from_validation.report_validation(validation, command=command, source=source).save(options.out)
    title = f"{target.name} on S^{target.dim}, {head!r}"
    show(options, [title, "", str(validation), "", _LEGEND], validation.document(), files=files)
    # values of another rule are not wrong: nobody stated theirs
    return 1 if validation.violated or set(validation.refuted) - {VALUES} else 0


def _head(options: argparse.Namespace, target: Target) -> Head:
    """Return the head of --head, made or loaded."""
    if options.head in KINDS:
        return _make_head(options, target, KINDS[options.head])
    path = Path(options.head)
    if path.suffix != ".npz" and not path.exists():
        heads = f"{', '.join(KINDS)} or a file that `save` wrote"
        raise ValueError(f"'--head' must be {heads}, got {options.head!r}{_checks.did_you_mean(options.head, KINDS)}")
    for name in ("n", "maker", "concentration"):
        _checks.left_out(getattr(options, name), f"--{name}", "where '--head' is a file, which has its own")
    head = load(path)
    return _checks.instance(head, "--head", *KINDS.values())


def _make_points(maker: str, dim: int, n: int) -> EqualMeasurePartition | PointSet:
    """Return control points: of a partition, Fibonacci's on S^2, or a product Gauss rule of at most n."""
    if maker == "partition":
        return EqualMeasurePartition(dim, n)
    if maker == "fibonacci":
        _checks.same_dim(dim, "--target", 2, why="for '--maker fibonacci'")
        return points.fibonacci(n)
    degree = 1
    while (degree + 2) * ((degree + 1) // 2 + 1) ** (dim - 1) <= n:
        degree += 1
    return points.gauss_product(dim, degree)


def _make_head(options: argparse.Namespace, target: Target, kind: type[Head]) -> Head:
    """Make a head of Riemann coefficients."""
    n = _checks.integer(N if options.n is None else options.n, "--n", minimum=1, maximum=10**7)
    cells = _make_points(options.maker or "partition", target.dim, n)
    values = target(cells.centers() if isinstance(cells, EqualMeasurePartition) else cells.points)

    def make(concentration: float) -> Head:
        with warnings.catch_warnings():  # a head may be useless: its error is measured
            warnings.simplefilter("ignore", RuntimeWarning)
            return kind.from_target(lambda _: values, cells, concentration)

    way = "best" if options.concentration is None else options.concentration
    if not isinstance(way, str):
        return make(_checks.concentration(way, maximum=1e150))
    radius = known_radius(cells) or EqualMeasurePartition(target.dim, len(cells)).cell_radius()
    speaks = can_choose(way, kind.family, target)
    if way == "theory":
        if not speaks:
            raise ValueError(
                f"'--concentration theory' needs constants that '{target.name}' does not state: give a number"
            )
        return make(least_bound(target, kind.family, radius, n=len(cells)))
    if way == "second-order":
        if not speaks:
            raise ValueError(
                "'--concentration second-order' is for heads that divide by the sum of their kernels, got "
                f"'--head {options.head}': take split, or another choice"
            )
        return make(float(best_concentration(theorem=LOCAL, target=target, points=cells).concentration))
    sample = sphere.uniform(target.dim, min(options.points, _SAMPLE), rng=options.seed)
    measure = Measure(
        target, (), options.points, sample=sample, values=target(sample), rng=options.seed, workers=options.workers
    )
    return make(least_error(measure, make, radius, mean=way == "mean"))


def _source(options: argparse.Namespace, target: Target, derived: bool) -> str:
    """Return lines of Python that make the target, `derived` if with the constants of `targets.with_constants`."""
    module, colon, name = options.target.partition(":")
    estimated = "  # with constants estimated from its values" if options.estimate_lipschitz else ""
    if colon:
        first = name.partition(".")[0]
        also = ", with targets.with_constants" if derived else ""
        return f"from {module} import {first}\ntarget = {name}  # as a Target on S^{target.dim}{also}{estimated}"
    year = "" if options.year is None else f", year={options.year:g}"
    call = f"targets.make({options.target!r}, dim={target.dim}{year})"
    call = f"targets.with_constants({call})" if derived else call
    return f"from spherapprox import targets\ntarget = {call}{estimated}"
