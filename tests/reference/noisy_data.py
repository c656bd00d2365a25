"""A smooth function at random points, with noise."""

import numpy as np

from spherapprox import sphere


def smooth(x):
    return np.sin(3 * x[:, 0]) * np.exp(x[:, 1]) + np.tanh(4 * x[:, 2])


def noisy(m, noise, seed=0, dim=2):
    x = sphere.uniform(dim, m, rng=seed)
    return x, smooth(x) + noise * np.random.default_rng(seed + 1).standard_normal(m)


def root_mean_square(a):
    return float(np.sqrt(np.mean(np.square(a))))
