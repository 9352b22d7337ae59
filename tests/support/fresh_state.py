"""State of the process that each test finds as a new process has it."""

from __future__ import annotations

import operator
import sys

FORGOTTEN = (
    ("agc.runtime.kernels.random.seeds", "set_seed", (None,)),
    ("agc.runtime.core.eviction", "_choices.cache_clear", ()),
    ("agc.runtime.autodiff.eager_gradients", "_runs.runs.clear", ()),
    ("agc.runtime.autodiff.tape_plans", "_runs.runs.clear", ()),
    ("agc.runtime.autodiff.tape_plans", "_plans.clear", ()),
    ("agc.runtime.ops.arrays.getitem", "_counts.clear", ()),
    ("agc.runtime.ops.arrays.getitem", "_PATTERNS.clear", ()),
    ("keras.src.backend.common.global_state", "clear_session", (False,)),
)


def forget() -> None:
    """Reset random seeds, what is counted and planned of eager programs, Keras's names, and the backends at work."""
    for module, function, arguments in FORGOTTEN:
        if module in sys.modules:
            operator.attrgetter(function)(sys.modules[module])(*arguments)
    if (registry := sys.modules.get("agc.autograph.staging.registry")) is not None:
        # Backends of tests that own values at all times would let converted code run as it does in graphs.
        counts = registry._liveness
        counts.change(live=-counts.live, building=-counts.building)
