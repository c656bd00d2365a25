"""Lengths of prompts that hold a function, against grids, coverings and balls counted otherwise."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.prompts import recurrent


def grid_weights(q, cells, slope):
    """Return the weights that the program of a grid gives to its cells on an axis, and their centres."""
    at = 1.0 / slope + q * (1.0 - 2.0 / slope)
    faces = np.arange(cells + 1) / cells
    rise = np.clip(0.5 * slope * (at[:, None] - faces + 1.0 / slope), 0.0, 1.0)
    return rise[:, :-1] - rise[:, 1:], (faces[:-1] + faces[1:]) / 2.0


def grid_worst(cells, slope, dim, norm, points=1001):
    """Return the worst error of Lipschitz functions, sup_q of the mean of |q - C|, on the diagonal and beside it."""
    q = np.concatenate(
        [np.linspace(0.0, 1.0, points), *(k / cells + np.linspace(-3, 3, 121) / slope for k in range(cells + 1))]
    )
    q = q[(q >= 0.0) & (q <= 1.0)]
    weights, centres = grid_weights(q, cells, slope)
    assert np.abs(weights.sum(axis=1) - 1.0).max() <= 1e-9
    far = np.abs(q[:, None] - centres)
    if dim == 1 and slope >= 2.0 * cells:  # anything between the value of the larger share and the mean of both
        first = np.argsort(-weights, axis=1)[:, :2]
        shares, apart = (np.take_along_axis(array, first, axis=1) for array in (weights, far))
        return max(apart[:, 0].max(), (apart.mean(axis=1) * (shares.min(axis=1) > 0.0)).max())
    if dim == 1:
        return (weights * far).sum(axis=1).max()
    joint = weights[:, :, None] * weights[:, None, :]
    pair = np.maximum(far[:, :, None], far[:, None, :]) if norm == "max" else np.hypot(far[:, :, None], far[:, None, :])
    return (joint * pair).sum(axis=(1, 2)).max()


def test_lengths_of_the_specification():
    options = {"dim": 2, "norm": "euclidean"}
    assert recurrent.prompt_length(0.05, theorem="extension", dim=2).as_integer() == 100
    assert recurrent.prompt_length(0.05, theorem="grid-printed", **options).as_integer() == 225
    assert recurrent.prompt_length(0.05, theorem="extension", **options).as_integer() == 225  # one class, one length
    assert recurrent.prompt_length(0.1, theorem="extension", dim=8).as_integer() == 390_625
    assert recurrent.prompt_length(0.1, theorem="grid-printed", dim=8, norm="euclidean").as_integer() == 15**8


@pytest.mark.parametrize(("dim", "radius"), [(1, 0.05), (1, 0.051), (2, 0.21), (2, 0.25), (3, 0.3), (3, 0.6)])
def test_the_cube_is_covered_by_exactly_so_many_balls_of_the_maximum_norm(dim, radius):
    count = recurrent.prompt_length(radius, dim=dim, theorem="lower").as_integer()
    assert count == recurrent.prompt_length(radius, dim=dim, theorem="extension").as_integer()
    cells = round(count ** (1.0 / dim))
    centres = (np.arange(cells) + 0.5) / cells
    x = np.linspace(0.0, 1.0, 2001)
    assert np.abs(x[:, None] - centres).min(axis=1).max() <= radius * (1.0 + 1e-12)
    if cells > 1:  # no ball holds two of these
        assert 1.0 / (cells - 1) > 2.0 * radius


@settings(max_examples=100, deadline=None)
@given(
    dim=st.integers(1, 40),
    log_eps=st.floats(-8.0, 0.3),
    log_lip=st.floats(-2.0, 2.0),
    norm=st.sampled_from(["max", "euclidean"]),
)
def test_lower_bounds_are_below_upper_ones_and_lengths_give_their_errors(dim, log_eps, log_lip, norm):
    eps, options = 10.0**log_eps, {"dim": dim, "lipschitz": 10.0**log_lip, "norm": norm}
    below, above = (recurrent.prompt_length(eps, theorem=name, **options) for name in ("lower", "extension"))
    assert below.log <= above.log
    slope = 16.0 * options["lipschitz"] * math.sqrt(dim) / eps + 2.0
    grid = recurrent.prompt_length(eps, theorem="grid", slope=slope, **options)
    assert above.log <= grid.log < math.inf
    universal = recurrent.prompt_length(eps, theorem="universal", **options)
    assert above.log <= universal.log < math.inf
    if universal.log < 25.0:
        n = universal.as_integer()
        assert recurrent.error_bound(n=n, theorem="universal", **options).value <= eps * (1.0 + 1e-9)
    if grid.log < 25.0:
        for bound, slope in ((above, None), (grid, slope)):  # noqa: B020
            n, more = bound.as_integer(), {"theorem": bound.theorem, "slope": slope, **options}
            assert recurrent.error_bound(n=n, **more).value <= eps * (1.0 + 1e-9)
            if n > 1:
                assert recurrent.error_bound(n=n - 1, **more).value > eps * (1.0 - 1e-9)
        n = below.as_integer()
        assert recurrent.error_bound(n=n, theorem="lower", **options).value <= eps * (1.0 + 1e-9)
        if n > 1:
            assert recurrent.error_bound(n=n - 1, theorem="lower", **options).value > eps * (1.0 - 1e-9)


@pytest.mark.parametrize("cells", [1, 2, 30])
@pytest.mark.parametrize("steps", [2.0, 2.5, 10.0, 1000.0])
@pytest.mark.parametrize(("dim", "norm"), [(1, "max"), (2, "max"), (2, "euclidean")])
def test_the_grid_errs_as_is_said(cells, steps, dim, norm):
    slope = steps * cells
    worst = grid_worst(cells, slope, dim, norm)
    bound = recurrent.error_bound(dim=dim, n=cells**dim, theorem="grid", norm=norm, slope=slope).value
    assert worst <= bound * (1.0 + 1e-9)
    if (dim == 1 or norm == "euclidean") and cells == 30:  # few cells have few ramps, none near the ends
        assert bound <= (1.03 if dim == 1 else 1.11) * worst
    if steps == 1000.0:
        assert bound <= 1.005 * worst


def test_ramps_wider_than_cells_keep_the_general_bound():
    for cells, slope in ((5, 4.0), (9, 2.0)):
        general = 0.5 / cells + 2.0 / slope
        assert grid_worst(cells, slope, 1, "max") <= general
        assert recurrent.error_bound(dim=2, n=cells**2, theorem="grid", slope=slope).value == pytest.approx(general)


@pytest.mark.parametrize(("dim", "norm"), [(1, "max"), (2, "max"), (2, "euclidean")])
def test_more_values_never_make_a_grid_worse(dim, norm):
    result = recurrent.error_bound(dim=dim, n=np.arange(1, 40) ** dim, theorem="grid", norm=norm, slope=20.0)
    errors = [bound.value for bound in result]
    assert errors == sorted(errors, reverse=True)
    assert recurrent.error_bound(dim=1, n=11, theorem="grid", slope=20.0).value == pytest.approx(0.1)  # 10 cells


def test_a_slope_that_no_grid_makes_up_for():
    bound = recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=19.0)
    assert bound.log == math.inf
    assert bound.failed == ("slope > 2 lipschitz / eps",)
    assert recurrent.prompt_length(0.1, dim=2, theorem="grid", slope=21.0).log < math.inf
    for dim, slopes, cells in ((1, (19.9, 20.1), 10), (2, (19.9, 20.1), 10)):
        narrow, wide = (
            recurrent.prompt_length(0.1, dim=dim, theorem="grid", norm="euclidean", slope=s) for s in slopes
        )
        assert narrow.failed == ("cells at least 2/slope wide",)
        assert wide.as_integer() == cells**dim


def test_the_extension_attains_its_error_and_no_sampling_does_better():
    # two functions that vanish at all points, apart by twice the distance: the middle errs by it
    rng = np.random.default_rng(0)
    x = rng.random((4000, 2))
    for cells in (2, 5):
        points = np.array([*itertools.product((np.arange(cells) + 0.5) / cells, repeat=2)])
        for given_points in (points, rng.random(points.shape)):
            far = np.abs(x[:, None] - given_points).max(axis=2).min(axis=1).max()
            assert far >= recurrent.error_bound(dim=2, n=cells**2, theorem="lower").value * 0.95
            pair = np.linalg.norm(x[:, None] - given_points, axis=2).min(axis=1).max()
            assert pair >= recurrent.error_bound(dim=2, n=cells**2, theorem="lower", norm="euclidean").value * 0.95


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_states_have_to_hold_a_bit_for_each_of_many_points(dim):
    for eps, lipschitz in ((0.11, 1.0), (0.1, 1.0), (0.3, 2.0), (0.7, 1.0)):
        count = recurrent.state_bits(eps, dim=dim, lipschitz=lipschitz).as_integer()
        side = round(count ** (1.0 / dim))
        axis = np.linspace(0.0, 1.0, side) if side > 1 else np.zeros(1)
        points = np.array([*itertools.product(axis, repeat=dim)])
        assert len(points) == count
        apart = min((np.abs(p - q).max() for p, q in itertools.combinations(points, 2)), default=math.inf)
        assert apart > 2.0 * eps / lipschitz
        # cells of this side hold one point each
        assert 1.0 / side <= 2.0 * eps / lipschitz * (1.0 + 1e-12)
        height = min(0.5 * lipschitz * apart, 2.0 * eps)
        assert height > eps
        signs = np.random.default_rng(0).choice([-1.0, 1.0], count)
        x = np.random.default_rng(1).random((200, dim))
        near = np.abs(np.concatenate([points, x])[:, None] - points).max(axis=2)
        f = (signs * np.maximum(height - lipschitz * near, 0.0)).sum(axis=1)
        assert np.array_equal(f[:count], signs * height)
        slopes = np.abs(f[count:, None] - f[None, count:]) - lipschitz * np.abs(x[:, None] - x).max(axis=2)
        assert slopes.max() <= 1e-12


def test_one_network_takes_d_plus_1_times_the_tokens_that_are_needed():
    for dim in (1, 2, 5):
        short, long = (recurrent.prompt_length(1e-8, dim=dim, theorem=name).log for name in ("lower", "universal"))
        assert long - short == pytest.approx(math.log(dim + 1), abs=1e-3)
    assert recurrent.error_bound(dim=2, n=4, theorem="universal").failed == ("room for a cell of each grid",)


def test_bits_in_the_euclidean_norm():
    for dim in (1, 2, 8, 24, 40, 200):
        options = {"dim": dim, "norm": "euclidean"}
        assert recurrent.state_bits(0.01, **options).log >= recurrent.state_bits(0.01, dim=dim).log
    # a Leech lattice of minimal distance 0.02 has a point in each 0.01^24 of volume
    assert recurrent.state_bits(0.01, dim=24, norm="euclidean").log == pytest.approx(-24.0 * math.log(0.01), rel=1e-12)
    assert recurrent.state_bits(0.01, dim=2, norm="euclidean").as_integer() == math.ceil(1.0 / (math.sqrt(12.0) * 1e-4))


def test_wholes_that_floats_have_a_little_above_are_no_more():
    for k in range(2, 60):
        for j in (1, 3, 7, 13):
            eps, lip = round(0.001 * j, 6), round(0.002 * k * j, 6)  # 2 k balls of radius eps / lip, of a line's length
            result = recurrent.prompt_length(eps, dim=3, lipschitz=lip, theorem="lower")
            assert result.as_integer() == k**3
        assert recurrent.prompt_length(0.5 / k, dim=1, theorem="lower", norm="euclidean").as_integer() == k


def test_very_large_and_very_small_numbers():
    for norm in ("max", "euclidean"):
        cube = {"dim": 10**6, "norm": norm}
        below, above = (recurrent.prompt_length(1e-50, theorem=name, **cube).log for name in ("lower", "extension"))
        assert 0.0 < below <= above < math.inf
        assert recurrent.state_bits(1e-50, **cube).log > 0.0
    assert recurrent.error_bound(dim=10**6, n=2**53, norm="euclidean", theorem="lower").value > 0.5
