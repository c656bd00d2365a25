"""The figures of heads: maps of the proof's steps, terms on the circle, and the errors in their titles."""

import numpy as np
import pytest

from bounds.report import plot
from spherapprox import CoreHead, EqualMeasurePartition, SplitHead, Target, sphere, targets


def test_maps_are_the_steps_of_the_proof():
    target, cells, rate = targets.zonal_harmonic(2, 3), EqualMeasurePartition(2, 300), 25.0
    figure = plot.proof_figure(target, cells, rate, resolution=19)
    drawn = [np.asarray(axes.collections[0].get_array()).ravel() for axes in figure.axes]
    latitude, longitude = np.meshgrid(np.linspace(-90, 90, 19), np.linspace(-180, 180, 37), indexing="ij")
    x = sphere.from_latitude_longitude(latitude.ravel(), longitude.ravel())
    where, centres = cells.locate(x), cells.centers()
    head = CoreHead.from_target(target, cells, rate)
    assert np.array_equal(drawn[0], target(x))
    assert np.array_equal(drawn[3], target(centres)[where])
    assert np.array_equal(drawn[5], head(x))
    # the kernel of E is that of B, taken at the centres; the cells of C are those of D
    y = sphere.from_latitude_longitude(20.0, 40.0)
    assert drawn[1] / drawn[1].max() == pytest.approx(
        np.exp(rate * (x @ y)) / np.exp(rate * (x @ y)).max(), rel=1e-12, abs=1e-300
    )
    assert drawn[4] == pytest.approx(2.0 * rate * np.exp(rate * (centres[where] @ y - 1.0)), rel=1e-9, abs=1e-18)
    assert all(len(np.unique(drawn[2][where == k])) == 1 for k in np.unique(where))
    assert len(np.unique(drawn[2])) == len(np.unique(where))
    assert figure.axes[5].get_title(loc="left") == (
        f"F  sum of 300 kernels, off by {np.abs(head(x) - target(x)).max():.3g}"
    )


def test_terms_add_up_to_the_core_head():
    figure = plot.head_figure(counts=[12], concentrations=[8.0])
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.lines}
    terms = np.sum([line.get_ydata() for line in axes.lines[:12]], axis=0)
    assert terms == pytest.approx(curves["core head"].get_ydata(), abs=1e-12)
    angle = np.radians(curves["$f$"].get_xdata())
    assert curves["$f$"].get_ydata() == pytest.approx(0.6 * np.sin(angle) + 0.4 * np.cos(3 * angle), abs=1e-14)
    split = SplitHead.from_target(plot.proof.WAVE, EqualMeasurePartition(1, 12), 8.0)
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    assert curves["classical head"].get_ydata() == pytest.approx(split(x), abs=1e-12)


def test_the_default_shows_how_both_numbers_matter(recwarn):
    errors = [float(axes.get_title().split()[-3].rstrip(",")) for axes in plot.head_figure().axes]
    assert errors[3] == min(errors) < 0.2 * sorted(errors)[1]
    assert not recwarn.list


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f, p: plot.proof_figure(targets.bump(3), p, 9.0), "'target' must have dim = 2"),
        (lambda f, p: plot.proof_figure(f, EqualMeasurePartition(3, 9), 9.0), "'partition' must have dim = 2"),
        (lambda f, p: plot.proof_figure(f, EqualMeasurePartition(2, 10**5), 9.0), "at most 20000 cells"),
        (lambda f, p: plot.proof_figure(targets.rotation_field(2), p, 9.0), "'target' must have"),
        (lambda f, p: plot.proof_figure(f, p, -1.0), "'concentration' must be"),
        (lambda f, p: plot.head_figure(f), "'target' must have dim = 1"),
        (lambda f, p: plot.head_figure(counts=[]), "must have an entry"),
        (lambda f, p: plot.head_figure(counts=[0]), "'counts' must be"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(targets.bump(2), EqualMeasurePartition(2, 30))


def test_only_targets_are_drawn():
    with pytest.raises(TypeError, match="'target' must be a Target"):
        plot.head_figure(lambda x: x[:, 0])
    assert isinstance(plot.proof.WAVE, Target)
