"""Prompt models: parts of long prompts, many queries, and whole sequences."""

import numpy as np

from spherapprox.prompts.recurrent import programs


def test_parts_of_prompts_and_of_queries_make_no_difference():
    rng = np.random.default_rng(0)
    lookup, extension = programs.Dictionary(3, 9), programs.Extension(2)
    keys, points = np.unique(rng.integers(1, 10, (40, 3)), axis=0), rng.random((50, 2))
    for model, x, prompt in (
        (lookup, keys[:30], lookup.prompt(keys, keys[::-1])),
        (extension, rng.random((40, 2)), extension.prompt(points, points[:, 0])),
    ):
        answers = model.run(x, prompt)
        assert np.array_equal(model._run(x, prompt, entries=64), answers)
        assert np.array_equal(model._run(x, prompt, workers=1, entries=64), answers)
        assert np.array_equal(model.answers(model.network(model.sequences(x, prompt))), answers)
