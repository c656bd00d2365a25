"""What prefixes can do in attention layers that others trained, from weights inside wheels of PyPI.

There are five such layers; layers.py says what the models are and how their wheels are installed (versions pinned,
hashes checked, nothing fetched at run time). Beside them stand layers of random weights and one that is trained here.
For each layer this

- programs the Earth's magnetic field into it by a prefix in closed form (`spherapprox.prompts.prefix.program`), with
2000
  tokens at equal-measure points and with the fewest for 0.1 % (`shortest_head`), and draws the maps that two of
  the frozen layers compute;
- finds content that no prefix tells apart from content that the model has seen (`collision`);
- says how long a prefix must be for k examples (`bounds.prompts.memorization_length`) and fits one (`fit_layer`).

Every number about a layer is computed by a `torch.nn.MultiheadAttention` with its weights. It takes some 2 minutes::

    python benchmarks/pretrained.py --out docs/pretrained.png
"""

from __future__ import annotations

import argparse
import copy
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from layers import RECOGNISER, antibodies, drawn, lines, numbers, weights, wheel
from matplotlib.figure import Figure
from numpy.typing import NDArray
from tabulate import tabulate

from bounds.prompts import memorization_length
from bounds.report.plot.maps import draw_map, map_points
from spherapprox import EqualMeasurePartition, SplitHead, shortest_head, targets
from spherapprox.prompts.prefix import as_layer, collision, fit_layer, program, unavoidable_error
from spherapprox.prompts.prefix.torch_modules import program_module

Array = NDArray[np.float64]

ANARCII = {
    "anarcii encoder": "encoder.layers.0.self_attention.multihead_attn",
    "anarcii decoder": "decoder.layers.0.self_attention.multihead_attn",
    "anarcii decoder to encoder": "decoder.layers.0.encoder_attention.multihead_attn",
}
LINEAR = {"recogniser 1": ("linear_77", "linear_78"), "recogniser 2": ("linear_81", "linear_82")}
"""Names of the recogniser's fused projections, and of what is behind the heads."""
INPUTS, SEEN = 12, 8
"""Inputs of the models that contents are taken from; tokens of a content that collides."""
EPS = 0.001
ROWS = 121
"""Of the maps, from pole to pole."""
OFFSET = 100.0
"""Added to the logits of programmed prefixes: the decoder's own logits are up to 60."""
EXAMPLES = (16, 64, 256)


@dataclass(frozen=True)
class Layer:
    """A trained layer, in float64; what asked and what was attended to (T, d), (n, d), at each of several inputs."""

    name: str
    mha: Any
    queries: list[Array]
    contents: list[Array]


def anarcii() -> list[Layer]:
    """Return the layers of anarcii's smaller model, and what they see of antibodies."""
    with wheel("anarcii"):
        from anarcii.inference.model_loader import Loader
        from anarcii.input_data_processing.tokeniser import NumberingTokeniser

        weights("anarcii", "models/antibody/antibody_4_1_128_512.pt")
    model = Loader("antibody", "speed", torch.device("cpu")).model
    tokeniser, modules = NumberingTokeniser("protein_antibody"), dict(model.named_modules())
    calls: dict[str, list[Any]] = {name: [] for name in ANARCII}
    sequences = antibodies(np.random.default_rng(0))[:INPUTS]
    inputs = [torch.tensor(tokeniser.encode(["<SOS>", *acids, "<EOS>"]))[None].long() for acids in sequences]
    with torch.no_grad():
        numbered = [numbers(model, source) for source in inputs]
        for name, path in ANARCII.items():
            modules[path].register_forward_pre_hook(lambda _, rows, name=name: calls[name].append(rows[:2]))
        for source, seen in zip(inputs, numbered, strict=True):
            mask = model.make_src_mask(source)
            model.decoder(seen, model.encoder(source, mask), *model.make_trg_mask(seen), mask)
    layers = []
    for name, path in ANARCII.items():
        mha = copy.deepcopy(modules[path]).double().eval()
        mha._forward_pre_hooks.clear()
        queries, contents = ([part[i][0].double().numpy() for part in calls[name]] for i in (0, 1))
        layers.append(Layer(name, mha, queries, contents))
    return layers


def recogniser() -> list[Layer]:
    """Return the attention layers of the recogniser, and what they see of lines of text."""
    with wheel("rapidocr-onnxruntime"):
        import onnx
        import onnxruntime

        path = weights("rapidocr_onnxruntime", RECOGNISER)
    model = onnx.load(path)
    held = {node.output[0]: node.attribute[0].t for node in model.graph.node if node.op_type == "Constant"}
    held |= {tensor.name: tensor for tensor in model.graph.initializer}
    users = {node.input[1]: node for node in model.graph.node if node.op_type == "MatMul"}
    names = {name: users[f"{fused}.w_0"].input[0] for name, (fused, _) in LINEAR.items()}
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(tensor) for tensor in names.values())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = [session.run(list(names.values()), {"x": drawn(text)}) for text in lines()[:INPUTS]]
    layers = []
    for i, (name, (fused, behind)) in enumerate(LINEAR.items()):
        mha = torch.nn.MultiheadAttention(120, 8, batch_first=True, dtype=torch.float64)
        parts = [onnx.numpy_helper.to_array(held[f"{part}.{kind}_0"]) for part in (fused, behind) for kind in "wb"]
        state = dict(zip(("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"), parts, strict=True))
        mha.load_state_dict({key: torch.tensor(part.T) for key, part in state.items()})
        rows = [part[i][0].astype(np.float64) for part in found]
        layers.append(Layer(name, mha.eval(), rows, rows))
    return layers


def plain() -> list[Layer]:
    """Return layers of normal weights, and one that is trained to find tokens by the first half of their numbers."""
    layers = []
    for d, heads in ((32, 1), (32, 4), (64, 4), (64, 8), (128, 8), (256, 8)):
        torch.manual_seed(d + heads)
        mha = torch.nn.MultiheadAttention(d, heads, batch_first=True, dtype=torch.float64)
        for parameter in mha.parameters():
            torch.nn.init.normal_(parameter, std=0.3 * (64 / d) ** 0.5)
        content = torch.randn(100, d, dtype=torch.float64).numpy()
        layers.append(Layer(f"random, {d} wide, {heads} heads", mha.eval(), [content], [content]))
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(64, 4, batch_first=True)
    optimiser = torch.optim.Adam(mha.parameters(), 3e-3)
    for _ in range(1000):
        x = torch.randn(64, 12, 64)
        loss = torch.mean((mha(x * (torch.arange(64) < 32), x, x, need_weights=False)[0] - x) ** 2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print(f"trained here: loss {loss.item():.2g}")
    content = torch.randn(100, 64).double().numpy()
    return [*layers, Layer("trained here, 64 wide, 4 heads", mha.double().eval(), [content], [content])]


def programmed(layer: Layer, head: SplitHead, truth: Array, x: Array) -> tuple[list[str], Array]:
    """Program a head into a layer; return a row of the table, and the outputs at points."""
    rng = np.random.default_rng(0)
    d = layer.mha.embed_dim
    options = {"embedding": np.linalg.qr(rng.standard_normal((d, 3)))[0], "readout": rng.standard_normal(d) / d**0.5}
    begin = time.perf_counter()
    made = program(head, layer.mha, **options, offset=OFFSET)
    seconds = time.perf_counter() - begin
    module = program_module(layer.mha, head, **options, offset=OFFSET)
    single = program_module(copy.deepcopy(layer.mha).float(), head, **options, offset=OFFSET)
    content = layer.contents[0]
    with torch.no_grad():
        seen, parts = torch.tensor(content), torch.tensor(x).split(2000)
        outputs = torch.cat([module(part, seen) for part in parts]).numpy()
        low = torch.cat([single(part.float(), seen.float()) for part in parts]).double().numpy()
    wanted, size = head(x), abs(truth).max()
    rows = layer.mha.num_heads * 4 + 1
    bound = made.bound(x[:500], content).max()
    numbers = f"{rows} of {rows}", f"{made.condition:.1f}", f"{abs(outputs - wanted).max():.1e}", f"{bound:.0e}"
    errors = f"{abs(low - wanted).max():.1e}", f"{100 * abs(outputs - truth).max() / size:.2g} %", f"{seconds:.3f}"
    return [layer.name, str(len(head)), *numbers, *errors], outputs


def collided(layer: Layer) -> list[str]:
    """Find a collision with content that the layer has seen, and try prefixes on both."""
    content = layer.contents[0][:SEEN]
    other = collision(content, layer.mha, rng=0)
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(200):
        tokens = 3.0 * content.std() * rng.standard_normal((int(rng.integers(1, 6)), content.shape[1]))
        with torch.no_grad():
            ours, theirs = (
                layer.mha(rows[-1:], joined, joined, need_weights=False)[0]
                for rows in map(torch.tensor, (content, other))
                for joined in [torch.cat([torch.tensor(tokens), rows])]
            )
        worst = max(worst, float((ours - theirs).abs().max()))
    apart = np.linalg.norm(other - content) / np.linalg.norm(content)
    outputs = as_layer(layer.mha).attend(content)[-1]
    wanted = np.stack([outputs, -outputs])
    size = f"{np.linalg.norm(outputs):.2g}"
    return [
        layer.name,
        f"{apart:.2f}",
        f"{worst:.1e}",
        f"{unavoidable_error(content, other, layer.mha, wanted):.2g}",
        size,
    ]


def memorised(layer: Layer, count: int) -> list[str]:
    """Fit a prefix to random outputs at beginnings of sequences that the layer has seen, with different last tokens."""
    rng = np.random.default_rng(2)
    places = [(i, t) for i, rows in enumerate(layer.contents) for t in range(1, len(rows))]
    _, different = np.unique([layer.contents[i][t] for i, t in places], axis=0, return_index=True)
    chosen = [places[k] for k in rng.permutation(different)[:count]]
    sequences = [layer.contents[i][: t + 1] for i, t in chosen]
    wanted = rng.standard_normal((len(chosen), layer.mha.embed_dim))
    begin = time.perf_counter()
    prefix = fit_layer(layer.mha, [rows[-1] for rows in sequences], sequences, wanted)
    seconds = time.perf_counter() - begin
    free = 2 * layer.mha.embed_dim
    least = [
        memorization_length(count, theorem=theorem, numbers=free, n_outputs=layer.mha.embed_dim, **options).as_integer()
        for theorem, options in (
            ("memorize-dimension", {}),
            ("memorize-values", {"tol": 0.01, "bits": 16}),
        )
    ]
    return [layer.name, str(len(chosen)), *map(str, least), str(len(prefix)), f"{prefix.error:.0e}",
            f"{prefix.condition:.2g}", f"{seconds:.2f}"]  # fmt: skip


def draw(truth: Array, maps: Sequence[tuple[str, Array]]) -> Figure:
    """Draw the field, and for each layer the map that it computes and the difference."""
    figure = Figure(figsize=(10.0, 2.3 * (len(maps) + 1)), layout="constrained")
    panels: Any = figure.subplots(len(maps) + 1, 2, subplot_kw={"projection": "mollweide"})
    size = abs(truth).max()
    panels[0, 1].set_visible(False)
    rows = [("the Earth's magnetic field, radial, 2025", truth), *maps]
    for row, (title, values) in zip(panels, rows, strict=True):
        drawn_maps = [(values, size, "microtesla", "RdBu_r")]
        if values is not truth:
            drawn_maps.append((100.0 * (values - truth) / size, 0.1, "error, % of the largest value", "PuOr_r"))
        for panel, (part, top, label, colours) in zip(row, drawn_maps, strict=False):
            image = draw_map(panel, part.reshape(ROWS, -1), coastlines=True, vmin=-top, vmax=top, cmap=colours).image
            figure.colorbar(image, ax=panel, label=label, shrink=0.8)
        row[0].set_title(title, fontsize=10)
    return figure


def main() -> None:
    """Run it all, print tables and write the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("pretrained.png"))
    chosen = parser.parse_args()
    layers = [*anarcii(), *recogniser()]
    others = plain()
    field = targets.geomagnetic_field(2025.0)
    long = SplitHead.from_target(field, EqualMeasurePartition(2, 2000), 300.0)
    short: Any = shortest_head(field, EPS, relative=True).head
    x = map_points(ROWS)
    truth = field(x)
    table, maps = [], []
    for layer in [*layers, *others]:
        for head in (long, short):
            row, outputs = programmed(layer, head, truth, x)
            table.append(row)
            if head is short and layer.name in ("anarcii encoder", "recogniser 1"):
                maps.append((f"{layer.name}: frozen, prefix of {len(head)} tokens", outputs))
    show("programs", table, ["layer", "tokens", "rank", "condition", "|layer - head|", "bound (content)",
                             "float32", "error", "s"])  # fmt: skip
    show("collisions", [collided(layer) for layer in layers],
         ["layer", "apart", "outputs differ, 200 prefixes", "least error, targets out and -out", "|out|"])  # fmt: skip
    header = ["layer", "examples", "at least (reals)", "at least (16 bits, 1 %)", "fitted", "error", "condition", "s"]
    show(
        "examples",
        [memorised(layer, count) for layer in layers for count in EXAMPLES if "to" not in layer.name],
        header,
    )
    chosen.out.parent.mkdir(parents=True, exist_ok=True)
    unfinished = chosen.out.with_suffix(".part")
    draw(truth, maps).savefig(unfinished, dpi=110, format="png")
    os.replace(unfinished, chosen.out)
    print(f"wrote {chosen.out}")


def show(title: str, rows: list[list[str]], header: Sequence[str]) -> None:
    """Print a table."""
    print(f"\n{title}\n{tabulate(rows, header, disable_numparse=True)}", flush=True)


if __name__ == "__main__":
    main()
