"""Separation of contexts: `boltzmann_separation`, `context_separation`, `separating_ratio`."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds import prompts

TOKENS = {"token_dim": 3, "separation": 0.5, "smallest_norm": 1.0, "largest_norm": 3.0}


def boltzmann(z):
    """Return the Boltzmann operator of numbers in mpmath's digits."""
    powers = [mp.exp(x) for x in z]
    return mp.fdot(z, powers) / mp.fsum(powers)


def test_numbers_of_boltzmann_operators():
    result = prompts.boltzmann_separation([9.0, 4.5, 0.0], [9.0, 0.0, -4.5])
    assert (result.quantity, result.side, result.holds) == ("context separation", "lower", True)
    assert result.log == pytest.approx(-8.811904344766601, rel=1e-14)
    with mp.workdps(30):
        assert float(boltzmann([9, 4.5, 0])) == pytest.approx(8.949466440811854, rel=1e-15)
        assert float(boltzmann([9, 0, -4.5])) == pytest.approx(8.998870944699933, rel=1e-15)
        actual = boltzmann([9, 0, -4.5]) - boltzmann([9, 4.5, 0])
    assert float(actual) == pytest.approx(0.04940450388807882, rel=1e-14)
    assert prompts.boltzmann_separation([20.0, 13.5, 2.0], [20.0, 7.0, -3.0]).log == pytest.approx(-12.811904344766601)
    assert prompts.boltzmann_separation([12.0, 3.0], [8.0, 0.0]).log == pytest.approx(-4.733025841163329, rel=1e-14)
    assert prompts.boltzmann_separation([0.0, 8.0], [12.0, 3.0]).log == pytest.approx(-4.733025841163329, rel=1e-14)
    sharp = prompts.boltzmann_separation([9.0, 4.5, 0.0], [9.0, 0.0, -4.5], theorem="sharp")
    r = math.exp(-4.5)
    factor = (1.0 - 4.0 * r + r**2) / (1.0 + r**3) * (1.0 - 0.5 * r / (1.0 - r))
    assert sharp.log == pytest.approx(math.log(factor) + math.log(4.5) - 4.5, rel=1e-14)
    r = math.exp(-3.0)
    result = prompts.boltzmann_separation([12.0, 3.0], [8.0, 0.0], theorem="sharp")
    assert result.value == pytest.approx(4.0 * (1.0 - 2.0 * r) / (1.0 - r), rel=1e-14)


@given(st.integers(2, 6), st.integers(0, 2**31), st.sampled_from([0.0, 1e-3, 0.3, 3.0]), st.booleans())
def test_boltzmann_operators_are_farther_apart_than_the_bounds(n, seed, stretch, wide):
    rng = np.random.default_rng(seed)
    gap = 4.0 * math.log(n) if wide else 1.5
    levels = np.cumsum(gap * (1.0 + stretch * rng.exponential(size=2 * n))) * 1.0000001
    a, b = (rng.choice(levels, n, replace=False) for _ in range(2))
    if rng.random() < 0.5:  # the same but for one number, as late as can be
        b = a.copy()
        b[np.argsort(a)[rng.integers(0, n)]] = rng.choice(np.setdiff1d(levels, a))
    result, sharp = (prompts.boltzmann_separation(a, b, theorem=name) for name in ("corrected", "sharp"))
    if {*a} == {*b}:
        assert sharp.failed == ("different sets",)
        return
    with mp.workdps(60 + int(levels[-1])):
        actual = float(mp.log(abs(boltzmann([*map(mp.mpf, a)]) - boltzmann([*map(mp.mpf, b)]))))
    assert sharp.holds
    assert sharp.log - 1e-12 <= actual
    r = math.exp(-np.diff(np.unique([*a, *b])).min())
    first, second = np.sort(a)[::-1], np.sort(b)[::-1]
    place = int(np.argmax(first != second))
    if place:
        x = first[0] - max(first[place], second[place])
        assert actual <= math.log(x) - x - 2.0 * math.log1p(-r) + 1e-12
    else:
        assert actual <= math.log(abs(first[0] - second[0])) - math.log1p(-r) + 1e-12
    if wide:
        assert result.holds
        assert result.log + 4.1 <= actual
        assert sharp.log >= result.log + 4.0 * math.log(n)


def test_operators_of_sets_differ_from_a_gap_of_arcosh_2_on():
    # 8.9 (boltzmann), sharp: 0, -g against 0, -2 g, -3 g, ...
    for gap, sign in ((math.acosh(2.0) + 0.002, 1.0), (math.acosh(2.0) - 0.002, -1.0)):
        with mp.workdps(30):
            short, long = (boltzmann([-mp.mpf(gap) * j for j in places]) for places in ((0, 1), (0, *range(2, 60))))
            assert sign * (long - short) > 0
    assert not prompts.boltzmann_separation([0.0, -1.45], [0.0, -2.9], theorem="sharp").holds
    assert prompts.boltzmann_separation([0.0, -1.5], [0.0, -3.0], theorem="sharp").holds


@pytest.mark.parametrize("theorem", ["corrected", "sharp"])
def test_gaps_of_exactly_four_logarithms_count_for_both_numbers(theorem):
    step = 4.0 * math.log(2.0)  # too little for Hu et al.'s proof, which needs log(2) + 3
    result = prompts.boltzmann_separation([0.0, -step], [0.0, -2.0 * step], theorem=theorem)
    assert result.holds
    with mp.workdps(40):
        assert math.exp(result.log) <= boltzmann([0, -2 * mp.mpf(step)]) - boltzmann([0, -mp.mpf(step)])


def test_gaps_of_four_logarithms_count_wherever_they_are():
    for n in (2, 3, 5, 6, 11):
        step = 4.0 * math.log(n)
        for start in (3.0 * step, 1.0, 5.0 * step):  # differences that floats may have a little below
            a = [start + step * i for i in range(n)]
            assert prompts.boltzmann_separation(a, [*a[:-1], a[-1] + step]).holds
            assert not prompts.boltzmann_separation(a, [*a[:-1], a[-1] - 1e-9 * step]).holds


def test_hypotheses_of_boltzmann_operators():
    cases = [
        ([9.0, 0.0], [0.0, 9.0], "different sets"),  # a permutation
        ([9.0, 4.5, 0.0], [9.0, 4.5 - 1e-6, -0.1], "different numbers 4 log(n) apart"),
        ([9.0, 5.5, 0.0], [9.0, 1.0, -4.0], "different numbers 4 log(n) apart"),
        ([9.0, 5.5, 0.0], [9.0, -5.0, -9.0], "different numbers 4 log(n) apart"),
        ([9.0, 9.0], [9.0, 0.0], "no number twice in a vector"),
    ]
    for a, b, failed in cases:
        result = prompts.boltzmann_separation(a, b)
        assert failed in result.failed
        assert (result.log, result.value) == (-math.inf, 0.0)
    # gaps in either vector alone do not suffice
    with mp.workdps(40):
        a, b = [mp.mpf(9), mp.mpf("4.5"), mp.mpf(0)], [mp.mpf(9), mp.mpf("4.5") - mp.mpf("1e-6"), mp.mpf("-0.1")]
        assert float(mp.log(abs(boltzmann(a) - boltzmann(b)))) == pytest.approx(-9.28, abs=0.01)
        assert 2.0 * math.log(math.log(3.0)) - 4.5 > -4.32


@pytest.mark.parametrize(
    ("arguments", "corrected", "printed"),
    [
        ((9, 3, 3, 0.5, 1.0, 3.0), -809423.9302565427, -845205.9890982404),
        ((4, 2, 2, 0.5, 1.0, 2.0), -9462.394613284283, -6165.094311198334),
        ((6, 4, 5, 0.3, 0.8, 2.0), -871412.2888413277 / math.log(10.0), None),
    ],
)
def test_numbers_of_context_separations(arguments, corrected, printed):
    v, n, *remainder = arguments
    tokens = dict(zip(("token_dim", "separation", "smallest_norm", "largest_norm"), remainder, strict=True))
    result, sharp, paper = (
        prompts.context_separation(v, n, **tokens, theorem=name) for name in ("corrected", "sharp", "printed")
    )
    assert result.log10 == pytest.approx(corrected, rel=1e-13)
    assert printed is None or paper.log10 == pytest.approx(printed, rel=1e-13)
    assert result.log < sharp.log
    with mp.workdps(40):  # the formula, with the sharp ratio
        d, apart, low, high = (mp.mpf(x) for x in remainder)
        c = mp.mpf(1.5) / (apart * low * mp.mpf(prompts.separating_ratio(v + 1, int(d))) ** 2)
        exact = mp.log(apart / 16) - 2 * c * high**2
    assert sharp.log == pytest.approx(float(exact), rel=1e-13)
    assert dict(sharp.constants)["score"] == pytest.approx(float(c * high**2), rel=1e-13)


def test_the_printed_separation_has_no_unit():
    # tokens 1e-20 and -1e-20: outputs at most largest_norm + separation / 4 long cannot be so far apart
    tokens = {"separation": 1.999e-20, "smallest_norm": 0.999e-20, "largest_norm": 1.001e-20, "token_dim": 1}
    printed = prompts.context_separation(2, 2, theorem="printed", **tokens)
    assert printed.value > 8e-13 > 2.0 * (tokens["largest_norm"] + tokens["separation"] / 4.0)
    for v, n, d, ratio in (
        (2, 2, 1, 1.0),
        (2, 2, 2, 1.0),
        (2, 2, 3, 0.5),
        (3, 2, 2, 1.0),
        (9, 5, 64, 3.0),
        (10**6, 2, 2, 0.6),
    ):
        tokens = {"separation": 1.0, "smallest_norm": ratio, "largest_norm": max(ratio, 0.51), "token_dim": d}
        sharp, printed = (prompts.context_separation(v, n, theorem=name, **tokens) for name in ("sharp", "printed"))
        assert sharp.log >= printed.log  # with a factor separation = 1
        kappa = tokens["largest_norm"] / ratio
        exponent = 1.5 / math.pi * d * v**2 * (v + 1) ** 2 * kappa * tokens["largest_norm"]
        assert sharp.log >= -math.log(16.0) - exponent * (1.0 + 1e-12)


def test_context_separations_of_arrays_and_their_safe_side():
    result = prompts.context_separation([9, 16], 3, **TOKENS)
    assert result[0].log10 == pytest.approx(-809423.93, abs=0.005)
    assert result[1].log < result[0].log
    assert result[0].value == result[0].as_integer() == 0
    assert prompts.context_separation(10**9, 10**6, **(TOKENS | {"token_dim": 10**9})).log < -1e40


@given(st.integers(2, 10**9), st.integers(1, 10**9))
def test_ratios_are_of_their_order(n, dim):
    sharp, printed = (prompts.separating_ratio(n, dim, theorem) for theorem in ("sharp", "printed"))
    assert 0.0 < printed < sharp <= 1.0
    assert sharp <= 4.0 * printed or n < 20 or dim < 3


def test_numbers_of_ratios():
    assert prompts.separating_ratio(10, 3) == pytest.approx(1.0 / 45.0, rel=1e-15)  # S^2: bands by their heights
    assert prompts.separating_ratio(10, 3, "printed") == pytest.approx(9.213177e-3, rel=1e-6)
    assert prompts.separating_ratio(100, 16) == pytest.approx(6.647250e-5, rel=1e-6)
    assert prompts.separating_ratio(100, 16, "printed") == pytest.approx(3.989423e-5, rel=1e-6)
    assert prompts.separating_ratio(37, 5) == pytest.approx(0.0010010013353366, rel=1e-12)
    assert prompts.separating_ratio(2, 7) == prompts.separating_ratio(50, 1) == 1.0
    for n in (3, 10, 1000):  # the circle: bands by their angles
        assert prompts.separating_ratio(n, 2) == pytest.approx(math.sin(math.pi / (n * (n - 1))), rel=1e-14)


@pytest.mark.parametrize(
    ("n", "dim"),
    [(3, 4), (3, 10**9), (10, 768), (10_000, 16), (14_142, 10**6), (14_143, 10**6), (14_143, 4), (10**9, 2),
     (10**9, 10**9)],
)  # fmt: skip
def test_ratios_in_mpmath(n, dim):
    result = prompts.separating_ratio(n, dim)
    with mp.workdps(40):
        t, half = mp.mpf(result), mp.mpf(dim - 1) / 2
        band = t * mp.quad(lambda s: mp.exp((half - 1) * mp.log1p(-((t * s) ** 2))), [0, 0.5, 1])
        beta = mp.exp(mp.loggamma(0.5) + mp.loggamma(half) - mp.loggamma(half + mp.mpf("0.5")))
        missed = 2 * band / beta - mp.mpf(2) / (n * (n - 1))
        slope = 2 / beta * (1 - t**2) ** (half - 1)
    assert abs(float(missed / slope / t)) <= 1e-14
