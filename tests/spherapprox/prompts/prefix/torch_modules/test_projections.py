"""`head_inputs` against what torch's own module hands to its attention."""

import pytest

from spherapprox.prompts.prefix import as_layer

torch = pytest.importorskip("torch")

from spherapprox.prompts.prefix.torch_modules import head_inputs  # noqa: E402


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("batched", [True, False])
@pytest.mark.parametrize("cross", [True, False])
def test_they_are_the_modules_own(monkeypatch, batch_first, bias, batched, cross):
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(15, 3, bias=bias, batch_first=batch_first, dtype=torch.float64)
    torch.nn.init.normal_(mha.in_proj_weight)
    if bias:
        torch.nn.init.normal_(mha.in_proj_bias)
    shape = (2, 4, 15) if batch_first else (4, 2, 15)
    x, content = torch.randn(2, *(shape if batched else (4, 15)), dtype=torch.float64, requires_grad=True)
    content = content if cross else x
    seen = []
    whole = torch.nn.functional.scaled_dot_product_attention

    def spy(query, key, value, *rest):
        seen.extend([query, key, value])
        return whole(query, key, value, *rest)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
    mha(x, content, content, need_weights=False)
    result = head_inputs(mha, x, content) if cross else head_inputs(mha, x)
    for part, own in zip(result, seen if batched else [rows[0] for rows in seen], strict=True):
        assert part.shape == ((2, 3, 4, 5) if batched else (3, 4, 5))
        torch.testing.assert_close(part, own, rtol=0, atol=4.5e-16 * float(own.detach().abs().max()))
    assert torch.autograd.grad(result[0].sum(), x)[0].any()


def test_they_are_those_of_the_layers_arrays():
    mha = torch.nn.MultiheadAttention(8, 2, batch_first=True).bfloat16()
    x = torch.randn(3, 5, 8).bfloat16()
    for part, own in zip(head_inputs(mha, x), as_layer(mha).head_inputs(x), strict=True):
        assert part.dtype == torch.bfloat16
        torch.testing.assert_close(part.double(), torch.tensor(own), rtol=0, atol=0.02)
