"""6.5: targets as proofs take them, with the errors of their values, slopes and sizes."""

import dataclasses
import math

import numpy as np
import pytest
from cells import passes

from spherapprox import CoreHead, Target, sphere, sup_error, targets
from spherapprox.error import Proof
from spherapprox.error.certified import Subspace
from spherapprox.error.certified.function import as_function
from spherapprox.error.certified.heads import HeadError
from spherapprox.harmonics.forms import tangent_frame


def test_values_in_single_precision_have_its_error():
    x = sphere.uniform(2, 2000, rng=0)
    target = Target(lambda x: x[:, 0].astype(np.float32), 2, degree=1, sup_norm=1.0)
    off = np.abs(target(x) - x[:, 0]).max()
    assert 1e-8 < off <= as_function(target).value_error < 1e-6


def test_a_bound_is_one_of_the_target_itself():
    # values that are too small by as much as is stated
    wave = targets.zonal_harmonic(2, 3)
    low = dataclasses.replace(wave, function=lambda x: 0.99 * wave(x), accuracy=0.01)
    found = sup_error(CoreHead(np.eye(1, 3), [0.0], 1.0), low, certified=Proof(slack=1e-3), n=500)
    assert found.lower < 0.991
    assert 1.0 <= found.upper < 1.1


def test_a_size_is_one_of_the_target_itself():
    # the size of values that are too small by a fifth, and of a cone seen from its lowest point
    low = Target(lambda x: 0.8 * x[:, 0], 2, degree=1, accuracy=0.2)
    cone = Target(lambda x: np.arccos(np.clip(x[:, 0], -1.0, 1.0)), 2, lipschitz=1.0)
    assert 1.0 <= as_function(low).size < 2.0
    assert math.pi <= as_function(cone).size < 3.2


def test_a_cell_passes_for_the_polynomial():
    # f = 0.9 at the centre, p = 1
    low = Target(lambda x: np.full(len(x), 0.9), 2, degree=0, remainder=0.1, sup_norm=1.1)
    problem, x = HeadError.of(CoreHead(np.eye(1, 3), [0.0], 1.0), as_function(low)), np.eye(1, 3)
    assert not passes(problem, x, 1e-3, 0.95)
    assert passes(problem, x, 1e-3, 1.0001)


def test_targets_off_the_span_of_their_axes_change_by_their_modulus():
    steep, axes = 1e12, np.array([[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 9e-15, 0.0, 0.0, 0.0]])
    target = Target(
        lambda x: np.sin(steep * (x @ axes.T).sum(axis=1)), 4, lipschitz=2.0 * steep, sup_norm=1.0, axes=axes
    )  # fmt: skip
    few = Subspace.of(axes)
    found = sup_error(CoreHead(axes[:1], [0.0], 1.0), target, certified=Proof(slack=16.0), n=200)
    off = np.abs(axes - (axes @ few.basis[:, :1]) @ few.basis[:, :1].T).max()
    assert off > 1e-15
    assert 2.0 * steep * off <= found.certificate.rounding < 0.1


def test_slopes_of_the_polynomial_know_its_remainder():
    jump = Target(lambda x: x[:, 0] + 1e-4 * np.sign(x[:, 1]), 2, degree=1, remainder=1e-4, sup_norm=1.0001)
    x = sphere.uniform(2, 200, rng=0)
    frames = tangent_frame(x)
    got, error = as_function(jump).gradients(x, frames)
    assert 1e-3 < np.linalg.norm(got[:, 0] - frames[:, :, 0], axis=1).max() <= error < 0.1


def test_slopes_are_off_in_all_directions_at_once():
    # what is added jumps across the plane whose normal is the sum of the frame
    dim = 16
    x = np.eye(1, dim + 1)
    frames = tangent_frame(x)
    normal = frames[0].sum(axis=0)
    noisy = Target(
        lambda x: 1e-9 * np.sign(x @ normal), dim, lipschitz=0.0, smoothness=1.0, third_derivative=1.0,
        sup_norm=1.0, accuracy=1e-9,
    )  # fmt: skip
    got, error = as_function(noisy).gradients(x, frames)
    assert 0.6 * error < np.linalg.norm(got) <= error


def test_slopes_of_the_polynomial_are_above_those_of_the_target_s_size():
    # p = cos(n theta) is larger than f = 0.7 p
    n = 5
    wave = Target(
        lambda x: 0.7 * ((x[:, 0] + 1j * x[:, 1]) ** n).real, 1, degree=n, remainder=0.3, sup_norm=0.7
    )  # fmt: skip
    function = as_function(wave)
    for power, bound in enumerate((function.slope, function.curvature, function.third), 1):
        assert n**power * (1.0 - 1e-12) <= bound <= n**power * (1.0 + 1e-12)


def test_slopes_of_large_values_know_the_roundings_of_these():
    constants = {"lipschitz": 1.0, "smoothness": 1.0, "third_derivative": 1.0, "sup_norm": 2.0**21}
    large = Target(lambda x: 2.0**20 + x[:, 0], 2, accuracy=0.0, **constants)
    x = sphere.uniform(2, 200, rng=0)
    frames = tangent_frame(x)
    got, error = as_function(large).gradients(x, frames)
    assert 1e-9 < np.linalg.norm(got[:, 0] - frames[:, :, 0], axis=1).max() <= error < 1e-4


@pytest.mark.parametrize("scale", [1e-170, 1e155, 1e300])
def test_values_whose_squares_are_no_floats_have_a_size(scale):
    head, target = CoreHead(np.eye(3)[2:], [scale], 1.0), Target(lambda x: scale * x[:, 0], 2, degree=1)
    found, proven = (sup_error(head, target, n=500, certified=certified) for certified in (False, True))
    assert proven.lower == pytest.approx(found.lower, rel=1e-12)
    assert proven.lower <= proven.upper <= 1.1 * proven.lower
