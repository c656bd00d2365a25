"""The figure of a program: a disc for each variable that is computed, and lines from what it is computed from."""

import io

import numpy as np
import pytest

from bounds.report import plot
from spherapprox.prompts.recurrent import Concat, Input, LinState, Program, ReLU, RunningMax


def test_discs_lines_and_names():
    x = Input(2, name="pair")
    total = LinState(x, 0.5, name="total")
    wide = ReLU(total) + RunningMax(total, 4.0) + x
    figure = plot.program_figure(Program(Concat([wide, x]), "a title"))
    (axes,) = figure.axes
    assert axes.get_title() == "a title"
    assert sorted(text.get_text() for text in axes.texts) == ["2", "2", "2", "2", "4", "output", "pair", "total"]
    assert len(axes.patches) == 1 + 2 + 3  # to the state, from it, and to the output
    places = {text.get_text(): text.xy for text in axes.texts}
    assert places["pair"][0] < places["total"][0] < places["output"][0]
    legend = [text.get_text() for text in figure.legends[0].texts]
    assert legend == ["Input", "Linear", "LinState", "ReLU", "RunningMax"]
    figure.savefig(io.BytesIO(), format="png")


def test_traces_have_all_named_variables_at_all_steps():
    x = Input(2, name="pair")
    program = Program(ReLU(LinState(x, 0.5, name="total")).named("positive"), "a title")
    steps = [[1.0, -2.0], [0.5, 0.0], [-4.0, 1.0]]
    figure = plot.trace_figure(program, steps)
    (axes,) = figure.axes
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"{name}[{i}]" for name in ("pair", "→ total", "positive") for i in range(2)]
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    values = np.hstack([*program.trace(steps).values()])
    assert shown == {(t, k): f"{values[t, k] + 0.0:.3g}" for t in range(3) for k in range(6)}
    assert axes.images[0].get_array()[3].tolist() == pytest.approx(
        [-4.0 / 7.0, -2.0 / 7.0, 1.0 / 7.0]
    )  # 3.5 is in total[0]
    figure.savefig(io.BytesIO(), format="png")


def test_arrows_stand_before_states_alone_where_names_are_shared():
    bits = Input(1, name="bit")
    program = Program(LinState(ReLU(bits, name="s"), 1.0, name="s") + LinState(bits, 1.0, name="t #2"))
    figure = plot.trace_figure(program, [[1.0]])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["bit", "s", "→ s #2", "→ t #2"]
