"""The figure of a program: a disc for each variable that is computed, and lines from what it is computed from."""

import io

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
