"""Emits one LLVM function: counted loop nests, and the blocks with which the function begins and ends.

    with e.nest([2, 3]) as (i, j):         loop:    i = 0, 1            loops without dependences get the metadata
        body                       ==>     loop1:   j = 0, 1, 2         that they are parallel; the thread pool runs
                                                    body                those with enough work

The base classes emit all else: scalar_builder.py, memory_builder.py, check_builder.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from .affine import INFINITE
from .buffer_assignment import ElementwiseNest, pairs
from .check_builder import OFTEN, CheckBuilder
from .dynamic_sizes import Size, is_sized, typical
from .index_builder import settling_builder
from .llvm_types import Register, integer, ir
from .loop_hints import SCALAR, UNROLL_FULLY, of_body
from .merge_functions import ParallelBodies, Users, merge_identical_nests
from .outlining import OutermostLoopNest, SlotUses, is_large, outline, without_moved
from .parallel_loops import LIGHT, WAKES, WORTH, instructions_run, taken_apart
from .parallel_loops import count as count_of_threads
from .scalar_builder import WORD

UNROLLED = 16
"""In loops, tensors of at most this many elements are unrolled, so that LLVM can keep them in registers."""

FEW = 64
"""Nests with at most this many iterations are unrolled by LLVM.

Unrolling larger ones would take long to compile.
"""

SEPARABLE = 512
"""Nests with at least this many iterations may become functions, also in loops: the call takes little time."""

COLD = 256
"""In a large function, a nest with less than this fraction of the cost of all nests is not vectorized."""

RARE = 1 << 17
"""… and with less than this fraction of the cost of all nests, parallel ones included, it is not optimized."""


class NestCost(NamedTuple):
    """The elements of the nests of a function, and the instructions that they run: without parallel nests, and all."""

    work: int
    serial: int
    total: int


class OpenNest(NamedTuple):
    """A loop nest whose body is being emitted."""

    before: Any  # the block that jumps to the nest
    first: int  # the position of its first block in the function
    shared: int  # the number of stack slots that were allocated before it, which its threads share
    size: int  # the number of elements that it processes
    each_once: bool  # whether no element is written by two iterations
    loops: list[Any]  # the loops, outermost first: induction variable, trip count, first block and end


class Emitter(CheckBuilder):
    """Emitter of one function. `b` is llvmlite's IRBuilder."""

    def __init__(self, module: Any, function: Any) -> None:
        entry = function.append_basic_block("entry")
        start = function.append_basic_block("start")
        super().__init__(module, function, settling_builder(start), ir().IRBuilder(entry))
        self._start = start
        self._loops = 0
        self._rounds = [1]  # iterations of the nests that are being emitted, with the loops around them
        self._inside = [1]  # iterations of the nests in each nest that is being emitted
        self._open_loops = 0  # loops of the nests that are being emitted
        self._nests: list[ElementwiseNest] = []
        self._wholes: list[OutermostLoopNest] = []
        self.users = Users(function)  # users of values in the finished function
        self.slot_uses = SlotUses(function)
        self._bodies = ParallelBodies(module)
        self._repeated = 0  # depth of surrounding loops with dynamic trip counts
        self._cost = 0  # instructions that the nests run, without parallel ones
        self._total = 0  # those of all nests
        self.work = 0  # total number of elements of all nests emitted so far
        self.remainders: dict[int, tuple[Register, Register, int]] = {}  # see lowering/divisibility.py
        self.reasons: list[Any] = []  # why the emitted code cannot be used

    @contextmanager
    def nest(
        self,
        counts: Sequence[int],
        parallel: bool = True,
        threads: bool = True,
        inner: int = 1,
        each_once: bool = False,
        in_registers: bool = False,
    ) -> Iterator[list[Register]]:
        """Emit nested loops with these trip counts, and yield the induction variables.

        The body is skipped if a count is 0. `parallel` means that no iteration reads what another one writes;
        with `threads`, the thread pool may run the nest. An iteration processes about `inner` elements. With
        `each_once`, no element is written by two iterations. With `in_registers`, the loops are unrolled, so
        that values stay in registers throughout a long surrounding loop.
        """
        outer_memo, self.memo = self.memo, {}
        outermost = not self._groups
        self._loops += 1
        group = self.module.add_metadata([f"group{self._loops}"]) if parallel else None
        self._groups.append(group if parallel else None)
        size = math.prod(map(typical, counts)) * typical(inner)
        if outermost:
            self.work += size
        is_measured = outermost and any(count > 1 for count in counts)
        measured = self.computing(each_once) if is_measured else None
        nest = OpenNest(self.b.block, len(self.function.blocks), len(self._on_stack), size, each_once, [])
        skipped = self._unless_empty(counts)
        numbers = [self._open(count, nest.loops) for count in counts]
        self._rounds.append(self._rounds[-1] * math.prod(map(typical, counts)))
        self._inside.append(1)
        self._open_loops += len(nest.loops)
        yield numbers
        self._open_loops -= len(nest.loops)
        iterations = math.prod(map(typical, counts)) * self._inside.pop()
        self._inside[-1] = max(self._inside[-1], iterations)
        is_small = self._rounds.pop() <= FEW and self.is_repeated
        self._close_loops(nest, group, UNROLL_FULLY if in_registers or is_small else ())
        if skipped is not None:
            self.b.branch(skipped)
            self.b.position_at_end(skipped)
        self._groups.pop()
        self.memo = outer_memo
        if skipped is None and outermost:
            self._end_outermost(nest, iterations, is_parallel=parallel and threads)
        elif skipped is None and nest.loops and not self._open_loops:  # in another nest of single iterations
            self._add_whole(nest, iterations, self.function.blocks[nest.first : -1])
        if outermost:
            if self._stopped is not None and not self._is_committed:
                self.leave_if_stopped()  # in a block after the nest, which may have moved to a part
            self._look_at_notes()
        if measured is not None and self.meter is not None:
            self.meter.end(measured)

    def _end_outermost(self, nest: OpenNest, iterations: int, is_parallel: bool) -> None:
        """Record a nest that is in no other one, and let the thread pool run it if that is worthwhile."""
        blocks = self.function.blocks[nest.first : -1]
        self._total += nest.size * sum(len(block.instructions) for block in blocks)
        if not nest.loops:
            return
        work = nest.size * max(instructions_run(blocks) // LIGHT, 1)
        pairs_of_nest = pairs(blocks) if nest.each_once else []
        run = self._share(nest, work) if is_parallel and work >= WORTH and not self._is_noted else None
        if run is None:
            self._add_whole(nest, iterations, blocks)
        elif self._bodies.is_new(run):
            self.module.text.complete(run.args[0])
        if pairs_of_nest:
            self._nests.append(ElementwiseNest(nest.before, self.b.block, pairs_of_nest, run))

    def _add_whole(self, nest: OpenNest, iterations: int, blocks: Sequence[Any]) -> None:
        """Record a loop nest that is in no loop of another one, and may become a function."""
        cost = max(nest.size, iterations) * sum(len(block.instructions) for block in blocks)
        self._cost += cost
        if not self.is_repeated or nest.size >= SEPARABLE:
            known = math.inf if self.is_repeated else cost
            self._wholes.append(OutermostLoopNest(nest.before, blocks, self.b.block, known))

    def _unless_empty(self, counts: Sequence[int]) -> Any:
        """Emit a branch that skips loops with zero iterations.

        Return the block after them, or None if all have some.
        """
        if not is_sized(tuple(counts)) and 0 not in counts:
            return None
        inside, skipped = self.block("inside"), self.block("skipped")
        empty = [
            self.b.icmp_signed("==", self.word(n), self.word(0))
            for n in counts
            if isinstance(n, Size) or n == 0
        ]
        for other in empty[1:]:
            empty[0] = self.b.or_(empty[0], other)
        self.b.cbranch(empty[0], skipped, inside)
        self.b.position_at_end(inside)
        return skipped

    def _share(self, nest: OpenNest, work: int) -> Any:
        """Let the thread pool run the nest. Return the call that does so, or None if the nest stays as it is."""
        number, rounds, *_ = nest.loops[0]
        if not 1 < count_of_threads() <= rounds:
            return None
        wakes = work >= WAKES or self.is_repeated
        shared = self._on_stack[: nest.shared]
        return taken_apart(self, nest.before, nest.first, number, rounds, self.b.block, shared, wakes)

    def _open(self, count: int, opened: list[Any]) -> Register:
        if count in (0, 1):
            return self.word(0)
        end = self.word(count)
        before = self.b.block
        body = self.function.append_basic_block("loop")
        self.enter_loop(body, self._groups[-1])
        self.b.branch(body)
        self.b.position_at_end(body)
        number = self.b.phi(integer(WORD), "i")
        number.below = INFINITE if isinstance(count, Size) else count
        number.add_incoming(self.word(0), before)
        opened.append((number, count, body, end))
        return number

    def _close_loops(self, nest: OpenNest, group: Any, properties: Sequence[Any]) -> None:
        """End the loops of a nest, the innermost first."""
        hints: Sequence[Any] = ()
        if nest.loops:
            innermost = typical(nest.loops[-1][1])
            hints = of_body(self.function.blocks[nest.first :], innermost, nest.each_once)
        for entry in reversed(nest.loops):
            self._close(entry, group, [*properties, *hints])
            hints = ()

    def _close(self, entry: Any, group: Any, properties: Any) -> None:
        number, _, body, end = entry
        after = self.function.append_basic_block("after")
        following = self.b.add(number, self.word(1), flags=("nuw", "nsw"))
        number.add_incoming(following, self.b.block)
        repeats = self.b.icmp_unsigned("!=", following, end)
        known = [["llvm.loop.parallel_accesses", group]] if group is not None else []
        jump = self.b.cbranch(repeats, body, after)
        if properties or known:
            self.set_loop_metadata(jump, [*properties, *known])
        self.leave_loop(after)
        self.b.position_at_end(after)

    def set_loop_metadata(self, jump: Any, properties: Sequence[Any]) -> None:
        """Attach loop metadata to a back edge."""
        self._loops += 1
        jump.set_metadata("llvm.loop", self._metadata([f"loop{self._loops}", *properties]))

    def _metadata(self, content: Any) -> Any:
        """Convert nested lists of names and numbers to LLVM metadata."""
        if not isinstance(content, list):
            if isinstance(content, bool):
                return integer(1)(content)
            return integer(32)(content) if isinstance(content, int) else content
        return self.module.add_metadata([self._metadata(item) for item in content])

    @contextmanager
    def repeatedly(self) -> Iterator[None]:
        """Mark the code emitted here as part of a long loop, where larger code is worthwhile."""
        self._repeated += 1
        yield
        self._repeated -= 1

    @property
    def is_repeated(self) -> bool:
        return self._repeated > 0

    @property
    def is_in_nest(self) -> bool:
        """Return whether a loop nest is being emitted."""
        return bool(self._groups)

    @property
    def cost(self) -> NestCost:
        """The cost of the nests emitted so far."""
        return NestCost(self.work, self._cost, self._total)

    def spend(self, cost: NestCost) -> None:
        """Count the nests of a function that is called."""
        self.work += cost.work
        self._cost += cost.serial
        self._total += cost.total

    def finish(self) -> None:
        """Complete the function; the current block ends with success."""
        without_moved(self.function)
        self._ends.append((self.b.block, 0))
        if self._promises or self._takes:
            self._settle(self.function.blocks, self._start, self._nests)
        if self._takes:
            self._failed()
        leave = self.block("leave")
        for block, _ in self._ends:
            ir().IRBuilder(block).branch(leave)
        body = self._start
        if self._takes:
            lacking = self._top.load(self._takes[1], typ=integer(WORD))
            is_there = self._top.icmp_unsigned("==", lacking, self.word(0))
            self._top.cbranch(is_there, body, self._failure).set_weights([OFTEN, 1])
        else:
            self._top.branch(body)
        self.b.position_at_end(leave)
        code = self.b.phi(integer(32), "code")
        for block, number in self._ends:
            code.add_incoming(integer(32)(number), block)
        self._give_back()
        self.b.ret(code)
        rest = merge_identical_nests(self.function, self._wholes, self.users)
        if is_large(self.function):
            for nest in rest:
                part = outline(nest, self.users.own_slots(nest))
                if nest.cost * COLD < self._cost:
                    for jump in nest.jumps:
                        self.set_loop_metadata(jump, SCALAR)
                    if nest.cost * RARE < self._total:
                        part.attributes.add("cold")
        without_moved(self.function)
