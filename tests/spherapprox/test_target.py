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

    @pytest.mark.parametrize(
        ("x", "match"),
        [
            (np.eye(4), r"'x' must have shape \(n, 3\) for dim = 2, got \(4, 4\)"),
            (X[0], r"one point is x\[None, :\]"),
            (2 * X, "'x' must have rows of unit length"),
            (X[:0], "'x' must not be empty"),
            (X * np.nan, "'x' must be finite"),
        ],
    )
    def test_points_off_the_sphere_are_refused(self, x, match):
        with pytest.raises(ValueError, match=match):
            Target(height, 2)(x)

    @pytest.mark.parametrize(
        ("function", "match"),
        [
            (lambda x: x[0], r"'function' must return shape \(2,\) or \(2, p\) for 2 points, got \(3,\): .*axis=1"),
            (lambda x: x.sum(), r"'function' must return shape .* got \(\)"),
            (lambda x: x[:, :, None], r"'function' must return shape .* got \(2, 3, 1\)"),
            (lambda x: x[:, :0], r"'function' must return shape .* got \(2, 0\)"),
            (lambda x: np.where(x[:, 0] == 0, np.nan, 1.0), "'function' must return finite values, got nan at row 1"),
            (
                lambda x: np.where(x > 0, np.inf, 1.0),
                r"'function' must return finite values, got \[inf, 1.0, inf\] at row 0",
            ),
            (lambda x: [[1.0], [1.0, 2.0]], r"'function\(x\)' must be an array .* lists of different lengths"),
            (lambda x: np.ma.masked_less(x[:, 0], 0.5), r"'function\(x\)' must not have masked elements"),
            (lambda x: x @ np.ones(2), "'function' failed on rows of shape"),
            (lambda x: x[:, 9], "'function' failed on rows of shape"),
        ],
    )
    def test_values_of_the_wrong_shape_are_refused(self, function, match):
        with pytest.raises(ValueError, match=match):
            Target(function, 2)(X[:2])

    def test_stated_outputs_are_demanded(self):
        with pytest.raises(ValueError, match=r"'function' must return shape \(3, 2\) for 3 points, got \(3,\)"):
            Target(height, 2, n_outputs=2)(X)
        with pytest.raises(ValueError, match=r"'function' must return shape \(3, 2\) .* got \(3, 3\)"):
            Target(lambda x: x, 2, n_outputs=2)(X)

    @pytest.mark.parametrize("function", [lambda x: x[:, 0] * 1j, lambda x: ["a"] * len(x), lambda x: None])
    def test_values_that_are_no_real_numbers_are_refused(self, function):
        with pytest.raises(TypeError, match=r"'function\(x\)' must hold real numbers"):
            Target(function, 2)(X)

    def test_booleans_are_refused_with_the_remedy(self):
        with pytest.raises(TypeError, match=r"got an array of bool: \.astype\(float\) makes them 0\.0 and 1\.0"):
            Target(lambda x: x[:, 0] > 0.0, 2)(X)


class TestConstants:
    def test_constants_are_unknown_unless_given(self):
        target = Target(height, 2)
        assert (target.lipschitz, target.exponent, target.sup_norm, target.n_outputs) == (None, 1.0, None, None)
        assert (target.name, target.provenance) == ("height", "")

    def test_are_kept_as_plain_numbers(self):
        target = Target(height, np.int64(2), lipschitz=np.float32(1), sup_norm=3, n_outputs=1.0, name="h", exponent=1)
        assert target == Target(height, 2, lipschitz=1.0, sup_norm=3.0, n_outputs=1, name="h")
        assert [type(v) for v in (target.dim, target.lipschitz, target.sup_norm, target.n_outputs)] == [
            int, float, float, int,
        ]  # fmt: skip

    def test_frozen_and_picklable(self):
        target = Target(height, 2, lipschitz=1.0)
        with pytest.raises(dataclasses.FrozenInstanceError):
            target.lipschitz = 2.0
        assert pickle.loads(pickle.dumps(target)) == target

    def test_constants_are_given_by_keyword(self):
        with pytest.raises(TypeError, match="positional"):
            Target(height, 2, 1.0)

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({"function": 3.0}, TypeError, "'function' must be callable, got 3.0"),
            ({"dim": 0}, ValueError, "'dim' must be at least 1, got 0"),
            ({"dim": 2.5}, ValueError, "'dim' must be an integer, got 2.5"),
            ({"lipschitz": -1.0}, ValueError, "'lipschitz' must be at least 0.0, got -1"),
            ({"lipschitz": math.inf}, ValueError, "'lipschitz' must be finite, got inf"),
            ({"lipschitz": "1"}, TypeError, "'lipschitz' must be a real number"),
            ({"exponent": 0.0}, ValueError, "'exponent' must be greater than 0.0, got 0"),
            ({"exponent": 1.5}, ValueError, "'exponent' must be at most 1.0, got 1.5"),
            ({"sup_norm": math.nan}, ValueError, "'sup_norm' must be a number"),
            ({"n_outputs": 0}, ValueError, "'n_outputs' must be at least 1, got 0"),
            ({"name": 3}, TypeError, "'name' must be a str, got 3"),
            ({"provenance": None}, TypeError, "'provenance' must be a str, got None"),
        ],
    )
    def test_refusals_name_the_argument(self, options, error, match):
        with pytest.raises(error, match=match):
            Target(**({"function": height, "dim": 2} | options))


class TestModulus:
    @settings(derandomize=True, deadline=None)
    @given(st.floats(0, 10), st.floats(0.01, 1), st.floats(0, 10), st.floats(0, math.pi))
    def test_is_the_smaller_of_what_is_known(self, slope, exponent, sup, angle):
        both = Target(height, 2, lipschitz=slope, exponent=exponent, sup_norm=sup).modulus(angle)
        assert both == min(slope * angle**exponent, 2 * sup)
        assert Target(height, 2, lipschitz=slope, exponent=exponent).modulus(angle) == slope * angle**exponent
        assert Target(height, 2, sup_norm=sup).modulus(angle) == 2 * sup

    def test_unknown_and_beyond_pi(self):
        assert Target(height, 2).modulus(1.0) == math.inf
        assert Target(height, 2, lipschitz=2.0).modulus(100.0) == 2.0 * math.pi

    @pytest.mark.parametrize("angle", [-0.1, math.nan])
    def test_angles_out_of_range_are_refused(self, angle):
        with pytest.raises(ValueError, match="'angle' must be"):
            Target(height, 2).modulus(angle)


class TestOrigins:
    def test_constants_carry_their_origin(self):
        target = Target(height, 2, lipschitz=1.0, sup_norm=1.0, degree=1, origins={"lipschitz": "derived"})
        assert [target.origin(name) for name in ("lipschitz", "sup_norm", "degree", "smoothness")] == [
            "derived",
            "given",
            "given",
            "unknown",
        ]

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

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({"remainder": 0.1}, ValueError, "'remainder' must come with the 'degree'"),
            ({"degree": -1}, ValueError, "'degree' must be"),
            ({"smoothness": -1.0}, ValueError, "'smoothness' must be"),
            ({"accuracy": 1.0}, ValueError, "'accuracy' must be"),
            ({"origins": {"lipschitz": "proved"}}, ValueError, r"'origins\['lipschitz'\]' must be one of 'given'"),
            ({"origins": {"slope": "given"}}, ValueError, "'origins' must be one of"),
            ({"origins": "derived"}, TypeError, "'origins' must map"),
        ],
    )
    def test_unsuitable_constants_are_refused(self, options, error, match):
        with pytest.raises(error, match=match):
            Target(height, 2, lipschitz=1.0, **options)

    def test_a_target_knows_no_origin_of_other_attributes(self):
        with pytest.raises(ValueError, match="'constant' must be one of 'lipschitz'"):
            Target(height, 2).origin("name")


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
        lambda f, x: sup_error(CoreHead(x, np.ones(len(x)), 5.0), f, dim=2),
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
