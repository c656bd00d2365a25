"""The ladder as a table and as curves."""

import math

import numpy as np
import pytest

from bounds import covering_number, ladder, prefix_length
from bounds.report import evaluate_ladder, plot
from bounds.report.ladder import describe_rungs, list_hypotheses
from bounds.theorems import state, state_all
from bounds.theorems._ladder import table


def test_table_says_what_fails():
    text = table(ladder(0.1, dim=2, theorems=state_all(jackson_constant=1.0)))
    assert "needs dim >= 8" in next(line for line in text.splitlines() if line.startswith("thesis-core "))
    assert ">= 2.6" in next(line for line in text.splitlines() if line.split()[:1] == ["lower"])


def test_table_marks_the_heads_that_float64_does_not_have():
    lines = table(ladder(0.1, dim=8)).splitlines()
    marked = [line.split()[0] for line in lines if line.split()[1].endswith("*") and line[0] != "*"]
    assert marked == ["sharp-core-spectral", "sharp-core-interpolation", "sharp-core-rank"]
    assert any(line.startswith("*  no head in float64 has it") for line in lines)
    assert "*" not in table([prefix_length(0.1, dim=2, theorem=state("sharp-core-spectral", concentration=300.0))])


def test_bounds_of_covering_numbers_are_tabulated_too():
    cover = covering_number(0.1, dim=8)
    assert table([cover]).splitlines()[-1].startswith("polytope")
    assert describe_rungs([cover])[0]["in_float64"]


def test_hypotheses_are_all_there():
    bounds = ladder(0.1, dim=8, theorems=state_all(jackson_constant=1.0))
    text = list_hypotheses(bounds)
    assert [line.split()[0] for line in text.splitlines() if line[0] != " "] == [bound.theorem for bound in bounds]
    assert all(len(line) < 120 for line in text.splitlines())
    words = " ".join(text.split())
    assert all(str(hypothesis) in words for bound in bounds for hypothesis in bound.hypotheses)
    assert "eps < sup_norm (fails)" in list_hypotheses(ladder(1.5, dim=8)[-1:])


@pytest.fixture(scope="module")
def over_eps():
    return evaluate_ladder([0.05, 0.2, 0.8], dim=8, theorems=state_all(jackson_constant=1.0))


def test_curves_are_the_ladders(over_eps):
    for i, eps in enumerate((0.05, 0.2, 0.8)):
        for bound in ladder(eps, dim=8, theorems=state_all(jackson_constant=1.0)):
            value = over_eps.log10[bound.theorem][i]
            assert value == bound.log10 if bound.holds and math.isfinite(bound.log) else math.isnan(value)
    assert over_eps.log10["lower"][1] == prefix_length(0.2, dim=8, theorem="lower").log10


def test_curves_over_dim_have_gaps_where_theorems_fail():
    curves = evaluate_ladder(0.5, dim=[1, 8])
    assert curves.over == "dim"
    assert curves.fixed == 0.5
    assert np.isnan(curves.log10["thesis-core"][0])
    assert np.isfinite(curves.log10["thesis-core"][1])


def test_figure_has_a_curve_a_theorem_and_the_gap(over_eps):
    above, below = plot.ladder_figure(over_eps).axes
    names_drawn = [line.get_label() for axes in (above, below) for line in axes.get_lines()]
    assert sorted(names_drawn) == sorted(over_eps.log10)
    bold = {line.get_label() for axes in (above, below) for line in axes.get_lines() if line.get_linewidth() > 2.0}
    assert bold == {"thesis-split", "sharp-core-rank", "sharp-split-nearest", "lower"}  # where eps is least
    names = [text.get_text().partition(",")[0] for axes in (above, below) for text in axes.texts]
    assert set(names) >= {name for name, y in over_eps.log10.items() if np.isfinite(y).all()}
    (gap,) = below.collections
    heights = {round(float(y), 9) for y in gap.get_paths()[0].vertices[:, 1]}
    assert {round(float(y), 9) for y in over_eps.log10["lower"]} <= heights
    assert round(prefix_length(over_eps.axis[1], dim=8).log10, 9) in heights


def test_figure_leaves_out_a_panel_without_curves():
    curves = evaluate_ladder([0.2, 0.8], dim=2)
    (panel,) = plot.ladder_figure(curves).axes
    theorems = [line.get_label() for line in panel.get_lines()]
    assert theorems == [name for name in curves.log10 if not name.startswith("thesis")]
    assert panel.get_title() == "Prefix length on $S^{2}$"
