"""Prompt models: parts of long prompts, many queries, and whole sequences."""

import numpy as np
import pytest

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


def test_what_does_not_fit_is_refused():
    model = programs.Dictionary(2, 9)
    prompt = model.prompt([[1, 2]], [[3, 4]])
    with pytest.raises(ValueError, match=r"'prompt' must be one prompt, shape \(L, 1\)"):
        model.run([[1, 2]], prompt[None])
    with pytest.raises(ValueError, match=r"'prompt' must be one prompt, shape \(L, 1\)"):
        model.run([[1, 2]], prompt[:1])
    with pytest.raises(ValueError, match="'outputs' must have 4 steps at least"):
        model.answers(np.zeros((1, 3, 1)))
    with pytest.raises(ValueError, match="sequences would take"):
        programs.Extension(1).sequences(np.ones((10**6, 1)), np.broadcast_to(0.5, (10**4, 2)))
    prompts = np.vstack([prompt, prompt]), prompt + 0.5, 3.0 * prompt, prompt[:2], [[1.0], [2.0], [3.0]]
    for wrong, words in zip(
        prompts, ("must be unique", "integers from 1 to 9", "integers", "2 tokens", "3 tokens"), strict=True
    ):
        with pytest.raises(ValueError, match=words):
            model.run([[1, 2]], wrong)
    with pytest.raises(
        ValueError, match="'prompt' must have entries of at most 1 in size, as this model's have, got 3"
    ):
        programs.Extension(1).run([[0.5]], [[0.5, 3.0]])
