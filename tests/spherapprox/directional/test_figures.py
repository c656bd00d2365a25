"""Nets keep areas or angles, cones and level sets lie where they should, and roses have the areas of their counts."""

import math
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from scipy import stats

from spherapprox import VonMisesFisher, directional, sphere
from spherapprox.directional import draw_globe, draw_net, draw_rose

mpl.use("Agg")

DOWN = VonMisesFisher(sphere.from_azimuth_plunge(30.0, 40.0), 40.0)
ANGLES = st.tuples(st.floats(0.0, 360.0), st.floats(3.0, 89.0), st.floats(0.0, 6.28))


def axes(projection=None):
    return Figure().add_subplot(projection=projection)


def artists(ax):
    """Return what is drawn with lines and marks on a net, but for its own lines."""
    return ax.lines[2:]


def places(x, **options):
    """Return where a net has its points."""
    return draw_net(x, ax=axes(), **options).lines[-1].get_xydata()


def contours(ax):
    """Return the outlines of the level sets: of each hemisphere a list of the vertices of each level, (k, 2)."""
    sets = [artist for artist in ax.collections if isinstance(artist, QuadContourSet) and not artist.filled]
    return [[path.vertices for path in lines.get_paths()] for lines in sets]


def lifted(flat, net="schmidt"):
    """Return the directions at places of a net of the lower hemisphere."""
    square = (flat**2).sum(axis=1)
    inside = flat[square <= 1.0]
    square = square[square <= 1.0]
    factor, down = (np.sqrt(2 - square), 1 - square) if net == "schmidt" else (2 / (1 + square), 2 / (1 + square) - 1)
    return np.stack([factor * inside[:, 1], factor * inside[:, 0], down], axis=1)


def triangle(azimuth, plunge, turn, size=1e-4):
    """Return three directions near one, counterclockwise as seen from outside, and two of its sides."""
    centre = sphere.from_azimuth_plunge(azimuth, plunge)
    across = np.linalg.svd(centre[None])[2][1:]
    x = centre + size * np.array([[math.cos(a), math.sin(a)] for a in turn + np.array([0.0, 1.0, 2.9])]) @ across
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def size(corners):
    first, second = corners[1] - corners[0], corners[2] - corners[0]
    return 0.5 * math.sqrt(max((first @ first) * (second @ second) - (first @ second) ** 2, 0.0))


@given(ANGLES)
def test_a_schmidt_net_keeps_areas(place):
    x = triangle(*place)
    assert size(places(x)) == pytest.approx(0.5 * size(x), rel=1e-3)  # a hemisphere, 2 pi, in the unit disk


@given(ANGLES)
def test_a_wulff_net_keeps_angles(place):
    def angle(corners):
        first, second = corners[1] - corners[0], corners[2] - corners[0]
        return math.acos(first @ second / math.sqrt((first @ first) * (second @ second)))

    x = triangle(*place)
    assert angle(places(x, net="wulff")) == pytest.approx(angle(x), rel=1e-3)


@pytest.mark.parametrize(
    ("net", "radius"), [("schmidt", math.sqrt(2) * math.sin(math.pi / 12)), ("wulff", math.tan(math.pi / 12))]
)
def test_north_is_up_and_east_is_right(net, radius):
    x = sphere.from_azimuth_plunge([0, 90, 180, 270, 45], [60, 60, 60, 60, 0])
    half = math.sqrt(0.5)
    truth = [[0, radius], [radius, 0], [0, -radius], [-radius, 0], [half, half]]
    np.testing.assert_allclose(places(x, net=net), truth, atol=1e-15)


def test_the_other_hemisphere_is_open_and_keeps_its_azimuth():
    x = sphere.from_declination_inclination([20.0, 200.0], [50.0, -50.0])
    ax = draw_net(x, ax=axes(), color="C2", label="sites")
    (lower,), (upper,) = (line.get_xydata() for line in artists(ax))
    np.testing.assert_allclose(upper, -lower, atol=1e-15)
    assert [line.get_markerfacecolor() for line in artists(ax)] == ["C2", "white"]
    assert ax.get_legend_handles_labels()[1] == ["sites"]
    swapped = draw_net(x, DOWN, (x[0], 0.1), hemisphere="upper", ax=axes(), color="C2")
    np.testing.assert_allclose([line.get_xydata()[0] for line in artists(swapped)[-2:]], [upper, lower])
    star = artists(swapped)[2]
    np.testing.assert_allclose(star.get_xydata(), [lower])
    assert star.get_markerfacecolor() == "white"
    np.testing.assert_allclose(contours(swapped)[1][0], contours(draw_net(density=DOWN, ax=axes()))[0][0], atol=1e-9)
    only = draw_net(x[1:], ax=axes(), label="reversed")
    assert len(artists(only)) == 1
    assert only.get_legend_handles_labels()[1] == ["reversed"]


def test_ends_of_axes_are_the_same():
    x = sphere.uniform(2, 30, rng=0)
    lower = places(x, axial=True)
    assert len(lower) == 30
    np.testing.assert_allclose(places(-x, axial=True), lower, atol=1e-14)
    assert (np.hypot(*lower.T) <= 1.0).all()


@given(st.floats(0.0, 360.0), st.floats(0.0, 90.0), st.floats(0.01, 1.2))
def test_cones_are_circles_on_a_wulff_net(azimuth, plunge, angle):
    ax = draw_net(cones=(sphere.from_azimuth_plunge(azimuth, plunge), angle), net="wulff", ax=axes())
    points = artists(ax)[0].get_xydata()
    points = points[np.isfinite(points).all(axis=1)]
    # x^2 + y^2 = 2 a x + 2 b y + c
    matrix = np.column_stack([2.0 * points, np.ones(len(points))])
    square = (points**2).sum(axis=1)
    a, b, c = np.linalg.lstsq(matrix, square, rcond=None)[0]
    radius = math.sqrt(c + a * a + b * b)
    np.testing.assert_allclose(np.hypot(points[:, 0] - a, points[:, 1] - b), radius, rtol=1e-9)


@pytest.mark.parametrize("net", ["schmidt", "wulff"])
def test_a_cone_is_the_points_at_its_angle(net):
    pole = sphere.from_azimuth_plunge(100.0, 20.0)
    ax = draw_net(cones=[(pole, 0.6), (pole, 0.1)], net=net, ax=axes())
    wide, beyond, star, narrow = artists(ax)[:4]
    np.testing.assert_allclose(lifted(wide.get_xydata(), net) @ pole, math.cos(0.6), atol=1e-14)
    np.testing.assert_allclose(lifted(narrow.get_xydata(), net) @ pole, math.cos(0.1), atol=1e-14)
    np.testing.assert_allclose(lifted(beyond.get_xydata(), net) * [1, 1, -1] @ pole, math.cos(0.6), atol=1e-14)
    np.testing.assert_allclose(lifted(star.get_xydata(), net), [pole], atol=1e-14)
    assert [line.get_linestyle() for line in (wide, beyond)] == ["-", "--"]
    assert all(line.get_clip_path() is not None for line in (wide, beyond))


def test_a_plane_by_its_pole_is_a_great_circle():
    pole = sphere.from_strike_dip(30.0, 60.0)
    ax = draw_net(cones=(pole, math.pi / 2), axial=True, ax=axes())
    for line in artists(ax)[:2]:
        points = lifted(line.get_xydata())
        np.testing.assert_allclose(points @ pole, 0.0, atol=1e-14)
        assert sphere.to_azimuth_plunge(points)[1].max() == pytest.approx(60.0, abs=0.01)  # the dip
        assert line.get_linestyle() == "-"


@pytest.mark.parametrize("net", ["schmidt", "wulff"])
@pytest.mark.parametrize(("kappa", "plunge", "error"), [(3.0, 50.0, 1e-3), (40.0, 80.0, 2e-3), (2000.0, 5.0, 0.02)])
def test_level_sets_hold_their_shares(net, kappa, plunge, error):
    law = VonMisesFisher(sphere.from_azimuth_plunge(300.0, plunge), kappa)
    drawn = contours(draw_net(density=law, shares=[0.3, 0.9], net=net, ax=axes()))
    for level, share in zip(drawn[0], (0.9, 0.3), strict=True):
        cosines = lifted(level, net) @ law.mu
        assert len(cosines) > 10
        np.testing.assert_allclose(law.cdf(cosines), 1.0 - share, atol=error)


def test_level_sets_of_an_oval_hold_their_shares_on_both_hemispheres():
    oval = directional.Kent(np.eye(3)[[0, 2, 1]], 12.0, 5.0)  # its mean is horizontal
    ax = draw_net(density=oval, shares=[0.7], ax=axes())
    (lower,), (upper,) = contours(ax)
    values = oval.logpdf(lifted(lower)), oval.logpdf(lifted(upper) * [1, 1, -1])
    assert max(map(np.ptp, values)) < 0.03
    assert (oval.logpdf(oval.rvs(40_000, rng=0)) > values[0].mean()).mean() == pytest.approx(0.7, abs=0.01)


def test_of_axes_both_ends_count():
    girdle = directional.Watson(sphere.from_azimuth_plunge(70.0, 20.0), -8.0)
    draws = (girdle.rvs(40_000, rng=0) @ girdle.axis) ** 2
    one_end = VonMisesFisher(girdle.axis, 50.0)
    (level,) = contours(draw_net(density=girdle, shares=[0.5], axial=True, ax=axes()))[0]
    assert np.quantile(draws, 0.5) == pytest.approx(((lifted(level) @ girdle.axis) ** 2).mean(), abs=0.003)
    halves = [contours(draw_net(density=VonMisesFisher(s * one_end.mu, 50.0), axial=True, ax=axes())) for s in (1, -1)]
    for first, second in zip(*(half[0] for half in halves), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-9)


def test_densities_come_in_many_forms():
    class Estimator:
        score_samples = staticmethod(DOWN.logpdf)

    class Plain:
        pdf = staticmethod(DOWN.pdf)

    forms = (DOWN, Estimator(), Plain(), lambda x: 7.0 * DOWN.pdf(x), stats.vonmises_fisher(DOWN.mu, DOWN.kappa))
    drawn = [contours(draw_net(density=form, ax=axes()))[0] for form in forms]
    for levels in drawn[1:]:
        for level, truth in zip(levels, drawn[0], strict=True):
            np.testing.assert_allclose(level, truth, atol=1e-6)


def test_densities_may_be_flat_or_stop():
    flat = draw_net(density=lambda x: np.ones(len(x)), ax=axes())
    assert not contours(flat)
    (cap,) = contours(draw_net(density=lambda x: 1.0 * (x @ DOWN.mu > 0.9), shares=[0.99], ax=axes()))[0]
    assert len(cap) > 50
    np.testing.assert_allclose(lifted(cap) @ DOWN.mu, 0.9, atol=0.01)


def test_what_is_too_narrow_is_said():
    with pytest.warns(RuntimeWarning, match="'density' is too narrow to be drawn"):
        draw_net(density=VonMisesFisher(DOWN.mu, 1e6), ax=axes())
    with pytest.warns(RuntimeWarning, match="'density' is too narrow to be drawn"):
        draw_net(density=VonMisesFisher(DOWN.mu, 1e300), ax=axes())


def test_options_have_short_names_too():
    x = DOWN.rvs(5, random_state=0)
    (marks,) = artists(draw_net(x, ax=axes(), c="red", ms=3))
    assert (marks.get_color(), marks.get_markersize()) == ("red", 3)
    assert draw_globe(x=x, ax=axes("mollweide"), c="red", mec="k").lines[-1].get_color() == "red"
    winds = VonMisesFisher([1.0, 0.0], 2.0).rvs(9, random_state=0)
    assert draw_rose(winds, ax=axes("polar"), ec="k", lw=2).patches[0].get_linewidth() == 2


def test_a_second_call_adds_to_the_net():
    ax = draw_net(DOWN.rvs(10, random_state=0), ax=axes())
    before = len(ax.patches), len(ax.collections), len(ax.texts)
    draw_net(-DOWN.rvs(10, random_state=1), ax=ax)
    assert (len(ax.patches), len(ax.collections), len(ax.texts)) == before
    assert [to_hex(line.get_color()) for line in artists(ax)] == ["#1f77b4", "#ff7f0e"]
    with pytest.raises(ValueError, match="'ax' must hold no other net, got 'equal area"):
        draw_net(ax=ax, net="wulff")


def test_the_globe_has_the_density_where_it_is():
    law = VonMisesFisher(sphere.from_latitude_longitude(-40.0, 130.0), 9.0)
    ax = draw_globe(law, law.mu[None], ax=axes("mollweide"))
    grid = ax.collections[0]
    values, coordinates = np.asarray(grid.get_array()), grid.get_coordinates()
    top = np.unravel_index(values.argmax(), values.shape)
    np.testing.assert_allclose(np.degrees(coordinates[top]), [130.0, -40.0], atol=0.3)
    np.testing.assert_allclose(np.degrees(ax.lines[-1].get_xydata()), [[130.0, -40.0]])
    assert values.max() == pytest.approx(law.pdf(law.mu), rel=1e-3)
    north, east = np.degrees(coordinates[..., 1]), np.degrees(coordinates[..., 0])
    np.testing.assert_allclose(values[100, 300], law.pdf(sphere.from_latitude_longitude(north, east)[100, 300]))
    coasts = draw_globe(coastlines=True, ax=axes("mollweide")).collections[0]
    vertices = np.degrees(coasts.get_paths()[0].vertices)
    assert np.hypot(*(vertices - [18.5, -34.3]).T).min() < 1.0  # the Cape of Good Hope


def test_areas_of_a_rose_are_shares():
    azimuths = np.random.default_rng(0).uniform(0.0, 360.0, 500) ** 1.1 % 360.0
    ax = draw_rose(sphere.from_polar(np.radians(azimuths)[:, None]), sectors=12, ax=axes("polar"))
    shares = [bar.get_width() * bar.get_height() ** 2 / 2 for bar in ax.patches]
    edges = np.concatenate([[0.0], np.arange(15.0, 360.0, 30.0), [360.0]])
    counts = np.histogram(azimuths, edges)[0]
    counts[0] += counts[-1]
    np.testing.assert_allclose(shares, counts[:-1] / 500, atol=1e-15)
    middles = [(bar.get_x() + bar.get_width() / 2) % (2 * math.pi) for bar in ax.patches]
    np.testing.assert_allclose(middles, np.radians(np.arange(0, 360, 30)), atol=1e-12)
    assert (ax.get_theta_offset(), ax.get_theta_direction()) == (math.pi / 2, -1)
    ticks = [float(label.get_text().removesuffix(" %")) for label in ax.get_yticklabels()]
    np.testing.assert_allclose(np.square(ax.get_yticks()) * math.radians(30) / 2, np.array(ticks) / 100)


@pytest.mark.parametrize("sectors", [12, 36, 72])
def test_borders_of_sectors_belong_to_the_next(sectors):
    borders = np.arange(sectors) * 360.0 / sectors + 180.0 / sectors
    ax = draw_rose(sphere.from_polar(np.radians(borders)[:, None]), sectors=sectors, level=None, ax=axes("polar"))
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], ax.patches[0].get_height())


def test_the_arc_of_a_rose_is_its_cone():
    law = VonMisesFisher([math.cos(2.0), math.sin(2.0)], 1.3)
    x = law.rvs(80, random_state=0)
    mean, angle = directional.confidence_cone(x, 0.9, "conditional")
    arc, line = draw_rose(x, level=0.9, ax=axes("polar")).lines
    assert np.ptp(arc.get_xdata()) == pytest.approx(2.0 * angle)
    assert line.get_xdata()[0] == pytest.approx(math.atan2(mean[1], mean[0]))
    assert arc.get_ydata()[0] == line.get_ydata()[1]
    assert not draw_rose(x, level=None, ax=axes("polar")).lines


def test_the_curve_of_a_rose_is_the_density():
    law = VonMisesFisher([0.0, 1.0], 3.0)
    for density in (law, lambda x: 5.0 * law.pdf(x)):
        curve = draw_rose(law.rvs(50, random_state=0), density, level=None, ax=axes("polar")).lines[0]
        angles, radii = curve.get_data()
        x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        np.testing.assert_allclose(radii**2 / 2.0, law.pdf(x), rtol=1e-12)


@pytest.mark.parametrize(
    "draw", [draw_net, draw_globe, lambda x, **options: draw_rose(x[:, :2] / np.hypot(x[:, :1], x[:, 1:2]), **options)]
)
def test_matplotlib_is_left_as_it_was(draw):
    x = DOWN.rvs(20, random_state=0)
    settings, figures = dict(mpl.rcParams), pyplot.get_fignums()
    given = Figure()
    name = {draw_net: None, draw_globe: "mollweide"}.get(draw, "polar")
    ax = given.add_subplot(projection=name)
    points = {"x": x}
    assert draw(**points, ax=ax) is ax
    assert pyplot.get_fignums() == figures
    new = draw(**points)
    assert pyplot.get_fignums() == [*figures, new.figure.number]
    new.figure.canvas.draw()
    pyplot.close(new.figure)
    assert dict(mpl.rcParams) == settings


def test_a_failed_call_leaves_no_figure():
    figures = pyplot.get_fignums()
    with pytest.raises(ValueError, match="'density' must be at least 0"):
        draw_net(density=lambda x: -np.ones(len(x)))
    assert pyplot.get_fignums() == figures


def test_the_wing_loads_without_matplotlib():
    code = "import sys; from spherapprox import directional; directional.draw_net; print('matplotlib' in sys.modules)"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output == "False\n"
