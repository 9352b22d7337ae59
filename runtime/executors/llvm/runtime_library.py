"""The runtime library: functions shared by all compiled code, compiled once in a process and linked by name.

memory      agc_take, agc_give, agc_fit       of an arena (arena.py)
the GIL     agc_run, agc_interrupted, agc_call: it is released during long runs, and taken to check for signals and to
            call Python; a null slot means that this thread holds it, another slot has the thread state to take it with
casts       __truncdfhf2                      which LLVM calls (codegen/half_floats.py)
            __truncsfhf2, __extendhfsf2       which it calls where the processor lacks them
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterable

from .arena import HEAD, LARGEST, tables
from .call.kernel import INTERRUPTED
from .opt_levels import COLD
from .shared_code import SharedCode
from .shared_code import load as load_shared

RUN = "agc_run"
"""The name of the function that runs a kernel for callers without the extension (call/ctypes_entry.py)."""

_TEXT = """
declare ptr @PyMem_RawCalloc(i64, i64)
declare ptr @PyMem_RawMalloc(i64)
declare void @PyMem_RawFree(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyLong_FromVoidPtr(ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare ptr @PyObject_CallOneArg(ptr, ptr)
declare void @Py_DecRef(ptr)

define ptr @agc_take(ptr %slot, i64 %size, ptr %lacking) nounwind {
  %kept = atomicrmw xchg ptr %slot, i64 0 acquire
  %is.none = icmp eq i64 %kept, 0
  br i1 %is.none, label %make, label %take
take:
  %address = inttoptr i64 %kept to ptr
  ret ptr %address
make:
  %made = call ptr @PyMem_RawCalloc(i64 1, i64 %size)
  %is.lacking = icmp eq ptr %made, null
  br i1 %is.lacking, label %lack, label %done
lack:
  store i64 1, ptr %lacking
  br label %done
done:
  ret ptr %made
}

define void @agc_give(ptr %slot, ptr %address, i64 %size) nounwind {
  %is.large = icmp ugt i64 %size, $largest
  br i1 %is.large, label %free, label %keep
free:
  call void @PyMem_RawFree(ptr %address)
  ret void
keep:
  %given = ptrtoint ptr %address to i64
  %before = atomicrmw xchg ptr %slot, i64 %given release
  %other = inttoptr i64 %before to ptr
  call void @PyMem_RawFree(ptr %other)
  ret void
}

define ptr @agc_fit(ptr %slot, i64 %size) nounwind {
  %old = load ptr, ptr %slot
  %capacity = load i64, ptr %old
  %fits = icmp uge i64 %capacity, %size
  br i1 %fits, label %stay, label %grow
stay:
  %there = getelementptr inbounds i8, ptr %old, i64 $head
  ret ptr %there
grow:
  %more = lshr i64 %size, 2
  %wanted = add i64 %size, %more
  %whole = add i64 %wanted, $head
  %new = call ptr @PyMem_RawMalloc(i64 %whole)
  %is.lacking = icmp eq ptr %new, null
  br i1 %is.lacking, label %lack, label %move
lack:
  ret ptr null
move:
  call void @PyMem_RawFree(ptr %old)
  store i64 %wanted, ptr %new
  store ptr %new, ptr %slot
  %here = getelementptr inbounds i8, ptr %new, i64 $head
  ret ptr %here
}

define internal void @leave.lock(ptr %slot) nounwind {
  %state = call ptr @PyEval_SaveThread()
  store ptr %state, ptr %slot
  ret void
}

define internal void @take.lock(ptr %slot) nounwind {
  %state = load ptr, ptr %slot
  %is.held = icmp eq ptr %state, null
  br i1 %is.held, label %done, label %take
take:
  call void @PyEval_RestoreThread(ptr %state)
  br label %done
done:
  ret void
}

; Run a kernel on the addresses of all arrays, and return its code. A long kernel runs without the GIL.
define i32 @agc_run(ptr %run, ptr %addresses, i64 %is.long) nounwind {
  %slot = alloca ptr
  store ptr null, ptr %slot
  %is.short = icmp eq i64 %is.long, 0
  br i1 %is.short, label %begin, label %leave
leave:
  call void @leave.lock(ptr %slot)
  br label %begin
begin:
  %code = call i32 %run(ptr %addresses, ptr %slot)
  call void @take.lock(ptr %slot)
  ret i32 %code
}

; Return whether a signal handler has raised. Afterwards the GIL is released, even if it was held before.
define i32 @agc_interrupted(ptr %slot) nounwind {
  call void @take.lock(ptr %slot)
  %answer = call i32 @PyErr_CheckSignals()
  call void @leave.lock(ptr %slot)
  ret i32 %answer
}

; Call a Python function with an address. Return its code, or INTERRUPTED if it raised an exception.
define i32 @agc_call(ptr %callee, ptr %address, ptr %slot) nounwind {
  %state = load ptr, ptr %slot
  %was.held = icmp eq ptr %state, null
  call void @take.lock(ptr %slot)
  %number = call ptr @PyLong_FromVoidPtr(ptr %address)
  %is.lacking = icmp eq ptr %number, null
  br i1 %is.lacking, label %called, label %call
call:
  %result = call ptr @PyObject_CallOneArg(ptr %callee, ptr %number)
  call void @Py_DecRef(ptr %number)
  %has.raised = icmp eq ptr %result, null
  br i1 %has.raised, label %called, label %read
read:
  %long = call i64 @PyLong_AsLongLong(ptr %result)
  call void @Py_DecRef(ptr %result)
  %returned = trunc i64 %long to i32
  br label %called
called:
  %code = phi i32 [ $interrupted, %0 ], [ $interrupted, %call ], [ %returned, %read ]
  br i1 %was.held, label %done, label %leave
leave:
  call void @leave.lock(ptr %slot)
  br label %done
done:
  ret i32 %code
}

; Round to odd in float32, which is the inexact neighbor with last bit 1, then cast to float16.
define half @__truncdfhf2(double %x) nounwind {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %pattern = bitcast float %near to i32
  %magnitude = bitcast double %x to i64
  %rounded = bitcast double %back to i64
  %is.below = icmp ult i64 %rounded, %magnitude
  %above = add i32 %pattern, 1
  %below = sub i32 %pattern, 1
  %odd = select i1 %is.below, i32 %above, i32 %below
  %last = and i32 %pattern, 1
  %is.even = icmp eq i32 %last, 0
  %is.inexact = fcmp one double %back, %x
  %is.moved = and i1 %is.inexact, %is.even
  %bits = select i1 %is.moved, i32 %odd, i32 %pattern
  %result = bitcast i32 %bits to float
  %half = fptrunc float %result to half
  ret half %half
}

; The sum of a number below the normal ones of float16 and 0.5 has its fraction as last bits, rounded.
define half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %sign = and i32 %bits, $sign
  %size = xor i32 %bits, %sign
  %cut = lshr i32 %size, 13
  %last = and i32 %cut, 1
  %biased = sub i32 %size, $bias
  %added = add i32 %biased, 4095
  %rounded = add i32 %added, %last
  %normal = lshr i32 %rounded, 13
  %magnitude = bitcast i32 %size to float
  %sum = fadd float %magnitude, 0.5
  %sum.bits = bitcast float %sum to i32
  %small = sub i32 %sum.bits, $one.half
  %is.small = icmp ult i32 %size, $smallest
  %finite = select i1 %is.small, i32 %small, i32 %normal
  %is.large = icmp uge i32 %size, $two.to.16
  %number = select i1 %is.large, i32 $half.infinity, i32 %finite
  %payload = and i32 %cut, $half.fraction
  %quiet = or i32 %payload, $half.quiet
  %is.nan = icmp ugt i32 %size, $infinity
  %found = select i1 %is.nan, i32 %quiet, i32 %number
  %high = lshr i32 %sign, 16
  %signed = or i32 %found, %high
  %pattern = trunc i32 %signed to i16
  %half = bitcast i16 %pattern to half
  ret half %half
}

define float @__extendhfsf2(half %x) nounwind {
  %pattern = bitcast half %x to i16
  %bits = zext i16 %pattern to i32
  %size = and i32 %bits, $half.size
  %sign = xor i32 %bits, %size
  %shifted = shl i32 %size, 13
  %normal = add i32 %shifted, $bias
  %units = uitofp i32 %size to float
  %small = fmul float %units, 0x3E70000000000000 ; 2^-24, the least float16
  %small.bits = bitcast float %small to i32
  %is.small = icmp ule i32 %size, $half.fraction
  %finite = select i1 %is.small, i32 %small.bits, i32 %normal
  %is.nan = icmp ugt i32 %size, $half.infinity
  %special = select i1 %is.nan, i32 $quiet, i32 $infinity
  %marked = or i32 %shifted, %special
  %is.special = icmp uge i32 %size, $half.infinity
  %found = select i1 %is.special, i32 %marked, i32 %finite
  %high = shl i32 %sign, 16
  %signed = or i32 %found, %high
  %float = bitcast i32 %signed to float
  ret float %float
}
"""

_PATTERNS = {
    "sign": 1 << 31,
    "bias": (127 - 15) << 23,
    "smallest": (127 - 14) << 23,
    "one.half": (127 - 1) << 23,
    "two.to.16": (127 + 16) << 23,
    "infinity": 0xFF << 23,
    "quiet": 0xFF << 23 | 1 << 22,
    "half.size": 0x7FFF,
    "half.fraction": 0x3FF,
    "half.infinity": 0x1F << 10,
    "half.quiet": 0x1F << 10 | 1 << 9,
}
"""Bits of float32: numbers of this name, NaN, the least normal float16, and the difference of the exponents' biases.

Those of float16: all but the sign, those of the fraction, infinity, and NaN.
"""

NAMES = re.findall(r"^define \w+ @(\w+)", _TEXT, re.MULTILINE)
"""The symbols of the library."""


def _text() -> str:
    values = {"head": HEAD, "largest": LARGEST, "interrupted": INTERRUPTED, **_PATTERNS}
    return re.sub(r"\$([\w.]+)", lambda found: str(values[found[1]]), _TEXT)


_FUNCTIONS = SharedCode("runtime library", COLD, _text, dict(zip(NAMES, NAMES, strict=True)))


def begin() -> None:
    """Compile the library in the background: almost all graphs need it."""
    _FUNCTIONS.begin()


def load(names: Iterable[str] = ()) -> None:
    """Load the library and the other shared code with symbols in `names`, so that the symbols resolve."""
    _FUNCTIONS.load()
    load_shared(names)


def address(name: str) -> int:
    """Return the address of a shared function."""
    return _FUNCTIONS.load().function(name)


def free_kept_memory() -> None:
    """Free the memory that compiled functions keep between calls. Functions that run meanwhile keep theirs."""
    give = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address("agc_give"))
    for memory in list(tables):
        for slot in range(memory.table.size):
            give(memory.table[slot:].ctypes.data, None, 0)
