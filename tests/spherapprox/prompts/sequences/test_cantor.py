"""The Cantor code: digits by hand, there and back, and where floats end."""

from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from spherapprox.prompts.sequences import cantor_code, cantor_decode


def psi(x, d, bits):
    """The thesis's psi, by its definition, in fractions."""
    x, total = min(Fraction(x), 1 - Fraction(1, 2**bits)), Fraction(0)
    for j in range(1, bits + 1):
        digit = int(x * 2**j) % 2
        total += Fraction(2 * digit, 3 ** (1 + d * (j - 1)))
    return total


@example(x=[1.0, 0.5], bits=5)
@given(x=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=4), bits=st.integers(1, 40))
def test_the_code_is_its_definition_and_comes_back(x, bits):
    d = len(x)
    code, below = cantor_code(x, bits, exact=True)
    expected = 3 * sum(psi(number, d, bits) / 3**p for p, number in enumerate(x, 1))
    assert Fraction(int(code), below) == expected
    back = cantor_decode(code, bits, d, exact=True)
    assert back.tolist() == [float(min(Fraction(n), 1 - Fraction(1, 2**bits)) * 2**bits // 1 / 2**bits) for n in x]


@given(x=st.lists(st.floats(0.0, 1.0), min_size=31, max_size=31), d=st.integers(1, 31))
def test_floats_hold_31_digits(x, d):
    bits = 31 // d
    rows = np.reshape(x[: 31 // d * d], (-1, d))
    assert np.array_equal(
        cantor_decode(cantor_code(rows, bits), bits, d),
        cantor_decode(cantor_code(rows, bits, exact=True)[0], bits, d, exact=True),
    )


def test_batches():
    x = np.random.default_rng(0).random((3, 4, 2))
    code = cantor_code(x, 6)
    assert code.shape == (3, 4)
    back = cantor_decode(code, 6, 2)
    assert back.shape == x.shape
    assert np.all((back <= x) & (x < back + 2.0**-6))
