"""Progress: lines where there is no terminal, and no word where none is wanted."""

import pytest

from bounds.report import evaluate_ladder
from bounds.report._progress import each


@pytest.mark.parametrize(("progress", "lines"), [(True, 2), (False, 0), (None, 0)])
def test_progress_is_shown_in_lines_where_there_is_no_terminal(capsys, progress, lines):
    assert list(each([20, 30], progress, "head", "N = {}".format, seconds=0.0)) == [20, 30]
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == lines
    assert not lines or shown[1] == "1 of 2 heads after 0 s; next N = 30"


def test_a_line_comes_after_some_seconds_only(capsys):
    evaluate_ladder([0.5], dim=2, progress=True)
    assert capsys.readouterr().err == ""
