"""Cost of attention by polynomials: the numbers of the page, degrees against mpmath; and errors of weights."""

import math

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bounds import prompts
from bounds.prompts.cost import least_degree

BASES = ("taylor", "chebyshev")


def degree(score, eps, basis):
    """Return the least degree by summing the whole tail in mpmath, from its end."""
    with mp.workdps(40):
        b = mp.mpf(score)
        last = int(4.0 * score + 60.0 + 4.0 * abs(math.log(eps)))
        terms = [b**k / mp.factorial(k) if basis == "taylor" else 2 * mp.besseli(k, b) for k in range(last)]
        limit, total = mp.mpf(eps) * mp.exp(-b), mp.mpf(0)
        for k in range(last - 1, 0, -1):
            total += terms[k]
            if total > limit:
                return k
    return 0


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("score", [1e-60, 1e-6, 0.04, 0.7, 3.0, 11.0, 40.0])
@pytest.mark.parametrize("eps", [0.5, 1e-3, 1e-9, 1e-25])
def test_degrees_are_those_of_mpmath(score, eps, basis):
    assert least_degree(score, eps, basis) == degree(score, eps, basis)


@pytest.mark.parametrize(("basis", "ratio"), [("taylor", 3.5911214766686), ("chebyshev", 2.2334229)])
def test_huge_scores_have_degrees_in_proportion(basis, ratio):
    # Stirling: g/b (log(g/b) - 1) = 1, and for Bessel functions u asinh(u) - sqrt(1 + u^2) = 1
    result = least_degree(1e9, 1e-3, basis)
    assert result / 1e9 == pytest.approx(ratio, rel=1e-6)
    limit = math.log(1e-3) - 1e9
    u = result / 1e9
    first = 1e9 * (u - u * math.log(u)) if basis == "taylor" else 1e9 * (math.sqrt(1.0 + u * u) - u * math.asinh(u))
    assert abs(first - limit) < 40.0


@pytest.mark.parametrize(
    ("n", "exponents"),
    [(1e4, (0.9759, 2.1355, 0.6141, 1.2414)), (1e6, (0.9175, 2.0413, 0.5810, 1.2672)),
     (1e12, (0.8123, 2.1268, 0.6234, 1.3481))],
)  # fmt: skip
def test_exponents(n, exponents):
    dim = math.ceil(math.log(n))
    result = [prompts.attention_cost(n, dim, b, 1.0 / n, scaled=s) for b in (1.0, 0.5) for s in (True, False)]
    assert [round(cost.exponent, 4) for cost in result] == list(exponents)
    assert [cost.subquadratic for cost in result] == [True, False, True, False]
    assert [cost.score_bound for cost in result] == [1.0, dim, 0.25, 0.25 * dim]


def test_practice():
    heads = prompts.attention_cost(32_768, [64, 8], 1.0, 1e-2)
    assert [cost.degree for cost in heads] == [4, 4]
    assert [round(cost.exponent, 3) for cost in heads] == [1.309, 0.597]
    assert [cost.subquadratic for cost in heads] == [False, True]
    assert [round(math.exp(cost.log_rank)) for cost in heads] == [math.comb(68, 4), math.comb(12, 4)] == [814_385, 495]
    more = prompts.attention_cost(1e8, 19, 0.8, 1e-6), prompts.attention_cost(5e5, 6, 0.7, 1e-4, scaled=False)
    assert [(cost.degree, round(cost.exponent, 12)) for cost in more] == [(6, 0.656027320149), (11, 0.718126310119)]
    assert more[0].log_rank == pytest.approx(math.log(math.comb(25, 6)), rel=1e-15)
    # any number of tokens: degree and rank do not depend on it
    huge = prompts.attention_cost(1e300, 64, 1.0, 1e-2)
    assert huge.degree == 4
    assert huge.exponent == pytest.approx(math.log(math.comb(68, 4)) / (300.0 * math.log(10.0)), rel=1e-14)


def test_the_tolerance_is_relative_to_the_values():
    assert prompts.attention_cost(10**4, 8, 2.0, 1e-3, basis="taylor").degree == degree(4.0, 1e-3 / 4.0, "taylor")
    assert prompts.attention_cost(10**4, 8, 1.0, 1e3).degree == degree(1.0, 0.5, "chebyshev")


def outputs(weights, values):
    return weights @ values / weights.sum()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.floats(1e-9, 0.999), st.sampled_from([1, 2, 30]))
@example(0, 0.6, 2)
def test_relative_errors_of_weights(seed, eps, n):
    rng = np.random.default_rng(seed)
    weights, values = np.exp(3.0 * rng.normal(size=n)), rng.uniform(-2.0, 2.0, n)
    bound = prompts.attention_error(eps, value_bound=2.0).value
    change = outputs(weights * (1.0 + eps * rng.choice([-1.0, 1.0], n)), values) - outputs(weights, values)
    assert abs(change) <= bound + 1e-14
    # two tokens attain it
    share = 1.0 / (1.0 + math.sqrt((1.0 + eps) / (1.0 - eps)))
    pair, ends = np.array([share, 1.0 - share]), np.array([2.0, -2.0])
    attained = outputs(pair * np.array([1.0 + eps, 1.0 - eps]), ends) - outputs(pair, ends)
    assert attained == pytest.approx(bound, rel=1e-9, abs=1e-14)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.floats(1e-6, 0.99))
def test_additive_errors_of_weights(seed, share):
    rng = np.random.default_rng(seed)
    weights, values = np.exp(rng.normal(size=20)), rng.uniform(-2.0, 2.0, 20)
    mean = weights.mean()
    bound = prompts.attention_error(share * mean, theorem="additive", value_bound=2.0, smallest_mean=mean).value
    change = rng.uniform(-1.0, 1.0, 20) * share * mean
    assert abs(outputs(weights + change, values) - outputs(weights, values)) <= bound + 1e-14
    assert bound == pytest.approx(4.0 * share / (1.0 - share), rel=1e-12)


def test_errors_of_weights_in_numbers():
    assert prompts.attention_error(0.6).value == pytest.approx(2.0 / 3.0, rel=1e-15)
    small = prompts.attention_error(1e-12)  # (1 - sqrt(1 - eps^2)) / eps would have no digit
    assert small.value == pytest.approx(1e-12, rel=1e-15)
    assert small.reference == "docs/theorems/4.16-attention.md"
    beyond = prompts.attention_error([0.5, 1.0])
    assert beyond[0].holds
    assert not beyond[1].holds
    assert beyond[1].value == math.inf
    assert prompts.attention_error(0.5, theorem="additive", smallest_mean=0.5).value == math.inf
