"""The study: what its rows say, and that its files are written together or not at all."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from bounds import error_bound, prefix_length, validate
from bounds.records import Prefix
from bounds.report import estimate_constants, plot, report_study, run_study
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, sphere, sup_error, targets
from spherapprox._checks import upper_text

pytestmark = pytest.mark.usefixtures("coarse_figures")


def series(study, head, choice):
    return [row for row in study.rows if row.head == head and row.choice == choice]


@pytest.fixture(scope="module")
def small():
    return run_study(targets.geomagnetic_field(), [100, 400], points=1000)


def test_errors_of_every_row_keep_to_bound_and_floor(small):
    assert [(r.n, r.head, r.choice) for r in small.rows] == [
        (n, head, choice)
        for n in (100, 400)
        for head, choices in (("core", ("theory", "best")), ("split", ("theory", "second-order", "best")))
        for choice in choices
    ]
    target = small.target
    for row in small.rows:
        assert row.error <= row.bound
        assert row.radius == EqualMeasurePartition(2, row.n).cell_radius()
        lower = error_bound(dim=2, theorem="lower", lipschitz=target.lipschitz, points=Prefix(n=row.n))
        assert row.floor == lower.value
        assert row.thesis_needs == "needs dim >= 8"
        # of the largest value at 1000 points, which the bound sup_norm exceeds
        assert 1.0 < row.relative_error / (row.error / target.sup_norm) < 1.05
        kind = {"core": CoreHead, "split": SplitHead}[row.head]
        head = kind.from_target(target, EqualMeasurePartition(2, row.n), row.concentration)
        checks = [c for c in validate(head, target, n=500, examine=[]).checks if c.quantity == "error"]
        checks = [c for c in checks if c.bound and c.bound.holds]
        assert row.verdict == min(checks, key=lambda check: check.bound.value).verdict
        assert row.verdict in ("holds", "vacuous")
        x = sphere.uniform(2, 20_000, rng=5)
        assert row.mean_error == pytest.approx(np.abs(head(x) - target(x)).mean(), rel=0.1)


def test_second_order_bounds_are_within_a_factor_of_2_of_errors_of_split_heads(small):
    for row in small.rows:
        if row.head == "core":
            assert row.second_order is row.second_order_local is None
        else:
            assert row.error <= row.second_order_local <= row.second_order
        if row.choice == "second-order":
            assert row.second_order_local <= 2.0 * row.error
    by_theory, best = (series(small, "split", choice) for choice in ("second-order", "best"))
    assert all(by_bound.error <= 1.2 * by_error.error for by_bound, by_error in zip(by_theory, best, strict=True))


def test_second_order_bounds_of_a_smooth_target_are_not_local():
    study = run_study(targets.bump(3, 4.0), [30], choices=[9.0], points=200)  # no polynomial
    core, split = study.rows
    assert (core.second_order, split.second_order_local) == (None, None)
    assert split.error <= split.second_order


def test_an_error_above_its_bound_is_not_said_to_hold():
    wrong = Target(targets.distance(2).function, 2, lipschitz=0.05, sup_norm=4.0)
    study = run_study(wrong, [50], choices=["best"], points=200)
    row = series(study, "split", "best")[0]
    assert row.error > row.bound
    assert not row.verdict.startswith(("holds", "vacuous"))


def test_a_plain_function_has_measured_errors_only():
    study = run_study(Target(lambda x: np.abs(x[:, :2]), 3), [60], points=300)
    assert [(row.head, row.choice) for row in study.rows] == list(product(("core", "split"), ("best", "mean")))
    for row in study.rows:
        assert (row.bound, row.floor, row.thesis_log10_n, row.relative_error) == (None, None, None, None)
        assert (row.verdict, row.thesis_needs) == ("", "")
        assert 0.0 < row.mean_error < row.error
    (note,) = study.notes
    assert "states no Lipschitz constant" in note
    assert study.table().splitlines()[0].split() == ["N", "head", "by", "lambda", "error", "mean"]
    assert report_study(study).document["notes"] == [note]


def test_land_has_mean_errors_that_fall_while_sup_errors_cannot():
    study = run_study(targets.land(), [50, 800], points=2000)
    for head in ("core", "split"):
        short, long = series(study, head, "mean")
        assert long.mean_error < 0.6 * short.mean_error
        assert short.mean_error <= series(study, head, "best")[0].mean_error
        assert all(row.error > 0.49 for row in study.rows)
    assert study.shown.concentration == min(study.rows, key=lambda row: row.mean_error).concentration
    marks = {text.get_text().partition(", $")[0] for text in plot.error_figure(study).axes[0].texts}
    assert marks == {f"{head} head, {kind} error" for head in ("core", "split") for kind in ("sup", "mean")}


@pytest.mark.parametrize("value", [0.0, 2.0])
def test_a_constant_is_approximated(value, tmp_path):
    constant = Target(lambda x: value + 0.0 * x[:, 0], 2, lipschitz=0.0, sup_norm=value)
    study = run_study(constant, [12], points=100)
    assert all(row.error <= row.bound + 1e-12 * value for row in series(study, "split", "theory"))
    if value == 0.0:
        assert len(report_study(study).save(tmp_path)) == 5


def test_core_heads_are_not_chosen_by_a_bound_that_needs_a_sup_norm():
    study = run_study(Target(lambda x: x[:, 0], 2, lipschitz=1.0), [30], choices=["theory", 5.0], points=100)
    rows = [(row.head, row.choice) for row in study.rows]
    assert rows == [("core", "fixed"), ("split", "theory"), ("split", "fixed")]
    assert study.rows[0].thesis_needs == "needs the target's sup norm"
    assert study.rows[1].bound is not None
    assert "no bounds for core heads" in study.notes[0]


@pytest.mark.parametrize(
    ("target", "tolerance"),
    [
        (targets.geomagnetic_field(), 0.01),
        (targets.zonal_harmonic(3, 5), 1e-4),
        (targets.distance(4), 1e-6),
        (targets.moving_frame(3), 1e-6),
        (Target(lambda x: np.tanh(3.0 * x[:, 1]).astype(np.float32), 2, lipschitz=3.0, sup_norm=np.tanh(3.0)), 1e-3),
        (Target(lambda x: (7.0 + x[:, 1]).astype(np.float32), 2, lipschitz=1.0, sup_norm=8.0), 3e-3),
        (Target(lambda x: 1e6 + x[:, 1], 2, lipschitz=1.0, sup_norm=1e6 + 1.0), 3e-6),
    ],
)
def test_estimated_constants_are_near_the_true_ones_and_below(target, tolerance):
    bare = Target(target.function, target.dim)
    study = estimate_constants(bare)
    assert target.lipschitz * (1.0 - tolerance) <= study.lipschitz <= target.lipschitz * (1.0 + 1e-6)
    assert target.sup_norm * (1.0 - tolerance) <= study.sup_norm <= target.sup_norm * (1.0 + 1e-6)


def test_estimates_are_called_estimates_wherever_they_are_used():
    study = run_study(estimate_constants(Target(lambda x: x[:, 0], 2)), [20, 40], points=200)
    assert study.estimated == ("lipschitz", "sup_norm")
    assert "estimated" in study.target.provenance
    assert all(row.verdict.endswith("(estimated constants)") for row in study.rows)
    assert "estimated from below" in study.notes[0]
    names = [text.get_text() for text in plot.error_figure(study).axes[0].texts]
    assert sum("estimate" in name for name in names) == 3
    target_of_ours = Target(lambda x: x[:, 0], 2, lipschitz=1.0, sup_norm=1.0)
    assert estimate_constants(target_of_ours).origin("lipschitz") == "given"


def test_best_is_better_than_theory_and_theory_has_the_smaller_bound(small):
    for n in (100, 400):
        for head in ("core", "split"):
            theory, best = (
                next(row for row in series(small, head, choice) if row.n == n) for choice in ("theory", "best")
            )
            assert best.error <= theory.error
            assert theory.bound <= best.bound


def test_error_is_that_of_the_head(small):
    row = series(small, "split", "best")[-1]
    head = SplitHead.from_target(small.target, EqualMeasurePartition(2, 400), row.concentration)
    assert row.error == sup_error(head, small.target, n=1000, rng=0, workers=-1).lower


def test_document_and_table_are_those_of_the_rows(small):
    document, records = report_study(small).document, report_study(small).records()
    assert [row["error"] for row in document["rows"]] == [row.error for row in small.rows]
    assert [row["concentration"] for row in records] == [row.concentration for row in small.rows]
    assert document["target"]["dim"] == 2


@pytest.mark.usefixtures("short_search")
def test_high_dimension_has_the_thesis_numbers_and_no_map():
    result = run_study(targets.distance(8), [200], choices=["theory", 30], points=500)
    assert [row.choice for row in result.rows] == ["theory", "fixed"] * 2
    for row in (r for r in result.rows if r.head == "split"):
        assert row.thesis_needs == ""
        count = prefix_length(row.error, dim=8, sup_norm=result.target.sup_norm, theorem="thesis-split")
        assert (row.thesis_concentration, row.thesis_log10_n) == (count.concentration, count.log10)
    assert [picture.file for picture in report_study(result).figures] == ["error.png"]
    assert "10^" in result.table()


def test_figure_shows_the_rows(small):
    figure = plot.error_figure(small)
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.get_lines()}
    rows = series(small, "split", "best")
    label = "split head, $\\lambda$ of least error"
    np.testing.assert_array_equal(curves[label].get_xydata(), [(r.n, r.error) for r in rows])
    rate = math.log(rows[1].error / rows[0].error) / math.log(4)
    names = {text.get_text().partition(", $N")[0]: text for text in axes.texts}
    assert set(names) == set(curves)
    assert names[label].get_text() == f"{label}, $N^{{{rate:.2f}}}$"
    assert names[label].get_color() == curves[label].get_color()
    bold = {name for name, text in names.items() if text.get_fontweight() == "bold"}
    strong = {label, label.replace("split", "core"), "split head, 2nd-order bound"}
    assert bold == strong == {n for n, c in curves.items() if c.get_linewidth() > 2.0}
    # the count of `bounds.prefix_length`, C_R included
    eps, target = min(row.error for row in small.rows), small.target
    count = prefix_length(eps, dim=8, lipschitz=target.lipschitz, sup_norm=target.sup_norm, theorem="thesis-split")
    remark = f"needs dim ≥ 8: on $S^8$, with the same constants, it takes $10^{{{count.log10:.0f}}}$"
    assert remark in figure.get_supxlabel()


def test_the_line_on_the_thesis_is_inside_the_figure(small):
    figure = plot.error_figure(replace(small, estimated=("lipschitz", "sup_norm")))
    figure.draw_without_rendering()
    (line,) = (text for text in figure.texts if "estimated constants" in text.get_text())
    box = line.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.axes[0].get_window_extent().y0


def test_names_of_curves_do_not_overlap(small):
    figure = plot.error_figure(small)
    figure.draw_without_rendering()
    boxes = sorted((text.get_window_extent() for text in figure.axes[0].texts), key=lambda box: box.y0)
    texts = [box.y0 for box in boxes]
    assert len(texts) == 10
    assert min(np.diff(texts)) > 10.0 / 72.0 * figure.dpi  # the size of the letters
    assert all(box.x1 <= figure.bbox.x1 for box in boxes)


@pytest.mark.parametrize("constants", [{}, {"lipschitz": 1.0, "sup_norm": 1.0}])
def test_errors_that_no_axis_shows_are_said_to_be_zero(constants):
    study = run_study(Target(lambda x: 0.0 * x[:, 0], 2, **constants), [20], choices=[9.0], points=100)
    assert any(note.startswith("every sup error is 0 or infinite") for note in study.notes)
    figure = plot.error_figure(study)
    assert any("Every sup error is 0 or infinite" in text.get_text() for text in figure.axes[0].texts)
    assert figure.axes[0].yaxis.get_visible() == bool(constants)  # then bounds are drawn


def test_a_single_length_is_drawn_with_marks(small):
    single = replace(small, rows=tuple(row for row in small.rows if row.n == 100))
    lines = plot.error_figure(single).axes[0].get_lines()
    assert len(lines) == 10
    assert all(line.get_marker() not in ("", "None") for line in lines)


@pytest.mark.usefixtures("short_search")
def test_the_thesis_stands_beside_the_errors_where_it_speaks():
    study = run_study(targets.distance(8), [30, 90], choices=[5.0], points=200)
    errors, thesis = plot.error_figure(study).axes
    marks = np.concatenate([line.get_xydata() for line in thesis.get_lines()])
    assert {tuple(pair) for pair in marks} == {(row.thesis_log10_n, row.error) for row in study.rows}
    assert errors.get_ylim() == thesis.get_ylim()


def test_a_constant_that_sampling_refutes_is_noted():
    wrong = replace(targets.distance(2), lipschitz=0.9)
    study = run_study(wrong, [100], choices=["best"], points=2000)
    assert [claim.name for claim in study.refuted] == ["Lipschitz constant"]
    assert any(note.startswith("refuted: the Lipschitz constant 0.9 that is stated; ") for note in study.notes)
    assert not run_study(targets.distance(2), [100], choices=["best"], points=2000).refuted


def test_nothing_is_called_proven_that_rests_on_refuted_constants():
    wrong = Target(lambda x: 3.0 * x[:, 0], 1, lipschitz=1.0, sup_norm=1.0)
    study = run_study(wrong, [100], choices=[2.0, 1e4], points=500, certified=True)
    assert [claim.name for claim in study.refuted] == ["Lipschitz constant", "sup norm"]
    assert study.notes[-1] == "refuted: the sup norm 1 that is stated; 3 was found"
    assert all(row.upper is None for row in study.rows)
    assert {row.verdict.partition(":")[0] for row in study.rows} <= {"not applicable", "violated"}
    bent = Target(lambda x: x[:, 0] ** 5, 1, lipschitz=5.0, sup_norm=1.0, degree=2)
    study = run_study(bent, [300], choices=[5.0], points=500, certified=True)
    assert [claim.name for claim in study.refuted] == ["degree"]
    assert all(row.upper is None for row in study.rows)


def test_nothing_is_called_proven_that_rests_on_estimates():
    target = estimate_constants(Target(lambda x: np.abs(x[:, 0]), 1))
    study = run_study(target, [60], choices=["theory"], points=500, certified=True)
    assert all(row.upper is None for row in study.rows)
    assert "proven" not in study.table()


def test_errors_are_proven_where_that_takes_seconds():
    wave = targets.zonal_harmonic(2, 3)
    study = run_study(wave, [60], choices=["theory", 12.0], points=300, certified=True)
    assert any(row.concentration > 1e4 for row in study.rows)
    assert all(row.error <= row.upper <= 1.0501 * row.error for row in study.rows)
    steep = run_study(targets.zonal_harmonic(8, 3), [20], choices=[1000.0], points=100, certified=True)
    assert steep.rows[0].upper is None
    assert series(study, "split", "fixed")[0].verdict == "proved"
    header, _, first, *_ = study.table().splitlines()
    assert upper_text(study.rows[0].upper) in first
    assert "proven" in header
    marks = {offset for part in plot.error_figure(study).axes[0].collections for offset in part.get_offsets()[:, 1]}
    assert {row.upper for row in study.rows} <= marks
    assert report_study(study).document["rows"][0]["upper"] == study.rows[0].upper


def test_a_study_prints_as_its_table():
    study = run_study(targets.land(), [50], choices=[9.0], points=200)
    title, *table, note = str(study).splitlines()
    assert title == "land on S^2: Lipschitz constant unknown, sup norm 1"
    assert table == study.table().splitlines()
    assert (note,) == study.notes
