"""The thesis's figures: the numbers of their curves, to the digits that were computed apart from this library."""

import csv
from importlib import import_module

import numpy as np
import pytest

from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, sphere, targets


@pytest.fixture(scope="module")
def thesis():
    return import_module("thesis_figures")


def test_eigenvalues_lie_between_their_bounds(thesis):
    (axes,) = thesis.draw_eigenvalues().axes
    curves = [curve.get_ydata() for curve in axes.lines if len(curve.get_xdata())]
    exact, lower = np.array(curves[::2]), np.array(curves[1::2])
    assert axes.lines[0].get_xdata()[200] == pytest.approx(10.0)
    assert exact[:, 200] == pytest.approx([0.900000004122, 0.729999998763, 0.535000004741], abs=1e-12)
    assert np.log(lower[:, 200]) == pytest.approx([-0.149443120185, -0.494932923095, -1.029664665258], abs=1e-12)
    assert (lower <= exact).all()
    for values, band in zip(exact, axes.collections[:3], strict=True):
        outline = band.get_paths()[0].vertices  # lower edge forth, upper edge back
        low, high = outline[1 : 1 + values.size, 1], outline[2 + values.size : -1, 1][::-1]
        assert (low <= values * (1 + 1e-13)).all()
        assert (values <= high * (1 + 1e-13)).all()
        assert (high - low).max() < 0.04


def test_the_dot_product_is_closeness_on_the_circle_alone(thesis):
    for title, points in thesis.CLOSENESS.items():
        x, near, far = np.array(points)
        assert np.linalg.norm(x - near) < np.linalg.norm(x - far)
        assert (x @ near > x @ far) == (title == "on the circle")
        assert np.allclose(np.linalg.norm([x, near, far], axis=1), 1.0) == (title == "on the circle")
    assert ["<" in axes.get_xlabel().splitlines()[1] for axes in thesis.draw_closeness().axes] == [True, False]


@pytest.mark.parametrize("vocabulary", [2, 10, 50])
def test_each_symbol_is_the_largest_where_it_is_thick(thesis, vocabulary):
    (axes,) = thesis.draw_decoder(vocabulary).axes
    lines = [line.get_xydata() for line in axes.lines[::3]]
    slopes = np.array([(end[1] - start[1]) / (end[0] - start[0]) for start, end in lines])
    for i, thick in enumerate(axes.lines[1::3]):
        low, high = thick.get_xdata()
        for x in np.linspace(low + 1e-6, high - 1e-6, 5):
            values = slopes * x + [start[1] for start, _ in lines]
            assert values.argmax() == i
            assert values.max() <= (x - 0.5) ** 2 + 1e-15


def test_maps_are_the_steps_of_the_proof(thesis):
    target, cells, rate = targets.zonal_harmonic(2, 3), EqualMeasurePartition(2, 300), 25.0
    figure = thesis.draw_proof(target, cells, rate, rows=19)
    curves_drawn = [np.asarray(axes.collections[0].get_array()).ravel() for axes in figure.axes]
    latitude, longitude = np.meshgrid(np.linspace(-90, 90, 19), np.linspace(-180, 180, 37), indexing="ij")
    x = sphere.from_latitude_longitude(latitude.ravel(), longitude.ravel())
    where, centres = cells.locate(x), cells.centers()
    head = CoreHead.from_target(target, cells, rate)
    assert np.array_equal(curves_drawn[0], target(x))
    assert np.array_equal(curves_drawn[3], target(centres)[where])
    assert np.array_equal(curves_drawn[5], head(x))
    # the kernel of E is that of B, taken at the centres; the cells of C are those of D
    y = sphere.from_latitude_longitude(20.0, 40.0)
    assert curves_drawn[1] / curves_drawn[1].max() == pytest.approx(
        np.exp(rate * (x @ y)) / np.exp(rate * (x @ y)).max(), rel=1e-12, abs=1e-300
    )
    assert curves_drawn[4] == pytest.approx(2.0 * rate * np.exp(rate * (centres[where] @ y - 1.0)), rel=1e-9, abs=1e-18)
    assert all(len(np.unique(curves_drawn[2][where == k])) == 1 for k in np.unique(where))
    assert len(np.unique(curves_drawn[2])) == len(np.unique(where))
    assert figure.axes[5].get_title(loc="left") == (
        f"F  sum of 300 kernels, off by {np.abs(head(x) - target(x)).max():.3g}"
    )


def test_terms_add_up_to_the_core_head(thesis):
    figure = thesis.draw_heads([12], [8.0])
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.lines}
    terms = np.sum([line.get_ydata() for line in axes.lines[:12]], axis=0)
    assert terms == pytest.approx(curves["core head"].get_ydata(), abs=1e-12)
    angle = np.radians(curves["$f$"].get_xdata())
    assert curves["$f$"].get_ydata() == pytest.approx(0.6 * np.sin(angle) + 0.4 * np.cos(3 * angle), abs=1e-14)
    split = SplitHead.from_target(thesis.WAVE, EqualMeasurePartition(1, 12), 8.0)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    assert curves["classical head"].get_ydata() == pytest.approx(split(x), abs=1e-12)


def test_the_default_shows_how_both_numbers_matter(thesis, recwarn):
    errors = [float(axes.get_title().split()[-3].rstrip(",")) for axes in thesis.draw_heads().axes]
    assert errors[3] == min(errors) < 0.2 * sorted(errors)[1]
    assert not recwarn.list


def test_curves_are_written_with_the_figures(thesis, tmp_path):
    thesis.main(["--only", "kernel", "closeness", "--out", str(tmp_path)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["closeness.png", "figures.csv", "kernel.png"]
    with (tmp_path / "figures.csv").open() as file:
        rows = list(csv.DictReader(file))
    (peak,) = (float(r["y"]) for r in rows if r["curve"] == "$\\lambda$ = 10" and r["x"] == "0.0")
    assert peak == pytest.approx(20.00000004122, rel=1e-12)
    assert not any("\n" in row["panel"] for row in rows)


def test_the_listings_remember_what_they_should(thesis):
    """Figures 5.2 and 5.3: the value of the third cell from its step on, and OTT in the registers at the end."""
    (axes,) = thesis.draw_cells().axes
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert [shown[t, 7] for t in range(5)] == ["0", "0", "0", "4", "4"]
    assert [shown[t, k] for k in (4, 5) for t in (0, 4)] == ["0.7", "0.7", "0.2", "0.2"]
    (axes,) = thesis.draw_lookup().axes
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    assert [chr(64 + int(shown[20, k])) for k in range(14, 17)] == list("OTT")
    assert [chr(64 + int(shown[20, k])) for k in (5, 6, 7)] == list("CAN")


@pytest.mark.parametrize(("form", "needed"), [("relu", False), ("step", True), ("product", True)])
def test_every_conditional_makes_the_listings_right_without_noise(form, needed):
    """Of steps that are exact; rotations count to 2 n = 6 here."""
    listings = import_module("listings")
    rng, programs = np.random.default_rng(0), listings.Listings(form, needed, True, 64.0)
    keys, values = rng.permutation(27)[:6, None] // [9, 3, 1] % 3 + 1, rng.integers(1, 9, (6, 3))
    network, prompt = programs.tokens(3).compile(), np.hstack([keys, values]).reshape(-1, 1)
    for key, value in zip(keys, values, strict=True):
        answers = network(listings.sequence(key[:, None], prompt))
        assert np.abs(answers[-3:, 0] - value).max() <= 1e-9
    corners = np.array([[0.0, 0.0], [0.0, 0.5], [0.5, 0.0], [0.5, 0.5]])
    prompt = np.hstack([np.full((4, 1), 0.5), corners, rng.random((4, 2))])
    network = programs.continuous(2, 2).compile()
    for corner, row in zip(corners, prompt, strict=True):
        answer = network(listings.sequence([corner + 0.2], prompt))[-1]
        assert np.abs(answer - row[3:]).max() <= 1e-9


def test_printed_steps_fail_where_matrices_are_merged():
    """Section 5.5 of the thesis, with lambda = 10^10: right step by step, wrong once compiled, but for exact steps."""
    listings = import_module("listings")
    keys, values = np.random.default_rng(0).integers(1, 21, (2, 2, 3))
    x = listings.sequence(keys[1][:, None], np.hstack([keys, values]).reshape(-1, 1))
    for exact in (False, True):
        program = listings.Listings("relu", False, exact, 1e10).tokens(3)
        answers = (np.rint(run(x)[-3:, 0]) for run in (program, program.compile()))
        assert [bool((answer == values[1]).all()) for answer in answers] == [True, exact]
