"""Sizes of transformers with a prompt for each map: `table_units` against those that are built, and by integers."""

import math

import pytest

from bounds import prompts
from spherapprox.prompts.contextual import TableTransformer


@pytest.mark.parametrize(("cells", "dim", "length"), [(2, 1, 1), (3, 1, 1), (4, 1, 1), (2, 2, 1), (2, 1, 2)], ids=str)
def test_units_are_those_of_transformers(cells, dim, length):
    sizes = {"token_dim": dim, "length": length}
    eps = 2.0 * dim * length / cells
    for deep, theorem in ((False, "wide"), (True, "deep")):
        transformer = TableTransformer(cells, deep=deep, **sizes)
        result = prompts.table_units(eps, theorem=theorem, **sizes)
        assert (result.as_integer(), result.value) == (transformer.units, transformer.units)
        assert dict(result.constants)["cells"] == cells
    grid = prompts.prompt_length(eps, theorem="grid-midpoint", **sizes)
    assert (grid.as_integer(), dict(grid.constants)["cells"]) == (transformer.prompt_length, cells)
    one = TableTransformer(cells, function=lambda x: x, **sizes)
    assert prompts.table_units(eps, theorem="function", **sizes).as_integer() == one.units
    # Hu et al., F.2: 3 d (L_p + L) (1/delta)^(d (L_p + L)) with C delta D = eps/2
    tokens = length * (cells // 2) ** (dim * length) + length
    printed = 3 * dim * tokens * (cells // 2) ** (dim * tokens)
    if cells % 2 == 0:
        assert prompts.table_units(2.0 * eps, theorem="printed", **sizes).value == pytest.approx(printed, rel=1e-12)


def test_depth_is_a_power_of_the_prompt_and_width_exponential():
    for eps in (0.5, 0.1, 0.01):
        deep, wide, tokens = (
            bound.log
            for bound in (
                prompts.table_units(eps, token_dim=1, length=2),
                prompts.table_units(eps, token_dim=1, length=2, theorem="wide"),
                prompts.prompt_length(eps, token_dim=1, length=2, theorem="grid-midpoint"),
            )
        )
        assert deep <= 3.0 * tokens + math.log(8.0)
        assert wide >= math.exp(tokens)
    at = {"token_dim": 8, "length": 16}
    assert prompts.table_units(0.1, **at).log10 == pytest.approx(1310.27, abs=0.005)
    assert prompts.table_units(0.1, theorem="wide", **at).log == math.inf
    assert [b.as_integer() for b in prompts.table_units([0.1, 2.0], token_dim=1, length=1)] == [17044, 52]
    assert prompts.table_units(0.1, token_dim=1, length=1, theorem="wide").log10 == pytest.approx(27.32, abs=0.005)
