"""Guards of modules of torch whose weights are read, without torch: whether they compute by these weights alone."""

from __future__ import annotations

from typing import Any


def stock(module: object, name: str) -> Any:
    """Return the class of `torch.nn` of a name that an object is of, or extends; None if it does neither."""
    kinds = (kind for kind in type(module).__mro__ if kind.__module__.startswith("torch.nn.modules."))
    return next((kind for kind in kinds if kind.__name__ == name), None)


def obstacle(module: Any, name: str) -> str | None:
    """Say why a module may compute something else than its weights say in a class of `torch.nn`; None if it does not.

    Parametrized weights are no obstacle: their names give what is computed.
    """
    kind = type(module).__name__
    if hasattr(module, "base_layer"):
        return f"{kind} with an adapter: model.merge_and_unload() puts those of PEFT into the weights"
    own = stock(module, name)
    if own is None:
        return kind
    if type(module).forward is not own.forward or "forward" in vars(module):
        return f"{kind} with a forward of its own: copy the weights that it uses into a torch.nn.{name}"
    if module._forward_hooks or module._forward_pre_hooks:
        remedy = "remove_weight_norm, remove_spectral_norm, prune.remove or handle.remove() takes them off"
        return f"{kind} with forward hooks, which may change what it computes: {remedy}"
    return None
