"""Heads at fixed points beside the shortest one: measured, documented and drawn."""

import io
import json

import numpy as np
import pytest
import searches

from bounds.report import compare_fixed_points, plot, report_search
from spherapprox import CoreHead, EqualMeasurePartition, Target, load, sup_error, targets


def find(target, eps, kind="split", **options):
    return searches.search(target, eps, kind, **{"starts": 1, "lower": False} | options)


@pytest.fixture(scope="module")
def harmonic():
    target = targets.zonal_harmonic(2, 2)

    return find(target, 0.1, "core"), target


class TestCompare:
    def test_errors_fall_and_are_those_of_the_best_concentration(self):
        target = targets.zonal_harmonic(1, 2)
        errors = compare_fixed_points(target, (8, 32))
        assert len(errors) == 2
        for rows in errors.values():
            assert [n for n, _ in rows] == [8, 32]
            assert rows[1][1] < rows[0][1] < 1.0
        for concentration in (0.5, 2.0, 8.0):
            nodes = EqualMeasurePartition(1, 8)
            head = CoreHead.from_target(target, nodes, concentration, coefficients="interpolation")
            assert list(errors.values())[1][0][1] <= 1.1 * sup_error(head, target).lower

    def test_what_is_good_enough_takes_no_more_points(self):
        errors = compare_fixed_points(targets.zonal_harmonic(2, 2), (30, 60, 90), least=0.15)
        riemann, interpolation = errors.values()
        assert [n for n, _ in interpolation] == [30]
        assert riemann[-1][1] <= 0.15 or len(riemann) == 3


class TestReport:
    def test_the_document_says_what_the_search_has(self, harmonic):
        search, target = harmonic
        document = json.loads(json.dumps(report_search(search, target).document, allow_nan=False))
        assert (document["n"], document["reached"], document["kind"]) == (search.n, True, "core")
        assert document["failed"] == list(search.failed)
        assert [row["n"] for row in document["rows"]] == [row.n for row in search.history]
        assert [row["error"] for row in document["rows"]] == [row.lower for row in search.history]
        assert document["rows"][0]["upper"] is None
        assert document["error"]["lower"] == search.error.lower

    def test_files_are_those_of_the_search(self, harmonic, tmp_path, no_figures):
        search, target = harmonic
        report = report_search(search, target, others={"a method": [(3, 0.5), (9, 0.1)]})
        files = {path.name: path for path in report.save(tmp_path)}
        names = ["head.npz", "shortest.csv", "shortest.html", "shortest.json", "shortest.npz"]
        assert sorted(files) == ["error.png", *names[:1], "map.png", *names[1:]]
        assert load(files["head.npz"]) == search.head
        assert load(files["shortest.npz"]).n == search.n
        lines = files["shortest.csv"].read_text("utf-8").splitlines()
        assert lines[0].startswith("n,error,upper,rms,numbers")
        assert len(lines) == 1 + len(search.history)
        assert float(lines[-1].split(",")[1]) == search.history[-1].lower


def size_of(figure):
    """Return the width and the height of a figure that can be written."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=20)
    assert len(file.getvalue()) > 1000
    return figure.get_size_inches()


class TestFigures:
    @pytest.mark.parametrize(
        ("target", "options"),
        [
            (targets.zonal_harmonic(1, 2), {}),
            (targets.zonal_harmonic(2, 2), {"keys": "free", "kind": "core"}),
            pytest.param(targets.distance(3), {"eps": 0.3}, marks=pytest.mark.once),
            (targets.rotation_field(2), {"eps": 0.3, "kind": "core"}),
            (targets.zonal_harmonic(2, 2), {"norm": "rms"}),
            pytest.param(targets.bump(2), {"kind": "core", "eps": 1e-6}, marks=pytest.mark.once),
            (Target(lambda x: 0.0 * x[:, 0], 2), {}),
            (Target(lambda x: 1e200 * x[:, :1], 2, unit="m"), {"eps": 1e199, "dtype": None}),
        ],
    )
    def test_every_search_can_be_drawn(self, target, options):
        result = find(target, **({"eps": 0.1} | options))
        assert list(size_of(plot.shortest_figure(result, target))) == [9.5, 5.4]
        if target.dim == 2:
            assert list(size_of(plot.control_points_figure(result, target, resolution=19))) == [9.0, 5.6]
        else:
            with pytest.raises(ValueError, match="to be drawn as a map"):
                plot.control_points_figure(result, target)

    def test_what_missed_is_hollow_and_the_floor_is_hatched(self):
        target = targets.zonal_harmonic(2, 4)
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            result = find(target, 1e-3, max_tokens=4)
        methods = {"one": [(4, 0.9), (16, 0.5)], "another": [(4, 0.8)]}
        figure = plot.shortest_figure(result, target, others=methods, floor=[(3, 1e-3), (2, 1e-1)], remark="a remark")
        size_of(figure)
        (axes,) = figure.axes
        marks = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
        hollow = [line for line in marks if line.get_markerfacecolor() == "white"]
        assert {line.get_xdata()[0] for line in hollow} == {row.n for row in result.history}
        assert any("proven" in text.get_text() for text in axes.texts)
        assert [line for line in axes.lines if list(line.get_xdata()) == [4, 16]]

    def test_heads_that_reach_eps_are_filled(self, harmonic):
        result, target = harmonic
        (axes,) = plot.shortest_figure(result, target).axes
        filled = {
            line.get_xdata()[0] for line in axes.lines
            if line.get_marker() == "o" and len(line.get_xdata()) == 1 and line.get_markerfacecolor() != "white"
        }  # fmt: skip
        assert filled == {row.n for row in result.history if row.lower <= result.eps}
        (star,) = [line for line in axes.lines if line.get_marker() == "*"]
        assert (star.get_xdata()[0], star.get_ydata()[0]) == (result.n, result.error.lower)

    def test_the_map_has_the_points_of_the_head(self, harmonic):
        result, target = harmonic
        (points,) = plot.control_points_figure(result, target, resolution=19).axes[0].collections[1:]
        assert len(points.get_offsets()) == result.n
        np.testing.assert_allclose(np.sort(points.get_array()), np.sort(result.head.values))
