"""What the programs compute beside what is printed of recurrent models: errata 3.25 to 3.31 of the page of errata."""

import itertools
import math

import numpy as np
import pytest

from bounds.prompts import recurrent
from spherapprox.prompts.recurrent import Input, Program, cycle, step
from spherapprox.prompts.recurrent.programs import Grid


def relu(v):
    return np.maximum(v, 0.0)


def printed_step(v, slope=1000.0):
    return relu(slope * v) - slope * relu(v - 1.0 / slope)


def both(u, v):
    return relu(printed_step(u) + printed_step(v) - 1.0)


def choose(condition, v, size):
    """Return (5.7) with f = 0 and lambda = size."""
    return relu(-size * (1.0 - condition) + v) - relu(-size * (1.0 - condition) - v)


def counter(n, steps, slope=1000.0, sign=-1.0):
    """Return f_modulo_counter (C.6.7) at all steps; printed with the sign +1, in the author's code with -1."""
    angle = 2.0 * math.pi / n
    rotation = np.array([[math.cos(angle), sign * math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    rows = np.array([np.linalg.matrix_power(rotation, i)[:, 0] for i in range(n)])
    state, states = np.linalg.inv(rotation)[:, 0], np.empty((steps, 2))
    for t in range(steps):
        states[t] = state = rotation @ state
    return printed_step(states @ rows.T - math.cos(angle / 2.0), slope) @ np.arange(n)


def listing_2(tokens, n, size=1e10, start=0):
    """Return the outputs of Listing 2 at all steps, its loops from `start` on (printed: 1), states by running sums."""
    x = np.asarray(tokens, dtype=np.float64)
    time, place = np.arange(len(x)) * 1.0, counter(n, len(x))
    prompt, compare = printed_step(time - (n - 0.5)), printed_step(counter(2 * n, len(x)) - (n - 0.5))
    copy = both(prompt, 1.0 - compare)
    here = [both(printed_step(place - (i - 0.5)), printed_step(i + 0.5 - place)) for i in range(start, start + n)]
    query = [np.cumsum(choose(at, choose(printed_step(0.5 - prompt), x, size), size)) for at in here]
    wanted = sum(choose(at, q, size) for at, q in zip(here, query, strict=True))
    equal = both(both(printed_step(x - (wanted - 0.5)), printed_step(wanted + 0.5 - x)), compare)
    padded = np.concatenate([np.zeros(n), equal])
    matched = printed_step(sum(padded[n - lag : len(padded) - lag] for lag in range(1, n + 1)) - (n - 0.5))
    began = np.cumsum(choose(both(matched, both(copy, printed_step(0.5 - place))), time, size))
    on = both(copy, printed_step(began + n - time))
    held = [np.cumsum(choose(printed_step(both(on, at) - 0.5), x, size)) for at in here]
    return sum(choose(printed_step(at - 0.5), value, size) for at, value in zip(here, held, strict=True))


def wrong(n, pairs, low, high, *, queries, size=1e10, start=0):
    """Return how many tokens of the answers to queries of random dictionaries are wrong, and of how many."""
    rng, count = np.random.default_rng(0), 0
    for _ in range(queries):
        keys = np.unique(rng.integers(low, high + 1, (2 * pairs, n)), axis=0)
        keys = keys[rng.permutation(len(keys))[:pairs]]
        values, k = rng.integers(low, high + 1, keys.shape), rng.integers(len(keys))
        tokens = np.concatenate([keys[k], np.hstack([keys, values]).ravel()])
        count += np.count_nonzero(np.round(listing_2(tokens, n, size, start)[-n:]) != values[k])
    return count, queries * n


def test_325_positive_eigenvalues_do_not_commute_with_relus():
    matrix, x = np.array([[2.0, -1.0], [-1.0, 2.0]]), np.array([1.0, -1.0])
    assert np.linalg.eigvalsh(matrix) == pytest.approx([1.0, 3.0])
    assert (relu(matrix @ x).tolist(), (matrix @ relu(x)).tolist()) == ([3.0, 0.0], [2.0, -1.0])
    rows = np.eye(3)[[2, 0]]
    assert np.array_equal(relu(rows @ [-1.0, 2.0, 3.0]), rows @ relu(np.array([-1.0, 2.0, 3.0])))


def test_326_steps_round_but_the_listing_is_right():
    x = np.linspace(1.0, 1e4, 100_001)
    rounding = np.abs(printed_step(x) - 1.0).max()
    assert rounding == pytest.approx(1.86e-9, rel=0.02)
    assert 1e10 * rounding == pytest.approx(18.6, rel=0.02)  # what (5.7) would add to a token
    assert np.array_equal(Program(step(Input(1), 1000.0))(x[:99, None])[:, 0], np.ones(99))
    assert np.all(printed_step(printed_step(x) - 0.5) == 1.0)  # but each such condition passes another step
    assert wrong(10, 1000, 1, 30, queries=2) == (0, 20)  # 20 010 tokens; 43 queries have no wrong token, either


def test_326_counters_count_with_a_sine_of_either_sign():
    assert counter(3, 6, sign=1.0) == pytest.approx([2, 1, 2, 1, 2, 1])
    for n, slope in ((3, 1000.0), (70, 1000.0), (71, 2000.0)):
        assert counter(n, 3 * n, slope) == pytest.approx(np.arange(3 * n) % n, abs=1e-6)
    assert np.abs(counter(71, 71) - np.arange(71)).max() == pytest.approx(1.5, abs=0.05)
    exact = Program(cycle(Input(1), 71))(np.zeros((200, 1)))
    assert np.array_equal(exact.argmax(axis=1), (exact[:1].argmax() + np.arange(200)) % 71)


def listing_1(query, cells):
    """Return the output of Listing 1 for f = 1 in one dimension, with one number that counts."""
    total, slope = 0.0, 1000.0
    for low in np.arange(cells) / cells:
        bump = printed_step(query - low, slope) - printed_step(query - (low + 1.0 / cells), slope)
        total += choose(printed_step(both(printed_step(bump - 0.5), 1.0) - 0.5), 1.0, 1e10)
    return float(total)


def test_327_the_printed_counter_multiplies():
    count = np.zeros(2)
    for expected in (1.0, 3.0, 7.0):
        count = np.ones((2, 2)) @ count + 1.0
        assert np.array_equal(count, [expected, expected])
    for _ in range(47):
        count = np.ones((2, 2)) @ count + 1.0
    assert count[0] > 1e15


def test_327_no_cell_has_what_is_just_above_a_face():
    assert [listing_1(q, 4) for q in (0.0, 1e-4, 0.2505)] == [0.0, 0.0, 0.0]
    assert [listing_1(q, 4) for q in (0.002, 0.1, 0.2499, 0.252, 0.9)] == [1.0] * 5  # off the ramps
    model = Grid(1, slope=1000.0)
    values = model.run([[0.0], [1e-4], [0.2505]], model.prompt(lambda x: np.ones(len(x)), 4))
    assert np.array_equal(values, np.ones((3, 1)))


def test_327_discs_cover_the_square_with_fewer():
    radius = 0.05
    count = recurrent.prompt_length(radius, dim=2, theorem="lower", norm="euclidean").as_integer()
    assert count == math.ceil(2.0 * math.pi / math.sqrt(27.0) / (math.pi * radius**2))
    rows = np.arange(14) * 1.5 * radius + 0.5 * radius
    columns = np.arange(13) * math.sqrt(3.0) * radius
    discs = np.array([(c - 0.5 * math.sqrt(3.0) * radius * (i % 2), r) for i, r in enumerate(rows) for c in columns])
    x = np.array([*itertools.product(np.linspace(0.0, 1.0, 101), repeat=2)])
    assert np.linalg.norm(x[:, None] - discs, axis=2).min(axis=1).max() < 0.0500001
    assert count < len(discs) == 182 < recurrent.prompt_length(radius, dim=2, norm="euclidean").as_integer()


def test_328_loops_from_one_lose_a_token_of_each_key():
    assert wrong(5, 20, 1, 10, queries=20) == (0, 100)
    assert wrong(5, 20, 1, 10, queries=20, start=1) == (100, 100)
    lost, tokens = wrong(5, 20, 0, 9, queries=20, start=1)  # some are 0, what is read where nothing was stored
    assert 60 <= lost < tokens == 100


def test_328_one_lambda_serves_all_prompts():
    keys = np.stack(np.meshgrid(*[np.arange(1, 9)] * 2), axis=-1).reshape(-1, 2)  # n = 2, V = 8
    prompt = np.hstack([keys, keys[::-1]]).ravel()
    assert len(prompt) + 2 == 2 + 2 * 2 * 8**2 < 300
    answers = {size: [listing_2([*key, *prompt], 2, size)[-2:] for key in keys] for size in (300.0, 100.0)}
    assert np.abs(answers[300.0] - keys[::-1]).max() < 1e-9
    assert np.abs(answers[100.0] - keys[::-1]).max() > 0.5  # smaller than the counter, against (5.7)'s own condition


def test_329_the_update_gate_leaves_the_past():
    def gru(inputs, w_z, u_z):
        """Return the outputs of (C.4) with C.3.3's other weights and ReLUs."""
        state, outputs = np.zeros(2), []
        for a in inputs:
            z, candidate = relu(w_z @ a + u_z @ state), relu(np.array([0.0, a[0]]))
            state = (1.0 - z) * state + z * candidate
            outputs.append(state.tolist())
        return outputs

    lower, none, inputs = np.diag([0.0, 1.0]), np.zeros((2, 2)), np.array([[2.0, 3.0], [2.0, 3.0]])
    assert gru(inputs, none, lower) == [[0.0, 0.0], [0.0, 0.0]]  # as printed
    assert gru(inputs, lower, none) == [[0.0, 6.0], [0.0, -6.0]]
    # (C.7): the lower block has a_2
    assert (relu(np.diag([1.0, 5.0]) @ [2.0, 3.0]) == [2.0, 15.0]).all()


def test_330_a_last_layer_that_is_there_twice():
    layer = lambda v: relu(2.0 * v)  # noqa: E731
    once, twice = layer(1.0), layer(layer(1.0))
    assert (once * once, twice * twice) == (4.0, 16.0)
    bias = {"phi": 0.0, "gamma": 1.0}  # (C.19) has phi's in the row of gamma
    assert relu(1.0 + bias["gamma"]) == 2.0 != relu(1.0 + bias["phi"])


def test_331_misprints():
    upper, left, b, x = np.eye(2, k=1), np.diag([1.0, 0.0]), np.eye(2, k=1), np.array([[0.0, 1.0]] * 3)
    for transition, states in ((upper, [1.0, 1.0, 1.0]), (left, [1.0, 2.0, 3.0])):
        convolved = [
            sum((np.linalg.matrix_power(transition, i) @ b @ x[t - i])[0] for i in range(t + 1)) for t in range(3)
        ]
        assert convolved == states
    assert ((2.0 + 1.0) * relu(2.0), (0.0 * 2.0 + 1.0) * relu(2.0)) == (6.0, 2.0)  # (C.38) with W_e = I, and 0
    gamma, phi = (lambda v: relu(2.0 * v)), (lambda v: relu(v + 1.0))
    assert (gamma(1.0) * phi(2.0), gamma(2.0) * phi(1.0)) == (6.0, 8.0)  # (5.4), (C.52)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_331_a_gated_linear_recurrence_keeps_its_first_token(dtype):
    tokens = np.random.default_rng(0).uniform(-1.0, 1.0, 50_001).astype(dtype)
    first = np.zeros_like(tokens)
    first[0] = 1.0
    with np.errstate(over="ignore"):
        reset = 1.0 / (1.0 + np.exp(-(dtype(2000.0) * first - dtype(1000.0))))  # (C.28), of the flag
        log_a = -np.log1p(np.exp(dtype(100.0), dtype=np.float64))  # (C.30), Lambda = -100
    a = np.exp(8.0 * reset * log_a).astype(dtype)  # (C.31)
    gain = np.sqrt(1.0 - a * a)
    state = dtype(0.7)
    for decay, part, token in zip(a, gain, tokens, strict=True):
        state = decay * state + part * token  # (C.32)
    assert state.dtype == dtype
    assert state == tokens[0]
    assert math.log10(800.0) - 1000.0 / math.log(10.0) < -400.0  # how far below 1 the decay is in exact arithmetic
