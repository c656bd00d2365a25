"""Compiled loops give the bits of plain Python, so that no result depends on which of them has run."""

import compiled
import numpy as np
import pytest

from spherapprox import EqualMeasurePartition, VonMisesFisher, special
from spherapprox._scalars import bessel_ratio
from spherapprox.partition import writers
from spherapprox.special import dispatch

RNG = np.random.default_rng(4)
COUNTS, DEGREES = RNG.integers(1, 60, 500), RNG.integers(1, 30, 500)
X, UNIT = 10 ** RNG.uniform(-3.0, 5.0, 500), RNG.random(500)
UNIT[::50] = np.nan
CALLS = (
    (special.log_iv, 0.5 * COUNTS, X),
    (special.iv_ratio, 0.5 * COUNTS, X),
    (special.iv_ratio, 0.5 * COUNTS, X, DEGREES),
    (special.iv_ratio_complement, 0.5 * COUNTS, X),
    (special.iv_ratio_complement, 0.5 * COUNTS, X, DEGREES),
    (special.log_iv_ratio, 0.5 * COUNTS, X),
    (special.log_iv_ratio, 0.5 * COUNTS, X, DEGREES),
    (special.iv_ratio_inverse, 0.5 * COUNTS, UNIT),
    (special.log_cap_measure, COUNTS, 3.14159 * UNIT),
    (special.cap_angle, COUNTS, -30.0 * UNIT),
    (special.log_surface_area, COUNTS),
    (special.gegenbauer, DEGREES, COUNTS, UNIT),
    (special.gegenbauer_derivative, DEGREES, COUNTS, UNIT, DEGREES // 8),
    (special.gegenbauer_derivative_bound, DEGREES, COUNTS, DEGREES // 8),
    (special.gegenbauer_lipschitz, DEGREES, COUNTS),
    (special.gegenbauer_max_zero, DEGREES, COUNTS),
    (special.gegenbauer_max_zero_angle, DEGREES, COUNTS),
)


KERNELS = [pytest.param(kernel, marks=[pytest.mark.once] * (kernel in compiled.SLOW)) for kernel in compiled.LOOPS]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_loops_have_the_bits_of_plain_python_over_the_whole_range(kernel):
    assert not list(compiled.differences(kernel, points=400, seed=1))


@pytest.mark.parametrize("allowance", [0.0, 1e3, 1e4, 1e5])
def test_values_do_not_depend_on_what_ran_before(allowance, monkeypatch):
    rng = np.random.default_rng(int(allowance))
    monkeypatch.setattr(dispatch, "_allowance", dispatch.Allowance(allowance))
    for _ in range(60):
        function, *columns = CALLS[rng.integers(len(CALLS))]
        part = slice(*np.sort(rng.integers(0, 500, 2)))
        result = function(*(column[part] for column in columns))
        rows = zip(*(column[part][::7].tolist() for column in columns), strict=True)
        np.testing.assert_array_equal(result[::7], [function(*row) for row in rows], function.__name__)
        kernel, plain = VonMisesFisher(int(rng.integers(1, 20)), float(rng.choice(X))), np.empty(rng.integers(1, 40))
        bessel_ratio.all_ratios(0.5 * (kernel.dim - 1), kernel.concentration, plain)
        np.testing.assert_array_equal(kernel.eigenvalues(len(plain) - 1), plain)


def test_an_allowance_is_used_up_once():
    allowance = dispatch.Allowance(100.0)
    assert [allowance.covers(work) for work in (60.0, 30.0, 20.0, 1.0, 0.0)] == [True, True, False, False, False]
    assert not dispatch.Allowance(100.0).covers(100.0)


@pytest.mark.parametrize(
    ("call", "work"),
    [
        (lambda: special.iv_ratio(np.ones(10), 1.0), 10.0),
        (lambda: special.iv_ratio(np.full(10, 2.0), 3.0, 50), 10 * 51.0),
        (lambda: special.iv_ratio(np.full(10, 2.0), 300.0, 50), 10.0),
        (lambda: special.iv_ratio(np.full(10, 2.0), 300.0, 8), 10 * 9.0),
        (lambda: special.iv_ratio_inverse(np.ones(10), 0.5), 10 * 2.5),
        (lambda: special.gegenbauer(np.full(10, 400), 2, 0.5), 10 * 10.0),
        (lambda: special.gegenbauer_lipschitz(np.full(10, 5), 2), 10 * 32.0),
        (lambda: special.gegenbauer_max_zero(np.full(10, 5), 2), 10 * 16.0),
        (lambda: special.gegenbauer_max_zero(np.full(2, 1000), 200), 2 * 200.0),
        (lambda: special.gegenbauer(8000, 2, 0.5), 200.0),
        (lambda: VonMisesFisher(2, 1.0).eigenvalues(30), 30.0),
    ],
)
def test_work_is_counted_in_bessel_ratios(call, work, monkeypatch):
    allowance = dispatch.Allowance(1e9)
    monkeypatch.setattr(dispatch, "_allowance", allowance)
    call()
    assert 1e9 - allowance._left == pytest.approx(work)


@pytest.mark.parametrize("n", [300, 70_000])
def test_centres_do_not_depend_on_what_ran_before(n, monkeypatch):
    centers = []
    for allowance in (0.0, 1e9):
        monkeypatch.setattr(writers, "_allowance", dispatch.Allowance(allowance))
        centers.append(EqualMeasurePartition(2, n).centers())
    np.testing.assert_array_equal(*centers)
