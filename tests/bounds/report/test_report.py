"""Reports: their files, and pages where nothing is loaded, nothing runs over and all text is escaped."""

import csv
import html
import json
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import reports as kinds

from bounds import ladder, validate
from bounds.report import (
    from_validation,
    plot,
    report_ladder,
    report_study,
    report_validation,
    run_study,
)
from bounds.report.report import Cell, Facts, Picture, Report, Table, Verdict
from bounds.theorems import state_all
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, load, targets
from spherapprox._checks import upper_text

EVIL = '<script>alert("&")</script>'
KINDS = ("validation", "study", "ladder", "search")


@pytest.fixture(scope="module", autouse=True)
def no_figures():
    """Write words in place of figures: tests/once/test_site.py looks at those of every kind."""
    with kinds.without_figures():
        yield


@pytest.fixture(scope="module")
def proved():
    return kinds.prove()


@pytest.fixture(scope="module")
def study():
    return kinds.study()


@pytest.fixture(scope="module")
def reports(proved, study, no_figures):
    """A report of every kind, with its page."""
    return {kind: (report, report.to_html()) for kind, report in kinds.every_kind(proved, study).items()}


def escaped(text):
    """Text as Jinja escapes it."""
    return html.escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_part_and_loads_nothing(reports, kind):
    report, page = reports[kind]
    parts = [*report.figures, *(table for table in report.tables if table.rows), *report.facts]
    texts = [report.title, report.subtitle, report.verdict.text, *(part.title for part in parts)]
    texts += [cell.text for table in report.tables for row in table.rows for cell in row]
    assert all(escaped(text) in page for text in texts)
    assert page.count("data:image/png") == len(report.figures)
    assert not re.search(r'(?:src|href)="(?!data:)|url\(|@import|<script|\{[{%]', page)


def test_the_page_of_a_validation_says_what_was_proven(reports, proved):
    report, page = reports["validation"]
    for title in ("The parts of the error", "attempts to refute it", "Proof of the upper bound", "How to reproduce it"):
        assert title in page
    assert f"<b>{upper_text(proved.error.upper)}</b><span>proven upper bound" in page
    assert "target = mine" in page
    assert report.verdict.word == "proved"


def test_the_page_of_a_study_has_every_head(reports, study):
    page = reports["study"][1]
    assert "The errors of 2 of 2 heads are enclosed by proof." in page
    for row in study.rows:
        for number in (row.concentration, row.error, row.bound):
            assert f">{number:.4g}</td>" in page
        assert f'data-label="proven">{upper_text(row.upper)}</td>' in page
        assert float(upper_text(row.upper)) >= row.upper
    assert "the largest value found of a bound that is proven at each point" in page


def test_text_of_users_is_escaped_and_violations_come_first():
    target = Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0, name=EVIL, unit=EVIL, provenance=EVIL, degree=1)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 30), 9.0)
    validation = validate(head, target, n=100, examine=["claims"])
    wrong = Target(lambda x: x[:, 2], 3, lipschitz=1e-3, sup_norm=1.0, name=EVIL, unit=EVIL, provenance=EVIL)
    by_study = report_study(run_study(wrong, [40], choices=["theory"], points=300), command=EVIL)
    for report in (report_validation(validation, command=EVIL, source=EVIL), by_study):
        page = report.to_html()
        assert "<script" not in page
        assert page.count(escaped(EVIL)) >= 5
    assert by_study.verdict.text == "Violated: a bound, by 2 of 2 heads. Refuted: Lipschitz constant."
    assert "2nd order" not in by_study.tables[0].columns


def test_every_part_of_a_report_escapes_its_text():
    cells = [Cell(EVIL, kind, (EVIL,)) for kind in ("name", "verdict")]
    report = Report(
        name="own", title=EVIL, subtitle=EVIL, verdict=Verdict(EVIL, EVIL, [(EVIL, EVIL)]), rows=[{"a": 1}],
        document={}, tables=[Table(EVIL, [EVIL, EVIL], [cells], EVIL)],
        figures=[Picture("own.png", plot.style.Figure, EVIL, EVIL)], facts=[Facts(EVIL, [(EVIL, EVIL)], EVIL)],
        command=EVIL, source=EVIL,
    )  # fmt: skip
    page = report.to_html()
    assert "<script" not in page
    assert page.count(escaped(EVIL)) >= 22


def test_files_are_written_together_and_read_back(reports, proved, tmp_path):
    for kind, (report, page) in reports.items():
        paths = report.save(tmp_path / kind)
        assert [path.name for path in paths] == sorted(path.name for path in (tmp_path / kind).iterdir())
        assert {path.name for path in paths} <= set(report.marks)
        assert (tmp_path / kind / f"{report.name}.html").read_text("utf-8").count("\n") == page.count("\n")
        document = json.loads((tmp_path / kind / f"{report.name}.json").read_text("utf-8"))
        assert document == json.loads(json.dumps(report.document))
        assert document["made_by"].startswith("spherapprox ")
        with (tmp_path / kind / f"{report.name}.csv").open(encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        assert [list(row) for row in table] == [list(row) for row in report.records()]
        for path in paths:
            assert report.marks[path.name] in path.read_bytes()[:500]
    assert load(tmp_path / "validation" / "validated-head.npz") == proved.head


def test_records_and_the_document_of_a_validation_are_plain_and_complete(proved):
    records = proved.records()
    assert len({tuple(record) for record in records}) == 1
    assert [record["name"] for record in records] == [c.theorem for c in (*proved.checks, *proved.lemmas)]
    document = json.loads(json.dumps(proved.document(), allow_nan=False))
    assert document["checks"] == records
    assert document["summary"] == "proved"
    certificate = document["error"]["certificate"]
    assert certificate["constants"]["degree"] == document["target"]["origins"]["degree"] == "derived"
    assert document["error"]["upper"] == proved.error.upper


@pytest.mark.parametrize("dim", [1, 3])
def test_validations_elsewhere_have_the_same_files(tmp_path, dim):
    target = targets.distance(dim)
    validation = validate(CoreHead.from_target(target, EqualMeasurePartition(dim, 50), 5.0), target, n=200)
    assert {path.name for path in report_validation(validation).save(tmp_path)} == {*from_validation.FILES}


def test_a_record_made_by_hand_has_no_report(proved):
    bare = type(proved)(proved.error, proved.checks)
    with pytest.raises(ValueError, match="'validation' must have a head and a target"):
        report_validation(bare)
    assert bare.records()[0]["lower"] == proved.error.lower


def test_a_ladder_is_saved_with_its_hypotheses(reports, tmp_path):
    reports["ladder"][0].save(tmp_path)
    with (tmp_path / "ladder.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    bounds = ladder(0.3, dim=8, theorems=state_all(jackson_constant=1.0))
    assert [float(row["log10_n"]) for row in rows] == [bound.log10 for bound in bounds]
    assert "dim >= 8 (holds)" in rows[0]["hypotheses"]
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError])
def test_a_figure_that_fails_leaves_all_as_it_was(study, tmp_path, stop):
    def interrupted():
        raise stop

    report = report_study(study)
    report.save(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    broken = replace(report, figures=[report.figures[0], report.figures[1]._replace(draw=interrupted)])
    for folder in (tmp_path, tmp_path / "new"):
        with pytest.raises(stop):
            broken.save(folder)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    replace(report, figures=report.figures[:1]).save(tmp_path)  # of a target without a map
    assert not (tmp_path / "maps.png").exists()


def test_curves_end_where_zero_becomes_near_enough(monkeypatch):
    curves_drawn = []
    monkeypatch.setattr(plot, "ladder_figure", curves_drawn.append)
    report_ladder(0.3, dim=2, sup_norm=0.7, axes=([0.1, 0.5, 1.0], [2])).figures[0].draw()
    np.testing.assert_allclose(curves_drawn[0].axis, [0.1, 0.3, 0.5, 0.999 * 0.7])
    assert all((y[np.isfinite(y)] > 0.0).all() for name, y in curves_drawn[0].log10.items() if name.startswith("sharp"))


def test_figures_and_pages_are_loaded_when_they_are_asked_for():
    code = "import sys, bounds, bounds.validation, bounds.report.from_ladder, bounds.report.commands.study; "
    code += "print({'matplotlib', 'jinja2'} & set(sys.modules))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout == "set()\n"
