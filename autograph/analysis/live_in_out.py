"""Live-in and live-out variables of each staged block, from which `stage_blocks` generates functions.

    y = 1
    if c:              parameters: y      live-in, and assigned in the block
        y = y + x      results:    y, z   assigned in the block, and live-out
        z = y          (x is only read: the closure captures it)
    else:
        z = 0
    print(y, z)

A variable that a closure, an exception handler or another scope reads must stay one cell. It is neither parameter nor
result: the generated function assigns the cell itself. So does that of a variable that a `finally` block clears, as
the frames of a traceback keep parameters alive. A variable that may be unbound where a block takes or reads it is set
to `ag__.Undefined` first. Reads that are not provably bound are *unproven* and get a check."""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from ..syntax.node_builders import load
from ..syntax.tree_queries import dotted
from .binding_time import BindingTimes
from .cfg import Block
from .cfg_builder import Flow
from .definite_assignment import definedness
from .escape import UnescapedLists
from .liveness import live


class BlockPlan(NamedTuple):
    """The parameters, results and cells of one staged block."""

    parameters: list[str]
    results: list[str]
    cells: list[str]
    locations: list[gast.expr]
    undefined: list[str]  # variables to set to `Undefined` just before the block
    lists: list[str]  # parameters that hold unescaped lists


class FunctionPlan(NamedTuple):
    """The plans of a function's staged blocks, and the declarations and checks that these require."""

    blocks: dict[int, BlockPlan]
    undefined: list[str]  # to set to `Undefined` at the start of the function
    guarded: frozenset[str]  # variables that may hold `Undefined`
    unproven: set[int]  # ids of the names whose reads need a check
    unbound_cells: list[str]  # cells that need a declaration to stay local
    # Name → 'global' or 'nonlocal', as the user code declares it.
    scopes: dict[str, str]
    captured: frozenset[str]
    hoisted: list[gast.stmt]  # declarations inside of a block


def plan(
    function: Any, staging: BindingTimes, generated: set[str], ag: str, lists: UnescapedLists | None = None
) -> FunctionPlan:
    """Return the plan of one function. `lists` holds the lists that staged blocks may copy."""
    if lists is None:
        return _Planner(Flow(function, ag), staging, generated).plan()
    return _Planner(Flow(function, ag, lists.changing), staging, generated, lists.own).plan()


class _Planner:
    def __init__(
        self, flow: Flow, staging: BindingTimes, generated: set[str], lists: frozenset[str] = frozenset()
    ) -> None:
        self.flow = flow
        self.lists = lists
        self.live = live(flow)
        self.defined = definedness(flow)
        index, unbound = flow.index, self.defined.unbound
        # Reads of variables that may be unbound there, with the bits of the variables.
        self.unsafe = [
            (1 << index[reading.node.id], reading, owner)
            for node, reading, owner in flow.readings
            if unbound[node] >> index[reading.node.id] & 1
        ]
        self.staged = {key: block for key, block in flow.blocks.items() if block.statement in staging}
        self.elsewhere = flow.elsewhere
        self.captured = flow.mask(flow.captured) & ~self.elsewhere
        self.generated = flow.mask(generated)
        self.shaky: dict[int, int] = dict.fromkeys(self.staged, 0)  # block → unproven reads
        self.parameters: dict[int, int] = {}
        self.results: dict[int, int] = {}
        self.cells: dict[int, int] = {}

    def plan(self) -> FunctionPlan:
        lazily, outside = self.note_readings()
        guarded, assigned = lazily, 0
        for key, block in self.staged.items():
            guarded |= self.divide(key, block)
            assigned |= block.assigned
        # A variable that only blocks assign would stop being a local of the function, and reads of it would
        # raise another error.
        lost = outside & assigned & ~guarded
        guarded = (guarded | lost) & ~(self.captured | self.elsewhere)
        start = (lazily | lost) & guarded
        undefined: dict[int, int] = {}
        unbound_cells = 0
        for key, block in self.staged.items():
            need, unbound, bound = self.needs(key, block, guarded)
            start |= need & bound
            undefined[key] = need & ~bound
            unbound_cells |= self.cells[key] & self.captured & unbound
        start &= ~self.flow.parameters  # a parameter is unbound only after `del`, which left `Undefined`
        blocks = {}
        for key, block in self.staged.items():
            before = undefined[key] if self.around(block) else undefined[key] & ~start
            blocks[key] = self.block_plan(key, block, before)
        members = self.flow.members
        return FunctionPlan(
            blocks=blocks,
            undefined=members(start),
            guarded=frozenset(members(guarded)),
            unproven=self.unproven(guarded),
            unbound_cells=members(unbound_cells),
            scopes=self.flow.declared,
            captured=frozenset(members(self.captured)),
            hoisted=self.flow.hoisted,
        )

    def block_plan(self, key: int, block: Block, undefined: int) -> BlockPlan:
        """Return the plan of a block; the variables in `undefined` are set to `Undefined` before it."""
        members = self.flow.members
        parameters = members(self.parameters[key])
        return BlockPlan(
            parameters,
            members(self.results[key]),
            members(self.cells[key]),
            self.locations(block),
            members(undefined),
            [name for name in parameters if name in self.lists],
        )

    def note_readings(self) -> tuple[int, int]:
        """Fill `shaky`; return the unproven reads outside of staged blocks: the lazy ones, and all."""
        lazily = outside = 0
        for bit, reading, owner in self.unsafe:
            inside = self._staged(owner)
            if inside is None:
                outside |= bit
                lazily |= bit if reading.lazy else 0
            while inside is not None:
                self.shaky[id(inside.statement)] |= bit
                inside = self.around(inside)
        return lazily, outside

    def divide(self, key: int, block: Block) -> int:
        """Determine parameters, results and cells of a block; return the variables that it needs guarded."""
        inputs = outputs = watched = 0
        lacking_in = lacking_out = before = 0
        for marks in block.landmarks:
            inputs |= self.live[marks.body] | self.live[marks.orelse]
            outputs |= self.live[marks.after]
            watched |= self.live[marks.escape] if marks.escape >= 0 else 0
            lacking_in |= self.defined.unbound[marks.body]
            lacking_out |= self.defined.unbound[marks.after]
            before |= self.defined.unbound[marks.before]
        if not isinstance(block.statement, gast.If):
            outputs = inputs
            lacking_out = lacking_in
        cells = block.assigned & (
            self.captured | self.elsewhere | self.flow.cleared | (watched & ~self.generated)
        )
        self.cells[key] = cells
        self.parameters[key] = block.assigned & ~cells & inputs
        self.results[key] = block.assigned & ~cells & outputs
        return (
            (self.parameters[key] & lacking_in)
            | (self.results[key] & lacking_out)
            | (cells & before)
            | self.shaky[key]
        )

    def needs(self, key: int, block: Block, guarded: int) -> tuple[int, int, int]:
        """Return the variables to set to `Undefined` for a block, then those maybe unbound and maybe bound
        before it."""
        unbound = bound = 0
        for marks in block.landmarks:
            unbound |= self.defined.unbound[marks.before]
            bound |= self.defined.bound[marks.before]
        need = guarded & unbound & (self.parameters[key] | self.cells[key] | self.shaky[key])
        outer = self.around(block)
        if outer is not None:
            # The enclosing block already sets its own parameters and the variables that it only reads.
            around = id(outer.statement)
            need &= outer.assigned & ~(self.parameters[around] | self.cells[around])
        return need, unbound, bound

    def locations(self, block: Block) -> list[gast.expr]:
        """Return the assigned attributes and items whose base and index the block does not assign."""
        if not block.locations and not block.puts:
            return []
        assigned = set(self.flow.members(block.assigned))
        rebound = set(self.flow.members(block.rebound))
        names = {dotted(target): target for target in (*block.locations, *block.puts)}
        own = {name for name in names if name}
        result = self._chosen_items(block, assigned, rebound)
        whole = {base.id for base in result}
        for name, target in names.items():
            variable = variable_of(target)
            if not name or not _is_fixed(target, assigned, rebound) or variable in {*whole, *self.lists}:
                continue
            base = dotted(target.value) or ""
            if not any(base == other or base.startswith((f"{other}.", f"{other}[")) for other in own):
                result.append(target)
        return result

    def _chosen_items(self, block: Block, assigned: set[str], rebound: set[str]) -> list[Any]:
        """Return the variables with items that a block assigns at keys computed in the block."""
        variables = {}
        for target in block.puts:
            base = variable_of(target)
            if base in self.lists:
                continue
            if base not in rebound and not (dotted(target) and _is_fixed(target, assigned, rebound)):
                variables[base] = load(base)
        return [*variables.values()]

    def unproven(self, guarded: int) -> set[int]:
        """Return the ids of the names whose reads need a check."""
        found = set()
        assigned = 0  # cells that a backend may leave undefined
        for cells in self.cells.values():
            assigned |= cells
        for bit, reading, owner in self.unsafe:
            # Functions that read an unbound shared cell raise their own kind of error.
            moved = self._staged(owner) is not None or reading.lazy or bit & assigned
            if bit & guarded or (bit & self.captured and moved and not reading.inner):
                found.add(id(reading.node))
        return found

    def around(self, block: Block) -> Block | None:
        """Return the staged block that encloses `block`."""
        return self._staged(block.parent)

    def _staged(self, block: Block | None) -> Block | None:
        while block is not None and id(block.statement) not in self.staged:
            block = block.parent
        return block


def variable_of(target: Any) -> str:
    """Return the variable at the base of an attribute or item; "" if the base is another expression."""
    while isinstance(target, (gast.Attribute, gast.Subscript)):
        target = target.value
    return target.id if isinstance(target, gast.Name) else ""


def _is_fixed(target: gast.AST, assigned: set[str], rebound: set[str]) -> bool:
    """Return whether base and index of a location are the same during the whole block."""
    variable = variable_of(target)
    return variable not in rebound and not (_names_of(target) - {variable}) & assigned


def _names_of(target: gast.AST) -> set[str]:
    names: set[str] = set()
    pending = [target]
    while pending:
        node = pending.pop()
        if isinstance(node, gast.Name):
            names.add(node.id)
        pending.extend(gast.iter_child_nodes(node))
    return names
