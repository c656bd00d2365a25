"""Classes of directions: scikit-learn's checks, Bayes' rule, storages, complaints."""

import dask.array
import numpy as np
import pytest
import scipy.sparse
from scipy.stats import vonmises_fisher
from sklearn.utils.estimator_checks import parametrize_with_checks

from spherapprox import VonMisesFisher
from spherapprox.directional import VonMisesFisherClassifier

SIZES = [2.0, 5.0, 20.0]
X = VonMisesFisher(np.eye(3), SIZES).rvs(200, rng=0).reshape(-1, 3)
Y = np.array(["one", "three", "two"] * 200)


@pytest.mark.filterwarnings("ignore:'X' has rows of zeros")
@parametrize_with_checks([VonMisesFisherClassifier(), VonMisesFisherClassifier(concentration=3.0)])
def test_the_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_probabilities_are_by_bayes(priors):
    weights = np.where(Y == "one", 3.0, 1.0)
    fitted = VonMisesFisherClassifier(priors=priors).fit(X, Y, sample_weight=weights)
    expected = []
    for name, prior in zip(fitted.classes_, priors or [0.6, 0.2, 0.2], strict=True):
        mean, law = VonMisesFisher.fit(X[name == Y])
        expected.append(prior * vonmises_fisher(mean, law.concentration).pdf(X))
    expected = np.stack(expected, axis=1)
    assert fitted.predict_proba(X) == pytest.approx(expected / expected.sum(axis=1, keepdims=True), abs=1e-9)
    assert np.array_equal(fitted.predict(X), fitted.classes_[expected.argmax(axis=1)])
    assert 0.75 < fitted.score(X, Y) < 1.0


def test_a_class_of_several_parts():
    y = np.where(Y == "one", "other", "pair")
    scores = [VonMisesFisherClassifier(k, random_state=0).fit(X, y).score(X, y) for k in (1, 2)]
    assert scores[1] > scores[0]


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, lambda x: dask.array.from_array(x, chunks=(150, 3))])
def test_storages(make):
    fitted, other = VonMisesFisherClassifier().fit(X, Y), VonMisesFisherClassifier().fit(make(X), Y)
    assert other.predict_proba(make(X)) == pytest.approx(fitted.predict_proba(X), abs=1e-12)
