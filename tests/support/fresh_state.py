"""State of the process that each test finds as a new process has it."""

from __future__ import annotations

import sys

FORGOTTEN = (
    ("agc.runtime.kernels.random.seeds", "set_seed", (None,)),
    ("keras.src.backend.common.global_state", "clear_session", (False,)),
)


def forget() -> None:
    """Reset the random seed and the names of Keras layers."""
    for module, function, arguments in FORGOTTEN:
        if module in sys.modules:
            getattr(sys.modules[module], function)(*arguments)
