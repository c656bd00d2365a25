"""Every torch module through torch's compiler, and through ONNX into onnxruntime, for any number and length."""

import io

import pytest

torch = pytest.importorskip("torch")

from torch_zoo import KINDS, dynamic  # noqa: E402

from spherapprox.directional.torch_modules import (  # noqa: E402
    HypersphericalUniform,
    PowerSpherical,
    VonMisesFisher,
    iv_ratio,
    log_iv,
)

each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
SIZES = (4, 6), (2, 7), (1, 3), (5, 1)


def directions(columns, *batch):
    return torch.nn.functional.normalize(torch.randn(*batch, columns, dtype=torch.float64), dim=-1)


@each
@pytest.mark.filterwarnings("ignore")  # torch's own
def test_compiled_in_one_graph(kind):
    torch.compiler.reset()
    module = kind.make()
    compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
    with torch._dynamo.config.patch(allow_rnn=True):  # torch compiles no recurrent layer without
        for inputs in (kind.inputs(*size) for size in SIZES):
            torch.testing.assert_close(compiled(*inputs), module(*inputs), rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.filterwarnings("ignore")  # torch's own
def test_recurrent_modules_run_as_they_are_in_a_compiled_model(kind):
    torch.compiler.reset()
    model = torch.nn.Sequential(KINDS[kind].make(), torch.nn.ReLU())
    compiled, (x,) = torch.compile(model, backend="aot_eager"), KINDS[kind].inputs(3, 5)
    assert torch.equal(compiled(x), model(x))


@each
@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.filterwarnings("ignore")  # torch's own
def test_onnx(kind, dtype, limit):
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    import onnxruntime

    def inputs_of(*size):
        return [tensor.to(module_dtype) for tensor in kind.inputs(*size)]

    module_dtype = getattr(torch, dtype)
    module, file = kind.make(module_dtype), io.BytesIO()
    shapes = dynamic(kind)
    torch.onnx.export(module, tuple(inputs_of(4, 6)), dynamo=True, dynamic_shapes=shapes, verbose=False).save(file)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]
    for inputs in (inputs_of(*size) for size in SIZES):
        wanted = module(*inputs).detach()
        feed = dict(zip(names, (tensor.numpy() for tensor in inputs), strict=True))
        found = torch.tensor(session.run(None, feed)[0])
        assert found.dtype == module_dtype
        torch.testing.assert_close(found, wanted, rtol=0, atol=limit * max(1.0, wanted.abs().max().item()))


@pytest.mark.parametrize("distribution", [PowerSpherical, VonMisesFisher])
@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_compiled_samples(distribution):
    loc, k = directions(3, 40), torch.logspace(-3, 7, 40, dtype=torch.float64, requires_grad=True)

    def sample(loc, k):
        q = distribution(loc, k, validate_args=False)
        return torch.stack([q.rsample(), q.rsample()])  # of the same arguments, and not the same

    compiled, results = torch.compile(sample, backend="aot_eager", fullgraph=True), []
    for function in (sample, compiled):
        torch.manual_seed(0)
        x = function(loc, k)
        results.append((x.detach(), torch.autograd.grad(x[..., 0].sum(), k)[0]))
    assert not torch.equal(*results[1][0])
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))
    assert compiled(loc[:7], k.detach()[:7]).shape == (2, 7, 3)  # a last batch, whose size becomes a symbol


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_compiled_and_exported_densities():
    loc, x = directions(5, 4), directions(5, 4)
    k = torch.tensor([0.0, 1.0, 10.0, 1e3], dtype=torch.float64, requires_grad=True)

    def loss(loc, k, x):
        q = VonMisesFisher(loc, k, validate_args=True)
        return q.log_prob(x).sum() + torch.distributions.kl_divergence(q, HypersphericalUniform(5)).sum()

    class Loss(torch.nn.Module):
        forward = staticmethod(loss)

    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)(loc, k, x)
    assert compiled == loss(loc, k, x)
    assert torch.equal(*(torch.autograd.grad(y, k)[0] for y in (compiled, loss(loc, k, x))))
    batch = {0: torch.export.Dim("batch")}
    exported = torch.export.export(Loss(), (loc, k, x), dynamic_shapes=(batch, batch, batch)).module()
    assert exported(loc[:2], k[:2], x[:2]) == loss(loc[:2], k[:2], x[:2])
    peak = torch.compile(lambda loc: VonMisesFisher(loc, 3.0).log_prob(loc), backend="eager", fullgraph=True)
    for loc in directions(5), directions(7), directions(5, 4), directions(5, 3):
        assert torch.equal(peak(loc), VonMisesFisher(loc, 3.0).log_prob(loc))


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_compiled_bessel_functions():
    def both(x):
        return log_iv(31.0, x).sum() + iv_ratio(17.0, x).sum()

    x = torch.tensor([0.3, 2.0, 50.0], dtype=torch.float64, requires_grad=True)
    compiled = torch.compile(both, backend="aot_eager", fullgraph=True)(x)
    assert compiled == both(x)
    assert torch.equal(*(torch.autograd.grad(y, x)[0] for y in (compiled, both(x))))
