"""The study: what its rows say, and that its files are written together or not at all."""

import csv
import json
import math

import numpy as np
import pytest

from bounds import error_bound, plot, study
from spherapprox import EqualMeasurePartition, SplitHead, Target, sup_error, targets

pytestmark = pytest.mark.usefixtures("coarse_figures")


@pytest.fixture(scope="module")
def small():
    return study.run(targets.geomagnetic_field(), [100, 400], points=1000)


def test_rows(small):
    assert [(r.n, r.head, r.choice) for r in small.rows] == [
        (n, head, choice) for n in (100, 400) for head in ("core", "split") for choice in ("theory", "best")
    ]
    target = small.target
    for row in small.rows:
        assert row.verdict == "holds"
        assert row.error <= row.bound
        assert row.radius == EqualMeasurePartition(2, row.n).cell_radius()
        assert row.floor == error_bound(dim=2, theorem="lower", lipschitz=target.lipschitz, n=row.n).value
        assert row.thesis_needs == "needs dim >= 8"
        assert row.relative_error == row.error / target.sup_norm


def test_best_is_better_than_theory_and_theory_has_the_smaller_bound(small):
    for n in (100, 400):
        for head in ("core", "split"):
            theory, best = (
                next(r for r in small.rows if (r.n, r.head, r.choice) == (n, head, c)) for c in ("theory", "best")
            )
            assert best.error <= theory.error
            assert theory.bound <= best.bound


def test_error_is_that_of_the_head(small):
    row = next(r for r in small.rows if (r.n, r.head, r.choice) == (400, "split", "best"))
    head = SplitHead.from_target(small.target, EqualMeasurePartition(2, 400), row.concentration)
    assert row.error == sup_error(head, small.target, n=1000, rng=0, workers=-1).lower


def test_files(small, tmp_path):
    paths = study.save(small, tmp_path / "out")
    assert [p.name for p in paths] == ["error.png", "maps.png", "study.csv", "study.json"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [p.name for p in paths]
    document = json.loads((tmp_path / "out" / "study.json").read_text())
    assert document["target"]["dim"] == 2
    assert [row["error"] for row in document["rows"]] == [row.error for row in small.rows]
    with (tmp_path / "out" / "study.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [float(row["concentration"]) for row in table] == [row.concentration for row in small.rows]
    assert table[0]["thesis_needs"] == "needs dim >= 8"
    assert (tmp_path / "out" / "error.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_an_interrupt_leaves_nothing_behind(small, tmp_path, monkeypatch, stop):
    def interrupted(*_):
        raise stop

    (tmp_path / "study.csv").write_text("an earlier result")
    monkeypatch.setattr(plot, "maps_figure", interrupted)
    with pytest.raises(stop):
        study.save(small, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["study.csv"]
    assert (tmp_path / "study.csv").read_text() == "an earlier result"


@pytest.mark.usefixtures("short_search")
def test_high_dimension_has_the_thesis_numbers_and_no_map(tmp_path):
    result = study.run(targets.distance(8), [200], choices=["theory", 30], points=500)
    assert [row.choice for row in result.rows] == ["theory", "fixed"] * 2
    for row in (r for r in result.rows if r.head == "split"):
        assert row.thesis_needs == ""
        assert row.thesis_log10_n > 100
    assert [p.name for p in study.save(result, tmp_path)] == ["error.png", "study.csv", "study.json"]
    assert "10^" in result.table()


def test_figure_shows_the_rows(small):
    axes = plot.error_figure(small).axes[0]
    curves = {line.get_label(): line.get_xydata() for line in axes.get_lines()}
    label = next(name for name in curves if name.startswith("split head, measured") and "least error" in name)
    rows = small.series("split", "best")
    np.testing.assert_array_equal(curves[label], [(r.n, r.error) for r in rows])
    rate = math.log(rows[1].error / rows[0].error) / math.log(4)
    assert f"(slope {rate:.2f})" in label


def test_maps_show_target_head_and_error(small):
    figure = plot.maps_figure(small.shown, small.target, small.shown_error, resolution=19)
    images = [axes.collections[0].get_array().reshape(19, 37) for axes in figure.axes[::2]]  # colour bars lie between
    np.testing.assert_allclose(images[1] - images[0], images[2], atol=1e-12)
    # the north pole's row is one value, the field there
    np.testing.assert_allclose(images[0][-1], small.target(np.array([[0.0, 0.0, 1.0]]))[0], rtol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": 3}, TypeError, "'target' must be a Target, got int"),
        ({"target": Target(lambda x: x[:, 0], 2)}, ValueError, "'target' must have both constants, got lipschitz=None"),
        ({"n": []}, ValueError, "'n' must name at least one"),
        ({"n": [0]}, ValueError, "'n' must be at least 1, got 0"),
        ({"choices": ["worst"]}, ValueError, "'choices' must be one of 'theory', 'best', got 'worst'"),
        ({"choices": [-1.0]}, ValueError, "'concentration' must be at least 0"),
        ({"choices": []}, ValueError, "'choices' must hold"),
        ({"points": 3}, ValueError, "'points' must be at least 100, got 3"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        study.run(**({"target": targets.distance(2), "n": [10]} | arguments))


def test_maps_need_the_sphere(small):
    with pytest.raises(ValueError, match="'target' must have dim = 2 to be drawn as a map, got 3"):
        plot.maps_figure(small.shown, targets.distance(3), 1.0)
