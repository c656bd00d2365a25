"""Heads as tensors that are made shorter, beside their definition."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")

from spherapprox.prompts.prefix import Prefix, compress_heads, select  # noqa: E402
from spherapprox.prompts.prefix.torch_modules.heads import CompressedHeads, HeadOptions, api  # noqa: E402
from spherapprox.prompts.prefix.torch_modules.heads.solving import solve_nonnegative  # noqa: E402

G, N, M, S, P = 3, 80, 60, 6, 4
BRIEF = HeadOptions(iterations=10)


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


KEY, VALUE, QUERIES = drawn(G, N, S), drawn(G, N, P, seed=1), drawn(2 * G, M, S, seed=2)  # two heads share a key


def attended(queries, key, value, bias=None, softcap=None, scale=S**-0.5):
    """Outputs and log masses in float64, by their definition."""
    logits = scale * (queries.double() @ key.double().transpose(-1, -2))
    logits = logits if softcap is None else softcap * torch.tanh(logits / softcap)
    logits = logits if bias is None else logits + bias.double()[..., None, :]
    masses = logits.exp()
    return masses @ value.double() / masses.sum(-1, keepdim=True), masses.sum(-1).log()


def rms(change, size=None):
    return (change.square().sum() / (change.numel() if size is None else size.square().sum())).sqrt().item()


@pytest.mark.parametrize("softcap", [None, 1.5])
def test_errors_are_those_at_queries_held_out(softcap):
    short = compress_heads(KEY, VALUE, QUERIES, 10, options=HeadOptions(iterations=10, softcap=softcap))
    assert [part.shape for part in (short.key, short.value, short.bias)] == [(G, 10, S), (G, 10, P), (G, 10)]
    out = torch.arange(M) % 5 == 4
    for g in range(G):
        for rows, error, mass_error in (
            (~out, short.error, short.mass_error), (out, short.held_out, short.held_out_mass),
        ):  # fmt: skip
            asked = QUERIES[2 * g : 2 * g + 2, rows].flatten(0, 1)
            outputs, masses = attended(asked, KEY[g], VALUE[g], softcap=softcap)
            ours, our_masses = attended(asked, short.key[g], short.value[g], short.bias[g], softcap)
            assert error[g].item() == pytest.approx(rms(ours - outputs, outputs), rel=1e-4)
            assert mass_error[g].item() == pytest.approx(rms(our_masses - masses), rel=1e-3)
    grouped = QUERIES.view(G, 2, M, S)
    torch.testing.assert_close(short(grouped), short(QUERIES).view(G, 2, M, P))
    expected, masses = attended(
        QUERIES, *(part.repeat_interleave(2, 0) for part in (short.key, short.value, short.bias)), softcap
    )
    torch.testing.assert_close(short(QUERIES).double(), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(short.log_mass(QUERIES).double(), masses, rtol=1e-4, atol=1e-5)
    assert f"{short.held_out[2].item():.3g}" in short.table().splitlines()[-1]


def test_methods_and_their_order():
    sizes = {}
    for method in ("descent", "attention matching", "top attention", "snapkv", "h2o", "recent", "uniform"):
        short = compress_heads(KEY, VALUE, QUERIES, 10, method=method)
        sizes[method] = short.held_out.mean().item()
        if short.indices is not None:
            assert torch.equal(short.key, KEY.gather(1, short.indices[..., None].expand(-1, -1, S)))
            assert (short.indices.diff() > 0).all()
        assert (short.bias is None) == (method in ("snapkv", "h2o", "recent", "uniform"))
    assert sizes["descent"] < sizes["attention matching"] < 0.5 * min(list(sizes.values())[3:])


def test_peers_choose_by_the_attention_of_the_queries():
    weights = torch.softmax(S**-0.5 * (QUERIES @ KEY.repeat_interleave(2, 0).transpose(1, 2)), -1).unflatten(0, (G, 2))
    sums, votes = weights.sum((1, 2)), weights[:, :, -32:].sum((1, 2))
    votes = torch.nn.functional.max_pool1d(votes[:, None], 7, stride=1, padding=3)[:, 0]
    for method, scores in (("h2o", sums), ("snapkv", votes)):
        expected = [sorted([*scores[g, :-5].topk(5).indices.tolist(), *range(N - 5, N)]) for g in range(G)]
        assert compress_heads(KEY, VALUE, QUERIES, 10, method=method).indices.tolist() == expected


def test_copies_are_taken_once_and_errors_are_those_of_arrays():
    key, value = (drawn(60, width, seed=width).repeat_interleave(3, 0) for width in (S, P))
    queries = drawn(500, S, seed=2)
    short = compress_heads(key, value, queries, 55, method="attention matching")
    assert len((short.indices // 3).unique()) >= 54
    assert short.bias.min() >= math.log(0.3) - 1e-6
    arrays = select(Prefix(key.numpy(), value.numpy()), queries[torch.arange(500) % 5 != 4].numpy(), 55, held_out=0)
    asked = drawn(200, S, seed=3)
    outputs, masses = attended(asked, key, value)
    missed = rms(torch.from_numpy(arrays.log_mass(asked.numpy())) - masses)
    assert rms(short.log_mass(asked) - masses) < 1.2 * missed
    assert rms(short(asked) - outputs, outputs) < 1.2 * rms(torch.from_numpy(arrays(asked.numpy())) - outputs, outputs)
    assert len(compress_heads(key, value, queries, 178, method="attention matching").indices.unique()) == 178


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nonnegative_weights_are_the_best_ones(dtype):
    columns, y = drawn(90, 40).mul(0.3).exp().to(dtype), drawn(90, seed=1).to(dtype)
    gram, moment = columns.T @ columns, columns.T @ y
    weights = solve_nonnegative(gram, moment)
    slope = gram @ weights - moment
    assert weights.min() == 0.0 < weights.max()
    bound = 1e-8 if dtype == torch.float64 else 1e-3
    assert torch.where(weights > 0.0, slope.abs(), -slope).max() < bound * moment.abs().max()
    torch.testing.assert_close(solve_nonnegative(gram, moment, weights > 0.0), weights)
    rounded = torch.tensor([[1.0, 1.001], [1.001, 1.0]])  # a negative eigenvalue
    assert solve_nonnegative(rounded, torch.ones(2)).tolist() == pytest.approx([0.5, 0.5], rel=0.02)


def test_values_of_more_tokens_than_are_multiplied_at_once_are_least_squares():
    key, value, queries = drawn(400, S).double(), drawn(400, P, seed=1).double(), drawn(900, S, seed=2).double()
    fit = queries[torch.arange(900) % 5 != 4]
    short = compress_heads(key, value, queries, 300, method="top attention")
    squares = torch.softmax(S**-0.5 * fit @ key.T, -1).square().sum(0)
    assert short.indices.tolist() == sorted(squares.topk(300).indices.tolist())
    weights = torch.softmax(S**-0.5 * fit @ short.key.T + short.bias, -1)
    gram = weights.T @ weights
    ridge = 1e-5 * gram.trace() / 300 * torch.eye(300, dtype=gram.dtype)
    missing = attended(fit, key, value)[0] - weights @ value[short.indices]
    expected = value[short.indices] + torch.linalg.solve(gram + ridge, weights.T @ missing)
    torch.testing.assert_close(short.value, expected, rtol=1e-6, atol=1e-6)


def test_no_result_depends_on_the_number_of_threads(monkeypatch, capsys):
    monkeypatch.setattr(api, "_NUMBERS", 1)
    before, runs = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            runs.append(compress_heads(KEY, VALUE, QUERIES, 10, options=HeadOptions(iterations=10, progress=True)))
            with ThreadPoolExecutor(1) as pool:
                assert [torch.get_num_threads(), pool.submit(torch.get_num_threads).result()] == [threads, threads]
    finally:
        torch.set_num_threads(before)
    for name in ("key", "value", "bias", "held_out"):
        assert torch.equal(*(getattr(run, name) for run in runs))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines[:3]] == ["1 of 3 heads", "2 of 3 heads", "3 of 3 heads"]


def test_batches_and_single_heads():
    quick = {"length": 10, "method": "top attention"}
    whole = compress_heads(KEY, VALUE, QUERIES, **quick)
    batch = compress_heads(KEY[None], VALUE[None], QUERIES[None], **quick)
    assert (batch.key.shape, batch.held_out.shape) == ((1, G, 10, S), (1, G))
    one = compress_heads(KEY[1], VALUE[1], QUERIES[2:4], **quick)
    assert [one.key.shape, one(QUERIES[2:4]).shape, one(QUERIES[2]).shape] == [(10, S), (2, M, P), (M, P)]
    for short, indices in ((batch, batch.indices[0, 1]), (one, one.indices)):
        assert torch.equal(indices, whole.indices[1])
        torch.testing.assert_close(
            short.held_out.view(-1)[-1 if short is one else 1], whole.held_out[1], rtol=1e-3, atol=0.0
        )
    torch.testing.assert_close(batch(QUERIES[None]), whole(QUERIES)[None])


def test_types_are_kept_and_their_roundings_are_in_the_errors(tmp_path):
    rows = [part.bfloat16() for part in (KEY, VALUE, QUERIES)]
    short = compress_heads(*rows, 10, options=BRIEF)
    assert {part.dtype for part in (short.key, short.value, short.bias)} == {torch.bfloat16}
    asked = rows[2][:2, 4::5].flatten(0, 1)
    outputs, ours = (
        attended(asked, rows[0][0], rows[1][0])[0],
        attended(asked, short.key[0], short.value[0], short.bias[0])[0],
    )
    assert short.held_out[0].item() == pytest.approx(rms(ours - outputs, outputs), rel=1e-3)
    torch.save(vars(short), tmp_path / "heads.pt")
    loaded = CompressedHeads(**torch.load(tmp_path / "heads.pt"))
    assert torch.equal(loaded(rows[2]), short(rows[2]))
    assert repr(loaded) == repr(short)
    wide = compress_heads(KEY.double(), VALUE.double(), QUERIES.double(), 10, method="top attention")
    exact, _ = attended(QUERIES, *(part.repeat_interleave(2, 0) for part in (wide.key, wide.value, wide.bias)))
    torch.testing.assert_close(wide(QUERIES.double()), exact, rtol=1e-13, atol=1e-13)


def test_sizes_of_float32_and_autocast_change_nothing():
    few = HeadOptions(iterations=20)
    short = compress_heads(KEY, VALUE, QUERIES, 10, options=few)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        sized = compress_heads(KEY * 2.0**-70, VALUE * 2.0**90, QUERIES, 10, scale=2.0**70 * S**-0.5, options=few)
        outputs = short(QUERIES)
    torch.testing.assert_close(sized.held_out, short.held_out, rtol=0.02, atol=0.0)
    assert torch.equal(outputs, short(QUERIES))


def test_all_tokens_stay_as_they_are():
    key = KEY.clone().requires_grad_()
    short = compress_heads(key, VALUE, QUERIES, N)
    assert torch.equal(short.key, KEY)
    assert torch.equal(short.value, VALUE)
    assert (short.bias, short.key.requires_grad) == (None, False)
    assert short.value.data_ptr() != VALUE.data_ptr()
    assert short.held_out.tolist() == [0.0] * G
    assert short.indices.tolist() == [list(range(N))] * G


def test_few_queries_are_warned_of_and_time_ends():
    with pytest.warns(RuntimeWarning, match="'queries' must have 5 times the queries for 10 tokens"):
        few = compress_heads(KEY, VALUE, QUERIES[:G, :5], 10)
    assert few.held_out.isfinite().all()
    assert few.indices is not None  # no descent
    assert compress_heads(KEY, VALUE, QUERIES, 40, options=HeadOptions(iterations=1)).indices is not None
    assert compress_heads(KEY, VALUE.repeat(1, 1, 8), QUERIES[:G, :5], 1).indices is not None
    late = compress_heads(KEY, VALUE, QUERIES, 10, options=HeadOptions(time_limit=1e-9))
    fast = compress_heads(KEY, VALUE, QUERIES, 10, method="top attention")
    assert torch.equal(late.value, fast.value)
