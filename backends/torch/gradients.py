"""Refuse gradients that PyTorch computes wrongly: of a `while` whose body has a branch or a loop.

PyTorch 2.14 gives wrong numbers for `while_loop` there, without an error; `scan` and `cond` are right.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agc.autograph.api import running
from agc.autograph.errors import Diagnostic, StagingError, Where

import torch

_loops: ContextVar[list[Where]] = ContextVar("loops with a wrong gradient")


@contextmanager
def loops_with_wrong_gradient() -> Iterator[list[Where]]:
    """Collect the loops that are traced and have a wrong gradient."""
    token = _loops.set([])
    try:
        yield _loops.get()
    finally:
        _loops.reset(token)


def note_wrong_gradient() -> None:
    """Note the running loop, unless another tracer than that of `agc.torch.compile` runs."""
    found = _loops.get(None)
    if found is not None:
        found.append(running())


def refuse_gradient(loops: list[Where], tensors: list[Any]) -> None:
    """Raise an error if a result would get a gradient through one of the loops."""
    if loops and torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        raise StagingError(
            Diagnostic(
                "AGC230",
                "reverse-mode differentiation of this loop is not possible",
                loops[0],
                why="PyTorch gives wrong gradients for a while loop whose body has a branch or a loop",
                fix="loop over the rows of a tensor or over a range of known size, or call the function under "
                "torch.no_grad()",
            )
        )
