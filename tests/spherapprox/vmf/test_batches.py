"""Arrays of distributions have the values of their elements, and what needs a single one says so."""

import copy
import pickle

import numpy as np
import pytest
import scipy.stats
from sums import tilted

from spherapprox import VonMisesFisher, sphere

MEANS = np.stack([tilted(4), -tilted(4), np.eye(5)[0]])
KAPPAS = np.array([[0.0], [2.5], [4e3]])


def elements(batch):
    return {index: batch[index] for index in np.ndindex(batch.batch_shape)}


@pytest.mark.parametrize("batch", [
    VonMisesFisher(MEANS, KAPPAS), VonMisesFisher(MEANS, 3.0), VonMisesFisher(MEANS[0], KAPPAS),
    VonMisesFisher(4, KAPPAS[:, 0]),
])  # fmt: skip
def test_values_are_those_of_the_elements(batch):
    mean = None if batch.mean_direction is not None else MEANS[0]
    x = sphere.uniform(4, 6, rng=0)
    pairs = x.reshape(6, *(1,) * len(batch.batch_shape), 5)
    logs, densities = batch.logpdf(pairs, mean), batch.pdf(pairs, mean)
    assert logs.shape == (6, *batch.batch_shape)
    for index, single in elements(batch).items():
        assert isinstance(single.concentration, float)
        assert single.batch_shape == ()
        np.testing.assert_array_equal(logs[:, *index], single.logpdf(x, mean))
        np.testing.assert_array_equal(densities[:, *index], single.pdf(x, mean))
        for name in ("entropy", "mean_one_minus_cos", "mean_cosine", "cosine_variance"):
            values = np.broadcast_to(getattr(batch, name)(), batch.batch_shape)
            assert values[index] == getattr(single, name)()
        assert np.broadcast_to(batch.log_normalizer, batch.batch_shape)[index] == single.log_normalizer
        for call in (lambda d: d.log_density(0.3), lambda d: d(0.3), lambda d: d.eigenvalue(2), lambda d: d.cdf(0.3),
                     lambda d: d.ppf(0.3), lambda d: d.cap(0.3), lambda d: d.eigenvalue_complement(3)):  # fmt: skip
            assert np.broadcast_to(call(batch), batch.batch_shape)[index] == call(single)


def test_random_points_of_a_batch_follow_its_elements():
    for dim, n in ((1, 4000), (2, 4000), (4, 4000), (40, 1000)):
        means = sphere.uniform(dim, 3, rng=1)
        batch = VonMisesFisher(means, [[0.0], [3.0], [1e6]])
        x = batch.rvs(n, rng=5)
        assert x.shape == (n, 3, 3, dim + 1)
        np.testing.assert_array_equal(x, batch.rvs(n, rng=5))
        np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1.0, atol=3e-15)
        for index, single in elements(batch).items():
            chord = np.linalg.norm(x[:, *index] - single.mean_direction, axis=1)
            cosines = 1.0 - 0.5 * chord**2
            assert scipy.stats.kstest(cosines, single.cdf).pvalue > 1e-4, (dim, index)
        across = x - batch.mean_direction  # directions across the mean do not go together
        assert np.corrcoef(across[:, 0, 0, 0], across[:, 1, 2, 0])[0, 1] ** 2 * n < 16
    shared = VonMisesFisher(means, 3.0).rvs((2, 5), rng=0)
    assert shared.shape == (2, 5, 3, 41)
    assert VonMisesFisher(means, 3.0).rvs(size=(), rng=0).shape == (3, 41)
    assert VonMisesFisher(40, [1.0, 2.0]).rvs(means[0], size=4, rng=0).shape == (4, 2, 41)


def test_a_batch_is_a_value_and_an_array_of_distributions():
    batch = VonMisesFisher(MEANS, KAPPAS)
    assert batch.batch_shape == (3, 3)
    assert batch[1, 0] == VonMisesFisher(MEANS[0], 2.5)
    assert batch[1:, None].batch_shape == (2, 1, 3)
    assert batch[..., -1][2] == VonMisesFisher(MEANS[2], 4e3)
    assert batch[batch.concentration[:, 0] > 1.0].batch_shape == (2, 3)
    assert [part.batch_shape for part in batch] == [(3,)] * 3
    for same in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch)), VonMisesFisher(mu=MEANS, kappa=KAPPAS)):
        assert same == batch
        assert hash(same) == hash(batch)
    assert batch != VonMisesFisher(MEANS, KAPPAS[::-1])
    assert VonMisesFisher(MEANS, 1.0) != VonMisesFisher(MEANS[:2], 1.0)
    with pytest.raises(ValueError, match="read-only"):
        batch.concentration[0] = 1.0
    kappas = KAPPAS.copy()
    held = VonMisesFisher(MEANS, kappas)
    kappas[:] = 7.0
    assert held == batch
    assert len(repr(VonMisesFisher(np.tile(MEANS, (50, 1)), 1.0))) < 150
    with pytest.raises(TypeError, match=r"no parts: VonMisesFisher.fit returns"):
        _, _ = VonMisesFisher(MEANS[0], 2.0)


def test_all_pairs_of_many_rows_take_little_memory():
    from processes import peak_memory

    x, means = sphere.uniform(63, 3000, rng=0).astype(np.float32), sphere.uniform(63, 20, rng=1)
    logs, peak = peak_memory(lambda: VonMisesFisher(means, np.arange(20.0)).logpdf(x[:, None]))
    assert logs.shape == (3000, 20)
    assert peak < 6 * logs.nbytes + 2e6  # all differences would take 64
