"""Heads as torch modules against the heads themselves; gradients against finite differences."""

import copy
import io
import sys

import numpy as np
import pytest

from spherapprox import ClassicalHead, CoreHead, SplitHead, Target, sphere, sup_error

torch = pytest.importorskip("torch")

from spherapprox.heads.torch_modules import tensors  # noqa: E402

float64 = torch.float64
HEADS = (CoreHead, SplitHead, ClassicalHead)
each = pytest.mark.parametrize("kind", HEADS)


def recipe(dim, n, p=None, seed=0):
    rng = np.random.default_rng(seed)
    return sphere.uniform(dim, n, rng=rng), rng.normal(size=n if p is None else (n, p))


def hard_points(rows, seed):
    """Return points half way between control points and their neighbours, random ones, and two that are opposite."""
    near = rows @ rows.T - 3.0 * np.eye(len(rows))
    middle = rows[:8] + rows[near.argmax(axis=1)[:8]]
    x = sphere.uniform(rows.shape[1] - 1, 6, rng=seed)
    x[-1] = -x[0]
    return np.concatenate([middle / np.linalg.norm(middle, axis=1, keepdims=True), x])


@pytest.mark.parametrize("dim", [1, 2, 8, 63])
@pytest.mark.parametrize("p", [None, 1, "dim+1"])
@pytest.mark.parametrize("concentration", [0.0, 10.0, 1e3, 1e6])
def test_attention_is_the_head(dim, p, concentration):
    head = SplitHead(*recipe(dim, 100, dim + 1 if p == "dim+1" else p), concentration)
    limit = max(1e-12, 1e-15 * concentration) * np.abs(head.values).max()
    x = hard_points(head.control_points, 1)
    wanted, inputs = head(x), torch.tensor(x)
    assert np.abs(head.to_torch()(inputs).numpy() - wanted).max() <= limit
    classical = ClassicalHead.from_head(head).to_torch()
    for sequences in (inputs, inputs[:, None], inputs.reshape(2, 7, dim + 1)):
        y = classical(sequences)
        assert y.shape == sequences.shape[:-1] + wanted.shape[1:]
        assert np.abs(y.numpy().reshape(wanted.shape) - wanted).max() <= limit


@pytest.mark.parametrize("dim", [2, 63])
@pytest.mark.parametrize("concentration", [10.0, 1e4])
def test_attention_in_float32(dim, concentration):
    rows, values = recipe(dim, 100, 3)
    x = hard_points(rows, 1).astype(np.float32)
    limit = 5e-7 * (1.0 + concentration) * np.abs(values).max()
    for head in (SplitHead(rows, values, concentration), ClassicalHead(rows, values, concentration)):
        y = head.to_torch(dtype=torch.float32)(torch.tensor(x))
        assert y.dtype == torch.float32
        assert np.abs(y.numpy() - head(x)).max() <= limit
    head = SplitHead(rows.astype(np.float32), values.astype(np.float32), concentration)
    assert head.to_torch()(torch.tensor(x)).dtype == torch.float32
    assert head.to_torch(dtype=float64).values.dtype == float64


@pytest.mark.parametrize(("concentration", "factor"), [(1e3, 20.0), (1e5, 60.0)])
def test_lengths_of_control_points_hardly_matter(concentration, factor):
    rows, values = recipe(2, 500)
    x = torch.tensor(hard_points(rows, 1))
    for off in (rows.astype(np.float32), rows * (1.0 + 4e-7 * np.sign(values))[:, None]):
        head = SplitHead(off, values, concentration)
        delta = np.abs(np.linalg.norm(off.astype(np.float64), axis=1) - 1.0).max()
        limit = factor * delta * np.abs(values).max()
        for found in (
            ClassicalHead.from_head(head).attend(x.numpy()),
            head.to_torch()(x).numpy(),
            ClassicalHead.from_head(head).to_torch()(x).numpy(),
        ):
            assert np.abs(found - head(x.numpy())).max() <= limit


@pytest.mark.parametrize("interaction", ["flag", "none", "printed"])
@pytest.mark.parametrize("p", [None, 2])
def test_multihead_attention_is_attend(interaction, p):
    head = ClassicalHead(*recipe(2, 20, p), 3.0, interaction=interaction, mask=None if interaction == "none" else -2.0)
    x = sphere.uniform(2, 12, rng=1).reshape(3, 4, 3)
    module = head.to_torch()
    np.testing.assert_allclose(module(torch.tensor(x)).numpy(), head.attend(x), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(module(torch.tensor(x[0])).numpy(), head.attend(x[0]), rtol=1e-12, atol=1e-14)
    assert np.abs(head.attend(x) - head(x.reshape(12, 3)).reshape(3, 4, *head.values.shape[1:])).max() > 1e-3
    np.testing.assert_array_equal(module.embed(torch.tensor(x)).numpy(), head.embed(x))


def test_the_layer_is_torchs_own_with_the_heads_matrices():
    head = ClassicalHead(*recipe(2, 20, 3), 3.0)
    module = head.to_torch()
    assert type(module.attention) is torch.nn.MultiheadAttention
    query, key, value = module.attention.in_proj_weight.numpy().reshape(3, 10, 10)
    for ours, theirs in ((head.query, query), (head.key, key), (head.value, value)):
        np.testing.assert_array_equal(ours.T, theirs)
    # The prefix as ordinary tokens of one sequence, which ask too, and with weights:
    tokens = torch.tensor(np.concatenate([head.prefix, head.embed(np.eye(3))]))[None]
    y, weights = module.attention(tokens, tokens, tokens)
    np.testing.assert_allclose(head.project(y.numpy()[0, -3:]), head(np.eye(3)), rtol=1e-12)
    assert weights[0, -3:, -3:].abs().max() == 0.0


@pytest.mark.parametrize("backend", ["MATH", "FLASH_ATTENTION"])
def test_either_path_of_torch_keeps_the_accuracy(backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    rows, values = recipe(8, 100, 9)
    x = hard_points(rows, 2)
    for concentration in (1e3, 1e6):
        head = SplitHead(rows, values, concentration)
        with sdpa_kernel(getattr(SDPBackend, backend)):
            y = head.to_torch()(torch.tensor(x)).numpy()
        assert np.abs(y - head(x)).max() <= 1e-15 * concentration * np.abs(values).max()


@pytest.mark.parametrize("p", [None, 3])
@pytest.mark.parametrize(("dim", "concentration"), [(1, 0.0), (2, 30.0), (8, 1e4), (2, 1e6)])
def test_the_exponential_sum_is_the_core_head(p, dim, concentration):
    rows, values = recipe(dim, 300, p)
    head = CoreHead(rows, values, concentration)
    x = np.concatenate([rows[:20], sphere.uniform(dim, 10, rng=1)])
    near = np.square(x[:, None] - rows).sum(-1).min(1) * concentration < 10.0
    x = x[near]
    scale = CoreHead(rows, np.abs(values), concentration)(x)
    module = head.to_torch()
    y = module(torch.tensor(x)).numpy()
    assert y.shape == scale.shape
    assert np.abs((y - head(x)) / scale).max() <= 1e-14
    single = head.to_torch(dtype=torch.float32)(torch.tensor(x[:20], dtype=torch.float32))
    assert single.dtype == torch.float32
    if concentration <= 100.0:
        assert np.abs((single.numpy() - head(x[:20])) / scale[:20]).max() <= 1e-4
    single = CoreHead(rows.astype(np.float32), values.astype(np.float32), concentration)
    at = rows[:20].astype(np.float32)
    assert np.abs((single.to_torch()(torch.tensor(at)).numpy() - single(at)) / scale[:20]).max() <= 5e-6


@each
def test_gradients_pass_torchs_check(kind):
    rows, values = recipe(2, 6, 3)
    module = kind(rows, values, 4.0).to_torch(trainable=True)
    parameters = [p for p in module.parameters() if p.requires_grad]
    assert [tuple(p.shape) for p in parameters] == ([(6, 10)] if kind is ClassicalHead else [(6, 3), (6, 3)])
    x = torch.tensor(sphere.uniform(2, 3, rng=1), requires_grad=True)
    names = [name for name, p in module.named_parameters() if p.requires_grad]

    def forward(x, *tensors):
        return torch.func.functional_call(module, dict(zip(names, tensors, strict=True)), (x,))

    assert torch.autograd.gradcheck(forward, (x, *parameters))


@each
def test_what_is_not_trainable_is_no_parameter(kind):
    module = kind(*recipe(2, 6, 2), 4.0).to_torch()
    assert not any(p.requires_grad for p in module.parameters())
    x = torch.tensor(sphere.uniform(2, 3, rng=1), requires_grad=True)
    module(x).sum().backward()
    assert x.grad.abs().max() > 0.0


def test_a_gradient_at_a_control_point_is_finite():
    x, values = torch.eye(3, dtype=float64, requires_grad=True), np.array([1.0, 2.0, 3.0])
    CoreHead(np.eye(3), values, 5.0).to_torch()(x).sum().backward()
    weights = values * np.exp(-5.0 * (1.0 - np.eye(3)))  # at the i-th row of x
    wanted = 5.0 * (weights @ np.eye(3) - weights.sum(axis=1, keepdims=True) * np.eye(3))
    np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("interaction", ["flag", "none", "printed", "split"])
@pytest.mark.parametrize(("dtype", "concentration"), [(torch.float32, 1e10), (torch.float32, 1e36), (float64, 1e290)])
def test_gradients_are_finite_at_any_concentration(interaction, dtype, concentration):
    rows, values = recipe(2, 50, 3)
    head = SplitHead(rows, values, concentration)
    if interaction != "split":
        head = ClassicalHead.from_head(head, interaction=interaction)
    module = head.to_torch(dtype=dtype, trainable=True)
    x = torch.tensor(sphere.uniform(2, 7, rng=1), dtype=dtype, requires_grad=True)
    module(x).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in [x, *module.parameters()] if p.requires_grad)
    with torch.no_grad():
        torch.testing.assert_close(module(x), head.to_torch(dtype=dtype)(x.detach()))


@pytest.mark.parametrize("kind", [SplitHead, ClassicalHead])
def test_second_derivatives_by_torchs_plain_path(kind):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    module = kind(*recipe(2, 6, 3), 4.0).to_torch()
    x = torch.tensor(sphere.uniform(2, 3, rng=1), requires_grad=True)
    with sdpa_kernel(SDPBackend.MATH):
        assert torch.autograd.gradgradcheck(module, (x,))


@each
@pytest.mark.parametrize("trainable", [False, True])
@pytest.mark.parametrize("several", [False, True])
def test_state_dicts_round_trip(kind, trainable, several):
    x = torch.tensor(sphere.uniform(2, 5, rng=3))
    one, other = (
        kind(*recipe(2, 9, 2, s), np.linspace(s, 9.0, 9) if several else 3.0 + s).to_torch(trainable=trainable)
        for s in (1, 2)
    )
    assert not torch.equal(one(x), other(x))
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True))
    assert torch.equal(one(x), other(x))
    assert torch.equal(one.train()(x), copy.deepcopy(one).eval()(x))


def test_a_state_that_does_not_fit_changes_nothing():
    x = torch.tensor(sphere.uniform(2, 5, rng=3))
    own, several = (SplitHead(*recipe(2, 9, seed=1), c).to_torch() for c in (5.0, np.linspace(1.0, 9.0, 9)))
    longer = SplitHead(sphere.uniform(2, 9, rng=4), np.ones((9, 2)), 7.0).to_torch()
    other = SplitHead(*recipe(2, 9, seed=2), np.linspace(1.0, 9.0, 9)).to_torch()
    classical, wider = (ClassicalHead(*recipe(2, 9, p), 3.0, interaction="none").to_torch() for p in (1, 2))
    wide = wider.state_dict() | {"prefix": 2.0 * classical.prefix}  # only what a child holds does not fit
    for module, state, text in (
        (own, other.state_dict(), r'Unexpected key\(s\) in state_dict: "concentration"'),
        (several, longer.state_dict(), r'Missing key\(s\) in state_dict: "concentration"'),
        (own, longer.state_dict(), r"size mismatch for values: .* torch.Size\(\[9, 2\]\) from checkpoint"),
        (classical, wide, r"size mismatch for attention.in_proj_weight"),
    ):
        before = module(x)
        with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict for [\s\S]*" + text):
            module.load_state_dict(state)
        assert torch.equal(module(x), before)
    model = torch.nn.Sequential(own)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\) in state_dict: \"0.concentration\""):
        model.load_state_dict(torch.nn.Sequential(other).state_dict())
    own.load_state_dict(other.state_dict(), strict=False)
    assert own.concentration == 5.0  # which the state has not
    assert torch.equal(own.values, other.values)


def test_a_state_dict_brings_its_shapes():
    head = ClassicalHead(*recipe(2, 9), 3.0)  # flag and p = 1: as many columns as none and p = 2
    other = ClassicalHead(*recipe(2, 9, 2), 5.0, interaction="none").to_torch()
    other.load_state_dict(head.to_torch().state_dict())
    x = sphere.uniform(2, 5, rng=3)
    np.testing.assert_allclose(other(torch.tensor(x)).numpy(), head(x), rtol=1e-12)


@each
def test_to_moves_everything(kind):
    module = kind(*recipe(2, 9, 2), 3.0).to_torch()
    moved = copy.deepcopy(module).to(torch.float32)
    assert {t.dtype for t in [*moved.parameters(), *moved.buffers()]} == {torch.float32}
    x = torch.tensor(sphere.uniform(2, 4, rng=0), dtype=torch.float32)
    np.testing.assert_allclose(moved(x).numpy(), module(x.to(float64)).numpy(), rtol=1e-4, atol=1e-5)
    assert moved(x).dtype == torch.float32
    meta = copy.deepcopy(module).to("meta")
    assert all(t.is_meta for t in [*meta.buffers(), *meta.parameters()])
    if kind is not ClassicalHead:  # whose copies of matrices load much of torch there
        assert kind(*recipe(2, 9, 2), 3.0).to_torch(device="meta").values.is_meta


@each
def test_making_a_module_draws_no_random_numbers(kind):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    kind(*recipe(2, 9, 2), 3.0).to_torch()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
@pytest.mark.parametrize("p", [None, 2])
@pytest.mark.parametrize("leading", [(), (1,), (5,), (2, 3), (2, 1, 4), (0,)])
def test_any_leading_dimensions(kind, p, leading):
    head = kind(*recipe(3, 9, p), 3.0)
    count = int(np.prod(leading))
    x = sphere.uniform(3, max(count, 1), rng=0)[:count].reshape(*leading, 4)
    y = head.to_torch()(torch.tensor(x))
    assert y.shape == (*leading, *head.values.shape[1:])
    if count:
        np.testing.assert_allclose(y.numpy().ravel(), head(x.reshape(-1, 4)).ravel(), rtol=1e-12, atol=1e-14)


@each
def test_rows_without_unit_length_are_refused(kind):
    module = kind(*recipe(2, 9, 2), 3.0).to_torch()
    x = torch.tensor(sphere.uniform(2, 5, rng=0))
    assert torch.equal(module(x * (1.0 + 1e-16)), module(x))
    for factor, length in ((2.0, "2"), (0.0, "0"), (np.nan, "nan"), (1.002, "1.002")):
        bad = x.clone()
        bad[3] *= factor
        remedy = "torch.nn.func" if factor else "zeros have no direction"
        with pytest.raises(ValueError, match=rf"'x' must have rows of unit length, got length {length}: {remedy}"):
            module(bad)
    module, half = module.to(torch.float32), x.to(torch.bfloat16)  # lengths are off by up to 3e-3
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.isfinite(module(half)).all()
        with pytest.raises(ValueError, match="must have rows of unit length, got length 2"):
            module(2.0 * half)


@each
@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")  # of torch.vmap over its attention
def test_the_check_of_lengths_is_in_no_graph_and_under_no_map(kind):
    module = kind(*recipe(2, 9, 2), 3.0).to_torch()
    x = torch.tensor(sphere.uniform(2, 6, rng=0)).reshape(3, 2, 3)
    compiled = torch.compile(module, fullgraph=True, backend="eager")
    for function in (compiled, torch.vmap(module)):
        torch.testing.assert_close(function(x), module(x), rtol=1e-13, atol=1e-15)
    assert torch.func.jacrev(module)(x).shape == (3, 2, 2, 3, 2, 3)
    assert module.to("meta")(x.to("meta")).shape == (3, 2, 2)


@each
@pytest.mark.parametrize("numbers", [1, 60, 1000])
def test_parts_give_the_same(kind, numbers):
    module = kind(*recipe(2, 9, 2), 3.0).to_torch()
    x = torch.tensor(sphere.uniform(2, 20, rng=0)).reshape(5, 4, 3)
    whole = module(x)
    module.numbers_at_once = numbers
    torch.testing.assert_close(module(x), whole, rtol=1e-13, atol=1e-15)
    assert module(x[:0]).shape == (0, 4, 2)


def test_parts_are_as_large_as_is_said():
    sizes, x = [], torch.arange(20)
    assert torch.equal(tensors.in_parts(lambda part: sizes.append(len(part)) or part, x, 9, limit=60), x)
    assert sizes == [6, 6, 6, 2]


@each
def test_without_torch_the_extra_is_named(kind, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("spherapprox.heads.torch_modules")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("spherapprox.heads.torch_modules")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r'pip install "spherapprox\[torch\]"'):
        kind(np.eye(3), np.ones(3), 1.0).to_torch()


def test_a_function_may_be_a_network_with_gradients():
    layer = torch.nn.Linear(3, 2, dtype=float64)

    def network(x):
        return layer(torch.tensor(x))

    def numbers(x):
        return network(x).detach().numpy()

    rows = sphere.uniform(2, 30, rng=0)
    for head in (SplitHead.from_target(network, rows, 5.0), SplitHead.from_target(Target(network, 2), rows, 5.0)):
        np.testing.assert_array_equal(head.values, numbers(rows))
    assert sup_error(head, network, n=50).lower == sup_error(head, numbers, n=50).lower
    np.testing.assert_array_equal(head.refine(network).values, head.refine(numbers).values)
    np.testing.assert_array_equal(SplitHead(rows, network(rows), 5.0).values, head.values)


@each
@pytest.mark.parametrize("p", [None, 2])
@pytest.mark.parametrize("high", [9.0, 1e4])
def test_concentrations_of_their_own(kind, p, high):
    rows, values = recipe(2, 50, p)
    head = kind(rows, values, np.geomspace(0.1, high, 50))
    x, module = hard_points(rows, 1), head.to_torch()
    limit = max(1e-12, 1e-15 * high) * (np.abs(values).sum() if kind is CoreHead else np.abs(values).max())
    assert np.abs(module(torch.tensor(x)).numpy() - head(x)).max() <= limit
    single = head.to_torch(dtype=torch.float32)(torch.tensor(x, dtype=torch.float32)).numpy()
    assert np.abs(single - head(x)).max() <= 1e-6 * (1.0 + high) * np.abs(values).max()
    if kind is not ClassicalHead:
        assert "concentration" in dict(module.named_buffers())
        assert "concentration=0.1 to " in repr(module)


@pytest.mark.parametrize("kind", [CoreHead, SplitHead])
def test_concentrations_are_trained(kind):
    rows, values = recipe(2, 20)
    head = kind(rows, values, np.geomspace(0.5, 9.0, 20))
    module, x = head.to_torch(trainable=True), torch.tensor(sphere.uniform(2, 6, rng=3))
    assert [name for name, _ in module.named_parameters()] == ["control_points", "values", "concentration"]
    x.requires_grad_()
    module(x).sum().backward()
    g = x.grad.numpy() - (x.grad * x).sum(dim=1, keepdim=True).detach().numpy() * x.detach().numpy()
    np.testing.assert_allclose(g, head.gradient(x.detach().numpy()), rtol=1e-11, atol=1e-12)
    step = 1e-6 * np.eye(20)[3]
    ends = [kind(rows, values, head.concentration + s * step)(x.detach().numpy()).sum() for s in (1, -1)]
    assert module.concentration.grad[3].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)
    with torch.no_grad():
        module.concentration.mul_(1.5)
    wanted = kind(rows, values, 1.5 * head.concentration)(x.detach().numpy())
    np.testing.assert_allclose(module(x).detach().numpy(), wanted, rtol=1e-11, atol=1e-13)
