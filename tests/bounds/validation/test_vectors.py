"""Vector-valued targets in validate, the study, its figures and the command."""

import functools
import json
import math

import numpy as np
import pytest

from bounds import prefix_length
from bounds.report import plot, report_study, run_study
from bounds.report.cli import main
from bounds.validation.api import validate, validated
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, points, sphere, sup_error, targets
from spherapprox.error import worst_case_error

N = 60


def extremal(dim, pole, p):
    """Distance to the pole times a unit vector of R^p: no target has a larger error at the pole (4.4)."""
    unit = np.random.default_rng(p).normal(size=p)
    unit /= np.linalg.norm(unit)
    return Target(lambda x: sphere.distance(x, pole)[:, None] * unit, dim, lipschitz=1.0, sup_norm=math.pi, n_outputs=p)


def held_by(head, target, **options):
    """The theorems that speak of a head and that hold."""
    error = sup_error(head, target, n=500, refine=2)
    result = validate(head, target, error=error, n=300, **({"examine": ["claims"]} | options))
    assert not result.violated
    assert "refuted" not in result.summary
    return {check.theorem for check in result.checks if check.bound is not None and check.bound.holds}


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
@pytest.mark.parametrize("target", [targets.tangent_projection(2), targets.rotation_field(3), targets.moving_frame(1)])
@pytest.mark.parametrize("concentration", [0.0, 20.0, 500.0])
def test_bounds_hold_for_vectors(target, concentration):
    partition = EqualMeasurePartition(target.dim, N)
    for kind in (CoreHead, SplitHead):
        names = held_by(kind.from_target(target, partition, concentration), target, examine=["claims", "worst case"])
        assert names >= ({"sharp-core"} if kind is CoreHead else {"sharp-split-mean", "lower"})


def test_the_worst_vector_target_reaches_the_worst_case_error():
    # 4.4 is attained by vectors: no norm but the Euclidean one, and no factor sqrt(p), would do
    b = points.fibonacci(40)
    worst = worst_case_error(b, 60.0, n=2000)
    for p in (1, 3, 20):
        target = extremal(2, worst.at, p)
        head = SplitHead.from_target(target, b, 60.0)
        error = np.linalg.norm(head(worst.at[None]) - target(worst.at[None]))
        assert error == pytest.approx(worst.lower, rel=1e-7)
        result = validate(head, target, n=1000)
        assert result.ok
        assert result.error.lower >= worst.lower * (1 - 1e-6)


def test_a_constant_of_the_components_is_too_small():
    # a hundred components of constant 1: the vector has sqrt(100)
    partition = EqualMeasurePartition(2, 300)
    pole = worst_case_error(partition, 3000.0, n=1000).at

    def copies(x):
        return np.repeat(sphere.distance(x, pole)[:, None], 100, axis=1)

    head = SplitHead.from_target(copies, partition, 3000.0)
    target = Target(copies, 2, lipschitz=10.0, n_outputs=100)
    assert validate(head, target, n=500, examine=["claims"]).ok
    parts = Target(copies, 2, lipschitz=1.0, n_outputs=100)
    assert "sharp-split-equal" in validate(head, parts, n=500, examine=["claims"]).violated


@pytest.mark.filterwarnings("ignore:.concentration. is too large for these:RuntimeWarning")
def test_every_theorem_speaks_of_vectors():
    target = targets.tangent_projection(8)
    kinds = {CoreHead: set(), SplitHead: set()}
    for kind, result in kinds.items():
        for b in (EqualMeasurePartition(8, 500), EqualMeasurePartition(8, 500, centers="centroid")):
            result.update(held_by(kind.from_target(target, b, 30.0), target))
    gauss = points.gauss_product(2, 20)
    field = targets.geomagnetic_vector()
    kinds[CoreHead] |= held_by(CoreHead.from_target(field, gauss, 20.0), field)
    place = Target(lambda x: x, 2, lipschitz=1.0, sup_norm=1.0, smoothness=1.0, n_outputs=3)
    kinds[CoreHead] |= held_by(CoreHead.from_target(place, gauss, 20.0), place)
    assert kinds[CoreHead] == {theorem.name for theorem in validated("error", "core")}
    assert kinds[SplitHead] >= {"sharp-split-mean", "sharp-split-equal"}
    second_order = {"second-order", "second-order-laplacian", "second-order-local"}
    assert kinds[SplitHead] <= {theorem.name for theorem in validated("error", "split")} | second_order


@pytest.fixture(scope="module")
def result():
    return run_study(targets.tangent_projection(2), [N], choices=["theory", 25], points=500)


class TestStudy:
    def test_errors_are_lengths(self, result):
        target = result.target
        row = next(row for row in result.rows if (row.head, row.choice) == ("split", "fixed"))
        head = SplitHead.from_target(target, EqualMeasurePartition(2, N), 25.0)
        x = points.fibonacci(4000).points
        brute = np.linalg.norm(head(x) - target(x), axis=1).max()
        assert 0.97 * brute <= row.error <= 1.03 * brute
        assert {row.verdict for row in result.rows} <= {"proved", "holds", "vacuous"}

    def test_the_document_says_how_many_components(self, result):
        assert report_study(result).document["target"]["n_outputs"] == 3

    def test_maps_show_lengths(self, result):
        figure = plot.maps_figure(result.shown, result.target, result.shown_error, resolution=9)
        meshes = [axes.collections[0] for axes in figure.axes if axes.name == "mollweide"]
        latitude, longitude = np.meshgrid(np.linspace(-90, 90, 9), np.linspace(-180, 180, 17), indexing="ij")
        x = sphere.from_latitude_longitude(latitude.ravel(), longitude.ravel())
        truth, approximation = result.target(x), result.shown(x)
        for mesh, values in zip(meshes, (truth, approximation, approximation - truth), strict=True):
            np.testing.assert_allclose(np.asarray(mesh.get_array()).ravel(), np.linalg.norm(values, axis=1), atol=1e-12)
            assert mesh.get_clim()[0] == 0.0
        titles = [axes.get_title() for axes in figure.axes if axes.name == "mollweide"]
        assert titles[0] == "Tangent projection, length"

    def test_one_column_is_drawn_as_a_number(self):
        target = Target(lambda x: x[:, :1], 2, lipschitz=1.0, sup_norm=1.0, n_outputs=1, name="x")
        head = SplitHead.from_target(target, EqualMeasurePartition(2, N), 20.0)
        figure = plot.maps_figure(head, target, 1.0, resolution=5)
        mesh = figure.axes[0].collections[0]
        assert mesh.get_clim() == (-1.0, 1.0)
        assert np.asarray(mesh.get_array()).min() == -1.0

    @pytest.mark.usefixtures("short_search")
    @pytest.mark.parametrize(
        ("p", "theorem"), [(None, "thesis-core"), (1, "thesis-core"), (9, "thesis-vector"), (10, "")]
    )
    def test_the_thesis_is_asked_for_as_many_components(self, p, theorem):
        def coordinates(x):
            return x[:, 0] if p is None else np.concatenate([x, x], axis=1)[:, :p]

        target = Target(coordinates, 8, lipschitz=2.0, sup_norm=2.0)
        (row, _) = run_study(target, [20], choices=[10.0], points=100).rows
        if p == 10:  # 4.14 speaks of dim + 1 components
            assert (row.thesis_needs, row.thesis_log10_n) == ("needs at most dim + 1 components", None)
        else:
            count = prefix_length(row.error, dim=8, lipschitz=2.0, sup_norm=2.0, theorem=theorem)
            assert (row.thesis_needs, row.thesis_log10_n) == ("", count.log10)


@pytest.mark.parametrize(
    "name",
    [
        *("distance", "moving_frame", "land"),
        *(
            pytest.param(name, marks=pytest.mark.once)
            for name in ("zonal_harmonic", "rotation_field", "geomagnetic_vector")
        ),
    ],
)
@pytest.mark.usefixtures("short_search", "no_figures")
def test_names_of_the_catalogue_can_be_studied(name, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(plot, "maps_figure", functools.partial(plot.maps_figure, resolution=5))
    options = ["--target", name, "--n", "20", "--concentration", "9", "--points", "100"]
    target = targets.make(name)
    if name in ("distance", "zonal_harmonic", "rotation_field"):
        target = targets.make(name, dim=3)
        options += ["--dim", "3"]  # no map to draw
    status = main(["study", *options, "--out", str(tmp_path / "out")])
    output = capsys.readouterr()
    assert status == 0
    assert f"{target.name} on S^{target.dim}" in output.out
    verdicts = {row["verdict"] for row in json.loads((tmp_path / "out" / "study.json").read_text("utf-8"))["rows"]}
    assert verdicts <= ({""} if target.lipschitz is None else {"proved", "holds", "vacuous"})
    assert (tmp_path / "out" / "maps.png").exists() == (target.dim == 2)
