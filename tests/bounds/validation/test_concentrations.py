"""Heads with a concentration for each control point, where the theorems treat one."""

import dataclasses

import numpy as np
import pytest

import bounds
from bounds.report.plot import maps_figure
from spherapprox import CoreHead, SplitHead, points, targets

WAVE = targets.with_constants(targets.zonal_harmonic(2, 3))
ROWS = points.fibonacci(60).points


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
def test_theorems_refuse_several_concentrations(kind):
    head = kind(ROWS, WAVE(ROWS), np.linspace(10.0, 20.0, 60))
    with pytest.raises(
        ValueError, match=r"'head' must have one concentration: the theorems treat no others, got .*10 to"
    ):
        bounds.validate(head, WAVE, n=500)
    if kind is SplitHead:
        with pytest.raises(ValueError, match="'head' must have one concentration: the theorem treats no others"):
            bounds.pointwise.second_order_bound(head, WAVE, n=500)


def test_equal_concentrations_are_one():
    head = SplitHead(ROWS, WAVE(ROWS), 20.0)
    keyed = dataclasses.replace(head, concentration=np.full(60, 20.0))
    first, second = (
        bounds.validate(head, WAVE, n=500, examine=["claims", "worst case", "lemmas"]) for head in (head, keyed)
    )
    assert first.records() == second.records()
    assert bounds.report.report_validation(second).to_html().count("20 to 20") >= 1


def test_maps_show_the_range():
    head = SplitHead(ROWS, WAVE(ROWS), np.linspace(10.0, 20.0, 60))
    figure = maps_figure(head, WAVE, 0.5, resolution=20)
    assert any("concentration 10 to 20" in axes.get_title() for axes in figure.axes)
