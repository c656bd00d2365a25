"""Random programs as a Hawk, in both formats, against exact arithmetic: errors over their bounds, which are 1 at most.

A minute of one core for 300 programs::

    python tests/reference/hawk.py --programs 300
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from recurrent_programs import BLOCKS, STYLES, off, random_program

from bounds.prompts.recurrent import module_error
from spherapprox.prompts.recurrent import LinState
from spherapprox.prompts.recurrent.hawk.states import refusal


def ratios(seed: int) -> list[float]:
    """Return the largest error over its bound in each format, or nothing for a program that a Hawk refuses."""
    rng = np.random.default_rng(seed)
    dim, length, style = int(rng.integers(1, 5)), int(rng.integers(1, 9)), STYLES[rng.integers(len(STYLES))]
    blocks = [BLOCKS[k] for k in rng.integers(len(BLOCKS), size=rng.integers(1, 8))]
    program, x = random_program(dim, blocks, style, rng), rng.integers(-4, 5, (length, dim)).astype(float)
    if style != "integer":
        x = (x + rng.uniform(-0.5, 0.5, x.shape)).astype(np.float32).astype(float)
    if any(refusal(v.transition, v.weight, v.bias) for v in program.variables if isinstance(v, LinState)):
        return []
    network, result = program.compile(), []
    bound = 2.0 * max((np.abs(values).max() for values in network.activations(x)), default=4.0)
    for dtype in (torch.float64, torch.float32):
        module = network.to_torch("hawk", dtype=dtype, value_bound=max(bound, 2.0))
        outputs, name = module(torch.tensor(x, dtype=dtype)).double().numpy(), str(dtype).removeprefix("torch.")
        limit = module_error(program, x, kind="hawk", dtype=name, value_bound=max(bound, 2.0))
        result.append(float(np.nan_to_num(off(program, x, outputs) / limit).max()))
    return result


def main() -> None:
    """Print what is found, and fail if an error is above its bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=300)
    each = [ratios(seed) for seed in range(parser.parse_args().programs)]
    largest = np.array([pair for pair in each if pair])
    print(
        f"{len(largest)} programs, {each.count([])} refused; largest ratios {largest.max(axis=0)}, float64 and float32"
    )
    if not largest.max() <= 1.0:
        raise SystemExit("errors are above their bounds")


if __name__ == "__main__":
    main()
