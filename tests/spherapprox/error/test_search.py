"""The search for the largest error."""

import numpy as np
import pytest

from spherapprox.error.search import local_maxima, sample


@pytest.mark.parametrize("hills", [1, 2, 8, 12])
def test_hills_are_climbed_once_each(hills):
    def error(x):
        return np.real((x[:, 0] + 1j * x[:, 1]) ** hills)  # sin^hills(theta) cos(hills phi)

    rng = np.random.default_rng(0)
    tops, values = local_maxima(error, sample(2, 20_000, rng), 300, rng)
    azimuths = hills * np.arctan2(tops[:, 1], tops[:, 0]) / (2.0 * np.pi)
    assert sorted(np.round(azimuths) % hills) == list(range(hills))
    np.testing.assert_allclose(values, 1.0, rtol=1e-12)
