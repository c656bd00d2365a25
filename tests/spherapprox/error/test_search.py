"""The searches for the largest error, and for the proof that none is larger."""

import math

import numpy as np
import pytest

from spherapprox.error.certified import search
from spherapprox.error.certified.riesz import Riesz
from spherapprox.error.records import ErrorInterval
from spherapprox.error.search import local_maxima, sample


@pytest.mark.parametrize("hills", [1, 2, 8, 12])
def test_hills_are_climbed_once_each(hills):
    def error(x):
        return np.real((x[:, 0] + 1j * x[:, 1]) ** hills)  # sin^hills(theta) cos(hills phi)

    rng = np.random.default_rng(0)
    tops, values = local_maxima(error, sample(2, 20_000, rng), 300, rng)
    azimuths = hills * np.arctan2(tops[:, 1], tops[:, 0]) / (2.0 * np.pi)
    assert sorted(np.round(azimuths) % hills) == list(range(hills))
    np.testing.assert_allclose(values, 1.0, rtol=1e-12)


class Plain:
    """An error that is 1 everywhere, in a unit of 2, whose cells all pass; what they are asked for is kept."""

    unit, ceiling = 2.0, 50.0

    def __init__(self, riesz=None, rounding=lambda x: 0.0, errors=lambda x: np.ones(len(x))):
        self.found, self.rounding, self.errors, self.asked = riesz, rounding, errors, []

    def sample(self, x):
        return search.Sample(self.errors(x), np.zeros(len(x)), self.rounding(x))

    def riesz(self, bound, room, x):
        self.asked.append(("room", room))
        return self.found

    def check(self, x, radii, sample, bound, riesz):
        self.asked.append(("cells", bound, sample.rounding))
        return search.Passes(np.zeros(len(x), bool), np.ones(len(x), bool))


def proved(error, slack=0.05, remainder=0.0):
    """Prove a bound of an error, 2 in all, on S^2."""
    state = search.State(2.0, np.array([0.0, 0.6, 0.8]), slack)
    options = search.Options(1e5, 1, lambda state: None)
    return search.prove(error, state, lambda x, value: ErrorInterval(value, math.inf, x), 0.3, remainder, options)


def test_the_room_of_the_tail_and_the_remainder_are_in_the_bound():
    for slack, remainder in ((0.05, 0.0), (0.05, 0.02), (1e-4, 0.02)):
        error = Plain(Riesz(3, 1e-9, 0.0, 0.1))
        certificate = proved(error, slack, remainder)
        (_, room), (_, bound, _) = error.asked[:2]
        assert room > 0.0
        assert error.unit * (bound + room) + remainder <= certificate.upper <= 2.0 * (1.0 + slack) + 4.0 * remainder


def test_roundings_beyond_the_slack_widen_it():
    certificate = proved(Plain(rounding=lambda x: 0.01), 1e-4)
    assert "evaluation errors up to 0.02" in certificate.reason
    assert 2.04 < certificate.upper < 2.11


def test_cells_are_tested_with_the_larger_rounding():
    error = Plain(rounding=lambda x: 0.0 if len(x) == 1 else 0.25)
    proved(error)
    assert {rounding for kind, *_, rounding in error.asked if kind == "cells"} == {0.25}


def test_nothing_is_proved_of_an_error_that_is_not_a_number():
    certificate = proved(Plain(errors=lambda x: np.full(len(x), 1.0 if len(x) == 1 else math.nan)))
    assert certificate.upper == 100.0
    assert certificate.tests == ()
