"""Heads with a concentration for each control point, where the theorems treat one."""

import dataclasses

import numpy as np

import bounds
from bounds.report.plot import maps_figure
from spherapprox import SplitHead, points, targets

WAVE = targets.with_constants(targets.zonal_harmonic(2, 3))
ROWS = points.fibonacci(60).points


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
