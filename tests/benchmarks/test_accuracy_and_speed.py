"""The experiments on accuracy and speed: what is measured lies within its limit, and what is seen follows the rows."""

import math
from importlib import import_module

import numpy as np
import pytest

CASES = [
    {"part": "special", "what": "log_surface_area", "points": 1},
    {"part": "head", "what": "split", "dim": 1, "rate": 1e8},
    {"part": "gradient", "what": "split", "dim": 8, "rate": 1e2},
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['part']} {case['what']}")
def test_errors_are_within_their_limits(case):
    rows = import_module("accuracy").measure(case)
    assert len(rows) in (1, 2)
    for row in rows:
        assert 0.0 <= row["error"] <= row["limit"] < 1e-4, row


def test_an_error_that_is_there_is_seen(monkeypatch):
    accuracy = import_module("accuracy")
    plain = accuracy.explain_sum

    def wrong(*arguments, **options):
        sums, plan = plain(*arguments, **options)
        return sums * 1.01, plan

    monkeypatch.setattr(accuracy, "explain_sum", wrong)
    rows = accuracy.measure({"part": "evaluate", "what": "dense", "dim": 2, "rate": 100.0})
    assert all(row["error"] > row["limit"] for row in rows)
    assert "0 of 2 keep what is promised; not dense, float64, dense, float32." in accuracy.summary(rows)


def test_the_worst_row_is_shown():
    accuracy = import_module("accuracy")
    row = {"part": "head", "what": "a", "scale": "|v|", "dim": 2, "concentration": 10.0, "error": 1e-15, "limit": 1e-14}
    rows = [row, row | {"error": 1e-3, "limit": 1e-1}, row | {"part": "special", "what": "b", "error": 0.0}]
    assert [(row["what"], row["error"]) for row in accuracy.worst_of(rows)] == [("b", 0.0), ("a", 1e-15)]
    dots = [line for line in accuracy.draw(rows).axes[0].lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in dots] == pytest.approx([17.0, 15.0])
    assert "\\|v\\|" in accuracy.summary(rows)
    assert accuracy.digits(math.inf) == -math.inf


def test_ratios_are_peers_over_ours():
    speed, timing = import_module("speed"), import_module("timing")
    ours, peer = timing.Timed(lambda: np.ones(3)), timing.Timed(lambda: np.full(3, 1.5))
    ours(), peer()
    assert speed.apart(ours, peer) == "3.3e-01"
    row = timing.Row("sums, small / a peer", lambda: 0.5, lambda: 2.0, lambda: "no")
    assert speed.timed(row, 3) == {"what": "sums, small", "peer": "a peer", "ours": 0.5, "theirs": 2.0, "apart": "no"}
    rows = [speed.timed(row, 1) | {"work": "sums", "ratio": ratio} for ratio in (4.0, 0.5)]
    assert "The median of 2 ratios is 2.25; 1 are below 1" in speed.summary(rows)
    dots = [line for line in speed.draw(rows).axes[0].lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in dots] == [4.0, 0.5]
    assert dots[0].get_color() != dots[1].get_color()


def test_work_without_its_peer_is_left_out(monkeypatch):
    speed = import_module("speed")
    monkeypatch.setattr(speed, "missing", lambda peers: "needs torch" if "torch" in peers else "")
    monkeypatch.setattr(speed, "installed", lambda peer: peer != "torch")
    assert {"attention", "recurrent programs"} == set(speed.WORK) - {case["work"] for case in speed.cases(quick=True)}
    rows = [{"work": "w", "what": "a", "peer": "p", "ours": 1.0, "theirs": 2.0, "ratio": 2.0, "apart": ""}]
    assert "not installed: torch (`pip install torch`)" in speed.summary(rows)
