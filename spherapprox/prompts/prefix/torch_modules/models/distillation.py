"""A few steps of training that make a student's prefix say what a teacher says of next tokens."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from ....._checks import flag, instance, integer, real
from .batches import Batch, as_batches
from .calls import evaluating
from .divergence import Side, divergences, next_logits


def distill_prefix(
    student: torch.nn.Module, teacher: Side, batches: Any, *, steps: int = 50, learning_rate: float = 0.01,
    parameters: Iterable[torch.nn.Parameter] | None = None, progress: bool = False,
) -> tuple[float, ...]:  # fmt: skip
    """Train a student's prefix for a few steps, so that its next tokens are distributed as a teacher's.

    The steps are Adam's on the divergence of `next_token_divergence`, from the teacher to the student; the rate falls
    linearly to nought. Nothing but the prefix is trained.

    Parameters
    ----------
    student : torch.nn.Module
        A model of PEFT with prefix tuning, such as `shorten_prefix` makes, whose prefix is changed in place; or any
        model with parameters to train.
    teacher : torch.nn.Module or callable
        As in `next_token_divergence`.
    batches : Tensor, Mapping, or iterable of them
        As `inputs` there: one batch for each step, and from the first one again if there are fewer.
    steps : int, default 50
        Steps; each costs a pass of the teacher, and one of the student forth and back.
    learning_rate : float, default 0.01
        That of the first step: numbers of the prefix change by about as much in each of the first ones.
    parameters : iterable of Parameter, optional
        What is trained. By default the prompt encoder of the active adapter of a model of PEFT; of others the
        parameters that require a gradient, such as a `PrefixAttention` has in a frozen model; not all there are.
    progress : bool, default False
        Show a bar with the divergence.

    Returns
    -------
    tuple of float
        The divergence in nats at each step's batch, before the step.

    Raises
    ------
    TypeError, ValueError
        If nothing can be trained, and as `next_token_divergence` does.
    FloatingPointError
        If the divergence or the prefix is no number any more; parameters are then as before.

    Notes
    -----
    Modules are in evaluation mode in the meantime, without dropout; modes and `requires_grad` are left as they were.
    What is interrupted leaves the prefix as the last step made it.

    Examples
    --------
    >>> from spherapprox.prompts.prefix import distill_prefix, shorten_prefix
    >>> short = shorten_prefix(model, 10, inputs=batches)  # doctest: +SKIP
    >>> history = distill_prefix(short.model, model, batches)  # doctest: +SKIP
    """
    # Step 1: check the arguments
    student = instance(student, "student", torch.nn.Module)
    steps, rate = integer(steps, "steps", minimum=1), real(learning_rate, "learning_rate", above=0.0, maximum=1e30)
    texts, visible = as_batches(batches, "batches"), flag(progress, "progress")
    trained = _find_parameters(student, parameters)
    before = [parameter.detach().clone() for parameter in trained]
    # Step 2: train
    with evaluating(student, teacher), _requiring(student, trained):
        history = tuple(_take_steps(student, teacher, texts, trained, steps, rate, visible))
    # Step 3: take nothing that is no number
    if not (all(map(math.isfinite, history)) and all(bool(part.isfinite().all()) for part in trained)):
        with torch.no_grad():
            for parameter, value in zip(trained, before, strict=True):
                parameter.copy_(value)
        raise FloatingPointError(f"the prefix is no number after {len(history)} steps: take a smaller 'learning_rate'")
    return history


def _take_steps(
    student: torch.nn.Module, teacher: Side, batches: list[Batch], trained: list[torch.nn.Parameter], steps: int,
    rate: float, visible: bool,
) -> Iterator[float]:  # fmt: skip
    """Take steps and yield the divergence before each; end with the first one that is no number."""
    from tqdm.auto import tqdm

    optimizer = torch.optim.Adam(trained, lr=rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=1.0, end_factor=0.0, total_iters=steps)
    bar = tqdm(itertools.islice(itertools.cycle(batches), steps), total=steps, desc="distilling", disable=not visible)
    for batch in bar:
        targets = next_logits(teacher, batch, "teacher")
        if bool(targets.isnan().any()):
            raise ValueError("'teacher' must have logits that are numbers, got nan")
        with torch.enable_grad():
            logits = next_logits(student, batch, "student")
            if logits.shape != targets.shape:
                raise ValueError(
                    f"'student' must have logits of {targets.shape[1]} tokens as 'teacher' has, got {logits.shape[1]}"
                )
            dtype = torch.promote_types(logits.dtype, torch.float32)
            loss = divergences(targets.to(logits.device, dtype), logits.to(dtype)).mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        value = float(loss.detach())
        if math.isfinite(value):
            optimizer.step()
            schedule.step()
        bar.set_postfix(nats=f"{value:.3g}")
        yield value
        if not math.isfinite(value):
            return


def _find_parameters(
    student: torch.nn.Module, parameters: Iterable[torch.nn.Parameter] | None
) -> list[torch.nn.Parameter]:
    """Return the parameters that are trained, checked."""
    own = [*student.parameters()]
    encoders, adapter = getattr(student, "prompt_encoder", None), getattr(student, "active_adapter", None)
    if parameters is not None:
        chosen = [instance(part, "parameters", torch.nn.Parameter) for part in parameters]
    elif isinstance(encoders, torch.nn.ModuleDict) and adapter in encoders:
        chosen = list(encoders[adapter].parameters())
    else:
        chosen = [part for part in own if part.requires_grad]
        if len(chosen) == len(own) > 1:
            raise ValueError(
                "'student' must be frozen but for its prefix, got one whose parameters all require a gradient: "
                "student.requires_grad_(False) before a PrefixAttention is put in, or give 'parameters'"
            )
    if not chosen:
        raise ValueError("'student' must have parameters that require a gradient, got none: give 'parameters'")
    if not {id(part) for part in chosen} <= {id(part) for part in own}:
        raise ValueError("'parameters' must be of 'student': others do not change what it says")
    return chosen


@contextlib.contextmanager
def _requiring(model: torch.nn.Module, trained: list[torch.nn.Parameter]) -> Iterator[None]:
    """Let no parameters but those that are trained require gradients, and leave none behind."""
    before = [(part, part.requires_grad, part.grad) for part in model.parameters()]
    try:
        for part, _, _ in before:
            part.requires_grad_(False)
        for part in trained:
            part.requires_grad_(True)
            part.grad = None
        yield
    finally:
        for part, required, gradient in before:
            part.requires_grad_(required)
            part.grad = gradient
