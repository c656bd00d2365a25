"""
A program for a recurrent network
=================================

A program in the language of ``spherapprox.prompts.recurrent`` becomes one stock RNN, LSTM or GRU, without training.
This one says whether brackets are balanced so far: 1 opens, -1 closes.
"""

import numpy as np
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox.prompts.recurrent import Concat, Input, LinState, Program, ReLU, RunningMax, step

x = Input(1, bound=1.0, name="bracket")
depth = LinState(x, 1.0, bound=1024.0, name="depth")
lowest = RunningMax(-depth, 1024.0, name="lowest")
wrong = step(Concat([depth, -depth, lowest]))  # open now, too many closed, ever too many closed
program = Program(ReLU(1.0 - np.ones((1, 3)) @ wrong), "Balanced brackets")
figure = plot.program_figure(program)

# %%
# A text, how deep it is, and where the compiled network says that all is closed.

text = "(())()(()())()"
given = [[1.0 if c == "(" else -1.0] for c in text]
depths, closed = program.trace(given)["depth"][:, 0], program.compile()(given)[:, 0]
along = Figure(figsize=(7.6, 3.2), layout="constrained")
axes = along.subplots()
axes.step(range(len(text)), depths, where="mid", color="#0072B2", lw=2.5)
axes.plot(np.flatnonzero(closed), depths[closed > 0.5], "o", color="#D55E00", ms=10, label="network: balanced so far")
axes.set_xticks(range(len(text)), text, fontsize=14)
axes.set(ylim=(-0.3, 3.0), yticks=[0, 1, 2])
axes.set_ylabel("depth", fontsize=12)
axes.legend(loc="upper right", frameon=False, fontsize=12)
