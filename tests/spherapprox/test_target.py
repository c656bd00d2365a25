import dataclasses
import math
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spherapprox import CoreHead, Target, harmonics, sphere, sup_error

X = np.array([[0.6, 0.0, 0.8], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])


def height(x):
    return x[:, -1]


class TestCall:
    def test_scalar_functions_give_one_column(self):
        values = Target(height, 2)(X)
        assert values.dtype == np.float64
        assert np.array_equal(values, [0.8, -1.0, 0.0])

    @pytest.mark.parametrize("n_outputs", [None, 2])
    def test_vector_functions_keep_their_columns(self, n_outputs):
        target = Target(lambda x: x[:, :2], 2, n_outputs=n_outputs)
        assert np.array_equal(target(X), X[:, :2])

    def test_one_point_and_lists(self):
        assert Target(height, 1)([[0.6, 0.8]]) == [0.8]
        assert Target(lambda x: list(x[:, 0]), 2)(X).tolist() == [0.6, 0.0, 1.0]

    def test_float32_stays_and_integers_become_float64(self):
        assert Target(height, 2)(X.astype(np.float32)).dtype == np.float32
        values = Target(lambda x: np.sign(x[:, 0]).astype(int), 2)(X)
        assert (values.dtype, values.tolist()) == (np.float64, [1.0, 0.0, 1.0])

    def test_the_callers_rows_stay_as_they_are(self):
        def mirror(x):
            x[:] = x[:, ::-1]
            return x[:, 0]

        rows = X.copy()
        assert np.array_equal(Target(mirror, 2)(rows), X[:, 2])
        values = Target(lambda x: x, 2)(rows)
        values[:] = 0.0  # not the rows themselves
        assert np.array_equal(rows, X)


class TestConstants:
    def test_constants_are_unknown_unless_given(self):
        target = Target(height, 2)
        assert (target.lipschitz, target.exponent, target.sup_norm, target.n_outputs) == (None, 1.0, None, None)
        assert (target.name, target.provenance) == ("height", "")

    def test_are_kept_as_plain_numbers(self):
        target = Target(height, np.int64(2), lipschitz=np.float32(1), sup_norm=3, n_outputs=1.0, name="h", exponent=1)
        assert target == Target(height, 2, lipschitz=1.0, sup_norm=3.0, n_outputs=1, name="h")
        kinds = [type(v) for v in (target.dim, target.lipschitz, target.sup_norm, target.n_outputs)]
        assert kinds == [int, float, float, int]

    def test_frozen_and_picklable(self):
        target = Target(height, 2, lipschitz=1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            target.lipschitz = 2.0
        assert pickle.loads(pickle.dumps(target)) == target


class TestModulus:
    @settings(derandomize=True, deadline=None)
    @given(st.floats(0, 10), st.floats(0.01, 1), st.floats(0, 10), st.floats(0, math.pi))
    def test_is_the_smaller_of_what_is_known(self, slope, exponent, sup, angle):
        modulus = Target(height, 2, lipschitz=slope, exponent=exponent, sup_norm=sup).modulus(angle)
        assert modulus == min(slope * angle**exponent, 2 * sup)
        assert Target(height, 2, lipschitz=slope, exponent=exponent).modulus(angle) == slope * angle**exponent
        assert Target(height, 2, sup_norm=sup).modulus(angle) == 2 * sup

    def test_unknown_and_beyond_pi(self):
        assert Target(height, 2).modulus(1.0) == math.inf
        assert Target(height, 2, lipschitz=2.0).modulus(100.0) == 2.0 * math.pi


class TestOrigins:
    def test_constants_carry_their_origin(self):
        target = Target(height, 2, lipschitz=1.0, sup_norm=1.0, degree=1, origins={"lipschitz": "derived"})
        origins = [target.origin(name) for name in ("lipschitz", "sup_norm", "degree", "smoothness")]
        assert origins == ["derived", "given", "given", "unknown"]

    def test_a_changed_constant_is_given(self):
        target = Target(
            height, 2, lipschitz=1.0, sup_norm=1.0, origins={"lipschitz": "derived", "sup_norm": "estimated"}
        )
        changed = dataclasses.replace(target, lipschitz=0.5)
        assert (changed.origin("lipschitz"), changed.origin("sup_norm")) == ("given", "estimated")

    def test_origins_survive_pickling_and_copying(self):
        target = Target(height, 2, lipschitz=1.0, origins={"lipschitz": "derived"})
        for copy in (pickle.loads(pickle.dumps(target)), dataclasses.replace(target, name="other")):
            assert copy.origin("lipschitz") == "derived"


def one_point(x):
    return math.sin(x[0]) + x[2]


def branching(x):
    return x[0] if x[0] > x[1] else -1.0


@pytest.mark.parametrize("function", [one_point, branching])
@pytest.mark.parametrize(
    "call",
    [
        lambda f, x: Target(f, 2)(x),
        lambda f, x: CoreHead.from_target(f, x, 0.1),
        lambda f, x: sup_error(CoreHead(x, np.ones(len(x)), 5.0), Target(f, 2)),
        lambda f, x: harmonics.project(f, 3),
        lambda f, x: harmonics.PolynomialDerivatives(f, 2, 3)(x),
    ],
)
def test_functions_of_one_point_have_a_remedy_that_works(function, call):
    x = sphere.uniform(2, 40, 0)
    with pytest.raises(
        (TypeError, ValueError), match=r"'function' failed on rows of shape .*np.vectorize\(function, "
    ) as e:
        call(function, x)
    remedy = re.search(r"np.vectorize\(.*'\)", str(e.value)).group()
    rowwise = eval(remedy, {"np": np, "function": function})
    assert np.array_equal(Target(rowwise, 2)(x), [function(row) for row in x])
    call(rowwise, x)
