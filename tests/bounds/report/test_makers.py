"""Makers of control points side by side: what is measured of them, the table, the files and the command."""

import csv
import math

import numpy as np
import pytest

from bounds.covering import covering_radius
from bounds.report import makers, plot
from bounds.report.cli import main
from spherapprox import EqualMeasurePartition, PointSet, points, special

pytestmark = pytest.mark.usefixtures("coarse_figures")


@pytest.fixture(scope="module")
def compared():
    return makers.compare(2, [30, 98])


def test_rows_are_what_the_points_have(compared):
    (row,) = (row for row in compared.series("fibonacci") if row.n == 98)
    lattice = points.fibonacci(98)
    assert row.lower == pytest.approx(lattice.covering_bound(), rel=1e-12)
    assert row.upper == pytest.approx(row.lower, rel=1e-12)
    assert row.separation == lattice.smallest_distance()
    assert row.mesh_ratio == pytest.approx(lattice.mesh_separation_ratio())
    assert row.floor == pytest.approx(special.cap_angle(2, -math.log(98)))
    assert row.floor == covering_radius(98, dim=2, method="lower").value


def test_every_maker_is_compared_on_the_sphere(compared):
    assert {row.maker for row in compared.rows} == set(makers.MAKERS)
    for row in compared.rows:
        assert row.floor <= row.lower <= row.upper * (1 + 1e-12)
        assert row.mesh_ratio >= 1.0
    (alone,) = makers.compare(2, [1], makers=["sobol"]).rows
    assert (alone.mesh_ratio, alone.upper) == (1.0, math.pi)
    rule = compared.series("gauss_product")
    assert [row.n for row in rule] == [28, 98]
    assert compared.table().count("\n") == 1 + len(compared.rows)
    assert str(compared).splitlines() == [*compared.table().splitlines(), *compared.notes]


def test_covering_radii_of_other_spheres_are_enclosed():
    found = makers.compare(4, [40], makers=["partition", "sobol", "fibonacci"])
    assert [row.maker for row in found.rows] == ["partition", "sobol"]
    x = np.concatenate([points.uniform(4, 2000, 0).points, EqualMeasurePartition(4, 500).centers()])
    for row in found.rows:
        made = EqualMeasurePartition(4, 40).centers() if row.maker == "partition" else points.sobol(4, 40, 0).points
        assert np.arccos((x @ made.T).max(axis=1)).max() <= row.upper
        assert row.lower == PointSet(made).covering_interval().lower


def test_files_come_together(tmp_path, compared):
    written = makers.save(compared, tmp_path / "out")
    assert [path.name for path in written] == ["covering.png", "partition.png", "points.csv"]
    with (tmp_path / "out" / "points.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["maker"], int(line["n"]), float(line["covering_upper"])) for line in lines] == [
        (row.maker, row.n, row.upper) for row in compared.rows
    ]
    assert {line["dim"] for line in lines} == {"2"}


def test_partition_figure_shows_every_centre_once():
    figure = plot.partition_figure(EqualMeasurePartition(2, 50, centers="centroid"))
    globes = figure.axes[:2]
    assert sum(len(line.get_xdata()) for axes in globes for line in axes.lines if line.get_marker() == ".") >= 50
    image = globes[0].images[0].get_array()
    shown = image[np.isfinite(image)]
    radii = EqualMeasurePartition(2, 50, centers="centroid").radii() / special.cap_angle(2, -math.log(50))
    assert shown.min() == pytest.approx(radii.min())
    assert np.isin(np.unique(shown), radii).all()
    assert "50 cells" in figure.get_suptitle()
    covering = PointSet(EqualMeasurePartition(2, 50, centers="centroid").centers()).covering_interval().upper
    largest = EqualMeasurePartition(2, 50, centers="centroid").radii().max()
    said = f"largest cell radius {largest:.4g}, covering radius of the centres {covering:.4g}"
    assert said in figure.get_suptitle()
    assert f"{largest:.4g}" != f"{covering:.4g}"
    assert "centroid" in figure.get_suptitle()
    assert "1 cell of" in plot.partition_figure(EqualMeasurePartition(2, 1)).get_suptitle()


def test_makers_can_be_told_apart_and_random_ones_do_not_set_the_scale(compared):
    (axes,) = plot.covering_figure(compared).axes
    lines = {line.get_label(): line for line in axes.get_lines()}
    assert set(lines) == set(makers.MAKERS)
    assert len({(line.get_color(), line.get_marker()) for line in lines.values()}) == len(lines)
    ratios = {name: line.get_ydata()[-1] for name, line in lines.items()}
    names = {text.get_text(): text for text in axes.texts}
    assert set(names) == {f"{name}, {y:.3f}" + " ↑" * int(y > axes.get_ylim()[1]) for name, y in ratios.items()}
    places = [names[name].get_position()[1] for name in sorted(names, key=lambda name: ratios[name.rpartition(",")[0]])]
    assert min(np.diff(places)) > 0.03
    (bold,) = (name for name, text in names.items() if text.get_fontweight() == "bold")
    assert bold.rpartition(",")[0] == min(ratios, key=ratios.get)
    assert max(y for name, y in ratios.items() if name not in ("sobol", "uniform")) < axes.get_ylim()[1]
    assert axes.get_ylim()[1] < ratios["uniform"]


def test_missing_rows_are_explained(capsys):
    found = makers.compare(3, [4, 5, 1001], makers=["partition, relaxed", "fibonacci", "gauss_product"])
    assert found.left_out[0] == ("partition, relaxed", 1001, "at most 1000 points are relaxed")
    assert found.notes == (
        "no partition, relaxed at N = 1001: at most 1000 points are relaxed",
        "no fibonacci at N = 4, 5, 1001: on S^2 only",
        "no gauss_product at N = 5: the same 2 points once more",
    )
    assert main(["points", "--n", "4", "--dim", "3", "--makers", "fibonacci", "sobol"]) == 0
    assert "no fibonacci at N = 4: on S^2 only" in capsys.readouterr().out


def test_the_command_writes_tables_and_figures(capsys, tmp_path):
    assert main(["points", "--dim", "1", "--n", "7", "--out", str(tmp_path / "p")]) == 0
    printed = capsys.readouterr().out
    assert "partition, centroid" in printed
    assert sorted(path.name for path in (tmp_path / "p").iterdir()) == ["covering.png", "points.csv"]
    assert main(["points", "--dim", "0"]) == 2
    assert "'dim' must be at least 1, got 0" in capsys.readouterr().err


def test_command_takes_names_of_makers(capsys):
    assert main(["points", "--n", "7", "--makers", "uniform", "partition, centroid", "--makers", "sobol"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.partition("  ")[0] for line in lines if " 7 " in line] == ["uniform", "partition, centroid", "sobol"]
    assert len(lines) == 4  # the last explains the floor
    assert main(["points", "--makers", "sobol", "best"]) == 2
    error = capsys.readouterr().err
    assert "'best'" in error
    assert all(repr(name) in error for name in makers.MAKERS)
    with pytest.raises(SystemExit):
        main(["points", "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert "'partition, centroid', 'partition, relaxed', greedy, fibonacci" in said


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: makers.compare(2, [10], makers=["sobel"]), r"'makers' must be one of 'partition'.*got 'sobel'"),
        (
            lambda: makers.compare(2, [9], makers=["sobol"]).series("Fibonacci"),
            r"'maker' must be one of 'partition'.*got 'Fibonacci': did you mean 'fibonacci'\?",
        ),
        (lambda: makers.compare(2, [0]), r"'n' must be at least 1, got 0"),
        (
            lambda: makers.compare(3, [8, 9], makers=["fibonacci"]),
            r"'makers' = \['fibonacci'\] make no points of S\^3 with 'n' = \[8, 9\]: name others",
        ),
        (lambda: plot.partition_figure(EqualMeasurePartition(3, 10)), r"'partition' must have dim = 2 .* got 3"),
        (lambda: plot.partition_figure(EqualMeasurePartition(2, 10**6)), r"'partition' must have at most 20000 cells"),
    ],
)
def test_refusals_name_argument_value_and_remedy(call, message):
    with pytest.raises(ValueError, match=message):
        call()
