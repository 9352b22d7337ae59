"""The thread pool for parallel loops, as LLVM IR.

    agc_run_part(part, around, rounds, 3, 1)   fills a slot: part, around, rounds, 24 parts; 1 to 23 are available
        part(around, 0, rounds / 24)           the caller runs part 0; each pool thread claims a part and runs it
        claim and run further parts, too
        wait for the threads that have claimed some

The caller only waits for threads that have claimed a part. If the processors are busy or no thread exists,
the caller runs all parts itself. If it has waited much longer than it worked, it needs no threads for a while.
There are more parts than threads, so that slow or late threads run fewer parts, and all threads finish at about
the same time. There are several slots, for Python threads that run loops concurrently; if no slot is free, the
caller runs its loop alone. An idle thread spins for some microseconds, and then sleeps until it is woken. Small
loops do not wake sleeping threads.

The caller claims parts from the front, pool threads from the back. So in consecutive loops the same processor
computes about the same elements, which are in its cache.

A slot's tickets are one atomic word: a use count, and the range of available parts. The use count keeps a
thread from claiming a part of a later loop in the same slot (the ABA problem). worker_threads.py initializes
the mutexes, and ends the threads when a process forks. All atomic accesses are sequentially consistent. So a
thread increments the count of sleepers before it checks for work a last time, and a caller publishes its work
before it checks for sleepers.
"""

from __future__ import annotations

import platform
import signal
import sys
from enum import IntEnum
from string import Template

HAVE_THREADS = sys.platform != "win32"  # Windows has no pthread_create.

MOST = 16
"""The maximum number of threads that run a loop."""

RUN = "agc_run_part"
"""The function that compiled code calls."""

MEMORY = "agc_pool"

_SLOTS = 4
_SLOT = 128  # bytes: one cache line for the request, and one for counters that change as parts are completed


class PoolField(IntEnum):
    """Byte offsets in the memory of the pool. A mutex or a condition variable takes at most 64 bytes."""

    LOCK = 0
    CALL = 64
    """The condition variable that idle threads sleep on."""
    DONE = 128
    """The condition variable that callers sleep on until their parts are done."""
    CALLS = 192
    """The number of requests so far, which idle threads poll."""
    SLEEPERS = 256
    """The number of threads that sleep on `CALL`."""
    WAITING = 264
    """The number of threads that sleep on `DONE`."""
    STARTED = 272
    ENDS = 280
    """Nonzero if threads must end and no new ones may be started."""
    ALONE = 288
    """The time until which callers run their loops alone, in nanoseconds."""
    THREADS = 320
    SLOTS = 448
    END = SLOTS + _SLOTS * _SLOT


_LOOKS = 1500
"""The number of polls for work before a thread sleeps, about 30 µs: the next loop mostly comes sooner.

It does not yield its processor in between. Another program would keep the processor for milliseconds.
"""

_PIECES = 8
"""Parts for each thread, if there are enough iterations."""

_PAUSES = 2000
"""The number of polls for completion before a caller sleeps."""

_PATIENCE = 50_000
_ABSENCE = 16
"""A caller that waits `_PATIENCE` nanoseconds longer than twice its own work is on a busy machine.

Another program runs in place of a thread that has claimed a part. For `_ABSENCE` times as long, loops run without
threads, so that such waits take at most a sixteenth of the time. Results do not depend on it.
"""

_CLOCK = 6 if sys.platform == "darwin" else 1
"""The number of the monotonic clock."""

_PAUSE = {
    "x86_64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "amd64": ("declare void @llvm.x86.sse2.pause()", "call void @llvm.x86.sse2.pause()"),
    "arm64": ("declare void @llvm.aarch64.isb(i32)", "call void @llvm.aarch64.isb(i32 15)"),
    "aarch64": ("declare void @llvm.aarch64.isb(i32)", "call void @llvm.aarch64.isb(i32 15)"),
}
"""The spin-wait hint, which leaves execution units to other hardware threads."""


_ASKED = """\
  %part.at = getelementptr i8, ptr %slot, i64 8
  %around.at = getelementptr i8, ptr %slot, i64 16
  %rounds.at = getelementptr i8, ptr %slot, i64 24
  %parts.at = getelementptr i8, ptr %slot, i64 32"""
"""The fields of a request in a slot, after its tickets."""


def text() -> str:
    """Return the LLVM IR of the pool's functions and memory."""
    declared, pause = _PAUSE.get(platform.machine().lower(), ("", ""))
    fields = {
        field.name.lower(): f"getelementptr (i8, ptr @{MEMORY}, i64 {int(field)})" for field in PoolField
    }
    return _TEXT.substitute(
        fields,
        declared=declared, pause=pause, asked=_ASKED, memory=MEMORY, run=RUN, size=int(PoolField.END), slot=_SLOT,
        patience=_PATIENCE, absence=_ABSENCE, clock=_CLOCK,
        looks=_LOOKS, pauses=_PAUSES, pieces=_PIECES, set_mask=int(signal.SIG_SETMASK),
        again=(1 << 32) + (1 << 16), used_mask=-(1 << 32), begin=1 << 16, begin_shift=16, end_mask=(1 << 16) - 1,
    )  # fmt: skip


_TEXT = Template("""
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_mutex_lock(ptr)
declare i32 @pthread_mutex_unlock(ptr)
declare i32 @pthread_cond_wait(ptr, ptr)
declare i32 @pthread_cond_broadcast(ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
declare i32 @sigfillset(ptr)
declare i32 @clock_gettime(i32, ptr)
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
$declared

@$memory = global [$size x i8] zeroinitializer, align 64

; Run one part of the loop in a slot. No thread writes to the slot until all its parts are done.
define internal void @run(ptr %slot, i64 %number) nounwind noinline {
$asked
  %part = load ptr, ptr %part.at
  %around = load ptr, ptr %around.at
  %rounds = load i64, ptr %rounds.at
  %parts = load i64, ptr %parts.at
  %before = mul i64 %rounds, %number
  %through = add i64 %before, %rounds
  %begin = udiv i64 %before, %parts
  %end = udiv i64 %through, %parts
  call void %part(ptr %around, i64 %begin, i64 %end)
  ret void
}

; Run parts of a slot while some are left: the first or the last ones, depending on the increment of the tickets.
; The thread that runs the last part wakes the threads that wait for the slot.
define internal void @take(ptr %slot, i64 %taken) nounwind noinline {
  %pending.at = getelementptr i8, ptr %slot, i64 64
  %from.the.end = icmp slt i64 %taken, 0
  br label %look
look:
  %tickets = load atomic i64, ptr %slot seq_cst, align 8
  %end = and i64 %tickets, $end_mask
  %shifted = lshr i64 %tickets, $begin_shift
  %begin = and i64 %shifted, $end_mask
  %is.none = icmp eq i64 %begin, %end
  br i1 %is.none, label %done, label %some
some:
  %fewer = add i64 %tickets, %taken
  %found = cmpxchg ptr %slot, i64 %tickets, i64 %fewer seq_cst seq_cst
  %is.mine = extractvalue { i64, i1 } %found, 1
  br i1 %is.mine, label %mine, label %look
mine:
  %last = add i64 %end, -1
  %number = select i1 %from.the.end, i64 %last, i64 %begin
  call void @run(ptr %slot, i64 %number)
  %pending = atomicrmw add ptr %pending.at, i64 -1 seq_cst
  %is.last = icmp eq i64 %pending, 1
  br i1 %is.last, label %all.done, label %look
all.done:
  call void @wake(ptr $done, ptr $waiting)
  br label %look
done:
  ret void
}

; Wake the threads that sleep on a condition, if there are any.
define internal void @wake(ptr %condition, ptr %count) nounwind noinline {
  %sleeping = load atomic i64, ptr %count seq_cst, align 8
  %is.none = icmp eq i64 %sleeping, 0
  br i1 %is.none, label %done, label %some
some:
  call i32 @pthread_mutex_lock(ptr $lock)
  call i32 @pthread_cond_broadcast(ptr %condition)
  call i32 @pthread_mutex_unlock(ptr $lock)
  br label %done
done:
  ret void
}

; Sleep on a condition while a word has the expected value. The sleeping threads are counted.
define internal void @rest(ptr %word, i64 %seen, ptr %condition, ptr %count) nounwind noinline {
  call i32 @pthread_mutex_lock(ptr $lock)
  %before = atomicrmw add ptr %count, i64 1 seq_cst
  br label %look
look:
  %now = load atomic i64, ptr %word seq_cst, align 8
  %waits = icmp eq i64 %now, %seen
  br i1 %waits, label %wait, label %done
wait:
  call i32 @pthread_cond_wait(ptr %condition, ptr $lock)
  br label %look
done:
  %after = atomicrmw add ptr %count, i64 -1 seq_cst
  call i32 @pthread_mutex_unlock(ptr $lock)
  ret void
}

; The main function of a pool thread: run parts until the pool ends. Other threads handle signals.
define internal ptr @thread(ptr %nothing) nounwind {
  %signals = alloca [128 x i8], align 16
  call i32 @sigfillset(ptr %signals)
  call i32 @pthread_sigmask(i32 $set_mask, ptr %signals, ptr null)
  br label %begin
begin:
  %ends = load atomic i64, ptr $ends seq_cst, align 8
  %goes.on = icmp eq i64 %ends, 0
  br i1 %goes.on, label %search, label %end
search:
  %calls = load atomic i64, ptr $calls seq_cst, align 8
  br label %each
each:
  %slot = phi ptr [ $slots, %search ], [ %next, %each ]
  call void @take(ptr %slot, i64 -1)
  %next = getelementptr i8, ptr %slot, i64 $slot
  %more = icmp ult ptr %next, $end
  br i1 %more, label %each, label %look
look:
  %looks = phi i64 [ $looks, %each ], [ %fewer, %again ]
  %now = load atomic i64, ptr $calls seq_cst, align 8
  %is.called = icmp ne i64 %now, %calls
  br i1 %is.called, label %begin, label %nothing.yet
nothing.yet:
  %fewer = add i64 %looks, -1
  %is.tired = icmp eq i64 %fewer, 0
  br i1 %is.tired, label %sleep, label %again
again:
  $pause
  br label %look
sleep:
  call void @rest(ptr $calls, i64 %calls, ptr $call, ptr $sleepers)
  br label %begin
end:
  ret ptr null
}

; Start threads up to this number; fewer where the system refuses, or while the pool ends.
define internal void @start(i64 %wanted) nounwind noinline {
  call i32 @pthread_mutex_lock(ptr $lock)
  %ends = load i64, ptr $ends
  %may.start = icmp eq i64 %ends, 0
  br i1 %may.start, label %look, label %done
look:
  %started = load i64, ptr $started
  %is.enough = icmp sge i64 %started, %wanted
  br i1 %is.enough, label %done, label %create
create:
  %id = getelementptr i64, ptr $threads, i64 %started
  %failed = call i32 @pthread_create(ptr %id, ptr null, ptr @thread, ptr null)
  %is.there = icmp eq i32 %failed, 0
  br i1 %is.there, label %count, label %done
count:
  %more = add i64 %started, 1
  store i64 %more, ptr $started
  br label %look
done:
  call i32 @pthread_mutex_unlock(ptr $lock)
  ret void
}

define internal i64 @time() nounwind noinline {
  %time = alloca [2 x i64]
  call i32 @clock_gettime(i32 $clock, ptr %time)
  %seconds = load i64, ptr %time
  %rest.at = getelementptr i64, ptr %time, i64 1
  %rest = load i64, ptr %rest.at
  %whole = mul i64 %seconds, 1000000000
  %sum = add i64 %whole, %rest
  ret i64 %sum
}

; Let loops run without threads for some time, if the caller has waited for them much longer than it worked.
define internal void @judge(i64 %start, i64 %worked) nounwind noinline {
  %end = call i64 @time()
  %waited = sub i64 %end, %worked
  %own = sub i64 %worked, %start
  %twice = shl i64 %own, 1
  %most = add i64 %twice, $patience
  %is.late = icmp sgt i64 %waited, %most
  br i1 %is.late, label %late, label %done
late:
  %absence = mul i64 %waited, $absence
  %until = add i64 %end, %absence
  store atomic i64 %until, ptr $alone monotonic, align 8
  br label %done
done:
  ret void
}

; Run iterations on this number of threads, the calling one included. Each thread claims parts.
define void @$run(ptr %part, ptr %around, i64 %rounds, i64 %threads, i64 %wakes) nounwind {
  %most = mul i64 %threads, $pieces
  %fewest = call i64 @llvm.smin.i64(i64 %most, i64 %rounds)
  %parts = call i64 @llvm.smax.i64(i64 %fewest, i64 1)
  %others = add i64 %parts, -1
  %wanted = add i64 %threads, -1
  %start = call i64 @time()
  %until = load atomic i64, ptr $alone monotonic, align 8
  %is.busy = icmp slt i64 %start, %until
  br i1 %is.busy, label %alone, label %shared
shared:
  %started = load atomic i64, ptr $started seq_cst, align 8
  %is.enough = icmp sge i64 %started, %wanted
  br i1 %is.enough, label %each, label %lacks
lacks:
  call void @start(i64 %wanted)
  br label %each
each:
  %slot = phi ptr [ $slots, %shared ], [ $slots, %lacks ], [ %next, %taken ]
  %pending.at = getelementptr i8, ptr %slot, i64 64
  %taken.at = getelementptr i8, ptr %slot, i64 72
  %found = cmpxchg ptr %taken.at, i64 0, i64 1 seq_cst seq_cst
  %is.mine = extractvalue { i64, i1 } %found, 1
  br i1 %is.mine, label %mine, label %taken
taken:
  %next = getelementptr i8, ptr %slot, i64 $slot
  %more = icmp ult ptr %next, $end
  br i1 %more, label %each, label %alone
alone:
  call void %part(ptr %around, i64 0, i64 %rounds)
  ret void

mine:
$asked
  store ptr %part, ptr %part.at
  store ptr %around, ptr %around.at
  store i64 %rounds, ptr %rounds.at
  store i64 %parts, ptr %parts.at
  store i64 %others, ptr %pending.at
  %tickets = load atomic i64, ptr %slot seq_cst, align 8
  %used = and i64 %tickets, $used_mask
  %new = add i64 %parts, $again
  %new.tickets = add i64 %used, %new
  store atomic i64 %new.tickets, ptr %slot seq_cst, align 8
  %old.calls = atomicrmw add ptr $calls, i64 1 seq_cst
  %is.little = icmp eq i64 %wakes, 0
  br i1 %is.little, label %own, label %wake
wake:
  call void @wake(ptr $call, ptr $sleepers)
  br label %own
own:
  call void @run(ptr %slot, i64 0)
  call void @take(ptr %slot, i64 $begin)
  %left = load atomic i64, ptr %pending.at seq_cst, align 8
  %are.none = icmp eq i64 %left, 0
  br i1 %are.none, label %done, label %waits
waits:
  %worked = call i64 @time()
  br label %look
look:
  %looks = phi i64 [ $pauses, %waits ], [ %fewer, %again ], [ 1, %rest ]
  %pending = load atomic i64, ptr %pending.at seq_cst, align 8
  %is.done = icmp eq i64 %pending, 0
  br i1 %is.done, label %came, label %not.yet
not.yet:
  %fewer = add i64 %looks, -1
  %is.tired = icmp eq i64 %fewer, 0
  br i1 %is.tired, label %rest, label %again
again:
  $pause
  br label %look
rest:
  call void @rest(ptr %pending.at, i64 %pending, ptr $done, ptr $waiting)
  br label %look
came:
  call void @judge(i64 %start, i64 %worked)
  br label %done
done:
  store atomic i64 0, ptr %taken.at seq_cst, align 8
  ret void
}
""")
