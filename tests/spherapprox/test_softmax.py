"""Softmax and log-sum-exp of logits of any size."""

import numpy as np

from spherapprox._softmax import exponentiate, log_sum_exp, softmax

LOGITS = np.array([[1e5, 1e5 - 1.0, -1e5], [-1e300, -1e300, -1e300]])


@np.errstate(all="raise")
def test_no_logit_overflows():
    e = np.exp(-1.0)
    np.testing.assert_allclose(softmax(LOGITS), [[1 / (1 + e), e / (1 + e), 0.0], [1 / 3] * 3], rtol=1e-15)
    np.testing.assert_allclose(log_sum_exp(LOGITS), [1e5 + np.log1p(e), -1e300], rtol=1e-15)
    assert np.array_equal(log_sum_exp(LOGITS[:, :0]), [-np.inf, -np.inf])


def test_results_may_take_the_place_of_logits():
    logits = LOGITS.copy()
    largest, masses = exponentiate(logits, out=logits)
    assert masses is logits
    assert np.array_equal(largest[:, 0], LOGITS.max(axis=1))
