"""The tasks that decoders learn, by their definitions, and how many numbers each way of tuning trains."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def limits(monkeypatch):
    """Undo what scripts say of threads."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(name, "1")


def test_tasks_answer_by_their_definitions():
    import skills

    for task, x, y in (
        ("double histogram", [3, 0, 0, 1, 3], [2, 2, 2, 1, 2]),
        ("as often as the first", [2, 0, 0, 1, 5], [0, 0, 0, 0, 0]),
        ("as often as the first", [2, 2, 0, 0, 5], [2, 2, 0, 0, 0]),
        ("less than the first", [3, 1, 5, 3, 2], [0, 1, 0, 0, 2]),
        ("divisible", [2, 4, 3, 0, 5], [2, 4, 0, 0, 0]),
        ("not divisible", [2, 4, 3, 0, 5], [0, 0, 3, 0, 5]),
        ("modulo the first", [0, 4, 3, 0, 5], [0, 0, 0, 0, 0]),
        ("add 3", [0, 4, 3, 0, 5], [3, 1, 0, 3, 2]),
    ):
        assert skills.TASKS[task](torch.tensor([x])).tolist() == [y]
    torch.manual_seed(0)
    x, y = skills.sampler(["ascending, add 1", "negation", "language 1"])(60)
    assert x.shape == y.shape == (60, 5)
    assert y[:20].tolist() == ((x[:20].sort(1)[0] + 1) % 6).tolist()
    assert int(x[20:40].max()) == 1
    words = {tuple(row) for row in skills.VOCABULARY.tolist()}
    assert all(tuple(row) in words for row in x[40:].tolist())


def test_ways_of_tuning_train_equally_many_numbers():
    import small_tasks

    for layers, tokens, rank in ((4, 10, 1), (2, 40, 4)):
        model = small_tasks.Decoder(4, layers)
        prefix = small_tasks.numbers(small_tasks.prefixed(model, tokens))
        assert prefix == small_tasks.numbers(small_tasks.low_rank(model, rank, attention=False)) == 48 * tokens * layers
