"""Device names and placement: `tf.device("/GPU:0")`. The only device is the CPU of this process.

    with device("/GPU:0"):        # soft placement, the default: runs on the CPU
        y = tf.matmul(x, x)

>>> parsed("/job:localhost/gpu:1")
DeviceName(job='localhost', replica=None, task=None, kind='GPU', number=1)
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import sys
import threading
from collections.abc import Iterator
from typing import NamedTuple

from .. import errors
from . import late_binding
from .export import export
from .fast_path_guard import block_fast_path, found_recorders

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
"""The device that runs every operation."""


class DeviceName(NamedTuple):
    """The parts of a device's name; None for parts that are not given."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    kind: str | None = None
    number: int | None = None

    def within(self, outer: DeviceName) -> DeviceName:
        """Return this name with missing parts taken from the enclosing block."""
        given = {name: part for name, part in self._asdict().items() if part is not None}
        return outer._replace(**given)

    def __str__(self) -> str:
        parts = [("job", self.job), ("replica", self.replica), ("task", self.task)]
        text = "".join(f"/{name}:{value}" for name, value in parts if value is not None)
        if self.kind is not None:
            text += f"/device:{self.kind}:{'*' if self.number is None else self.number}"
        return text


_ANYWHERE = DeviceName()


@functools.cache
def has_plugin() -> bool:
    """Return whether JAX has been installed with a plugin for devices that are no CPUs."""
    return any(importlib.util.find_spec(name) is not None for name in ("jax_plugins", "libtpu"))


class _Placement(threading.local):
    """The device names of the enclosing `device` blocks of this thread."""

    def __init__(self) -> None:
        self.names: list[DeviceName] = [_ANYWHERE]


class _Setting:
    """Settings for all operations; `cpus` is the number of logical CPUs; `observed` blocks fast paths."""

    soft = True
    cpus = 1
    logged = False
    checked = False
    observed = False

    def accelerators(self) -> list[str]:
        """Return the kinds of the devices of JAX that are no CPUs, one for each."""
        return late_binding.accelerators() if has_plugin() or "jax" in sys.modules else []

    def observe(self, logged: bool | None = None, checked: bool | None = None) -> None:
        """Set whether placements are logged, and whether results are checked."""
        self.logged = self.logged if logged is None else logged
        self.checked = self.checked if checked is None else checked
        self.observed = self.logged or self.checked
        found_recorders.clear()
        block_fast_path("operations are observed", self.observed)


placement = _Setting()
device_blocks = _Placement()


def parsed(name: str) -> DeviceName:
    """Parse a device name. Raises ValueError for an invalid one.

    >>> parsed("/tpu/0")
    Traceback (most recent call last):
    ValueError: Unknown attribute '0' is encountered while parsing the device spec: '/tpu/0'.
    """
    found = DeviceName()
    for part in name.split("/"):
        words = part.split(":")
        if words == [""]:
            continue
        found = _with_part(found, words, name)
    return found


def _with_part(found: DeviceName, words: list[str], name: str) -> DeviceName:
    head = words[0]
    if head == "job" and len(words) == 2:
        return found._replace(job=words[1])
    if head == "replica" and len(words) == 2:
        return found._replace(replica=_number(words[1:], name))
    if head == "task" and len(words) == 2:
        return found._replace(task=_number(words[1:], name))
    is_kind = head == "device" or head.upper() in ("CPU", "GPU", "TPU")
    if is_kind and found.kind is not None:
        raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {name}.")
    if head == "device" and len(words) in (2, 3):
        return found._replace(kind=words[1].upper(), number=_number(words[2:], name))
    if head.upper() in ("CPU", "GPU", "TPU") and len(words) <= 2:
        return found._replace(kind=head.upper(), number=_number(words[1:], name))
    raise ValueError(f"Unknown attribute '{head}' is encountered while parsing the device spec: '{name}'.")


def _number(words: list[str], name: str) -> int | None:
    if not words or words[0] == "*":
        return None
    if not words[0].isdigit():
        raise ValueError(f"{words[0]!r} is not a device number in the device spec: '{name}'.")
    return int(words[0])


def wanted() -> str:
    """Return the device that the enclosing blocks request; "" without such blocks."""
    name = device_blocks.names[-1]
    return "" if name is _ANYWHERE or name == _ANYWHERE else str(name)


@export("device")
@contextlib.contextmanager
def device(device_name: str | None) -> Iterator[None]:
    """Place the operations of a block (or, as a decorator, of a function) on a device.

    Args:
        device_name: such as "/CPU:0", "GPU:1", "/job:localhost/device:CPU:0". Missing parts are taken from the
            enclosing block. None resets the device.

    Raises ValueError for an invalid device name, InvalidArgumentError for a device that does not exist: another
    machine's, or any but the CPU when soft placement is off (`tf.config.set_soft_device_placement`), and RuntimeError
    for a function in place of a name.

    >>> with device("/GPU:0"):
    ...     wanted()
    '/device:GPU:0'
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    device_name = getattr(device_name, "to_string", lambda: device_name)()
    if device_name is not None and not isinstance(device_name, str):
        raise ValueError(f"Expecting a string device name. Got {type(device_name)}({device_name!r})")
    name = DeviceName() if device_name is None else parsed(device_name).within(device_blocks.names[-1])
    _check(name)
    device_blocks.names.append(name)
    try:
        yield
    finally:
        device_blocks.names.pop()


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Set whether the device of each operation is written to standard error.

    Eager operations are reported as they run, operations of a graph once, before its first run.

    >>> set_log_device_placement(False)
    """
    placement.observe(logged=bool(enabled))


@export("debugging.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Return the last value given to `set_log_device_placement`; False at first.

    >>> get_log_device_placement()
    False
    """
    return placement.logged


def log_placement(operation: str, name: str | None = None) -> None:
    """Write to standard error where an operation runs: at once, or under its name in a graph."""
    text = f"Executing op {operation} in device {CPU}" if name is None else f"{name}: ({operation}): {CPU}"
    print(text, file=sys.stderr)


def _check(name: DeviceName) -> None:
    here = DeviceName("localhost", 0, 0, "CPU", 0)
    full = name.within(here)
    if full[:3] != here[:3]:
        raise errors.InvalidArgumentError(f"{full} unknown device.")
    if placement.soft:
        return
    others = placement.accelerators()
    count = placement.cpus if full.kind == "CPU" else others.count(full.kind or "")
    if (full.number or 0) >= count:
        known = ", ".join(f"{CPU[:-1]}{number}" for number in range(placement.cpus))
        kinds = ", ".join(dict.fromkeys(["CPU", *others]))
        raise errors.InvalidArgumentError(
            f"Could not satisfy device specification '{full}'. enable_soft_placement=0. "
            f"Supported device types [{kinds}]. "
            f"All available devices [{known}]."
        )
