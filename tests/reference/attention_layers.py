"""Attention layers with random weights that all matter: as arrays, and as torch's own module."""

from spherapprox.prompts.prefix import AttentionLayer


def random_layer(
    rng, d=32, heads=4, groups=None, *, s=None, p=None, outputs=None, size=1.0, bias=1.0, scale=None
):  # fmt: skip
    """Return a layer with weights of deviation `size` and biases of deviation `bias`, none if that is 0."""
    s, groups = s or d // heads, groups or heads
    p = p or s
    shapes = {
        "query": (heads * s, d),
        "key": (groups * s, d),
        "value": (groups * p, d),
        "out": (outputs or d, heads * p),
    }
    weights = {name: size * rng.standard_normal(shape) for name, shape in shapes.items()}
    if bias:
        weights |= {f"{name}_bias": bias * rng.standard_normal(shape[0]) for name, shape in shapes.items()}
    return AttentionLayer(**weights, heads=heads, key_value_heads=groups, scale=scale)


def random_module(d=12, heads=3, *, std=0.5, seed=0, **options):
    """Return a `torch.nn.MultiheadAttention`, in float64 unless the options have another dtype."""
    import torch

    torch.manual_seed(seed)
    mha = torch.nn.MultiheadAttention(d, heads, **{"dtype": torch.float64, **options})
    for parameter in mha.parameters():
        torch.nn.init.normal_(parameter, std=std)
    return mha
