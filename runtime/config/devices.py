"""The devices of this machine, as `tf.config` lists them: one CPU, of one or more logical devices, and those of XLA.

>>> list_physical_devices("GPU"), list_logical_devices()
([], [LogicalDevice(name='/device:CPU:0', device_type='CPU')])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.devices import placement


class PhysicalDevice(NamedTuple):
    """A device of the machine.

    >>> list_physical_devices("CPU")[0].device_type
    'CPU'
    """

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device visible to programs; `name` is valid for `tf.device`.

    >>> list_logical_devices("CPU")[0].name
    '/device:CPU:0'
    """

    name: str
    device_type: str


class LogicalDeviceConfiguration(NamedTuple):
    """The configuration of a logical device on a physical one.

    >>> LogicalDeviceConfiguration(memory_limit=1024).memory_limit
    1024
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_visible = {"CPU": [CPU]}
_configurations: dict[PhysicalDevice, list[LogicalDeviceConfiguration]] = {}


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the devices of the machine, or those of one type such as "CPU" or "GPU".

    GPUs and TPUs are those of JAX, if it is installed with a plugin for them.

    >>> list_physical_devices("GPU")
    []
    """
    found = [CPU]
    for kind in placement.accelerators():
        number = sum(device.device_type == kind for device in found)
        found.append(PhysicalDevice(f"/physical_device:{kind}:{number}", kind))
    return [device for device in found if device_type in (None, device.device_type)]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """Return the visible devices, or those of one type.

    >>> get_visible_devices()
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    chosen = [device for kind, found in _visible.items() if device_type in (None, kind) for device in found]
    return chosen + [
        device for device in list_physical_devices(device_type) if device.device_type not in _visible
    ]


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Set the devices that `list_logical_devices` lists. Operations always run on the CPU.

    Raises ValueError for a device that this machine does not have, or of another type.

    >>> set_visible_devices(list_physical_devices("CPU"), "CPU")
    """
    chosen = list(devices) if isinstance(devices, list) else [devices]
    for device in chosen:
        if device not in list_physical_devices():
            raise ValueError(f"Unrecognized device: {device!r}")
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r} is not a {device_type}")
    if device_type in (None, "CPU"):
        _visible["CPU"] = chosen


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """Return the visible devices with their `tf.device` names, or those of one type.

    >>> list_logical_devices()
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    visible = get_visible_devices(device_type)
    return [
        LogicalDevice(f"/device:{device.device_type}:{number}", device.device_type)
        for device in visible
        for number in _numbers(device)
    ]


def _numbers(device: PhysicalDevice) -> Sequence[int]:
    """Return the numbers of the logical devices on a physical one."""
    return range(placement.cpus) if device == CPU else [int(device.name.rpartition(":")[2])]


def get_logical_device_configuration(device: PhysicalDevice) -> list[LogicalDeviceConfiguration] | None:
    """Return the value given to `set_logical_device_configuration` for the device; None at first.

    >>> get_logical_device_configuration(list_physical_devices("CPU")[0]) is None
    True
    """
    return _configurations.get(_known(device))


def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration]
) -> None:
    """Split the CPU into logical devices, which `tf.device` and `tf.distribute.MirroredStrategy` accept by name.

    They share the CPU's memory and threads. Raises ValueError for another device, and for a memory limit.

    >>> set_logical_device_configuration(CPU, [LogicalDeviceConfiguration()] * 2)
    >>> [device.name for device in list_logical_devices("CPU")]
    ['/device:CPU:0', '/device:CPU:1']
    >>> set_logical_device_configuration(CPU, [LogicalDeviceConfiguration()])
    """
    chosen = list(logical_devices)
    if any(field is not None for one in chosen for field in one):
        raise ValueError("Setting memory limit, priority or ordinal on CPU devices is not supported")
    _configurations[_known(device)] = chosen
    placement.cpus = max(len(chosen), 1)


def _known(device: PhysicalDevice) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    return device


def get_soft_device_placement() -> bool:
    """Return whether operations placed on a missing device run on the CPU.

    >>> import agc.runtime as tf
    >>> tf.config.get_soft_device_placement()
    True
    """
    return placement.soft


def set_soft_device_placement(enabled: bool) -> None:
    """Set whether operations placed on a missing device run on the CPU (True at first).

    >>> set_soft_device_placement(True)
    >>> get_soft_device_placement()
    True
    """
    placement.soft = bool(enabled)
