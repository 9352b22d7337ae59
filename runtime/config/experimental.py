"""`tf.config.experimental`: older names, and settings for other devices.

>>> list_physical_devices("GPU")
[]
"""

from __future__ import annotations

from typing import Any

from ..core.device_spec import DeviceSpec
from ..core.missing_names import explain as _explain
from . import optimizer
from .devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from .devices import (
    PhysicalDevice,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_visible_devices,
)
from .devices import get_logical_device_configuration as get_virtual_device_configuration
from .devices import set_logical_device_configuration as set_virtual_device_configuration

_settings: dict[str, Any] = {"tensor_float_32": True, "policy": "silent", "synchronous": True}


def get_device_details(device: PhysicalDevice) -> dict[str, Any]:
    """Return the details of a device: none for a CPU.

    >>> from agc.runtime.config import list_physical_devices
    >>> get_device_details(list_physical_devices("CPU")[0])
    {}
    """
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return {}


def get_memory_info(device: str) -> dict[str, int]:
    """Return the bytes of memory that a device has given out, now and at most: 0 for a CPU, whose memory is Python's.

    Raises ValueError for a name of no device, such as that of a GPU.

    >>> get_memory_info("CPU:0")
    {'current': 0, 'peak': 0}
    >>> get_memory_info("GPU:0")
    Traceback (most recent call last):
        ...
    ValueError: No matching devices found for 'GPU:0'
    """
    name = DeviceSpec.from_string(f"/device:{device}" if device[:1].isalpha() else device)
    if name.device_type is None or name.device_index is None:
        raise ValueError(
            f"Failed parsing device name: {device!r}. It needs a type and an index, such as 'CPU:0'."
        )
    known = [DeviceSpec.from_string(each.name) for each in list_logical_devices()]
    if (name.device_type, name.device_index) not in [(each.device_type, each.device_index) for each in known]:
        raise ValueError(f"No matching devices found for {device!r}")
    return {"current": 0, "peak": 0}


def reset_memory_stats(device: str) -> None:
    """Forget the peak of `get_memory_info`, which is 0. Raises ValueError for a name of no device.

    >>> reset_memory_stats("CPU:0")
    """
    get_memory_info(device)


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Raise KeyError: only GPUs have that setting, and there are none.

    >>> from agc.runtime.config import list_physical_devices
    >>> get_memory_growth(list_physical_devices("CPU")[0])
    Traceback (most recent call last):
        ...
    KeyError: PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')
    """
    raise KeyError(device)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Raise ValueError: only GPUs have that setting, and there are none.

    >>> from agc.runtime.config import list_physical_devices
    >>> set_memory_growth(list_physical_devices("CPU")[0], True)
    Traceback (most recent call last):
        ...
    ValueError: Cannot set memory growth on non-GPU and non-Pluggable devices
    """
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def enable_op_determinism() -> None:
    """Let each run of a program give the same results, to the last bit.

    Operations are deterministic anyway, and equal seeds give equal random numbers. But what has run for long is
    compiled to native code, which rounds floats at other places, and the moment depends on the speed of the machine.
    From now on only functions with `jit_compile=True` are compiled. Call it at the start of a program: graphs that
    have run before may still be compiled.

    >>> enable_op_determinism()
    >>> optimizer.is_deterministic()
    True
    >>> optimizer.set_deterministic(False)
    """
    optimizer.set_deterministic(True)


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Store the setting, without effect: products of float32 are computed in float32.

    >>> enable_tensor_float_32_execution(False)
    >>> tensor_float_32_execution_enabled()
    False
    >>> enable_tensor_float_32_execution(True)
    """
    _settings["tensor_float_32"] = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Return the last value given to `enable_tensor_float_32_execution`; True at first.

    >>> tensor_float_32_execution_enabled()
    True
    """
    return bool(_settings["tensor_float_32"])


def get_device_policy() -> str:
    """Return the last value given to `set_device_policy`; "silent" at first.

    >>> get_device_policy()
    'silent'
    """
    return str(_settings["policy"])


def set_device_policy(device_policy: str | None) -> None:
    """Store the policy, without effect: there is one device. ValueError for an unknown policy.

    >>> set_device_policy("silent")
    """
    known = (None, "silent", "silent_for_int32", "explicit", "warn")
    if device_policy not in known:
        raise ValueError(f"Invalid policy: {device_policy!r}")
    _settings["policy"] = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Return the last value given to `set_synchronous_execution`; True at first.

    >>> get_synchronous_execution()
    True
    """
    return bool(_settings["synchronous"])


def set_synchronous_execution(enable: bool | None) -> None:
    """Store the setting, without effect: an operation has finished when its call returns.

    >>> set_synchronous_execution(True)
    """
    _settings["synchronous"] = enable is None or bool(enable)


__all__ = [
    "VirtualDeviceConfiguration", "enable_op_determinism", "enable_tensor_float_32_execution",
    "get_device_details", "get_device_policy", "get_memory_growth", "get_memory_info",
    "get_synchronous_execution", "get_virtual_device_configuration", "get_visible_devices",
    "list_logical_devices", "list_physical_devices", "reset_memory_stats", "set_device_policy",
    "set_memory_growth", "set_synchronous_execution", "set_virtual_device_configuration", "set_visible_devices",
    "tensor_float_32_execution_enabled",
]  # fmt: skip

_explain(__name__)
