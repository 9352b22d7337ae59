"""Graphs that run as native code, with one compilation for each combination of shapes, or for all if there are many.

>>> from agc.runtime import constant, function
>>> double = function(lambda x: x + x).get_concrete_function(constant([1, 2]))
>>> JitFunction(double.graph).run([np.array([3, 4], np.int32)])
(array([6, 8], dtype=int32),)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...core.freed_memory import return_freed_memory
from ...core.gc_pause import Pause
from ...functionalize.errors import CannotCompileError, NeverRunsError
from ...functionalize.varying_shapes import MOST_SHAPES, MOST_STATIC, ByPattern, Shapes, VaryingType
from ...ir.graph import Graph
from ...ir.nesting import room_for
from ...ir.structured import communicates
from ...ir.value_types import ListType, TensorType
from ...kernels.collective_transcript import Transcript
from ...ops.state.compare_and_swap import exchange
from ..compiled_function import FAILED, CompiledFunction
from . import exclusive, llvm_engine, value_specialization
from .call import native_call
from .compile_graph import prepared, refused
from .diagnostics import FaultBoundary
from .list_abi import demand_compiled, described, received, with_descriptors
from .parallel_codegen import Tasks

if TYPE_CHECKING:
    from .call.kernel import Kernel

_TRIES = 3
"""Attempts before a run falls back to the plan, if other threads keep changing its variables."""

_LARGE = 8 << 10
"""The bytes of object files whose compilation leaves megabytes free. Less is soon used again by another one."""

Compiled = Callable[[Sequence[Any]], Any]


class Specialization(NamedTuple):
    """Code for inputs of some shapes and values."""

    code: Compiled
    kernel: Kernel | None  # of code that is called without a wrapper
    described: dict[int, Any]  # the types of results with descriptors
    overwritten: dict[int, int]  # see exclusive.py
    is_general: bool  # whether it has dynamic sizes
    key: str | None  # in the unit cache


class JitFunction(CompiledFunction):
    """A graph that is compiled by LLVM for the combinations of shapes that it is run with.

    `by_value` are the integer inputs whose values shapes depend on: the graph is also compiled for each of these
    values. After `MOST_STATIC` combinations of shapes, sizes that vary are dynamic: see `varying_shapes`.
    """

    _is_measured = False  # whether the code is instrumented for a profile

    def __init__(self, graph: Graph) -> None:
        self._communicates = communicates(graph)
        graph = _combined(graph) if self._communicates else graph
        super().__init__(graph)
        self.by_value: tuple[int, ...] = ()
        self._code: dict[Any, Specialization] = {}
        self._general = ByPattern[Specialization](self._variables)
        self._often: set[Any] = set()  # keys of shapes that code with dynamic sizes has run for long
        self._seconds = math.inf  # of the last compilation for one combination of shapes
        self.code_seconds = math.inf  # of the shortest run of the code alone, without conversions
        self._assigned: list[int] = []
        self._lists = {
            i: value.spec for i, value in enumerate(graph.inputs) if isinstance(value.spec, ListType)
        }
        self._varies = False  # whether there were too many values to compile the graph for each
        self._made = [i for i, output in enumerate(graph.outputs) if isinstance(output.spec, ListType)]

    @property
    def _is_plain(self) -> bool:
        """Return whether the code has the inputs and outputs of `run`, without conversions."""
        has_state = self._variables or self._lists or self._made or self._communicates
        return not (has_state or self.by_value)

    @property
    def shortest(self) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
        """The code itself if it can replace `run`: tensors only, one combination of shapes; else None."""
        if not self._is_plain or not all(_is_fixed(value.spec) for value in self.graph.inputs):
            return None
        return next((found.code for found in self._code.values() if not found.described), None)

    def kernel_for(self, arguments: Sequence[Any]) -> Kernel | None:
        """Return the kernel for these inputs, or None if they need a conversion."""
        is_described = self._lists or self._made
        if self._streams or is_described or self.by_value or self._communicates or self._has_twins(arguments):
            return None
        found = self._code.get(self._given(self._arrays(arguments))[0])
        if found is None or found.described or found.overwritten:
            return None  # with overwritten variables, `run` looks for other readers of them
        kernel = found.kernel
        if kernel is not None and kernel.is_long and self._assigned:
            return None  # it releases the GIL, so variables may change during the run
        return kernel

    def run(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Return the outputs for the values of the inputs; variables are assigned last."""
        if not self._communicates:
            return super().run(arguments)
        with Transcript().recording() as transcript:
            results: Sequence[Any] = self._attempt(arguments)
        if results is FAILED:
            results = transcript.repeated(lambda: self.fail(arguments))
        return results

    def _attempt(self, arguments: Sequence[Any]) -> Any:
        try:
            return super()._attempt(arguments)
        except MemoryError:
            return FAILED

    def _refused(self, refusal: CannotCompileError) -> Exception:
        return refused(self.graph, refusal)

    @property
    def draws(self) -> bool:
        """Return whether a run draws random numbers from streams."""
        return bool(self._streams)

    def with_streams(self, arguments: Sequence[Any]) -> tuple[Graph, list[Any]]:
        """Return the graph with inputs for the streams that it draws from, and the arguments with these."""
        return self._whole, [*arguments, *self._streams]

    def variables_in(self, arguments: Sequence[Any]) -> list[Any]:
        """Return the variables that a run reads or changes, including streams, without duplicates."""
        whole = [*arguments, *self._streams]
        return [*{id(whole[i]): whole[i] for i in self._variables}.values()]

    def bytes_assigned(self, arguments: Sequence[Any]) -> int:
        """Return the bytes of the variables that a run assigns; 0 if these inputs have no code yet."""
        whole = [*arguments, *self._streams]
        return sum(whole[i]._array.nbytes for i in self._assigned)

    def rehearsed(self, arguments: Sequence[Any], copies: Mapping[int, Any]) -> list[Any] | None:
        """Return the outputs and the final values of `copies`, or None if a check fails.

        The variables themselves are unchanged. `copies` has one for the id of each.
        """
        if self._has_twins(arguments):
            return None
        given = [copies.get(id(x), x) for x in (*arguments, *self._streams)]
        try:
            results = self._run(given)
        except (NeverRunsError, CannotCompileError, MemoryError):
            return None
        return None if results is FAILED else [*results, *(copy._array for copy in copies.values())]

    def stored_key(self, arguments: Sequence[Any]) -> str | None:
        """Return the key of the code for these inputs in the unit cache, or None if it has none."""
        found = self._code.get(self._given(self._arrays([*arguments, *self._streams]))[0])
        return None if found is None else found.key

    def _prepare(self, arguments: Sequence[Any]) -> None:
        with FaultBoundary(self.graph):
            self._lowered(arguments)

    def _run(self, arguments: Sequence[Any]) -> Any:
        for _ in range(1 if self._communicates else _TRIES):
            arrays = self._arrays(arguments)
            key, given, needed = self._given(arrays)
            special = self._code.get(key)
            if special is None:
                special = self._specialized(arguments)
                arrays = self._arrays(arguments)
                key, given, needed = self._given(arrays)
            shared = exclusive.copied_if_shared(given, special.overwritten, given is not arrays)
            start = time.perf_counter()
            results = special.code(given)
            if results is not FAILED:
                self.code_seconds = min(self.code_seconds, time.perf_counter() - start)
            del needed
            if results is FAILED or not (self._assigned or special.described):
                return results
            count = len(self.graph.outputs)
            found = _received(results[:count], special.described)
            new = dict(zip(self._assigned, results[count:], strict=True))
            streams = {i: new.pop(i) for i in self._assigned if i >= len(self.graph.inputs)}
            before = [shared.get(i, arrays[i]) for i in new]
            if exchange([arguments[i] for i in new], before, [*new.values()]):
                for i, state in streams.items():  # `run` holds the lock of streams
                    arguments[i]._array = state
                return found
        return FAILED  # other threads keep changing the variables, which the plan does not wait for

    def _given(self, arrays: list[Any]) -> tuple[Any, list[Any], Any]:
        """Return the key of the code for these inputs, the code's arguments, and objects to keep alive."""
        if not (self._lists or self.by_value):
            return _shapes(arrays), arrays, None
        if not self._code:
            for spec in self._lists.values():
                demand_compiled(spec)  # refused lists have no descriptor
        needed: list[Any] = []
        key: list[Any] = list(_shapes(arrays))
        arrays = list(arrays)
        for i, spec in self._lists.items():
            arrays[i], found, own = described(arrays[i], spec, i in self.by_value)
            key[i] = found, type(found)
            needed += own
        values = [i for i in self.by_value if i not in self._lists]
        for i in values:
            array = np.asarray(arrays[i])
            key[i] = array.shape, array.tobytes()
        return tuple(key), [x for i, x in enumerate(arrays) if i not in values], needed

    def compiled(self, arguments: Sequence[Any]) -> None:
        """Compile code for inputs like these. Unexpected errors of the compiler raise CompilerFaultError."""
        self._specialized([*arguments, *self._streams])

    def generalized(self, arguments: Sequence[Any], pattern: Shapes) -> None:
        """Compile code for all inputs whose shapes fit `pattern`, as those of these arguments do."""
        if self._lists:  # their descriptors are part of the key, and of no pattern
            raise CannotCompileError(["inputs that are lists have static sizes"])
        arguments = [*arguments, *self._streams]
        with FaultBoundary(self.graph), Pause(), room_for(self.graph), Tasks() as tasks:
            known = [
                VaryingType(value.dtype, sizes) if min(sizes, default=0) < 0 else None
                for value, sizes in zip(self._whole.inputs, pattern, strict=True)
            ]
            unit = self._lowered(arguments, tasks, known)[0]
            self._general.add(pattern, self._loaded(unit, pattern, known))

    def _specialized(self, arguments: Sequence[Any]) -> Specialization:
        """Return the code for inputs like these, and keep it for inputs of the same shapes."""
        shapes = _shapes(self._arrays(arguments))
        found = None
        # Code for a pattern takes all inputs, also integers that other code is specialized for by value.
        if not self.by_value and self._given(self._arrays(arguments))[0] not in self._often:
            found = self._general.get(shapes) or self._generalized(arguments, shapes)
        found = found or self._static(arguments)
        key = self._given(self._arrays(arguments))[0]
        if len(self._code) >= MOST_SHAPES:
            self._code.pop(next(iter(self._code)))
        self._code[key] = self._metered(found, key) if found.is_general else found
        return self._code[key]

    def _metered(self, general: Specialization, key: Any) -> Specialization:
        """Return code that is replaced for these shapes once it has run for as long as a compilation takes.

        Code for the shapes alone may be several times as fast. So no call waits for more than twice the time of the
        better choice.
        """
        spent = 0.0

        def run(given: Sequence[Any]) -> Any:
            nonlocal spent
            start = time.perf_counter()
            results = general.code(given)
            spent += time.perf_counter() - start
            if spent > self._seconds:
                self._often.add(key)
                self._code.pop(key, None)
            return results

        return general._replace(code=run)

    def _generalized(self, arguments: Sequence[Any], shapes: Shapes) -> Specialization | None:
        """Return code that has a register for each size that varies, once there are many shapes, if it is possible."""
        if self._lists or self._is_measured:
            return None
        pattern = self._general.learned(shapes)
        if pattern is not None:
            try:
                self.generalized(arguments[: len(self.graph.inputs)], pattern)
            except NeverRunsError:
                raise
            except CannotCompileError:
                self._general.close()
        return self._general.get(shapes)

    def _static(self, arguments: Sequence[Any]) -> Specialization:
        """Compile code for these shapes only."""
        start = time.perf_counter()
        with FaultBoundary(self.graph), Pause(), room_for(self.graph), Tasks() as tasks:
            unit, by_value = self._lowered(arguments, tasks)
            if by_value != self.by_value:
                self.by_value = by_value
                self._code.clear()
            found = self._loaded(unit, self._given(self._arrays(arguments))[0])
        self._seconds = time.perf_counter() - start
        return found

    def _lowered(
        self, arguments: Sequence[Any], tasks: Tasks | None = None, known: Sequence[VaryingType | None] = ()
    ) -> tuple[Any, tuple[int, ...]]:
        graph, self._assigned = prepared(self._whole)
        self._varies |= bool(self.by_value) and len(self._code) >= MOST_STATIC
        return value_specialization.lowered_for(
            graph, arguments, self._assigned, self.by_value, self._is_measured, self._varies, tasks, known
        )

    def _loaded(self, unit: Any, key: Any, known: Sequence[VaryingType | None] = ()) -> Specialization:
        described = dict(zip(self._made, unit.lists, strict=True)) | unit.sized
        first = len(self.graph.outputs)
        overwritten = {self._assigned[i - first]: number for i, number in unit.overwritten.items()}
        code, kernel = self._code_of(unit, key, self._is_plain and not (described or known))
        if known:
            code = with_descriptors(code, known)
        return Specialization(code, None if known else kernel, described, overwritten, bool(known), unit.key)

    def _code_of(self, unit: Any, key: Any, is_plain: bool) -> tuple[Compiled, Kernel | None]:
        """Return the function of a unit, and its kernel if that may be called without a wrapper.

        The function copies arrays that native code cannot read. If `is_plain`, it can replace `run`.
        """
        from . import runtime_library, unit_cache
        from .loader import Loader

        failed = self.fail if is_plain else _failed
        inputs = unit.inputs

        def mismatched(arrays: Sequence[Any]) -> Any:
            if is_plain and _shapes(arrays) != key:
                return self._run(arrays)
            plain = [
                np.require(np.asarray(array), spec.dtype.numpy_dtype, ["C", "A"]).view(np.ndarray)
                for array, spec in zip(arrays, inputs, strict=True)
            ]
            if type(arrays) is list and all(
                given is array for given, array in zip(arrays, plain, strict=True)
            ):
                return failed(arrays)
            return code(plain)

        files = unit.assembled()
        if unit.key is not None and not unit.is_stored:
            unit_cache.write(unit, files)
        runtime_library.load(unit.symbols)  # another thread has compiled it in the meantime
        loader = Loader(unit, llvm_engine.LinkedCode(*files.values()))
        kernel = loader.kernel(mismatched, failed, self.fail)
        code = kernel.code
        unit.forget()
        if sum(map(len, files.values())) >= _LARGE:
            return_freed_memory()  # of the compiler: the first run needs new memory
        if unit.overwritten:
            code = self._with_overwritten(code, unit.overwritten)  # also after a mismatch
        return code, kernel if native_call.is_available() else None

    def _with_overwritten(self, code: Compiled, overwritten: Mapping[int, int]) -> Compiled:
        """Return the code with the variables that it overwrites among its results."""
        count = len(self.graph.outputs) + len(self._assigned)

        def complete(given: Sequence[Any]) -> Any:
            results = code(given)
            if results is FAILED or len(results) == count:  # those of copies are complete already
                return results
            rest = iter(results)
            return [given[overwritten[i]] if i in overwritten else next(rest) for i in range(count)]

        return complete


def _combined(graph: Graph) -> Graph:
    """Return the graph with combined reductions over processes: its plan must communicate as its code does."""
    from ...optimize import optimize  # executors import the optimizer lazily

    return optimize(graph)


def _received(results: Sequence[Any], described: dict[int, Any]) -> Sequence[Any]:
    """Return the results, with descriptors converted to lists and tensors."""
    if not described:
        return results
    return [received(x, described[i]) if i in described else x for i, x in enumerate(results)]


def _failed(arrays: Sequence[Any]) -> Any:
    return FAILED


def _shapes(arrays: Sequence[Any]) -> Shapes:
    return tuple([np.shape(array) for array in arrays])


def _is_fixed(spec: Any) -> bool:
    return isinstance(spec, TensorType) and spec.shape is not None and None not in spec.shape
