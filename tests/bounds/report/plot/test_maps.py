"""Maps of functions, points, targets and heads."""

import numpy as np
import pytest
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure

from bounds.report import plot
from spherapprox import CoreHead, EqualMeasurePartition, Target, VonMisesFisher, sphere, targets

FIELD = targets.geomagnetic_field()
HEAD = CoreHead.from_target(FIELD, EqualMeasurePartition(2, 100), 30.0)
POLE = np.array([[0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("function", "colours", "lowest"),
    [
        (VonMisesFisher([0.0, 0.6, 0.8], 8.0).pdf, "viridis", 0.0),
        (lambda x: x[:, 0] * x[:, 1], "RdBu_r", -0.5),
        (lambda x: x[:, :2], "viridis", 0.0),  # of which lengths are drawn
    ],
)
def test_colours_are_signed_where_values_are(function, colours, lowest):
    target = Target(function, 2, name="drawn", n_outputs=2 if function(POLE).ndim == 2 else None)
    head = CoreHead.from_target(target, EqualMeasurePartition(2, 20), 5.0)
    figure = plot.maps_figure(head, target, 0.4, resolution=37)
    truth, approximation, error = (axes.collections[0] for axes in figure.axes if axes.name == "mollweide")
    for image in (truth, approximation):
        assert image.get_cmap().name == colours
        assert image.norm.vmin == pytest.approx(lowest, abs=0.01)
    vectors = target.n_outputs == 2
    assert (error.get_cmap().name, error.norm.vmin) == (("viridis", 0.0) if vectors else ("RdBu_r", -0.4))


@pytest.fixture
def axes():
    return Figure().add_subplot(projection="mollweide")


def test_a_map_takes_functions_and_values(axes):
    wave = targets.zonal_harmonic(2, 3)
    called, points = plot.draw_map(axes, wave, resolution=19)
    values = np.asarray(called.get_array()).reshape(19, 37)
    np.testing.assert_allclose(values[-1], wave(POLE)[0], rtol=1e-12)  # the north pole is the last row
    again = plot.draw_map(axes, values, cmap="magma", vmin=-2.0).image
    np.testing.assert_array_equal(again.get_array(), called.get_array())
    assert (again.get_cmap().name, again.get_clim(), points) == ("magma", (-2.0, 1.0), None)


def test_points_are_where_they_are_with_the_colours_of_their_values(axes):
    rows, values = sphere.from_latitude_longitude([10.0, -40.0], [20.0, 170.0]), np.array([1.0, 2.0])
    image, points = plot.draw_map(axes, points=rows, marks={"c": values, "s": 7.0})
    assert image is None
    np.testing.assert_allclose(np.degrees(points.get_offsets()), [[20.0, 10.0], [170.0, -40.0]], atol=1e-9)
    assert (list(points.get_array()), list(points.get_sizes())) == ([1.0, 2.0], [7.0])


def test_maps_of_the_earth_have_coastlines():
    def coasts(target, **options):
        axes = plot.maps_figure(HEAD, target, 1.0, resolution=9, **options).axes[0]
        return [c for c in axes.collections if isinstance(c, ContourSet)]

    (coast,) = coasts(FIELD)
    longitude, latitude = np.degrees(np.concatenate([path.vertices for path in coast.get_paths()])).T
    x = sphere.from_latitude_longitude(latitude, longitude)
    around = [targets.land()(sphere.from_latitude_longitude(latitude + d, longitude)) for d in (-1.0, 0.0, 1.0)]
    assert len(x) > 1000
    assert np.mean(np.ptp(around, axis=0)) > 0.5  # both land and sea within a degree
    assert not coasts(targets.distance(2))
    assert coasts(targets.distance(2), coastlines=True)


def test_maps_show_target_head_and_error():
    figure = plot.maps_figure(HEAD, FIELD, 100.0, resolution=19)
    images = [axes.collections[0].get_array().reshape(19, 37) for axes in figure.axes[::2]]  # colour bars lie between
    np.testing.assert_allclose(images[1] - images[0], images[2], atol=1e-12)
    # the north pole's row is one value, the field there
    np.testing.assert_allclose(images[0][-1], FIELD(POLE)[0], rtol=1e-12)
