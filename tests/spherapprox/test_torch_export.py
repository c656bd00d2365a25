"""Every torch module of the package: exported for any sizes, copied, saved, loaded whole, under autocast, on "meta"."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch")

from torch_zoo import KINDS, First, dynamic  # noqa: E402

each = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
SIZES = (2, 7), (1, 3), (5, 1)


def same(one, other, kind, limit=0.0, sizes=SIZES[:1]):
    for inputs in (kind.inputs(*size) for size in sizes):
        torch.testing.assert_close(one(*inputs), other(*inputs), rtol=0, atol=limit)


@pytest.mark.once
@each
@pytest.mark.filterwarnings("ignore")  # torch's own
def test_exported_for_any_number_and_length(kind):
    module, inputs = kind.make(), kind.inputs(4, 6)
    exported = torch.export.export(module, inputs, dynamic_shapes=dynamic(kind)).module()
    same(exported, module, kind, 1e-9, SIZES)
    assert not [name for name in module.state_dict() if name not in exported.state_dict() and "extra" not in name]


@each
@pytest.mark.filterwarnings("ignore")  # of tracing
def test_traced_for_any_number(kind):
    module = kind.make()
    same(torch.jit.trace(module, kind.inputs(4, 7)), module, kind, 1e-13)


@each
def test_copies_are_their_own(kind):
    module, inputs = kind.make(), kind.inputs(2, 7)
    before = module(*inputs)
    for copied in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert torch.equal(copied(*inputs), before)
        for tensor in (*copied.parameters(), *copied.buffers()):
            tensor.data.zero_()
        assert torch.equal(module(*inputs), before)


@each
def test_states_go_into_files_and_other_modules(kind, tmp_path):
    module, file = kind.make(), io.BytesIO()
    torch.save(module.state_dict(), file)
    file.seek(0)
    emptied = copy.deepcopy(module).to("meta")
    assert emptied(*(tensor.to("meta") for tensor in kind.inputs(2, 7))).is_meta
    emptied.to_empty(device="cpu").load_state_dict(torch.load(file, weights_only=True))
    same(emptied, module, kind)
    emptied = copy.deepcopy(module).to("meta")
    emptied.load_state_dict(module.state_dict(), assign=True)
    same(emptied, module, kind)
    safetensors = pytest.importorskip("safetensors.torch")
    emptied = copy.deepcopy(module).to("meta").to_empty(device="cpu")
    safetensors.save_model(module, tmp_path / "module.safetensors")
    safetensors.load_model(emptied, tmp_path / "module.safetensors")
    same(emptied, module, kind)


@each
def test_a_state_of_another_shape_changes_nothing(kind):
    module, other = kind.make(), kind.make(n=12)
    module, other = (one.attention if isinstance(one, First) else one for one in (module, other))
    before = copy.deepcopy(module.state_dict())
    with pytest.raises(RuntimeError, match=r"Error\(s\) in loading state_dict for \w+:\s+[\s\S]*(size mismatch|key)"):
        module.load_state_dict(other.state_dict())
    after = module.state_dict()
    assert all(torch.equal(tensor.nan_to_num(), after[name].nan_to_num()) for name, tensor in before.items())


@each
def test_autocast_rounds_heads_and_no_programs(kind):
    module, inputs = kind.make(torch.float32), [tensor.float() for tensor in kind.inputs(3, 5)]
    wanted, size = module(*inputs), module(*inputs).abs().max().item()
    halves = [tensor.bfloat16() for tensor in inputs]
    rounded = module(*(half.float() for half in halves)) if kind.exact else wanted
    with torch.autocast("cpu", dtype=torch.bfloat16):
        whole, half = module(*inputs), module(*halves)
    limit = 0.0 if kind.exact else 0.1 * size
    torch.testing.assert_close(whole.float(), wanted, rtol=0, atol=limit)
    torch.testing.assert_close(half.float(), rounded, rtol=0, atol=limit)
