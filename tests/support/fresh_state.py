"""State of the process that each test finds as a new process has it."""

from __future__ import annotations

import sys

FORGOTTEN = (
    ("agc.runtime.kernels.random.seeds", "set_seed", (None,)),
    ("keras.src.backend.common.global_state", "clear_session", (False,)),
)


_KEPT_CALLS = 128
"""The eager calls of an operation above which tests find none: a full cache takes few new ones."""


def forget() -> None:
    """Reset the random seed, the names of Keras layers, and caches of eager calls that tests have almost filled."""
    for module, function, arguments in FORGOTTEN:
        if module in sys.modules:
            getattr(sys.modules[module], function)(*arguments)
    registry = sys.modules.get("agc.runtime.ops.framework.op")
    for op in registry.REGISTRY.values() if registry else ():
        if len(op._calls) > _KEPT_CALLS:
            op._calls.clear()
