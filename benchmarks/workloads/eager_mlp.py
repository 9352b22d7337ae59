"""The training step of mlp.py without a graph: each operation runs by itself, and a tape records it."""

from __future__ import annotations

from .mlp import FULL, STEPS, TINY, _step, by_hand, limit, torch  # noqa: F401  (the same program)

TITLE = "eager MLP training step, tape, momentum"
ONLY_EAGER = True


def tensorflow(tf, compiled, batch, layers):
    step, x, labels = _step(tf, batch, layers)
    return lambda: step(x, labels)
