"""What prompts can make a model generate, against what `VirtualToken` does."""

import itertools
import math

import numpy as np
import pytest

from bounds import prompts
from spherapprox.prompts.prefix import VirtualToken


def test_completions_are_those_that_are_generated():
    model = VirtualToken(3, 3)
    targets = itertools.product(range(3), repeat=3)
    generated = {tuple(map(int, model.generate(model.encode(target)))) for target in targets}
    bound = prompts.completions(3, 3)
    assert (len(generated), bound.as_integer(), bound.side) == (27, 27, "lower")
    # one token of the vocabulary, fed to the same model, makes three at most
    hard = {tuple(map(int, model.generate(row[None]))) for row in np.eye(3)}
    bound = prompts.completions(3, 3, soft=False)
    assert len(hard) <= bound.as_integer() == 3
    assert bound.side == "upper"
    assert prompts.completions(3, 2, tokens=5, soft=False).as_integer() == 9
    assert prompts.completions(32_000, 10).log10 == pytest.approx(10 * math.log10(32_000))


def test_maps_are_those_that_are_done():
    result = [prompts.maps(v).as_integer() for v in (2, 3, 4)]
    assert result == [4, 27, 256]
    assert [prompts.maps(v, soft=False).as_integer() for v in (2, 3, 4)] == [2, 3, 4]
    assert prompts.maps(2, inputs=2).as_integer() == 16
    assert prompts.maps(2, 3, tokens=3).as_integer() == 64
    assert prompts.maps(2, 3, inputs=4, tokens=3).value == pytest.approx(2.0**48, rel=1e-12)
    assert prompts.maps(2, 3, tokens=2).failed == ("tokens >= length",)
    assert prompts.maps(2, 3, tokens=2).value == 1.0
    assert prompts.maps(2, 3, tokens=2, soft=False).as_integer() == 4
    assert prompts.maps([2, 3])[1].as_integer() == 27


def test_gaps_are_those_of_the_model():
    for inputs, length in ((0, 5), (1, 2), (1, 1), (2, 1), (3, 2)):
        assert prompts.gap(7, length, inputs=inputs).value == pytest.approx(VirtualToken(7, length, inputs=inputs).gap)
    assert prompts.gap(3, 2, inputs=3, packed=1).value == VirtualToken(3, 2, inputs=3, packed=1).gap
    assert prompts.gap(10, 5, 3.0).value == pytest.approx(math.log(500))


def test_digits_write_numbers_down():
    rng = np.random.default_rng(0)
    for v, eps, wide in ((2, 0.1, 1.0), (10, 1e-3, 2.0), (7, 0.3, 0.5), (10, 0.5, 1.0)):
        per_number = prompts.hard_tokens(1, eps, vocabulary=v, numbers=1, value_range=wide).as_integer()
        cells = v**per_number
        x = wide * rng.random(1000)
        assert np.abs((np.floor(x / wide * cells) + 0.5) * wide / cells - x).max() <= eps * (1.0 + 1e-12)
        assert per_number == 0 or wide / v ** (per_number - 1) > 2.0 * eps  # no fewer
        assert prompts.hard_tokens(4, eps, vocabulary=v, numbers=3, value_range=wide).as_integer() == 12 * per_number
    # 10 cells, which floats have as 10.000000000000002; and a little more than 10
    for eps, digits in ((0.00015, 1), (0.00015 * (1.0 - 1e-9), 2)):
        assert prompts.hard_tokens(1, eps, vocabulary=10, numbers=1, value_range=0.003).as_integer() == digits
    printed = {"vocabulary": 10, "numbers": 2, "theorem": "digits-printed"}
    assert prompts.hard_tokens(5, 1e-3, **printed).as_integer() == 30
    assert prompts.hard_tokens(5, 0.5e-3, vocabulary=10, numbers=2).as_integer() == 30
