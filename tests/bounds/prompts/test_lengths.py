"""Lengths of prompts: the numbers of the page, counting arguments by enumeration, tables built, pyramids evaluated."""

import functools
import itertools
import math
import operator

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bounds import prompts
from bounds.prompts.lengths import label_bits
from spherapprox.prompts.prefix import Prefix, context


def bits_of(count, classes, accuracy):
    bound = prompts.memorization_length(
        count, theorem="memorize-bits", numbers=1, bits=1, classes=classes, accuracy=accuracy
    )
    return dict(bound.constants)["bits"]


@pytest.mark.parametrize(
    ("count", "classes", "numbers", "bits", "accuracy", "needed", "tokens"),
    [(10**6, 32_000, 4096, 16, 1.0, 14_965_784.28, 229), (10**6, 32_000, 4096, 16, 0.5, 6_482_924.98, 99),
     (10**5, 10, 768, 32, 0.99, 320_949.87, 14), (50, 2, 8, 8, 1.0, 50.0, 1), (64, 2, 8, 8, 1.0, 64.0, 1),
     (65, 2, 8, 8, 1.0, 65.0, 2)],
)  # fmt: skip
def test_bits_of_the_page(count, classes, numbers, bits, accuracy, needed, tokens):
    bound = prompts.memorization_length(
        count, theorem="memorize-bits", numbers=numbers, bits=bits, classes=classes, accuracy=accuracy
    )
    assert dict(bound.constants)["bits"] == pytest.approx(needed, rel=1e-6)
    assert bound.as_integer() == tokens
    assert (bound.quantity, bound.side, bound.holds) == ("prompt length", "lower", True)


def test_other_lengths_of_the_page():
    values = {"n_outputs": 64, "numbers": 128}
    lengths = {
        theorem: prompts.memorization_length(200, theorem=theorem, **values).as_integer()
        for theorem in ("memorize-values", "memorize-dimension", "memorize-interpolation")
    }
    assert lengths == {"memorize-values": 63, "memorize-dimension": 100, "memorize-interpolation": 200}
    many = prompts.memorization_length([200, 400], theorem="memorize-values", **values)
    assert [bound.as_integer() for bound in many] == [63, 125]


@given(st.integers(1, 60), st.integers(2, 6), st.integers(1, 100))
@example(10, 2, 80)
def test_bits_are_the_sum_they_stand_for(count, classes, percent):
    # of 1 - accuracy in floats, the whole part may be one too small: (0.8, 10) has 1.99
    wrong = (100 - percent) * count // 100
    ball = sum(math.comb(count, j) * (classes - 1) ** j for j in range(wrong + 1))
    with mp.workdps(40):
        exact = float(count * mp.log(classes, 2) - mp.log(ball, 2))
    result = bits_of(count, classes, percent / 100)
    assert result <= exact + 1e-13 * count
    assert result == pytest.approx(max(exact, 0.0), rel=1e-9, abs=2e-11 * count)


@pytest.mark.parametrize("count", [211, 500, 1777])
@pytest.mark.parametrize("classes", [2, 3, 11])
def test_bits_are_on_the_safe_side_of_their_rounding(count, classes):
    with mp.workdps(60):
        for wrong in (1, 7, count // 9, count // 4):
            ball = sum(math.comb(count, j) * (classes - 1) ** j for j in range(wrong + 1))
            result = label_bits(count, classes, 1.0 - wrong / count)
            assert mp.mpf(result) <= count * mp.log(classes, 2) - mp.log(ball, 2)


def test_pyramids_of_twice_eps_are_not_apart():
    for k in range(2, 60):
        for j in (1, 3, 7, 13):
            eps, lip = round(0.001 * j, 6), round(0.002 * k * j, 6)  # k cells: pyramids that are 2 eps high
            bound = {"token_dim": 1, "length": 1, "lipschitz": lip, "exponent": math.inf, "bits": 1}
            result = prompts.prompt_length(eps, theorem="grid-bits", **bound)
            assert not result.holds or result.value == pytest.approx(k - 1, rel=1e-12)


def test_bits_of_very_many_examples():
    # an entropy, up to half a logarithm: log2 C(N, rN) ~ N H(r)
    count, wrong = 10**10, 0.1
    entropy = -wrong * math.log2(wrong) - (1.0 - wrong) * math.log2(1.0 - wrong)
    assert label_bits(count, 2, 1.0 - wrong) == pytest.approx(count * (1.0 - entropy), rel=1e-8)
    assert bits_of(1000, 1, 1.0) == 0.0
    assert label_bits(10**10, 2, 1.0) == 1e10  # all right, none wrong
    assert label_bits(10**6, 10, 0.1) <= 2.0  # no better than guessing
    assert prompts.memorization_length(10, theorem="memorize-bits", numbers=8, classes=1).as_integer() == 0


@pytest.mark.parametrize(("count", "least"), [(3, 2), (4, 4), (5, 7)])
def test_fewest_prompts_by_enumeration(count, least):
    # answers of so many prompts, of which one is within one wrong label of every labelling: covering codes
    near = [1 << answer | sum(1 << (answer ^ 1 << place) for place in range(count)) for answer in range(2**count)]

    def covers(size):
        every = 2 ** (2**count) - 1  # one answer is 0, if labels are renamed
        rivals = itertools.combinations(near[1:], size - 1)
        return any(functools.reduce(operator.or_, choice, near[0]) == every for choice in rivals)

    assert covers(least)
    assert not covers(least - 1)
    assert 2.0 ** bits_of(count, 2, 1.0 - 1.0 / count) <= least * (1.0 + 1e-12)


def test_values_are_apart():
    # ceil(1 / tol) numbers of [-1, 1] more than 2 tol apart; 1 / (1 / 49) is 49.00000000000001
    for tol, count in ((0.1, 10), (1.0 / 49.0, 49), (0.3, 4), (1.0, 1), (2.0, 1)):
        bound = prompts.memorization_length(1, theorem="memorize-values", numbers=1, bits=1, tol=tol)
        assert bound.value == pytest.approx(math.log2(count), abs=1e-12)
        placed = np.linspace(-1.0, 1.0, count)
        assert count == 1 or np.diff(placed).min() > 2.0 * tol * (1.0 - 1e-12)


def test_a_prefix_of_as_many_tokens_interpolates():
    rng = np.random.default_rng(0)
    query, targets = rng.standard_normal((6, 4)), rng.standard_normal((6, 3))
    key, value = rng.standard_normal((6, 5, 4)), rng.standard_normal((6, 5, 3))
    log_mass, mean = context(query, key, value, scale=0.5)
    kernel = np.exp(0.5 * 2.0 * query @ query.T)
    psi, mass = kernel.sum(axis=1)[:, None], np.exp(log_mass)[:, None]
    prefix = Prefix(2.0 * query, np.linalg.solve(kernel, psi * targets + mass * (targets - mean)))
    assert len(prefix) == prompts.memorization_length(6, theorem="memorize-interpolation", numbers=7).as_integer()
    for i in range(6):
        result = prefix.attend(query[i : i + 1], key[i], value[i], scale=0.5)
        np.testing.assert_allclose(result[0], targets[i], rtol=0, atol=1e-9)


LOG10 = {
    (1, 1, 1.0, 0.1, 1.0): (1.3010, 1.6021, 1.3010, -0.6021),
    (2, 2, 1.0, 0.1, 1.0): (7.9134, 9.1175, 7.9134, -0.9031),
    (2, 1, 4.0, 0.02, 2.0): (5.5051, 5.7001, 5.0980, 2.4861),
    (8, 16, 1.0, 0.1, 1.0): (437.4588, 475.9907, 437.4588, -math.inf),
}
NAMES = ("grid-printed", "grid", "grid-midpoint", "grid-bits")


@pytest.mark.parametrize("case", LOG10, ids=str)
def test_lengths_of_the_table(case):
    d, n, c, eps, alpha = case
    result = [
        prompts.prompt_length(eps, token_dim=d, length=n, lipschitz=c, exponent=alpha, theorem=name) for name in NAMES
    ]
    assert [bound.log10 for bound in result] == pytest.approx(LOG10[case], abs=5e-5)
    assert [bound.side for bound in result] == ["upper"] * 3 + ["lower"]


def test_arrays_and_bits():
    eps = [0.1, 0.05]
    result = prompts.prompt_length(eps, token_dim=1, length=1, theorem="grid-bits", bits=4)
    assert [bound.value for bound in result] == pytest.approx([1.0, 2.25])  # 4 and 9 cells
    assert [bound.as_integer() for bound in result] == [1, 3]
    loose = prompts.prompt_length(0.6, token_dim=1, length=1, theorem="grid-bits")
    assert (loose.value, loose.holds) == (0.0, False)  # the constant 1/2 needs no prompt


def norm(x, alpha):
    return np.linalg.norm(x, ord=alpha, axis=-1)


def bumps(rng, dim, c, alpha):
    """Return a map of [0, 1]^dim into itself with the constant c in the norm: cones about points, clipped."""
    centres, heights = rng.random((3, dim)), rng.random((3, dim))
    rate = c / dim ** (1.0 / alpha)

    def f(x):
        away = norm(x[:, None] - centres, alpha)[..., None]
        return np.clip((heights - rate * away).max(axis=1), 0.0, 1.0)

    return f


@given(
    st.integers(0, 2**31), st.sampled_from([(1, 1), (1, 2), (2, 1)]), st.sampled_from([1.0, 2.0, math.inf]),
    st.sampled_from([0.1, 1.0, 3.0]), st.sampled_from([0.1, 0.31, 0.9]), st.sampled_from(["grid", "grid-midpoint"]),
)  # fmt: skip
def test_tables_are_within_half_of_eps(seed, shape, alpha, c, eps, theorem):
    rng = np.random.default_rng(seed)
    dim = shape[0] * shape[1]
    f = bumps(rng, dim, c, alpha)
    bound = prompts.prompt_length(
        eps, token_dim=shape[0], length=shape[1], lipschitz=c, exponent=alpha, theorem=theorem
    )
    cells = round((bound.value / shape[1]) ** (1.0 / dim))
    assert shape[1] * cells**dim == bound.as_integer()
    x = rng.random((300, dim))
    corner = np.floor(cells * x)
    if theorem == "grid":
        table = np.minimum(np.floor(cells * f(corner / cells) * (1.0 + 1e-15)), cells - 1.0) / cells
    else:
        table = (np.minimum(np.floor(cells * f((corner + 0.5) / cells)), cells - 1.0) + 0.5) / cells
    assert norm(table - f(x), alpha).max() <= 0.5 * eps * (1.0 + 1e-12)


@given(
    st.integers(0, 2**31), st.integers(1, 3), st.sampled_from([1.0, 2.0, math.inf]), st.floats(0.5, 30.0),
    st.floats(0.01, 0.4),
)  # fmt: skip
def test_pyramids_are_in_the_class_and_apart(seed, dim, alpha, c, eps):
    bound = prompts.prompt_length(
        eps, token_dim=dim, length=1, lipschitz=c, exponent=alpha, theorem="grid-bits", bits=1
    )
    if not bound.holds:
        return
    cells = round(bound.value ** (1.0 / dim))
    rng = np.random.default_rng(seed)
    mix = rng.integers(1, 2**40, (dim, dim))
    rate = c / dim ** (1.0 / alpha)

    def f(x):
        place = np.minimum(np.floor(cells * x), cells - 1).astype(int)
        to_edge = np.minimum(x - place / cells, (place + 1) / cells - x).min(axis=-1)  # the same in every norm
        signs = 1.0 - 2.0 * (place @ mix // 1024 % 2)  # one for each cell and output
        return 0.5 + signs * rate * to_edge[:, None]

    x, y = rng.random((2, 200, dim))
    y = np.where(rng.random((200, 1)) < 0.5, y, np.clip(x + 0.3 * (y - x) / cells, 0.0, 1.0))
    assert (norm(f(x) - f(y), alpha) <= c * norm(x - y, alpha) * (1.0 + 1e-9) + 1e-12).all()
    centre = np.full((1, dim), 0.5 / cells)
    height = np.abs(f(centre) - 0.5).max()
    assert eps < height <= 0.5  # up and down are more than 2 eps apart
