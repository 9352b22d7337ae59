"""Object files that LLVM makes of modules: in this thread, or in another one while this one goes on.

    first  ──parse──passes──code generation, in a thread──────┐
    second          ──written──parse──passes──code generation─┴──► two object files

LLVM may do several things at once, each in a context of its own. llvmlite lets one thread at a time into LLVM, whatever
it does there; so what takes long, code generation, is called as llvmlite itself would, but without its lock.
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
    """A module in a context of its own, for a machine.

    It is to be closed: where both are garbage, Python may let go of the context before the module, which needs it.
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
    """The code generation for a module, which is closed then."""

    def __init__(self, own: OwnModule) -> None:
        self._own = own
        self._thread: threading.Thread | None = None
        self._data = b""
        self._error: Exception | None = None

    def begin(self) -> None:
        """Have another thread do it, which ends before Python does: LLVM must not be cut off."""
        thread = threading.Thread(target=self._run, name="agc-emission", daemon=False)
        with contextlib.suppress(RuntimeError):  # where there can be no more threads, `data` does it
            thread.start()
            self._thread = thread

    def data(self) -> bytes:
        """The object file; raises what LLVM complains of."""
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
    """LLVM's function as llvmlite declares it, without a lock; None where llvmlite is made in another way."""
    from llvmlite.binding import ffi

    try:
        known = getattr(ffi.lib, _EMIT)
        made = getattr(ctypes.CDLL(ffi.lib._name), _EMIT)
        made.argtypes, made.restype = known.argtypes, known.restype
    except (AttributeError, OSError):
        return None
    return made  # type: ignore[no-any-return]
