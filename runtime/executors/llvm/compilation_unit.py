"""Compilation unit: one graph as one LLVM module, with a function that Python calls (call/native_call.py).

    int32 run(addresses, thread state)
    int32 kernel(inputs…, outputs…, thread state)      0: done; 1: a check failed; 2: interrupted

The text of the module is part of its key in the object cache. Large constants and Python objects are not in
the text: their addresses are in a table (host_addresses.py), which is filled when the code is loaded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from ...functionalize.errors import CannotCompileError
from ...functionalize.varying_shapes import VaryingType
from ...ir.graph import Graph
from ...ir.structured import is_loop
from ...ir.value_types import ListType, TensorType
from . import llvm_engine
from .arena import Arena
from .codegen.dynamic_sizes import Size
from .codegen.early_outputs import Donation
from .codegen.function_builder import Emitter
from .codegen.instrumentation import Instrumentation
from .codegen.lazy_values import Buffer, LazyValue, Scalar
from .codegen.liveness import operands_of
from .codegen.llvm_types import STORED, Register, integer, ir, pointer, word
from .codegen.outlining import instructions_of, is_slot, move_slots, new_function, redirect
from .codegen.region_lowering import Region
from .codegen.reroll_calls import AddressArray, reroll_calls
from .host_addresses import HostAddresses
from .list_abi import content, has_dynamic_size
from .lowering.list_boundary import export_list, import_list, import_tensor, tensors_handed_over
from .opt_levels import Level, level
from .parallel_codegen import Tasks
from .unit_text import UnitText

_MANY = 64
"""The number of arguments from which the kernel loads them from memory."""


class CompilationUnit:
    """A shape-specialized graph as an LLVM module; with `is_measured`, it is instrumented for profiles.

    `donors` has the inputs whose memory outputs may use; `overwritten` has those whose memory they do use.
    With `tasks`, LLVM compiles complete functions in the background.
    """

    def __init__(
        self,
        graph: Graph,
        is_measured: bool,
        donors: Mapping[int, int],
        donation: Donation,
        is_located: bool,
        tasks: Tasks | None,
    ) -> None:
        self.graph = graph
        self.level = level(graph)
        self._donors = donors
        self._donation = donation
        self.module = ir().Module("agc")
        self.host = self.module.host = HostAddresses(self.module)
        self.module.kept = Arena(self.module)
        self.module.callees = {}
        self._tasks = tasks or Tasks()
        begin = functools.partial(llvm_engine.begin, level=self.level, tasks=self._tasks)
        self._text = self.module.text = UnitText(self.module, begin if tasks is not None else None)
        self.inputs = [content(value.spec) for value in graph.inputs]
        self.results = [content(output.spec) for output in graph.outputs]
        arguments = len(graph.inputs) + len(graph.outputs) + 1
        self.kernel = new_function(self.module, "kernel", arguments)
        e = Emitter(self.module, self.kernel)
        self.meter = e.meter = Instrumentation(e) if is_measured else None
        self.located = e.located = {} if is_located else None
        self._write(e)
        if e.meter is not None:
            e.meter.finish()
        if e.reasons:
            raise CannotCompileError(e.reasons)
        e.finish()
        self._define_run(e, loads=arguments > _MANY)
        self.results = [each for i, each in enumerate(self.results) if i not in self.overwritten]
        self.slots = e.slots
        self.assigned: Sequence[int] = ()  # the variable inputs whose new values are the last outputs
        self.key: str | None = None  # in the unit cache
        self.is_stored = False
        self.is_long = e.work > LONG or not _listens_soon(graph)

    def _write(self, e: Emitter) -> None:
        arguments = iter(self.kernel.args)
        sizes: dict[int, Size] = {}
        inputs = [_argument(e, value.spec, next(arguments), sizes) for value in self.graph.inputs]
        targets = [_target(value.spec, next(arguments)) for value in self.graph.outputs]
        region = Region(e, self.graph, inputs)
        specs = [value.spec for value in self.graph.outputs]
        are_lists = [isinstance(spec, ListType) for spec in specs]
        self.sized = {i: spec for i, spec in enumerate(specs) if has_dynamic_size(spec)}
        large = [
            target if target.shape and not x and i not in self.sized else None
            for i, (target, x) in enumerate(zip(targets, are_lists, strict=True))
        ]
        donors = {i: inputs[number] for i, number in self._donors.items()}
        nodes = region.run(large, donors, self._donation)
        self.overwritten = {i: self._donors[i] for i in sorted(region.overwritten)}
        for node, target in zip(nodes, targets, strict=True):
            if not target.shape:
                e.store(target.dtype, target.address, e.word(0), region.scalar(node).value)
        sized = [region.settled(nodes[i]) for i in self.sized]
        lists = [list(itertools.compress(found, are_lists)) for found in (nodes, specs, targets)]
        self.lists = export_list(e, *lists) if any(are_lists) else []  # type: ignore[arg-type]
        tensors_handed_over(e, sized, [targets[i] for i in self.sized])

    def _define_run(self, e: Emitter, loads: bool) -> None:
        """Define the function that the entry calls: it unpacks the addresses of inputs and outputs for the kernel.

        Outputs in the memory of an input have no address of their own. With `loads`, the kernel does that itself.
        """
        function = ir().Function(self.module, ir().FunctionType(integer(32), [pointer()] * 2), "run")
        b = ir().IRBuilder(function.append_basic_block("entry"))
        addresses, slot = function.args
        numbers = itertools.count()
        own = [next(numbers) for _ in self.graph.inputs]
        for i in range(len(self.graph.outputs)):
            own.append(own[self.overwritten[i]] if i in self.overwritten else next(numbers))
        found = filter(None, self.module.callees.values())
        callees = [each.function for each in found if not each.may_fail]
        if loads:
            _load_arguments(e, own, callees)
            b.ret(b.call(self.kernel, function.args))
            return
        reroll_calls(e, callees)
        places = [b.gep(addresses, [word(i)], source_etype=pointer()) for i in own]
        b.ret(b.call(self.kernel, [*(b.load(place, typ=pointer()) for place in places), slot]))

    def text(self) -> str:
        """Return the LLVM IR of the module."""
        self.host.finish()
        return self._text.whole()

    def code(self) -> tuple[str, Level]:
        """Return the LLVM IR, and the level of LLVM passes that it needs."""
        return self.text(), self.level

    def assembled(self) -> dict[str, bytes]:
        """Return the object files of the module, by their keys in the object cache."""
        self.host.finish()
        return llvm_engine.assembled(self._text.parts(), self.level, self._tasks)

    @property
    def kept(self) -> int:
        """Return the number of slots for memory that the code keeps between calls."""
        return self.module.kept.count  # type: ignore[no-any-return]

    @property
    def symbols(self) -> list[str]:
        """Return the names of the functions of other modules that the code calls."""
        values = self.module.globals.items()
        outside = [name for name, value in values if not getattr(value, "blocks", True)]
        return [name for name in outside if not name.startswith("llvm.")]

    def forget(self) -> None:
        """Break the reference cycles of the module, which is not needed any more.

        Otherwise it would stay alive for long.
        """
        for function in self.module.functions:
            if function.module is self.module:  # shared formulas belong to another module
                _emptied(function)
        self.module.globals.clear()
        self.module.metadata.clear()
        self.module._metadatacache.clear()


def _load_arguments(e: Emitter, own: Sequence[int], callees: Sequence[Any]) -> None:
    """Let a kernel load its arguments from memory, in several blocks; `own` are their indices there.

    LLVM's time grows with the square of the arguments of a call, and of the loads in a block. Loops over calls of
    `callees` load their operands themselves.
    """
    kernel = e.function
    kind = ir().FunctionType(integer(32), [pointer()] * 2)
    old, kernel.args = kernel.args, tuple(ir().Argument(kernel, pointer()) for _ in range(2))
    kernel.ftype, kernel.type = kind, kind.as_pointer()
    addresses, slot = kernel.args
    indices = dict(zip(old, own, strict=False))  # of all but the slot, the last argument
    reroll_calls(e, callees, AddressArray(addresses, indices))
    entry = kernel.blocks[0]
    used = {id(x) for each in instructions_of(kernel.blocks) for x in operands_of(each)}
    # Outputs in the memory of inputs have their addresses.
    places = [*dict.fromkeys(i for x, i in indices.items() if id(x) in used)]
    blocks = [ir().Block(kernel, "arguments") for _ in range(0, len(places), _MANY)]
    move_slots([each for each in entry.instructions if is_slot(each)], blocks[0])
    b, loaded = ir().IRBuilder(), {}
    for number, block in enumerate(blocks):
        b.position_at_end(block)
        for i in places[number * _MANY : (number + 1) * _MANY]:
            loaded[i] = b.load(b.gep(addresses, [word(i)], source_etype=pointer()), typ=pointer())
        b.branch([*blocks, entry][number + 1])
    entry.instructions = [each for each in entry.instructions if each.parent is entry]
    kernel.blocks[:0] = blocks
    known = {x: loaded[i] for x, i in indices.items() if i in loaded}
    redirect(instructions_of(kernel.blocks), {**known, old[-1]: slot})


def _emptied(function: Any) -> None:
    for block in function.blocks:
        for each in block.instructions:
            if each.opname == "phi":
                each.incomings.clear()
        block.instructions.clear()
        block.terminator = None
    function.blocks.clear()
    function.args = ()


LONG = 20_000
"""Number of elements from which a run releases the GIL."""


def _listens_soon(graph: Graph) -> bool:
    """Return whether all loops release the GIL soon enough (`listen`): scalar loops that are not nested."""
    loops = list(filter(is_loop, graph.walk()))
    regions = [region for loop in loops for region in loop.regions]
    return all(
        getattr(value.spec, "shape", None) == () for loop in loops for value in loop.outputs
    ) and not any(is_loop(operation) for region in regions for operation in region.walk())


def _argument(e: Emitter, spec: Any, address: Register, sizes: dict[int, Size]) -> LazyValue:
    if isinstance(spec, ListType):
        return import_list(e, spec, address)
    if isinstance(spec, VaryingType):
        return import_tensor(e, spec, address, sizes)
    tensor = content(spec)
    buffer = Buffer(tensor.dtype, tensor.shape, address)  # type: ignore[arg-type]
    if tensor.shape == () and isinstance(spec, TensorType) and tensor.dtype in STORED:
        return Scalar(tensor.dtype, e.load(tensor.dtype, address, e.word(0)))
    return buffer


def _target(spec: Any, address: Register) -> Buffer:
    tensor = content(spec)
    return Buffer(tensor.dtype, tensor.shape, address)  # type: ignore[arg-type]
