"""Long validations: the part at work is shown where that is asked for, and an interruption leaves nothing behind."""

import dataclasses
import sys

import pytest

from bounds import validate
from bounds.report import evaluate_ladder
from bounds.validation._progress import each
from spherapprox import CoreHead, EqualMeasurePartition, targets
from spherapprox.error import Proof
from spherapprox.summation import show_progress

WAVE = targets.zonal_harmonic(2, 3)
HEAD = CoreHead.from_target(WAVE, EqualMeasurePartition(2, 100), 20.0)
PARTS = {"n": 200, "examine": ["claims", "lemmas"]}


@pytest.mark.parametrize(("progress", "lines"), [(True, 2), (False, 0), (None, 0)])
def test_progress_is_shown_in_lines_where_there_is_no_terminal(capsys, progress, lines):
    assert list(each([20, 30], progress, "head", "N = {}".format, seconds=0.0)) == [20, 30]
    text = capsys.readouterr().err.splitlines()
    assert len(text) == lines
    assert not lines or text[1] == "1 of 2 heads after 0 s; next N = 30"


def test_a_line_comes_after_some_seconds_only(capsys):
    evaluate_ladder([0.5], dim=2, progress=True)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_the_part_at_work_and_no_bar_for_each_sum(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    silent = validate(HEAD, WAVE, **PARTS)
    assert capsys.readouterr().err == ""
    with show_progress():
        assert str(validate(HEAD, WAVE, **PARTS)) == str(silent)
        text = capsys.readouterr().err
        HEAD(HEAD.control_points)
    assert all(f"{part}:" in text for part in ("error", "Lipschitz constant", "theorems", "lemmas"))
    assert "pair" not in text
    assert "pair" in capsys.readouterr().err


def test_interrupted_proofs_go_on_from_files_of_their_own(tmp_path):
    calls, stop = [], [0]

    def function(x):
        calls.append(len(x))
        if len(calls) == stop[0]:
            raise KeyboardInterrupt
        return WAVE(x)

    target = dataclasses.replace(WAVE, function=function)
    options = PARTS | {"certified": Proof(0.3, checkpoint=tmp_path / "state")}
    result = validate(HEAD, target, **options)
    for count, files in ((len(calls) // 100, []), (len(calls) - 2, ["state.discretisation"])):
        calls.clear()
        stop[0] = count
        with pytest.raises(KeyboardInterrupt):
            validate(HEAD, target, **options)
        stop[0] = 0
        assert [path.name for path in tmp_path.iterdir()] == files
        again = validate(HEAD, target, **options)
        assert (again.summary, again.records()[0]) == (result.summary, result.records()[0])
        assert not list(tmp_path.iterdir())
