"""Every torch module through torch's compiler, and through ONNX into onnxruntime, for any number and length."""

import io

import pytest

torch = pytest.importorskip("torch")

from torch_zoo import KINDS, dynamic  # noqa: E402

from spherapprox.directional.torch_modules import PowerSpherical, VonMisesFisher  # noqa: E402

each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
SIZES = (4, 6), (2, 7), (1, 3), (5, 1)


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
    loc = torch.nn.functional.normalize(torch.randn(40, 3, dtype=torch.float64), dim=-1)
    k = torch.logspace(-3, 7, 40, dtype=torch.float64, requires_grad=True)

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
