"""The pages of a validation and a study: nothing is loaded, nothing runs over, all text is escaped."""

import html
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from bounds import validate
from bounds.records.bound import up
from bounds.report import study
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, targets
from spherapprox.error import Proof

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PROBE = """<script>addEventListener("load", () => {
  const broken = [...document.images].filter(image => !image.naturalWidth).length;
  const loaded = performance.getEntriesByType("resource").filter(r => !r.name.startsWith("data:")).length;
  document.title = JSON.stringify([innerWidth, document.documentElement.scrollWidth, broken, loaded]);
});</script></body>"""


@pytest.fixture(scope="module")
def proved():
    wave = targets.zonal_harmonic(2, 3)
    head = SplitHead.from_target(wave, EqualMeasurePartition(2, 200), 30.0)
    return validate(head, wave, n=300, certified=Proof(slack=0.5), examine=["claims", "worst case", "lemmas"])


def test_the_page_has_every_part_and_loads_nothing(proved):
    page = proved.to_html(command="spherapprox validate --n 200", source="target = mine")
    for title in ("What was asked", "Bounds against what was achieved", "The parts of the error",
                  "Where the error is largest", "attempts to refute it", "Proof of the upper bound",
                  "How to reproduce it"):  # fmt: skip
        assert title in page
    for check in proved.checks:
        assert check.theorem in page
    assert "spherapprox validate --n 200" in page
    assert "target = mine" in page
    assert not re.search(r'(?:src|href)="(?!data:)|url\(|@import|<script', page)


def test_text_of_users_is_escaped():
    evil = '<script>alert("&")</script>'
    target = Target(lambda x: x[:, 2], 2, lipschitz=1.0, sup_norm=1.0, name=evil, unit=evil, provenance=evil, degree=1)
    head = SplitHead.from_target(target, EqualMeasurePartition(2, 30), 9.0)
    page = validate(head, target, n=100, examine=["claims"]).to_html(command=evil, source=evil)
    assert "<script" not in page
    assert page.count(html.escape(evil)) >= 5


LONG = "spherapprox study --n 40 " + 30 * "--a-long-option " + 300 * "x"


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A study of two heads, and its page."""
    return study_page(targets.zonal_harmonic(2, 3), tmp_path_factory.mktemp("study"), LONG)


def study_page(target, folder, command=""):
    """The page of a study of two heads."""
    found = study.run(target, [40], choices=["theory"], points=300, certified=True)
    study.save(found, folder, command=command)
    return found, (folder / "study.html").read_text(encoding="utf-8")


def test_the_page_of_a_study_has_every_head_and_loads_nothing(studied):
    found, page = studied
    for title in ("Error against the number of control points", "Every head", "One head on the map", "The function",
                  "How to reproduce it", "spherapprox study --n 40"):  # fmt: skip
        assert title in page
    assert "The errors of 2 of 2 heads are enclosed by proof." in page
    for row in found.rows:
        for number in (row.concentration, row.error, row.bound):
            assert f">{number:.4g}</td>" in page
        assert f'data-label="proven">{up(row.upper)}</td>' in page
        assert float(up(row.upper)) >= row.upper
    assert "the largest value found of a bound that is proven at each point" in page
    assert page.count("data:image/png") == 2
    assert not re.search(r'(?:src|href)="(?!data:)|url\(|@import|<script', page)


def test_text_of_users_in_a_study_is_escaped_and_violations_come_first(tmp_path, no_figures):
    evil = '<script>alert("&")</script>'
    target = Target(lambda x: x[:, 2], 3, lipschitz=1e-3, sup_norm=1.0, name=evil, unit=evil, provenance=evil)
    _, page = study_page(target, tmp_path, evil)
    assert "<script" not in page
    assert page.count(html.escape(evil)) >= 5
    assert "Violated: a bound, by 2 of 2 heads. Refuted: Lipschitz constant." in page
    assert 'data-label="2nd order"' not in page
    assert "2nd order</th>" not in page


@pytest.mark.parametrize("name", ["command", "source"])
def test_text_that_is_none_is_refused(proved, name):
    with pytest.raises(TypeError, match=f"'{name}' must be a str, got 3"):
        proved.to_html(**{name: 3})


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [500, 1280])
@pytest.mark.parametrize("kind", ["validation", "study"])
def test_a_browser_shows_the_page_without_errors_and_nothing_runs_over(proved, studied, tmp_path, width, kind):
    """Headless Chromium opens no window narrower than 500; the frame is 390 wide there, as a phone."""
    page = studied[1] if kind == "study" else proved.to_html(command=LONG, source=300 * "x")
    inner = tmp_path / "page.html"
    inner.write_text(page.replace("</body>", PROBE), encoding="utf-8")
    shown = inner
    if width == 500:
        shown = tmp_path / "frame.html"
        frame = (
            '<iframe src="page.html" style="width:390px;height:900px;border:0" '
            'onload="setTimeout(() => { document.title = this.contentDocument.title }, 200)"></iframe>'
        )
        shown.write_text(f"<!DOCTYPE html><title></title>{frame}", encoding="utf-8")
    done = subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--allow-file-access-from-files",
         "--enable-logging=stderr", f"--window-size={width},900", "--virtual-time-budget=3000",
         f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", shown.as_uri()],
        capture_output=True, encoding="utf-8", check=True, timeout=60,
    )  # fmt: skip
    assert "CONSOLE" not in done.stderr
    title = html.unescape(re.search(r"<title>(.*?)</title>", done.stdout)[1])
    inside, across, broken, loaded = json.loads(title)
    assert inside == (390 if width == 500 else width)
    assert across <= inside
    assert (broken, loaded) == (0, 0)


def test_records_and_the_document_are_plain_and_complete(proved):
    records = proved.records()
    assert len({tuple(record) for record in records}) == 1
    assert [record["name"] for record in records] == [c.theorem for c in (*proved.checks, *proved.lemmas)]
    document = json.loads(proved.to_json())
    assert document["checks"] == records
    assert document["summary"] == "proved"
    certificate = document["error"]["certificate"]
    assert certificate["constants"]["degree"] == document["target"]["origins"]["degree"] == "derived"
    assert document["error"]["upper"] == proved.error.upper


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_files_are_written_together_and_the_head_comes_back(tmp_path, dim, no_figures):
    from spherapprox import load

    target = targets.distance(dim)
    head = CoreHead.from_target(target, EqualMeasurePartition(dim, 50), 5.0)
    result = validate(head, target, n=200)
    paths = result.save(tmp_path / "out")
    assert [path.name for path in paths] == [
        "validated-head.npz", "validation.csv", "validation.html", "validation.json", "validation.png",
    ]  # fmt: skip
    assert load(paths[0]) == head
    rows = paths[1].read_text("utf-8").splitlines()
    assert len(rows) == 1 + len(result.checks)
    assert result.figure().axes


def test_a_record_made_by_hand_has_no_page(proved):
    bare = type(proved)(proved.error, proved.checks)
    with pytest.raises(ValueError, match="the page needs the head and the target"):
        bare.to_html()
    assert np.isfinite(bare.records()[0]["lower"])
