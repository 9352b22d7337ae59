"""Code generation for modules: in this thread, or concurrently in another thread.

    first  ──parse──passes──code generation, in a thread──────┐
    second          ──print──parse──passes──code generation───┴──► two object files

LLVM can work on several modules at once if each has its own context. llvmlite serializes all calls of LLVM
with a lock. So code generation, which takes longest, calls the same C function without that lock.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

_EMIT = "LLVMPY_TargetMachineEmitToMemory"


class OwnModule:
    """A module in its own context, with a target machine.

    It must be closed explicitly: the garbage collector might free the context before the module, which needs
    it.
    """

    def __init__(self, text: str, machine: Any) -> None:
        import llvmlite.binding as binding

        self.machine = machine
        self._context = binding.create_context()
        try:
            self.module = binding.parse_assembly(text, self._context)
        except BaseException:
            self._context.close()
            raise

    def close(self) -> None:
        self.module.close()
        self._context.close()


class Emission:
    """The code generation of a module, which is closed afterwards."""

    def __init__(self, own: OwnModule) -> None:
        self._own = own
        self._thread: threading.Thread | None = None
        self._data = b""
        self._error: Exception | None = None

    def begin(self) -> None:
        """Start a thread. The thread is joined before the process exits, since LLVM must not be interrupted."""
        thread = threading.Thread(target=self._run, name="agc-emission", daemon=False)
        with contextlib.suppress(RuntimeError):  # if no thread can be started, `data` does the work
            thread.start()
            self._thread = thread

    def data(self) -> bytes:
        """Return the object file; raise LLVM's error if there was one."""
        if self._thread is None:
            self._run()
        else:
            self._thread.join()
        if self._error is not None:
            raise self._error
        return self._data

    def _run(self) -> None:
        try:
            self._data = _emitted(self._own.machine, self._own.module)
        except Exception as error:
            self._error = error
        finally:
            self._own.close()


def _emitted(machine: Any, module: Any) -> bytes:
    emit = _emit()
    if emit is None:
        return bytes(machine.emit_object(module))
    from llvmlite.binding import ffi

    with ffi.OutputString() as complaint:
        buffer = emit(machine, module, 1, complaint)
        if not buffer:
            raise RuntimeError(str(complaint))
    try:
        start, size = ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer)
        return ctypes.string_at(start, size)
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


@functools.cache
def _emit() -> Callable[..., Any] | None:
    """Return LLVM's function with llvmlite's signature, without its lock; None if llvmlite has another structure."""
    from llvmlite.binding import ffi

    try:
        known = getattr(ffi.lib, _EMIT)
        made = getattr(ctypes.CDLL(ffi.lib._name), _EMIT)
        made.argtypes, made.restype = known.argtypes, known.restype
    except (AttributeError, OSError):
        return None
    return made  # type: ignore[no-any-return]
