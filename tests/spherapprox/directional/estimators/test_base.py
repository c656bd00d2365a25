"""What all mixtures of directions share: rows in any storage."""

import dask.array
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from spherapprox import VonMisesFisher
from spherapprox.directional import VonMisesFisherMixture, Watson, WatsonMixture

SIZES = [10.0, 50.0, 200.0]
DIRECTIONS = VonMisesFisher(np.eye(3), SIZES).rvs(500, rng=0).reshape(-1, 3)
AXES = np.concatenate([Watson(axis, 2.0 * size).rvs(300, rng=0) for axis, size in zip(np.eye(3), SIZES, strict=True)])
MIXTURES = {
    "means_": (VonMisesFisherMixture(3, noise=True, random_state=0), DIRECTIONS),
    "axes_": (WatsonMixture(3, noise=True, tol=1e-10, random_state=0), AXES),
}
STORAGES = {
    "CSR": scipy.sparse.csr_array,
    "Dask": lambda x: dask.array.from_array(x, chunks=(400, 2)),
    "float32": np.float32,
    "other lengths": lambda x: x * np.linspace(0.1, 1e5, len(x))[:, None],
}


@pytest.mark.parametrize("name", MIXTURES)
@pytest.mark.parametrize("storage", STORAGES)
def test_a_fit_does_not_depend_on_the_storage(storage, name):
    mixture, plain = MIXTURES[name]
    x, fitted, other = STORAGES[storage](plain), clone(mixture).fit(plain), clone(mixture)
    other.fit(x)
    tolerance = 1e-10 if storage != "float32" else {"means_": 1e-5, "axes_": 1e-4}[name]  # where the ascents end
    assert getattr(other, name) == pytest.approx(getattr(fitted, name), abs=tolerance)
    assert other.concentrations_ == pytest.approx(fitted.concentrations_, rel=10 * tolerance)
    assert other.lower_bound_ == pytest.approx(fitted.lower_bound_, abs=tolerance)
    assert np.array_equal(other.predict(x), fitted.predict(plain))
    assert other.score_samples(x) == pytest.approx(fitted.score_samples(plain), abs=300 * tolerance)
