"""Random networks and random updates of variables give the same in eager calls, plans and native code.

`AGC_FUZZ=2000 pytest tests/runtime/agreement/test_random_layers.py` tries that many of each instead of a few.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
from agc.runtime.executors.llvm import compile_graph
from agc.runtime.executors.llvm.codegen import blockwise, early_outputs
from agc.runtime.executors.llvm.lowering import conv
from agc.runtime.ops.state import own_arrays
from support import random_layers, random_updates

FUZZ = os.environ.get("AGC_FUZZ")
NETWORKS = range(int(FUZZ)) if FUZZ else (9, 16, 42)
UPDATES = range(int(FUZZ)) if FUZZ else (0, 1, 2)


@pytest.mark.parametrize("in_small_blocks", [False, True])
def test_random_networks_and_their_gradients(monkeypatch: pytest.MonkeyPatch, in_small_blocks: bool) -> None:
    if in_small_blocks:
        monkeypatch.setattr(blockwise, "_LEAST_WORK", 1)
        monkeypatch.setattr(conv, "_ROWS", 1)
    for seed in NETWORKS:
        network = random_layers.Network(2 * seed + in_small_blocks)
        with np.errstate(all="ignore"):
            assert not list(random_layers.disagreements(network)), f"seed {seed}: {network}"


def test_random_updates_of_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early_outputs, "BIG", 0)
    monkeypatch.setattr(compile_graph, "_FEWEST", 1)
    monkeypatch.setattr(own_arrays, "is_alone", lambda: True)
    for seed in UPDATES:
        step = random_updates.Step(seed)
        assert not list(random_updates.disagreements(step)), f"seed {seed}: {step}"
