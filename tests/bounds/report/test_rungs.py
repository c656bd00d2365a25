"""The ladder as table, curves and files."""

import csv
import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from bounds import covering_number, ladder, prefix_length
from bounds.report import plot, rungs
from bounds.theorems import state, state_all

pytestmark = pytest.mark.usefixtures("coarse_figures")


def test_table_says_what_fails():
    text = rungs.table(ladder(0.1, dim=2, theorems=state_all(jackson_constant=1.0)))
    assert "needs dim >= 8" in next(line for line in text.splitlines() if line.startswith("thesis-core "))
    assert ">= 2.6" in next(line for line in text.splitlines() if line.split()[:1] == ["lower"])


def test_table_marks_the_heads_that_float64_does_not_have():
    lines = rungs.table(ladder(0.1, dim=8)).splitlines()
    marked = [line.split()[0] for line in lines if line.split()[1].endswith("*") and line[0] != "*"]
    assert marked == ["sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank"]
    assert any(line.startswith("*  no head in float64 has it") for line in lines)
    assert "*" not in rungs.table(
        [prefix_length(0.1, dim=2, theorem=state("sharp-core-spectral", concentration=300.0))]
    )


def test_bounds_of_covering_numbers_are_tabulated_too():
    cover = covering_number(0.1, dim=8)
    assert rungs.table([cover]).splitlines()[-1].startswith("slab")
    assert rungs.records([cover])[0]["in_float64"]


def test_hypotheses_are_all_there():
    bounds = ladder(0.1, dim=8, theorems=state_all(jackson_constant=1.0))
    text = rungs.hypotheses(bounds)
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == [bound.theorem for bound in bounds]
    assert all(len(line) < 120 for line in text.splitlines())
    said = " ".join(text.split())
    assert all(str(hypothesis) in said for bound in bounds for hypothesis in bound.hypotheses)
    assert "eps < sup_norm (fails)" in rungs.hypotheses(ladder(1.5, dim=8)[-1:])


@pytest.mark.parametrize("show", [rungs.table, rungs.hypotheses, rungs.records])
@pytest.mark.parametrize("made", [lambda: prefix_length(0.1, dim=8), lambda: ladder([0.1, 0.2], dim=8)])
def test_a_ladder_is_a_sequence_of_bounds(show, made):
    with pytest.raises(TypeError, match=r"'bounds' must be a sequence of Bound, .*: write \[bound\] for a single one"):
        show(made())


@pytest.mark.parametrize(("given", "named"), [({"eps": [0.1, 0.2]}, "eps"), ({"dim": [2, 8]}, "dim")])
def test_files_are_for_one_accuracy_and_one_dimension(tmp_path, given, named):
    with pytest.raises(TypeError, match=f"'{named}' must be "):
        rungs.save(tmp_path / "out", **{"eps": 0.3, "dim": 8} | given)
    assert not (tmp_path / "out").exists()


def test_a_folder_is_named_before_the_work(monkeypatch):
    monkeypatch.setattr(rungs, "curves", None)
    with pytest.raises(TypeError, match=r"'out' must be .*: name a folder"):
        rungs.save(None, 0.3, dim=8)


@pytest.fixture(scope="module")
def over_eps():
    return rungs.curves([0.05, 0.2, 0.8], dim=8, jackson_constant=1.0)


def test_curves_are_the_ladders(over_eps):
    for i, eps in enumerate((0.05, 0.2, 0.8)):
        for bound in ladder(eps, dim=8, theorems=state_all(jackson_constant=1.0)):
            value = over_eps.log10[bound.theorem][i]
            assert value == bound.log10 if bound.holds and math.isfinite(bound.log) else math.isnan(value)
    low, high = over_eps.gap()
    assert (low <= high).all()
    assert low[1] == prefix_length(0.2, dim=8, theorem="lower").log10
    assert high[1] == prefix_length(0.2, dim=8).log10


def test_curves_over_dim_have_gaps_where_theorems_fail():
    found = rungs.curves(0.5, dim=[1, 8])
    assert found.over == "dim"
    assert found.fixed == 0.5
    assert np.isnan(found.log10["thesis-core"][0])
    assert np.isfinite(found.log10["thesis-core"][1])


@pytest.mark.parametrize(("eps", "dim"), [(0.1, 8), ([0.1], [8]), ([[0.1]], 8)])
def test_curves_need_one_axis(eps, dim):
    with pytest.raises(ValueError, match="one of 'eps' and 'dim' must be a sequence"):
        rungs.curves(eps, dim=dim)


def test_curves_need_a_value():
    with pytest.raises(ValueError, match=r"'eps' must have shape \(n,\), got \(0,\)"):
        rungs.curves([], dim=8)


def test_figure_has_a_curve_a_theorem_and_the_gap(over_eps):
    above, below = plot.ladder_figure(over_eps).axes
    drawn = [line.get_label() for axes in (above, below) for line in axes.get_lines()]
    assert sorted(drawn) == sorted(over_eps.log10)
    bold = {line.get_label() for axes in (above, below) for line in axes.get_lines() if line.get_linewidth() > 2.0}
    assert bold == {"thesis-split", "sharp-core-rank", "sharp-split-nearest", "lower"}  # where eps is least
    names = [text.get_text().partition(",")[0] for axes in (above, below) for text in axes.texts]
    assert set(names) >= {name for name, y in over_eps.log10.items() if np.isfinite(y).all()}
    (gap,) = below.collections
    heights = {round(float(y), 9) for y in gap.get_paths()[0].vertices[:, 1]}
    assert {round(float(y), 9) for y in over_eps.gap()[0]} <= heights


def test_figure_leaves_out_a_panel_without_curves():
    found = rungs.curves([0.2, 0.8], dim=2)
    (panel,) = plot.ladder_figure(found).axes
    theorems = [line.get_label() for line in panel.get_lines()]
    assert theorems == [name for name in found.log10 if not name.startswith("thesis")]
    assert panel.get_title() == "Prefix length on $S^{2}$"


def test_curves_end_where_zero_becomes_near_enough(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(rungs, "EPS", np.array([0.1, 0.5, 1.0]))
    monkeypatch.setattr(rungs, "DIMS", np.array([2]))
    monkeypatch.setattr(plot, "ladder_figure", lambda curves: drawn.append(curves) or Figure())
    rungs.save(tmp_path, 0.3, dim=2, sup_norm=0.7)
    np.testing.assert_allclose(drawn[0].axis, [0.1, 0.3, 0.5, 0.999 * 0.7])
    assert all((y[np.isfinite(y)] > 0.0).all() for name, y in drawn[0].log10.items() if name.startswith("sharp"))


def test_save_writes_everything_or_nothing(tmp_path, monkeypatch, no_figures):
    monkeypatch.setattr(rungs, "EPS", np.array([0.1, 0.5]))
    monkeypatch.setattr(rungs, "DIMS", np.array([2, 9]))
    paths = rungs.save(tmp_path / "out", 0.3, dim=8, jackson_constant=1.0)
    names = ["concentration.png", "ladder.csv", "ladder_dim.png", "ladder_eps.png"]
    assert [p.name for p in paths] == names
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == names
    with (tmp_path / "out" / "ladder.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["log10_n"]) for row in rows] == [
        b.log10 for b in ladder(0.3, dim=8, theorems=state_all(jackson_constant=1.0))
    ]
    assert "dim >= 8 (holds)" in rows[0]["hypotheses"]

    monkeypatch.setattr(plot, "concentration_figure", None)
    with pytest.raises(TypeError):
        rungs.save(tmp_path / "broken", 0.3, dim=8)
    assert not (tmp_path / "broken").exists()
