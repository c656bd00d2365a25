"""What arguments of every kind of public function have in common: how wrong ones are refused."""

import contextlib
import math
import re
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import bounds
import spherapprox
from bounds.report import evaluate_ladder
from spherapprox import (
    CoreHead,
    EqualMeasurePartition,
    Target,
    VonMisesFisher,
    _checks,
    evaluate,
    harmonics,
    special,
    sphere,
    targets,
)


@pytest.mark.parametrize(
    ("exponent", "shown"), [(400, r"10{9}\.\.\. of 401 digits"), (5000, "an integer of 16610 bits"), (13, "10{13}")]
)
def test_huge_integers_are_named_and_not_printed(exponent, shown):
    with pytest.raises(ValueError, match=f"'n' must be at most .*, got {shown}(:|$)"):
        EqualMeasurePartition(3, 10**exponent)


@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_beyond_floats_are_infinite(sign):
    with pytest.raises(ValueError, match=f"'lipschitz' must be .*, got {sign}inf"):
        Target(lambda x: x[:, 0], 2, lipschitz=int(sign + "1") * 10**400)


@pytest.mark.parametrize("dim", [2, 2.0, np.int8(2), np.float16(2), np.array(2)])
def test_integral_numbers_are_integers(dim):
    assert EqualMeasurePartition(dim, 10).dim == 2


@pytest.mark.parametrize(
    ("dim", "error"), [(2.5, ValueError), (math.nan, ValueError), (True, TypeError), ("2", TypeError)]
)
def test_others_are_not(dim, error):
    with pytest.raises(error, match="'dim' must be an integer, got"):
        EqualMeasurePartition(dim, 10)


def test_masks_are_refused():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    with pytest.raises(ValueError, match="'values' must not have masked elements"):
        evaluate(np.eye(3), np.eye(3), masked, 1.0)
    with pytest.raises(ValueError, match="'x' must not have masked elements"):
        special.log_iv(1.0, masked)
    with pytest.raises(ValueError, match="'latitude' must not have masked elements"):
        sphere.from_latitude_longitude([masked, masked], 0.0)  # inside a list
    with pytest.raises(ValueError, match="'out' must not have masked elements"):
        EqualMeasurePartition(2, 3).centers(out=np.ma.masked_equal(np.zeros((3, 3)), 0.0))
    with pytest.raises(ValueError, match="must not have masked elements"):
        bounds.prefix_length(np.ma.array([0.1, 0.2], mask=[False, True]), dim=2)
    unmasked = np.ma.array([1.0, 2.0, 3.0])
    assert evaluate(np.eye(3), np.eye(3), unmasked, 1.0).shape == (3,)


@pytest.mark.parametrize("flag", ["no", 1, None, math.nan, []])
def test_flags_are_true_or_false(flag):
    with pytest.raises(TypeError, match="'normalize' must be True or False, got"):
        evaluate(np.eye(3), np.eye(3), np.ones(3), 1.0, normalize=flag)


@pytest.mark.parametrize(
    ("flag", "call"),
    [
        ("strict", lambda v: bounds.error_bound(dim=2, theorem="lower", n=100, lipschitz=1.0, strict=v)),
        ("strict", lambda v: bounds.covering_number(0.1, dim=2, strict=v)),
        ("strict", lambda v: bounds.covering.covering_radius(100, dim=2, strict=v)),
        ("progress", lambda v: evaluate_ladder([0.5], dim=2, progress=v)),
    ],
)
def test_flags_of_bounds_are_true_or_false(flag, call):
    with pytest.raises(TypeError, match=f"'{flag}' must be True or False, got 'no'"):
        call("no")


def test_integers_beyond_floats_are_refused_by_name():
    huge = 10**400
    calls = {
        "size": lambda: EqualMeasurePartition(2, 10).sample(0, size=huge),
        "dim": lambda: harmonics.hyperspherical_degrees(2, huge),
        "terms": lambda: targets.random_smooth(2, terms=huge),
        "samples": lambda: CoreHead.from_target(
            targets.distance(2), EqualMeasurePartition(2, 10), 5.0, coefficients="least_squares", samples=huge
        ),
        "n_outputs": lambda: Target(lambda x: x, 2, n_outputs=huge),
        "t": lambda: VonMisesFisher(2, 1.0).log_density(huge),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=rf"^'{name}' must be .*got 10{{9}}\.\.\. of 401 digits") as caught:
            call()
        assert len(str(caught.value)) < 160


def test_lists_are_arrays_of_one_shape():
    with pytest.raises(ValueError, match=r"'x' must be .* got \[\[1.0, 0.0\], \[1.0\]\]: lists of different lengths"):
        evaluate([[1.0, 0.0], [1.0]], np.eye(2), np.ones(2), 1.0)
    with pytest.raises(ValueError, match="must have one shape, got lists of different lengths"):
        bounds.prefix_length([0.1, [1.0]], dim=2)
    assert special.log_iv(1.0, [2**70, Fraction(1, 2)]).shape == (2,)  # any real numbers


def test_tensors_that_require_gradients_are_named():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("Use tensor.detach().numpy() instead.")

    with pytest.raises(TypeError, match=r"^'function\(x\)' must be .*detach"):
        Target(lambda x: Tensor(), 2)(np.eye(3))


WAVE = sphere.uniform(2, 40, 0)
MESSAGES = {
    r"'angles' must have shape \(n, dim\), got \(8760,\): angles of the circle are angles\[:, None\]": lambda: (
        sphere.from_polar(np.linspace(0.0, 6.0, 8760))
    ),
    r"got \(2,\): points of the circle have one angle, sphere.to_polar\(x\[None, :\], degrees=True\)$": lambda: (
        sphere.to_latitude_longitude([0.6, 0.8])
    ),
    r"got \(1, 2\): points of the circle have one angle, sphere.to_polar\(x, degrees=True\)$": lambda: (
        sphere.to_latitude_longitude([[0.6, 0.8]])
    ),
    r"got \(768,\): dim is one less than the number of columns, dim = 767 for 768 columns": lambda: VonMisesFisher(
        768, 5.0
    ).logpdf(np.eye(768)[:2], np.eye(768)[0]),
    r"'x' must have .*: dim is one less than the number of columns, dim = 6 for 7 columns": lambda: VonMisesFisher(
        7, 5.0
    ).logpdf(np.eye(7), np.eye(8)[0]),
    r"'x' must have shape \(n, 8\) for dim = 7, got \(7, 7\): dim is one less": lambda: targets.bump(7, 4.0)(np.eye(7)),
    r"got length .* in row \d+: its columns have, so pass x.T$": lambda: VonMisesFisher.fit(WAVE.T),
    r"'control_points' .* got \(40,\): points come before values": lambda: evaluate(WAVE, np.ones(40), WAVE, 5.0),
    r"'x' .* got \(2, 2, 3\): x.reshape\(-1, 3\) has": lambda: evaluate(np.ones((2, 2, 3)), WAVE, np.ones(40), 5.0),
    r"'y' must be finite, got nan at index 3$": lambda: CoreHead.fit(
        WAVE, np.where(np.arange(40) == 3, np.nan, 1.0), n=5
    ),
    r"got an array of shape \(40,\).* CoreHead.fit\(x, y\)": lambda: CoreHead.from_target(np.ones(40), WAVE, 5.0),
    r"got an array of shape \(40,\).*head\(x\) - y$": lambda: spherapprox.sup_error(
        CoreHead(WAVE, np.ones(40), 5.0), np.ones(40)
    ),
    r"'weights' must be left out .*, got an array of shape \(40,\)": lambda: VonMisesFisher.fit(
        WAVE, np.ones(40), method="marginal"
    ),
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_lead_to_the_remedy(message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        MESSAGES[message]()
    assert len(str(caught.value)) < 250


ROWS = {
    "fit": VonMisesFisher.fit,
    "evaluate": lambda x: evaluate(x, np.eye(3), np.ones(3), 1.0),
    "control points": lambda x: CoreHead(x, np.ones(3), 1.0),
    "point set": spherapprox.PointSet,
    "target": targets.bump(2, 4.0),
    "coordinates": sphere.to_polar,
    "logpdf": lambda x: VonMisesFisher(2, 5.0).logpdf(x, [1.0, 0.0, 0.0]),
    "data": lambda x: CoreHead.fit(x, np.ones(3), n=2),
}


@pytest.mark.parametrize("call", ROWS.values(), ids=ROWS)
def test_rows_of_zeros_are_to_be_dropped_and_sparse_ones_made_dense(call):
    with pytest.raises(ValueError, match=r"2 of length 0, row 1 first: they have no direction; drop them"):
        call(np.diag([1.0, 0.0, 0.0]))
    for make in (sparse.csr_matrix, sparse.coo_array):
        with pytest.raises(TypeError, match=r"must hold real numbers, got .*: pass its .toarray\(\)"):
            call(make(np.eye(3)))


def test_the_remedy_for_rows_of_zeros_works():
    x = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    with pytest.raises(ValueError, match="drop them") as caught:
        VonMisesFisher.fit(x)
    VonMisesFisher.fit(eval(str(caught.value).rpartition("drop them, ")[2], {"np": np, "x": x}))
    with pytest.raises(ValueError, match="a row of zeros has no direction"):
        VonMisesFisher([0.0, 0.0], 1.0)


@pytest.mark.parametrize("call", ROWS.values(), ids=ROWS)
def test_tensors_that_numpy_cannot_read_are_named(call):
    torch = pytest.importorskip("torch")
    for tensor, remedy in (
        (torch.eye(3, dtype=torch.bfloat16), r"BFloat16: pass its .float\(\)"),
        (torch.empty(3, 3, device="meta"), "meta"),
        (torch.eye(3).to_sparse(), "to_dense"),
        (torch.eye(3).requires_grad_(), "detach"),
    ):
        with pytest.raises(TypeError, match=f"must be an array that NumPy can read: .*{remedy}"):
            call(tensor)


def test_what_a_function_returns_on_the_meta_device_is_named():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"^'function\(x\)' must be an array that NumPy can read: .*meta"):
        Target(lambda x: torch.empty(len(x), device="meta"), 2)(np.eye(3))
    with pytest.raises(TypeError, match=r"^'values' must be an array that NumPy can read: .*meta"):
        evaluate(np.eye(3), np.eye(3), torch.empty(3, device="meta"), 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(np.eye(3), np.eye(3), np.ones(3), 1.0, method="dens"), "did you mean 'dense'"),
        (lambda: targets.make("geomagnetic_feild"), "did you mean 'geomagnetic_field'"),
        (lambda: bounds.prefix_length(0.1, dim=2, theorem="sharp-splitt"), "did you mean 'sharp-split'"),
        (lambda: bounds.covering_number(0.1, dim=2, method="roger"), "did you mean 'rogers'"),
        (lambda: evaluate(np.eye(3), np.eye(3), np.ones(3), 1.0, method="qqq"), "got 'qqq'$"),
    ],
)
def test_a_misspelt_word_is_met_by_the_nearest(call, message):
    with pytest.raises(ValueError, match=message):
        call()
    with pytest.raises(TypeError, match=r"'yaer' is no option .*did you mean 'year'"):
        targets.make("geomagnetic_field", yaer=2025)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
def test_any_real_type_of_rows(dtype):
    rows = np.eye(3).astype(dtype)
    result = evaluate(rows, rows, np.ones(3, dtype), 1.0)
    assert result.dtype == (np.float32 if dtype in (np.float16, np.float32) else np.float64)


def test_rows_of_wrong_length_are_refused_and_not_normalised():
    x = sphere.uniform(2, 10, rng=0)
    with pytest.raises(ValueError, match=r"'x' must have rows of unit length, got length 1\.00001 in row 4: divide by"):
        evaluate(np.where(np.arange(10)[:, None] == 4, 1.00001 * x, x), x, np.ones(10), 1.0)


@pytest.mark.parametrize("row", [0, 4095, 4096, 4999])
@pytest.mark.parametrize("factor", [1.01, 0.99, np.nan])
def test_one_wrong_row_of_many_is_found(row, factor):
    x = sphere.uniform(2, 5000, rng=0)
    x[row] *= factor
    with pytest.raises(ValueError, match="'x' must be finite" if np.isnan(factor) else f"in row {row}: divide by"):
        evaluate(x, x[1:2], [1.0], 1.0)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-6), (np.float32, 1e-3)])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rows_of_length_one_within_the_tolerance_pass(dtype, tolerance, sign):
    x = sphere.uniform(2, 10, rng=0)
    values = np.ones(10, dtype)
    near, far = ((x * (1.0 + sign * share * tolerance)).astype(dtype) for share in (0.999, 1.001))
    assert evaluate(near, near, values, 1.0).dtype == dtype
    with pytest.raises(ValueError, match="'control_points' must have rows of unit length"):
        evaluate(near, far, values, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("name", ["x", "control_points", "values"])
def test_one_number_that_is_not_finite_is_named(dtype, bad, name):
    arguments = {"x": sphere.uniform(2, 9, rng=0), "control_points": np.eye(3), "values": np.ones((3, 4))}
    arguments = {key: array.astype(dtype) for key, array in arguments.items()}
    arguments[name][2, 1] = bad
    with pytest.raises(ValueError, match=f"'{name}' must be finite, got {bad} in row 2"):
        evaluate(**arguments, concentration=1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_whose_squares_overflow_are_finite(dtype):
    values = np.array([np.finfo(dtype).max, 0.0, -1.0], dtype)
    with np.errstate(over="raise"):
        result = evaluate(np.eye(3), np.eye(3), values, 1e4)
    np.testing.assert_allclose(result, values, rtol=1e-14)


@pytest.mark.parametrize(
    ("shape", "wanted", "fits"),
    [
        ((3,), [(3,)], True),
        ((3,), [(4,)], False),
        ((3, 2), [(3,), (3, "p")], True),
        ((3, 0), [(3,), (3, "p")], False),
        ((3, 2, 1), [(3,), (3, "p")], False),
        ((), [(..., "dim+1")], False),
        ((4,), [(..., 4)], True),
        ((2, 3, 4), [(..., 4)], True),
        ((2, 3, 4), [(..., 3)], False),
        ((), [()], True),
    ],
)
def test_a_word_is_an_axis_of_any_length_and_an_ellipsis_any_axes(shape, wanted, fits):
    array = np.zeros(shape)
    if fits:
        assert _checks.shaped(array, "x", *wanted) is array
    else:
        with pytest.raises(ValueError, match=r"^'x' must have shape \(.*\), got \("):
            _checks.shaped(array, "x", *wanted)


def test_a_wrong_shape_is_met_by_all_that_would_do_and_a_remedy():
    message = "'y' must return shape (3,) or (..., 3, p) for 3 points, got (2,): turn it"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        _checks.shaped(np.zeros(2), "y", (3,), (..., 3, "p"), note=" for 3 points", remedy="turn it", verb="return")


@pytest.mark.parametrize(
    ("guard", "error", "message"),
    [
        (
            lambda: _checks.instance(3, "points", EqualMeasurePartition, Target, remedy="make one"),
            TypeError,
            "'points' must be an EqualMeasurePartition or a Target, got 3 of type int: make one",
        ),
        (lambda: _checks.given(None, "dim", " here"), TypeError, "'dim' must be given here"),
        (lambda: _checks.not_both(1, 2, "'a' is 'b'"), TypeError, "'a' is 'b': give one of them, got both"),
        (lambda: _checks.left_out(2, "n", "for f", "fill"), ValueError, "'n' must be left out for f, got 2: fill"),
        (
            lambda: _checks.agreeing(3, "dim", 2, ", as f says"),
            ValueError,
            "'dim' must be 2, as f says, got 3: leave it out",
        ),
        (lambda: _checks.same_dim(3, "f", 2, "as g has"), ValueError, "'f' must have dim = 2 as g has, got 3"),
        (
            lambda: _checks.broadcast_shape("x[:, None]", x=(3,), y=(2, 2)),
            ValueError,
            "'x' and 'y' must broadcast, got shapes (3,) and (2, 2): x[:, None]",
        ),
    ],
)
def test_a_complaint_names_the_argument_its_value_and_the_remedy(guard, error, message):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        guard()


def test_what_agrees_passes():
    assert _checks.instance(3, "n", int, str) == 3
    assert _checks.given(0, "n", "") == 0
    assert _checks.broadcast_shape("", x=(3, 1), y=(2,)) == (3, 2)
    assert _checks.weights_for(None, "weights", 2).tolist() == [1.0, 1.0]
    _checks.not_both(None, 2, "")
    _checks.left_out(None, "n", "")
    _checks.agreeing(None, "n", 3, "")
    _checks.agreeing(3.0, "n", 3, "")


def test_a_missing_package_is_met_by_what_installs_it():
    needs = _checks.needs("Nothing", "f", "extra")
    with pytest.raises(ImportError, match=r'f needs Nothing: pip install "spherapprox\[extra\]" installs it'), needs:
        import spherapprox.nothing  # noqa: F401


def test_every_public_class_and_function_has_an_example():
    for thing in (getattr(spherapprox, name) for name in spherapprox.__all__):
        for member in [thing] if callable(thing) else [getattr(thing, name) for name in thing.__all__]:
            if callable(member):
                assert ">>>" in (member.__doc__ or ""), member


@pytest.mark.parametrize("columns", [3, 12])
def test_lengths_beyond_floats_are_refused_without_a_warning(columns):
    rows = np.full((2, columns), 1e300)
    with pytest.raises(ValueError, match=r"'x' must have rows of unit length, got length inf in row 0"):
        _checks.rows(rows)
    with pytest.raises(ValueError, match=r"'pole' must have unit length, got length inf"):
        _checks.one_row(rows[0], "pole")


ABUSES = {"none": None, "text": "abc", "array": np.ones((2, 3)), "objects": np.array([1, "a", None], dtype=object)}


@pytest.mark.parametrize("abuse", [*ABUSES.values(), "meta", "graph", "sparse"], ids=[*ABUSES, "meta", "graph", "s"])
@pytest.mark.parametrize(
    "call",
    [
        lambda v: bounds.error_bound(dim=v, theorem="lower", n=100, lipschitz=1.0),
        lambda v: bounds.prefix_length(v, dim=2),
        lambda v: bounds.best_concentration(0.1, dim=v),
        lambda v: bounds.covering_number(v, dim=2),
        lambda v: bounds.prompts.key_count(v, dim=2),
        lambda v: 3 if v is None else spherapprox.shortest.token_lower_bound(targets.bump(2, 4.0), 0.5, dim=v),
        lambda v: bounds.prompts.boltzmann_separation(v, [1.0, 2.0], gap=1.0),
        lambda v: sphere.uniform(2, 3, rng=v),
        lambda v: EqualMeasurePartition(2, v),
    ],
)
def test_abuse_ends_in_a_complaint(call, abuse):
    """Whatever is passed, an argument that cannot be used ends in TypeError or ValueError, or is an array of them."""
    if isinstance(abuse, str) and abuse in ("meta", "graph", "sparse"):
        torch = pytest.importorskip("torch")
        abuse = {
            "meta": torch.empty(2, 3, device="meta"),
            "graph": torch.ones(2, 3, requires_grad=True),
            "sparse": torch.eye(3).to_sparse(),
        }[abuse]
    with contextlib.suppress(TypeError, ValueError):  # else a result, of arrays too
        call(abuse)
