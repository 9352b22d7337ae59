"""Process-wide settings, and the available devices.

>>> run_functions_eagerly(True)
>>> functions_run_eagerly()
True
>>> run_functions_eagerly(False)
>>> from agc.runtime import config
>>> config.list_physical_devices("CPU")
[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..core.fast_path_guard import block_fast_path
from ..core.missing_names import missing_name

if TYPE_CHECKING:
    from . import experimental, optimizer, threading
    from .devices import (
        LogicalDevice,
        LogicalDeviceConfiguration,
        PhysicalDevice,
        get_logical_device_configuration,
        get_soft_device_placement,
        get_visible_devices,
        list_logical_devices,
        list_physical_devices,
        set_logical_device_configuration,
        set_soft_device_placement,
        set_visible_devices,
    )

_state = {"eager": False}


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Set whether calls of a `function` run its Python code directly, for debugging. Traced graphs are kept.

    >>> run_functions_eagerly(True)
    >>> functions_run_eagerly()
    True
    >>> run_functions_eagerly(False)
    """
    _state["eager"] = bool(run_eagerly)
    block_fast_path("functions run eagerly", _state["eager"])


def functions_run_eagerly() -> bool:
    """Return the last value given to `run_functions_eagerly`; False at first.

    >>> functions_run_eagerly()
    False
    """
    return _state["eager"]


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly


if not TYPE_CHECKING:  # mypy only sees the names that are imported above

    def __getattr__(name: str) -> Any:
        if name in ("experimental", "optimizer", "threading"):
            return importlib.import_module(f"{__name__}.{name}")
        if name in __all__:
            return getattr(importlib.import_module(f"{__name__}.devices"), name)
        raise missing_name(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "LogicalDevice", "LogicalDeviceConfiguration", "PhysicalDevice", "experimental",
    "experimental_functions_run_eagerly", "experimental_run_functions_eagerly", "functions_run_eagerly",
    "get_logical_device_configuration", "get_soft_device_placement", "get_visible_devices", "list_logical_devices",
    "list_physical_devices", "optimizer", "run_functions_eagerly", "set_logical_device_configuration",
    "set_soft_device_placement", "set_visible_devices", "threading",
]  # fmt: skip
