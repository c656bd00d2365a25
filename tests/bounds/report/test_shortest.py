"""Heads at fixed points beside the shortest one: measured, written together or not at all, and drawn."""

import io
import json

import numpy as np
import pytest
import searches

import bounds
from bounds.report import plot, shortest
from spherapprox import Target, load, sup_error, targets


def search(target, eps, kind="split", **options):
    return searches.search(target, eps, kind, **{"starts": 1, "lower": False} | options)


@pytest.fixture(scope="module")
def harmonic():
    target = targets.zonal_harmonic(2, 2)
    return search(target, 0.1, "core"), target


class TestCompare:
    def test_errors_fall_and_are_those_of_the_best_concentration(self):
        target = targets.zonal_harmonic(1, 2)
        found = bounds.report.shortest.compare(target, (8, 32))
        assert len(found) == 2
        for rows in found.values():
            assert [n for n, _ in rows] == [8, 32]
            assert rows[1][1] < rows[0][1] < 1.0
        from spherapprox import CoreHead, EqualMeasurePartition

        for concentration in (0.5, 2.0, 8.0):
            nodes = EqualMeasurePartition(1, 8)
            head = CoreHead.from_target(target, nodes, concentration, coefficients="interpolation")
            assert list(found.values())[1][0][1] <= 1.1 * sup_error(head, target).lower

    def test_what_is_good_enough_takes_no_more_points(self):
        found = bounds.report.shortest.compare(targets.zonal_harmonic(2, 2), (30, 60, 90), least=0.15)
        riemann, interpolation = found.values()
        assert [n for n, _ in interpolation] == [30]
        assert riemann[-1][1] <= 0.15 or len(riemann) == 3

    @pytest.mark.parametrize(
        ("options", "match"), [({"counts": [0]}, "'counts' must be at least 1"), ({"least": -1.0}, "'least' must be")]
    )
    def test_complaints(self, options, match):
        with pytest.raises(ValueError, match=match):
            bounds.report.shortest.compare(targets.distance(2), **options)
        with pytest.raises(TypeError, match="'target' must be a Target"):
            bounds.report.shortest.compare(len, [4])


class TestFiles:
    def test_the_document_says_what_was_found(self, harmonic):
        found, target = harmonic
        document = json.loads(json.dumps(bounds.report.shortest.document(found, target), allow_nan=False))
        assert (document["n"], document["reached"], document["kind"]) == (found.n, True, "core")
        assert document["failed"] == list(found.failed)
        assert [row["n"] for row in document["rows"]] == [row.n for row in found.history]
        assert [row["error"] for row in document["rows"]] == [row.lower for row in found.history]
        assert document["rows"][0]["upper"] is None
        assert document["error"]["lower"] == found.error.lower

    def test_files_are_what_was_found(self, harmonic, tmp_path, no_figures):
        found, target = harmonic
        written = shortest.save(found, target, tmp_path / "new" / "folder", others={"a method": [(3, 0.5), (9, 0.1)]})
        names = ["error.png", "head.npz", "map.png", "shortest.csv", "shortest.json", "shortest.npz"]
        assert [path.name for path in written] == names == sorted(path.name for path in written[0].parent.iterdir())
        assert load(written[1]) == found.head
        assert load(written[5]).n == found.n
        lines = written[3].read_text("utf-8").splitlines()
        assert lines[0].startswith("n,error,upper,rms,numbers")
        assert len(lines) == 1 + len(found.history)
        assert float(lines[-1].split(",")[1]) == found.history[-1].lower

    def test_files_appear_together_or_not_at_all(self, harmonic, tmp_path, no_figures, monkeypatch):
        found, target = harmonic
        shortest.save(found, target, tmp_path)
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

        def fails(*_, **__):
            raise OSError("no space left")

        monkeypatch.setattr(plot, "control_points_figure", fails)
        with pytest.raises(OSError, match="no space left"):
            shortest.save(found.pick(1), target, tmp_path)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
        with pytest.raises(OSError, match="no space left"):
            shortest.save(found, target, tmp_path / "new")
        assert not (tmp_path / "new").exists()

    def test_an_earlier_map_goes_where_there_is_none_now(self, harmonic, tmp_path, no_figures):
        shortest.save(*harmonic, tmp_path)
        line = targets.zonal_harmonic(1, 1)
        shortest.save(search(line, 0.1), line, tmp_path)
        assert not (tmp_path / "map.png").exists()

    def test_complaints(self, harmonic, tmp_path):
        found, target = harmonic
        with pytest.raises(TypeError, match="'found' must be a ShortestHead"):
            shortest.save(found.head, target, tmp_path)
        with pytest.raises(TypeError, match="'target' must be a Target"):
            shortest.save(found, len, tmp_path)
        with pytest.raises(TypeError, match="'out' must be"):
            shortest.save(found, target, 3)
        assert not list(tmp_path.iterdir())


def drawn(figure):
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
            (targets.distance(3), {"eps": 0.3}),
            (targets.rotation_field(2), {"eps": 0.3, "kind": "core"}),
            (targets.zonal_harmonic(2, 2), {"norm": "rms"}),
            (targets.bump(2), {"kind": "core", "eps": 1e-6}),
            (Target(lambda x: 0.0 * x[:, 0], 2), {}),
            (Target(lambda x: 1e200 * x[:, :1], 2, unit="m"), {"eps": 1e199, "dtype": None}),
        ],
    )
    def test_every_search_can_be_drawn(self, target, options):
        found = search(target, **({"eps": 0.1} | options))
        assert list(drawn(plot.shortest_figure(found, target))) == [9.5, 5.4]
        if target.dim == 2:
            assert list(drawn(plot.control_points_figure(found, target, resolution=19))) == [9.0, 5.6]
        else:
            with pytest.raises(ValueError, match="to be drawn as a map"):
                plot.control_points_figure(found, target)

    def test_what_missed_is_hollow_and_the_floor_is_hatched(self):
        target = targets.zonal_harmonic(2, 4)
        with pytest.warns(RuntimeWarning, match="no head within eps"):
            found = search(target, 1e-3, max_tokens=4)
        others = {"one": [(4, 0.9), (16, 0.5)], "another": [(4, 0.8)]}
        figure = plot.shortest_figure(found, target, others=others, floor=[(3, 1e-3), (2, 1e-1)], remark="a remark")
        drawn(figure)
        (axes,) = figure.axes
        marks = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 1]
        hollow = [line for line in marks if line.get_markerfacecolor() == "white"]
        assert {line.get_xdata()[0] for line in hollow} == {row.n for row in found.history}
        assert any("proven" in text.get_text() for text in axes.texts)
        assert [line for line in axes.lines if list(line.get_xdata()) == [4, 16]]

    def test_heads_that_reach_eps_are_filled(self, harmonic):
        found, target = harmonic
        (axes,) = plot.shortest_figure(found, target).axes
        filled = {
            line.get_xdata()[0] for line in axes.lines
            if line.get_marker() == "o" and len(line.get_xdata()) == 1 and line.get_markerfacecolor() != "white"
        }  # fmt: skip
        assert filled == {row.n for row in found.history if row.lower <= found.eps}
        (star,) = [line for line in axes.lines if line.get_marker() == "*"]
        assert (star.get_xdata()[0], star.get_ydata()[0]) == (found.n, found.error.lower)

    def test_the_map_has_the_points_of_the_head(self, harmonic):
        found, target = harmonic
        (points,) = plot.control_points_figure(found, target, resolution=19).axes[0].collections[1:]
        assert len(points.get_offsets()) == found.n
        np.testing.assert_allclose(np.sort(points.get_array()), np.sort(found.head.values))
