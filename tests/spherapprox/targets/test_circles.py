"""Constants that values along great circles refute, and true ones, which they do not."""

import numpy as np
import pytest

from spherapprox import CoreHead, Target, targets
from spherapprox.targets.circles import refutation


def wave(x):
    """Values up to 1.39 or more, with slopes to 3.07 or more, and no polynomial."""
    return np.sin(3.0 * x[:, 0]) + x[:, 1] * x[:, 2]


@pytest.mark.parametrize("size", [1e-300, 1.0, 1e300])
@pytest.mark.parametrize(
    ("constant", "least", "enough"),
    [("sup_norm", 1.3, 1.5), ("lipschitz", 3.0, 4.0), ("smoothness", 8.0, 13.0), ("third_derivative", 20.0, 45.0)],
)
def test_understated_bounds_are_refuted_and_true_ones_are_not(constant, least, enough, size):
    wrong, right = (Target(lambda x: size * wave(x), 2, **{constant: size * value}) for value in (least, enough))
    assert refutation(wrong).startswith(f"{constant}=")
    assert refutation(right) == ""


def test_an_exponent_changes_what_a_constant_says():
    root = targets.random_smooth(2, 0.5, rng=0)
    assert root.exponent == 0.5
    assert refutation(root) == ""
    assert refutation(Target(root.function, 2, lipschitz=0.2 * root.lipschitz, exponent=0.5)).startswith("lipschitz=")


@pytest.mark.parametrize("degree", [6, 24, 26, 38])
@pytest.mark.parametrize("concentration", [60.0, 360.0, 2000.0])
def test_false_degrees_are_refuted_however_high(degree, concentration):
    head = CoreHead([[0.0, 0.6, 0.8]], [1.0], concentration)
    assert refutation(Target(head, 2, degree=degree)).startswith(f"degree={degree}")
    assert refutation(Target(head, 2, degree=degree, remainder=1.0)) == ""


def test_constants_of_the_catalogue_survive():
    everywhere = ("distance", "zonal_harmonic", "bump", "tangent_projection", "random_bandlimited", "random_smooth")
    pairs = [(name, dim) for name in everywhere for dim in (1, 2, 3)]
    pairs += [("geomagnetic_field", 2), ("geomagnetic_vector", 2), ("land", 2), ("rotation_field", 3)]
    assert [pair for pair in pairs if refutation(targets.make(pair[0], dim=pair[1]))] == []


@pytest.mark.parametrize(("dim", "degree"), [(1, 1), (1, 60), (1, 2000), (2, 300)])
def test_high_degrees_that_are_true_survive(dim, degree):
    assert refutation(targets.zonal_harmonic(dim, degree)) == ""
    single = Target(lambda x: x[:, 0].astype(np.float32), dim, degree=1, sup_norm=1.0, lipschitz=1.0, smoothness=1.0)
    assert refutation(single) == ""
