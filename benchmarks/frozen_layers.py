"""What every frozen layer can do with a prefix, and what none can: random weights, trained ones, your own.

Each layer is a `torch.nn.MultiheadAttention` whose weights nobody changes.

- Can: a prefix in closed form makes it the split head of the Earth's magnetic field with 500 tokens (8.6, `program`),
  and gives it any outputs at k examples with k tokens (8.5, `fit_layer`).
- Cannot: two contents that every prefix takes for one (8.4, `collision`; outputs under 200 random prefixes), and least
  errors of any prefix for one query of a head in 8 windows of 12 tokens, over the largest change that is wanted: one
  vector added, all times 1.1, one output for all (8.2, `reachable`; medians over the heads).

Layers are six of random weights and one trained here (pretrained.py), those of two public models where the extra
`pretrained` is installed (layers.py), and your own: ``--weights module:object`` names a `MultiheadAttention` or a
function that returns one; ``--weights file.npz`` holds in_proj_weight, out_proj_weight and heads, if there are any
in_proj_bias and out_proj_bias (in torch's orientation: of GPT-2 transposed), and inputs of the layer as `content`,
100 rows or more (else normal ones)::

    python benchmarks/frozen_layers.py --out results
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from harness import Experiment, main
from matplotlib.figure import Figure
from tabulate import tabulate

from bounds.report.plot.style import BLUE, GREEN, ORANGE, RED, grid
from spherapprox import EqualMeasurePartition, SplitHead, sphere, targets
from spherapprox._extras import installed

COUNTS, WINDOWS, TOKENS = (16, 64), 8, 12
CHANGES = {"one vector added": ORANGE, "times 1.1": RED, "one output for all": GREEN}
"""Names of the changes of prefix_limits.py, in its order."""


def own(text: str) -> Any:
    """Return the layer of a file of weights, or of ``module:object``."""
    import torch
    from pretrained import Layer

    content = None
    if text.endswith(".npz"):
        with np.load(text) as held:
            arrays = dict(held)
        content = arrays.get("content")
        mha = torch.nn.MultiheadAttention(arrays["in_proj_weight"].shape[1], int(arrays["heads"]), batch_first=True)
        names = {"in_proj_weight": "in_proj_weight", "out_proj_weight": "out_proj.weight"}
        biases = {"in_proj_bias": "in_proj_bias", "out_proj_bias": "out_proj.bias"}
        state = {name: np.zeros(len(arrays[name.replace("bias", "weight")])) for name in biases} | arrays
        mha.load_state_dict({own: torch.tensor(state[name]) for name, own in (names | biases).items()})
    else:
        module, _, name = text.partition(":")
        sys.path.insert(0, "")
        try:
            mha = functools.reduce(getattr, name.split("."), __import__(module, fromlist=["_"]))
            mha = mha if isinstance(mha, torch.nn.Module) else mha()
        finally:
            sys.path.remove("")
    mha = mha.double().eval().requires_grad_(False)
    if content is None:
        content = np.random.default_rng(0).standard_normal((100, mha.embed_dim))
    return Layer(text, mha, [content], [content])


def layers_of(source: str) -> list[Any]:
    """Return the layers of a source."""
    import pretrained

    made: dict[str, Callable[[], list[Any]]] = {
        "plain": pretrained.plain, "anarcii": pretrained.anarcii, "recogniser": pretrained.recogniser,
    }  # fmt: skip
    found = made[source]() if source in made else [own(source)]
    return [layer for layer in found if " to " not in layer.name]  # whose queries see other tokens than contents


def floors(layer: Any) -> dict[str, float]:
    """Return the least errors of any prefix for changes of a head's outputs at one query: medians over the heads."""
    from prefix_limits import CHANGES as WANTED

    from spherapprox.prompts.prefix import as_layer, reachable

    frozen, rows = as_layer(layer.mha), np.concatenate(layer.contents)[: WINDOWS * TOKENS]
    content = rows.reshape(WINDOWS, TOKENS, -1)
    asking = np.tile(rows[-1], (WINDOWS, 1, 1))
    query, key, value = frozen.head_inputs(asking, content)  # (windows, heads, tokens, s or p)
    outputs = frozen.head_outputs(asking, content)[:, :, 0]  # (windows, heads, p)
    found = {}
    for name, change in zip(CHANGES, WANTED.values(), strict=True):
        shares = []
        for h in range(frozen.heads):
            wanted = change(outputs[:, h], np.random.default_rng(0))
            least = reachable(query[:, h, 0], key[:, h], value[:, h], wanted, scale=frozen.scale).error
            shares.append(least / np.abs(wanted - outputs[:, h]).max())
        found[name] = float(np.median(shares))
    return found


def measure(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure the layers of a source."""
    from pretrained import collided, memorised, programmed

    field, x = targets.geomagnetic_field(2025.0), sphere.uniform(2, 500, rng=0)
    head = SplitHead.from_target(field, EqualMeasurePartition(2, 500), 100.0)
    rows = []
    for layer in layers_of(case["layers"]):
        outputs = programmed(layer, head, field(x), x)[1]
        row = {
            "layer": layer.name, "width": layer.mha.embed_dim, "heads": layer.mha.num_heads,
            "program": np.abs(outputs - head(x)).max() / np.abs(head(x)).max(),
        }  # fmt: skip
        for count in case["examples"]:
            _, k, _, _, tokens, error, condition, _ = memorised(layer, count)
            row |= {
                f"tokens for {k}": int(tokens),
                f"error at {k}": float(error),
                f"condition at {k}": float(condition),
            }
        _, apart, differ, least, _ = collided(layer)
        row |= {"contents apart": float(apart), "outputs differ": float(differ), "least error": float(least)}
        rows.append(row | floors(layer))
    return rows


def cases(quick: bool, weights: str | None = None) -> list[dict[str, Any]]:
    """Return the sources of layers."""
    sources = ["plain"]
    if not quick:
        sources += ["anarcii"] * installed("anarcii") + ["recogniser"] * installed("onnx")
    found: list[dict[str, Any]] = [{"layers": source, "examples": COUNTS[: 1 if quick else None]} for source in sources]
    if weights is not None:
        path = Path(weights)
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
        found.append({"layers": weights, "examples": COUNTS[:1], "sha256": digest})
    return found


def draw(rows: list[dict[str, Any]]) -> Figure:
    """Draw what every layer can above, what none can below."""
    figure = Figure(figsize=(5.6, 0.62 * len(rows) + 3.2), layout="constrained")
    above, below = figure.subplots(2, 1)
    places = np.arange(len(rows))
    counts = [name for name in rows[0] if name.startswith("error at ")]
    for name, colour, label in [("program", BLUE, "a given function")] + [
        (name, colour, f"outputs at {name[9:]} examples") for name, colour in zip(counts, (ORANGE, GREEN), strict=False)
    ]:
        held = [max(row.get(name, np.nan), 1e-16) for row in rows]
        above.semilogx(held, places, "o", color=colour, ms=7, label=label)
    above.set_xlim(1e-16, 1.0)
    above.set_xlabel("largest error", fontsize=11)
    above.set_title("Every layer can: errors of prefixes in closed form", fontsize=12, loc="right")
    for name, colour in CHANGES.items():
        below.plot([row[name] for row in rows], places, "o", color=colour, ms=7, label=name)
    below.set_xlim(-0.04, 1.04)
    below.set_title("What no prefix reaches of a change of outputs", fontsize=12, loc="right")
    below.set_xlabel("least error / change that is wanted", fontsize=11)
    for panel in (above, below):
        panel.set_yticks(places, [row["layer"] for row in rows])
        panel.invert_yaxis()
        panel.tick_params(labelsize=10)
        panel.spines[["top", "right"]].set_visible(False)
        grid(panel)
        panel.legend(loc="upper center", bbox_to_anchor=(0.3, -0.2), ncols=2,
                     frameon=False, fontsize=10)  # fmt: skip
    return figure


def summary(rows: list[dict[str, Any]]) -> str:
    """Return the table, and the worst and the best of the layers."""
    names = ["width", "heads", "program", *(n for n in rows[0] if n.startswith(("tokens for", "error at"))),
             "contents apart", "outputs differ", *CHANGES]  # fmt: skip
    cells = [[row["layer"], *(f"{row.get(name, np.nan):.3g}" for name in names)] for row in rows]
    table = tabulate(cells, ["layer", *names], tablefmt="github", disable_numparse=True)
    errors = [row[name] for row in rows for name in row if name == "program" or name.startswith("error at ")]
    apart, differ, added = ([row[n] for row in rows] for n in ("contents apart", "outputs differ", "one vector added"))
    return (
        f"{table}\n\nIn all {len(rows)} layers prefixes in closed form do what is asked, to {max(errors):.1g} or "
        f"better. In all of them there are contents, apart by {min(apart)} of their length or more, "
        f"whose outputs differ by {max(differ):.1g} or less under 200 random prefixes. To add one vector to outputs "
        f"at one query in {WINDOWS} contexts every prefix misses {min(added):.2g} to {max(added):.2g} of the vector: "
        "medians over the heads."
    )


EXPERIMENT = Experiment(
    name="frozen_layers",
    question="What can a prefix do in every frozen layer, and what in none?",
    cases=cases, measure=measure, draw=draw, summary=summary, requires=("torch",),
    packages=("torch", "anarcii", "rapidocr-onnxruntime"),
)  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--weights")
    chosen, others = parser.parse_known_args()
    more = () if chosen.weights is None else ("--weights", chosen.weights)
    main(replace(EXPERIMENT, cases=functools.partial(cases, weights=chosen.weights)), others, more=more)
