"""`tf.compat.v2`: the runtime itself."""

from __future__ import annotations

from typing import Any

import agc.runtime as runtime


def __getattr__(name: str) -> Any:
    return getattr(runtime, name)


def __dir__() -> list[str]:
    return dir(runtime)
