"""Guards of proofs in ball arithmetic: what they refuse, and what they leave undecided."""

import mpmath as mp
import numpy as np
import pytest
from flint import acb, arb, ctx

from bounds.certify import CertificationError, _degrees, _floor, _jackson, _special
from bounds.certify._balls import precision
from bounds.certify._zonal import Kernel, larger
from bounds.records.problem import Problem


def test_of_functions_that_cannot_be_told_apart_neither_is_taken():
    with precision(100):
        more = 1 + arb(2) ** -80
        parts = larger(lambda _u, _: acb(1), lambda _u, _: acb(more), lambda _u: arb(0, 2.0**-79), arb(0), arb(1))
        total = Kernel(1, arb(0)).integral(*parts)
        assert total.contains(arb(1))
        assert total.contains(more)
        assert total.rad() < arb(2) ** -75


def test_the_third_zero_of_a_bessel_function_is_not_its_first(monkeypatch):
    assert float(_special.bessel_zero(5, 21)) == pytest.approx(5.763459196894550)
    monkeypatch.setattr(_special, "bessel_zero_guess", lambda order: float(mp.besseljzero(order, 3)))
    with pytest.raises(CertificationError, match="may not be the first"):
        _special.bessel_zero(5, 22)


class Fine:
    """An integral without roundings of the precision at work."""

    @staticmethod
    def integral(*arguments):
        """Integrate with 200 bits more."""
        with precision(ctx.prec + 200):
            return acb.integral(*arguments)


def test_the_largest_of_normal_numbers_has_its_tail(monkeypatch):
    for d in (2, 10, 1000):
        with precision(400):
            true = _floor.largest_normal(d)
        with monkeypatch.context() as patch, precision(30):
            patch.setattr(_floor, "acb", Fine)
            assert _floor.largest_normal(d).contains(true)


def test_integer_points_at_the_angle_itself_are_not_separated():
    with precision(100):
        angle = 2 * (arb(1) / 14).sqrt().asin()
        for turn, separated in ((1e-20, False), (-1e-20, True)):
            if separated:
                assert _floor.on_sphere(7, 64, angle * (1 + arb(turn))).contains(arb(64).log())
            else:
                with pytest.raises(CertificationError, match="far enough apart"):
                    _floor.on_sphere(7, 64, angle * (1 + arb(turn)))


@pytest.mark.parametrize("spare", [arb(0), arb(0, 1), arb(-1), arb("nan")])
def test_a_degree_whose_room_is_uncertain_is_no_proof(spare):
    problem = Problem.checked(0.1, 4)
    with pytest.raises(CertificationError, match="cannot be proved enough"):
        _degrees.counted(lambda g: arb(g + 1).log(), lambda _g: spare, 9, 1.0, problem, 13)


def test_nodes_that_are_met_twice_are_no_rule(monkeypatch):
    right = _jackson.eigvalsh_tridiagonal
    assert _jackson._gauss_error(8, 3, 101) > 0
    monkeypatch.setattr(_jackson, "eigvalsh_tridiagonal", lambda *of: np.full(len(of[0]), right(*of)[-1]))
    with pytest.raises(CertificationError, match="node"):
        _jackson._gauss_error(8, 3, 102)
