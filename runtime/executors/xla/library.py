"""JAX, imported at the first use, and the scope in which its 64-bit types exist.

with wide():
    program(x)          # int64 and float64 as in NumPy; outside of the scope, JAX is as its user has set it
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from ...core.devices import has_plugin, parsed
from ...ir.graph import Graph

INSTALL = "pip install 'agc-autograph[jax]'"
"""The command that installs JAX."""

AXIS = "replica"
"""The name of the axis of devices that run one program, in meshes of JAX."""


@functools.cache
def missing() -> str | None:
    """Return why programs cannot be compiled by XLA here, or None if they can."""
    if importlib.util.find_spec("jax") is None:
        return f"JAX is not installed: {INSTALL}"
    return None


def available() -> bool:
    """Return whether JAX is installed; this does not import it."""
    return missing() is None


def wide() -> AbstractContextManager[Any]:
    """Return the scope of traces and calls: 64-bit types exist for this thread, and for the time of the scope only."""
    import jax

    return jax.enable_x64(True)


_state = {"is_used": False}


def device_of(graph: Graph) -> Any:
    """Return the device of JAX that a graph names first in a `tf.device` block; None if it names none.

    A program runs on one device. One that does not exist here means JAX's own choice, as soft placement does.
    """
    _state["is_used"] = True
    for operation in graph.walk():
        name = parsed(operation.device) if operation.device else None
        if name is not None and name.kind is not None:
            return _device(name.kind.lower(), name.number or 0)
    return None


def _device(kind: str, number: int) -> Any:
    import jax

    try:
        found = jax.local_devices(backend=kind)
    except RuntimeError:  # JAX has no such backend here
        return None
    return found[number] if number < len(found) else None


def local_devices(names: Sequence[str]) -> list[Any]:
    """Return JAX's devices in this process with these names; raise `MissingDeviceError` if one does not exist.

    If JAX has not started yet, it is given as many CPUs as are named.
    """
    import jax

    _state["is_used"] = True
    wanted = [((parsed(name).kind or "CPU").lower(), parsed(name).number or 0) for name in names]
    cpus = sum(kind == "cpu" for kind, _ in wanted)
    if cpus > 1 and _CPU_FLAG not in os.environ.get("XLA_FLAGS", ""):
        with contextlib.suppress(RuntimeError):  # JAX has started
            jax.config.update("jax_num_cpu_devices", max(cpus, _configured_cpus()))
    found = [_device(kind, number) for kind, number in wanted]
    if None in found:
        first = names[found.index(None)]
        fix = f": start the program with XLA_FLAGS={_CPU_FLAG}={cpus}" if cpus else ""
        raise MissingDeviceError(f"JAX has no device {first}{fix}")
    return found


_CPU_FLAG = "--xla_force_host_platform_device_count"


class MissingDeviceError(Exception):
    """Error for a device that JAX does not have; the message has the fix."""


def has_several_cpus(count: int) -> bool:
    """Return whether the program has given JAX as many CPUs, by XLA_FLAGS or by JAX's configuration."""
    chosen = re.search(rf"{_CPU_FLAG}=(\d+)", os.environ.get("XLA_FLAGS", ""))
    return max(int(chosen[1]) if chosen else 0, _configured_cpus()) >= count


def chosen_devices() -> list[str]:
    """Return the names of the accelerators, or of the CPUs that the program has given JAX; one CPU by default."""
    if available() and (has_several_cpus(2) or accelerators()):
        return started_devices()
    return ["CPU:0"]


def started_devices() -> list[str]:
    """Return the names of JAX's devices in this process, which are accelerators or CPUs. JAX is started."""
    import jax

    _state["is_used"] = True
    devices = jax.local_devices()
    return [f"{device.platform.upper()}:{number}" for number, device in enumerate(devices)]


def _configured_cpus() -> int:
    jax = sys.modules.get("jax")
    return 0 if jax is None else int(jax.config.jax_num_cpu_devices)


def accelerators() -> list[str]:
    """Return the kinds of JAX's devices that are no CPUs, such as "GPU", one for each.

    JAX is started if it has a plugin for such devices.

    >>> accelerators() == [] or has_plugin() or _state["is_used"]
    True
    """
    if not has_plugin() and not _state["is_used"]:
        return []
    import jax

    return [device.platform.upper() for device in jax.local_devices() if device.platform != "cpu"]
