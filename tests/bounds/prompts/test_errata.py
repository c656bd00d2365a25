"""What the library computes beside what is printed on prompts: errata 3.12 to 3.24 of docs/theorems/3-errata.md."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import brentq

from bounds import prompts
from bounds.prompts import sequences
from spherapprox import SplitHead, attention
from spherapprox.prompts.contextual import boltzmann, contextual_attention
from spherapprox.prompts.executor import ReluNetwork
from spherapprox.prompts.prefix import AttentionLayer, VirtualToken, prefix_effect
from spherapprox.prompts.sequences import cantor_code


def test_312_the_change_of_the_outputs_has_full_rank():
    rng = np.random.default_rng(0)
    layer = AttentionLayer(*rng.standard_normal((3, 6, 6)), scale=0.3, heads=1)
    x, token, h = rng.standard_normal((8, 6)), rng.standard_normal((1, 6)), rng.standard_normal((6, 6))
    effect = prefix_effect(x, token, layer, causal=False)
    change = (effect.prefixed_output - effect.output)[0]
    bias = (effect.prefixed_output - (1.0 - effect.share[..., None]) * effect.output)[0]
    assert np.linalg.matrix_rank(change, tol=1e-6) == 6
    assert np.linalg.matrix_rank(bias, tol=1e-6) == 1
    constant = effect.next_logits(h).bias_bias
    assert np.abs(constant).max() > 2.0 * np.abs(constant).min()
    x[1] = -x[1]  # shares at other places are no functions of what is there
    change = np.abs(prefix_effect(x, token, layer, causal=False).share[0] - effect.share[0])
    assert np.delete(change, 1).max() > 0.01


def generates(first, sequence, gap):
    """Return whether behind its virtual token a sequence is generated, with keys `first` for places (A.1.1, E = I)."""
    size = len(sequence)
    rows, result = [np.array(sequence) / size], []
    for i in range(size):
        weights = [np.exp(gap * (logits[: i + 1] - logits.max())) for logits in (first, np.eye(size)[i])]
        state = weights[0] @ rows / weights[0].sum() + weights[1] @ np.eye(size)[: i + 1] / weights[1].sum()
        value, symbols = np.maximum(state - 1.0, 0.0).sum(), np.arange(size)
        result.append(int(np.argmax((2.0 * symbols / size - 1.0) * value + 0.25 - (symbols / size) ** 2)))
        rows.append(np.eye(size)[result[-1]])
    return tuple(result) == tuple(sequence)


def test_313_even_attention_does_not_find_the_first_token():
    every = [*itertools.product(range(3), repeat=3)]
    for gap in (5.0, 50.0, 500.0):
        assert not all(generates(np.ones(3), sequence, gap) for sequence in every)  # the printed keys
        assert all(generates(np.eye(3)[0], sequence, gap) for sequence in every)  # those of the authors' code


def test_314_the_printed_tokens_are_read_one_too_high():
    for v in (2, 3, 4):
        model = VirtualToken(v, inputs=1)
        every = [np.array(target) for target in itertools.product(range(v), repeat=v)]
        printed = [[model.generate([(target + 1) / v], x)[0] for x in range(v)] for target in every]
        right = [target for target, result in zip(every, printed, strict=True) if np.array_equal(result, target)]
        assert len(right) == 1
        assert np.array_equal(right[0], np.full(v, v - 1))
        assert np.array_equal(printed, np.minimum(np.array(every) + 1, v - 1))
    pairs = VirtualToken(2, inputs=2)
    assert float(pairs.encode([[1, 1], [1, 1]]).max()) == 0.75


def test_315_the_outer_function_is_not_lipschitz():
    jumps = {1: 1.0 / 3.0, 2: 7.0 / 12.0, 3: 25.0 / 39.0}
    for d, jump in jumps.items():
        bits = 31 // d
        half = [[0.5] + [0.0] * (d - 1), [0.5 - 2.0**-bits] + [0.0] * (d - 1)]  # R(x, 0, ...) = psi(x)
        above, below = cantor_code(half, bits)
        assert above - below == pytest.approx(jump, abs=3.0 ** (1.0 - d * bits))
        assert 2.0 / 3.0 * (1.0 - 1.0 / (3**d - 1)) == pytest.approx(jump, rel=1e-15)
    code, below = cantor_code([[0.0, 0.0], [0.0, 2.0**-10]], 12, exact=True)
    slope = 2.0**-10 * below / (int(code[1]) - int(code[0]))
    assert slope == 2.0**-11 * 3.0**20 > 1e6


def test_316_one_continuous_number_does_not_hold_two():
    # the printed model for two numbers and three binary digits of each
    bits, middle = 3, (np.arange(8) + 0.5) / 8
    circle = lambda x: np.stack([np.cos(np.pi * x / 2), np.sin(np.pi * x / 2)], axis=-1)  # noqa: E731
    psi = SplitHead(circle(middle), cantor_code(np.stack([middle, 0.0 * middle], axis=-1), bits), 60.0 * 4.0**bits)
    cells = np.array(list(itertools.product(middle, repeat=2)))  # (64, 2)
    codes = cantor_code(cells, bits)

    def number(x):
        return psi(circle(x[:, 0])) + psi(circle(x[:, 1])) / 3.0

    def model(x):
        logits = -60.0 * 81.0**bits * (number(x)[:, None] - codes) ** 2
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights @ cells / weights.sum(axis=1, keepdims=True)

    square = np.random.default_rng(0).random((3000, 2))
    errors = np.abs(model(square) - square).max(axis=1)
    assert np.mean(errors <= 1.05 / 16.0) > 0.95  # as it is meant
    away = np.abs(8.0 * square - np.rint(8.0 * square)).min(axis=1) >= 8.0 * 0.01  # 7.4 (layers)
    assert errors[away].max() <= 1.0 / 16.0 + 1e-6
    point = lambda t: 0.5 + 0.5 * np.array([[np.cos(t), np.sin(t)]])  # noqa: E731
    gap = lambda t: float((number(point(t)) - number(point(t + np.pi)))[0])  # noqa: E731
    angle = brentq(gap, 0.3, 0.3 + np.pi, xtol=1e-15)
    assert abs(gap(angle)) <= 1e-13
    assert angle == pytest.approx(1.572341, abs=1e-6)
    ends = np.concatenate([point(angle), point(angle + np.pi)])
    errors = np.linalg.norm(model(ends) - ends, axis=1)
    assert errors == pytest.approx([0.5, 0.5], abs=1e-4)
    assert errors.max() >= sequences.bottleneck(1, dim=2, domain="cube").value - 1e-13


def zigzag(n):
    """Return the network of sizes (1, n, 1) that is straight between the extrema of cos(n pi (x + 1) / 2)."""
    knots = np.linspace(-1.0, 1.0, n + 1)
    turns = np.diff((-1.0) ** np.arange(n + 1)) * 0.5 * n
    turns[1:] -= turns[:-1].copy()
    scale = np.sqrt(np.abs(turns))  # weights of both layers alike
    return ReluNetwork([scale[:, None], (turns / scale)[None]], [-scale * knots[:-1], [1.0]])


def test_317_an_executor_cannot_alternate_more_often_than_its_networks():
    n, eps = 4, 0.05
    network = zigzag(n)
    x = np.linspace(-1.0, 1.0, 1001)[:, None]
    budget = prompts.executor_budget((1, n, 1), eps, weight_bound=network.largest, row_bound=network.row_sums)
    executor, bound = budget.executor(), budget.bound.value
    slow, fast = (np.cos(0.5 * k * math.pi * (x + 1.0)) for k in (n, n + 2))
    assert np.abs(executor.run(executor.encode(network), x) - slow).max() <= 0.211 + bound
    # one swing more than n + 1 pieces have: no prompt does better than 0
    extrema = np.linspace(-1.0, 1.0, n + 3)[:, None]
    signs = (-1.0) ** np.arange(n + 3)[:, None]
    assert np.abs(np.cos(0.5 * (n + 2) * math.pi * (extrema + 1.0)) - signs).max() <= 1e-14
    rng = np.random.default_rng(0)
    least = np.inf
    for trial in range(40):
        knots = np.sort(rng.uniform(-1.2, 1.0, n))
        turned = rng.choice([-1.0, 1.0], n) * rng.uniform(0.2, 1.0, n) * min(2.0, network.row_sums[0])
        hidden = np.maximum(turned * (x - knots), 0.0)
        columns = np.concatenate([hidden, np.ones_like(x)], axis=1)
        fitted = np.linalg.lstsq(columns, fast[:, 0], rcond=None)[0] if trial else np.zeros(n + 1)
        shrink = min(1.0, network.largest / np.abs(fitted).max(), budget.row_bound[1] / np.abs(fitted[:-1]).sum()) if (
            fitted.any()
        ) else 1.0  # fmt: skip
        trial_network = ReluNetwork(
            [turned[:, None], shrink * fitted[None, :-1]], [-turned * knots, shrink * fitted[-1:]]
        )
        result = executor.run(executor.encode(trial_network), extrema)
        assert np.abs(result - signs).max() >= 1.0 - bound
        assert np.count_nonzero(np.diff(np.sign(trial_network(x)[:, 0]))) <= n + 1
        least = min(least, float(np.abs(executor.run(executor.encode(trial_network), x) - fast).max()))
    assert 1.0 - bound <= least <= 1.0 + bound


def test_317_any_prompt_leaves_outputs_piecewise_linear():
    executor = prompts.executor_budget((1, 2, 1), 0.5, row_bound=1.0).executor()
    layout, rng = executor.layout, np.random.default_rng(0)
    work = np.zeros((layout.workers, layout.width))
    work[:, layout.columns("name")] = np.eye(layout.workers)
    pieces = math.prod(layout.tokens * units + 1 for units in executor.hidden)
    assert pieces < 10**10
    x = np.linspace(-1.0, 1.0, 2001)
    for _ in range(5):
        state = np.repeat(np.concatenate([rng.standard_normal((layout.records, layout.width)), work])[None], len(x), 0)
        state[:, layout.records, layout.columns("output")[0]] = x
        for block in executor.blocks():
            logits = (state @ block.query.T) @ np.swapaxes(state @ block.key.T, 1, 2) / math.sqrt(layout.width)
            weights = np.exp(logits - logits.max(axis=2, keepdims=True))
            weights /= weights.sum(axis=2, keepdims=True)
            assert np.abs(weights - weights[:1]).max() <= 1e-12
            state = state + weights @ (state @ block.value.T)
            state = state + np.maximum(state @ block.up.T + block.bias, 0.0) @ block.down.T
        outputs = state[:, layout.records, layout.columns("sum")[0]]
        bends = np.abs(np.diff(outputs, 2)) > 1e-9 * np.abs(outputs).max()
        assert np.count_nonzero(bends) < 300


def test_318_two_hidden_layers_have_the_maximum():
    ends = [max(0.0, *v) - max(0.0, *(-t for t in v)) for v in ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))]
    assert ends[0] + ends[1] != ends[2]  # sums of ReLUs have g(v) - g(-v) linear in v
    # two hidden layers have it: a + relu(b - a), a = relu(x)
    two = ReluNetwork(
        [[[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]], [[1.0, 0.0, 0.0], [-1.0, 1.0, -1.0]], [[1.0, 1.0]]],
        [np.zeros(3), np.zeros(2), [0.0]],
    )
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (500, 2))
    assert np.abs(two(x)[:, 0] - np.maximum(x.max(axis=1), 0.0)).max() <= 1e-15


def test_319_reads_of_prompts_miss_more_than_is_printed():
    def softmax(logits):
        masses = np.exp(logits - np.max(logits))
        return masses / masses.sum()

    # one slot beside three tokens with key 0, at temperature 1
    assert 1.0 - softmax([1.0, 0.0, 0.0, 0.0])[0] == pytest.approx(3.0 / (math.e + 3.0), rel=1e-14)
    assert prompts.impurity(4, 1.0, 1.0) == pytest.approx(0.525, abs=5e-4)
    assert prompts.impurity(1, 1.0, 1.0) == 0.0  # the slots alone
    keys = np.eye(64)[:33]
    missed = 1.0 - softmax(keys @ keys[0] / math.sqrt(64.0) / 0.1)[0]
    assert missed == pytest.approx(prompts.impurity(33, 1.0 / math.sqrt(64.0), 0.1), rel=1e-12)
    assert missed == pytest.approx(0.902, abs=5e-4)
    assert prompts.impurity(33, 1.0, 0.1) == pytest.approx(0.00145, abs=5e-6)


def test_320_a_grid_of_corners_and_a_length_that_suffices():
    # the printed grid has one cell, its one table is 0, and f = 1 is in the class
    printed = prompts.prompt_length(0.2, token_dim=1, length=1, lipschitz=0.1, theorem="grid-printed")
    assert printed.value == pytest.approx(1.0)
    assert prompts.prompt_length(0.2, token_dim=1, length=1, lipschitz=0.1, theorem="grid").as_integer() == 11
    # it is no lower bound: midpoints take fewer
    options = {"token_dim": 2, "length": 1, "lipschitz": 4.0, "exponent": 2.0}
    fewer, printed = (
        prompts.prompt_length(0.02, theorem=name, **options) for name in ("grid-midpoint", "grid-printed")
    )
    assert fewer.value < 0.5 * printed.value
    off = np.maximum(1.0 - np.abs(np.linspace(-50.0, 50.0, 10_001)), 0.0)  # in the mean and at a point of the data
    assert off.mean() <= 0.0101 < off.max() == 1.0
    near = {"token_dim": 2, "length": 1, "lipschitz": 1.01, "exponent": math.inf}  # whole cells cost more here
    more, printed = (prompts.prompt_length(1 / 1.2, theorem=name, **near) for name in ("grid-midpoint", "grid-printed"))
    assert (more.as_integer(), printed.value) == (9, pytest.approx(2.424**2))


def test_321_permutations_have_one_boltzmann_operator():
    assert boltzmann([9.0, 0.0]) == boltzmann([0.0, 9.0])
    assert prompts.boltzmann_separation([9.0, 0.0], [0.0, 9.0]).failed == ("different sets",)
    # for n whose proof supposes more than the lemma does, the result holds at the least distance
    for n in (2, 3, 4):
        a = -4.0 * math.log(n) * np.arange(n)
        b = np.append(a[:-1], a[-1] - 4.0 * math.log(n))
        assert boltzmann(b) - boltzmann(a) > prompts.boltzmann_separation(a, b).value > 0.0


@pytest.mark.parametrize(("off", "wanted"), [(0.0, 0.0), (8.8e-8, 1.9e-4)])
def test_322_terms_of_either_sign_cancel(off, wanted):
    tokens = np.array([[1.0, 0.0], [2.0, off]])
    gap = 4.0 * math.log(2.0)
    frame = np.array([[0.8, 0.6], [0.8, -0.6]])  # unit vectors
    size = 5.0 * (2 + 1) ** 4 * 2 * gap / (1.0 * 1.0)
    key, query = np.diag([size, -size]) @ frame, frame
    points = np.concatenate([tokens, np.zeros((1, 2))])
    for x, y in itertools.combinations(points, 2):  # both directions separate the tokens and 0
        apart = np.abs(frame @ (x - y)) / np.linalg.norm(x - y)
        assert apart.min() >= prompts.separating_ratio(3, 2, "printed")
    assert np.linalg.matrix_rank(key) == np.linalg.matrix_rank(query) == 2
    scores = (tokens @ key.T) @ (query @ tokens[0])
    assert abs(scores[1] - scores[0]) == pytest.approx(wanted, rel=0.01, abs=1e-12)
    assert gap == pytest.approx(2.77, abs=0.01)
    # the weights of 8.9 of the same rank keep what is claimed
    attention = contextual_attention(tokens[None], rank=2, rng=0)
    scores = (tokens @ attention.key.T) @ (attention.query @ tokens.T)
    assert np.abs(scores[1] - scores[0]).min() >= 1.5 * (1.0 - 1e-12)


def test_323_the_separation_is_more_than_its_proof_gives():
    options = {"token_dim": 2, "separation": 0.5, "smallest_norm": 1.0, "largest_norm": 2.0}
    for v in range(2, 15):
        proven, claimed, sharp = (
            prompts.context_separation(v, 2, **options, theorem=name).log for name in ("corrected", "printed", "sharp")
        )
        assert (claimed > proven) == (v <= 8)
        assert claimed < sharp


def test_323_one_layer_does_where_a_thousand_are_required():
    # d = L = 1, C = 1, eps = 1/2: the printed grid, its prompt, and its layers
    step = 0.5 / 2.0
    prompt = round(1.0 / step)
    assert round((1.0 / step) ** (prompt + 1)) == 1024
    z = np.linspace(0.0, 1.0, 101)
    layer = z + np.maximum(np.outer(z, [1.0, -1.0]), 0.0) @ [-1.0, 1.0] + 0.5  # within 1/2 of all that is in [0, 1]
    assert np.abs(layer - 0.5).max() <= 1e-15


def test_323_misprints():
    tokens = np.array([[0.0, 0.0], [0.0, 0.5]])  # of the grid of d = 2 and delta = 1/2
    assert np.linalg.norm(tokens[0]) < math.sqrt(2.0)
    assert np.linalg.norm(tokens[1] - tokens[0]) < math.sqrt(2.0) * 0.5
    for slope, quantised in ((lambda t: 1.0 - t, 1.0), (lambda t: -t, 0.0)):
        assert 0.25 + slope(0.25) == quantised
    assert [0.5 * (last + 1) for last in (2.0 * (1.0 / 0.5 - 1.0), 2.0 / 0.5 - 1.0)] == [1.5, 2.0]  # (F.1) at 2
    for t in (1.0, 2.5, 7.0):
        left, middle, right = np.maximum([t - 1.0, t, t + 1.0], 0.0)
        assert (left - middle + right, left - 2.0 * middle + right) == (t, 0.0)


def test_324_without_the_scale_constant_entries_are_too_large():
    # entries up to 1 without 1/d are entries up to sqrt(d) with it, of the size of sqrt(log n)
    rng = np.random.default_rng(0)
    query, key, value = rng.uniform(-1.0, 1.0, (3, 50, 14))
    bare = attention(query, key, value, scale=1.0)
    root = math.sqrt(14.0)
    assert np.abs(attention(root * query, root * key, value, scale=1.0 / 14.0) - bare).max() < 1e-13
    sizes = (1e4, 1e6, 1e12)
    dims = [math.ceil(math.log(n)) for n in sizes]
    assert all(math.sqrt(d) >= math.sqrt(math.log(n)) for n, d in zip(sizes, dims, strict=True))
    bare, scaled = (
        [prompts.attention_cost(n, d, 1.0, 1.0 / n, scaled=s).exponent for n, d in zip(sizes, dims, strict=True)]
        for s in (False, True)
    )
    assert min(bare) > 2.0  # no n^o(1), at entries of size 1
    assert 1.0 > scaled[0] > scaled[1] > scaled[2]
