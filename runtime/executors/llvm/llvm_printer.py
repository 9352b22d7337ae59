"""A fast printer of llvmlite modules: it prints the same text as `str(module)`, in a fraction of the time.

    %".9" = fadd float %".7", %".8"
    store float %".9", ptr %".3", !llvm.access.group !4

llvmlite takes as long to print a module as LLVM takes to optimize it. Here instructions of frequent classes
are printed with one f-string each, and others by llvmlite. Functions that many modules share
(libm/registry.py) are printed once.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from .codegen.llvm_types import ir

_WEIGHTS = "prof"
"""The branch weights: the only metadata that is not about loops."""

_shared: WeakKeyDictionary[Any, str] = WeakKeyDictionary()


def printed(module: Any, with_loops: bool = True) -> str:
    """Return the text of a module; `with_loops` includes the metadata of loops and access groups."""
    used: dict[Any, None] = {}
    parts = [_global(each, module, used, with_loops) for each in module.globals.values()]
    notes: Iterable[Any] = module.metadata if with_loops else _with_all_within(used)
    return distinct("\n".join([*parts, *map(str, notes)]))


def _with_all_within(notes: Iterable[Any]) -> dict[Any, None]:
    found: dict[Any, None] = {}
    waiting = list(notes)
    while waiting:
        note = waiting.pop()
        if note not in found:
            found[note] = None
            waiting += [each for each in note.operands if isinstance(each, ir().MDValue)]
    return found


def _global(value: Any, module: Any, used: dict[Any, None], with_loops: bool) -> str:
    if not getattr(value, "blocks", None):
        return str(value)
    if value.module is module:
        return _function(value, used, with_loops)
    if value not in _shared:
        _shared[value] = _function(value, used, with_loops)  # it has no metadata
    return _shared[value]


def _function(function: Any, used: dict[Any, None], with_loops: bool) -> str:
    lines: list[str] = []
    function.descr_prototype(lines)
    lines.append("{\n")
    name = _names(function)
    writers = _writers()
    for block in function.blocks:
        lines.append(f"{block._format_name()}:\n")
        for each in block.instructions:
            write = writers.get(type(each), _as_llvmlite)
            told = write(each, name)
            for which, note in each.metadata.items() if each.metadata else ():
                if with_loops or which == _WEIGHTS:
                    used[note] = None
                    told += f", !{which} {note.get_reference()}"
            lines.append(f"  {told}\n")
    lines.append("}\n")
    return "".join(lines)


Name = Callable[[Any], str]


def _names(function: Any) -> Name:
    """Return a function that maps a value to its name. The names of local values are precomputed."""
    known = {
        id(each): f'%"{each.name}"' for block in function.blocks for each in (block, *block.instructions)
    }

    def name(value: Any) -> str:
        return known.get(id(value)) or str(value.get_reference())

    return name


def _as_llvmlite(each: Any, name: Name) -> str:
    noted, each.metadata = each.metadata, {}
    told = each._to_string()
    each.metadata = noted
    return str(told)


# Printers of single instructions


def _how(each: Any) -> str:
    """Return the opcode with its flags."""
    return " ".join([each.opname, *each.flags]) if each.flags else str(each.opname)


def _listed(values: Sequence[Any], name: Name) -> str:
    return ", ".join([f"{value.type} {name(value)}" for value in values])


def _plain(each: Any, name: Name) -> str:
    values = ", ".join([name(value) for value in each.operands])
    return f"{name(each)} = {_how(each)} {each.type} {values}"


def _access(each: Any, name: Name) -> str:
    aligned = f", align {each.align}" if each.align is not None else ""
    result = f"{name(each)} = load {each.type}, " if each.opname == "load" else "store "
    return f"{result}{_listed(each.operands, name)}{aligned}"


def _address(each: Any, name: Name) -> str:
    inside = " inbounds" if each.inbounds else ""
    return f"{name(each)} = getelementptr{inside} {each.source_etype}, {_listed(each.operands, name)}"


def _comparison(each: Any, name: Name) -> str:
    x, y = each.operands
    return f"{name(each)} = {_how(each)} {each.op} {x.type} {name(x)}, {name(y)}"


def _values(each: Any, name: Name) -> str:
    return f"{name(each)} = {_how(each)} {_listed(each.operands, name)}"


def _conversion(each: Any, name: Name) -> str:
    return f"{name(each)} = {each.opname} {_listed(each.operands, name)} to {each.type}"


def _phi(each: Any, name: Name) -> str:
    ways = ", ".join([f"[{name(value)}, {name(block)}]" for value, block in each.incomings])
    return f"{name(each)} = {_how(each)} {each.type} {ways}"


def _call(each: Any, name: Name) -> str:
    function, *given = each.operands
    kind = function.function_type
    if each.tail or each.cconv or each.attributes or each.arg_attributes or kind.var_arg:
        return _as_llvmlite(each, name)
    how = " ".join(["call", *sorted(each.fastmath)]) if each.fastmath else "call"
    result = "" if isinstance(kind.return_type, ir().VoidType) else f"{name(each)} = "
    return f"{result}{how} {kind.return_type} {name(function)}({_listed(given, name)})"


def _jump(each: Any, name: Name) -> str:
    return f"br {_listed(each.operands, name)}"


@functools.cache
def _writers() -> dict[type, Callable[[Any, Name], str]]:
    """Return the printer of each instruction class."""
    llvm = ir().instructions
    return {
        llvm.Instruction: _plain,
        llvm.LoadInstr: _access,
        llvm.StoreInstr: _access,
        llvm.GEPInstr: _address,
        llvm.ICMPInstr: _comparison,
        llvm.FCMPInstr: _comparison,
        llvm.SelectInstr: _values,
        llvm.CastInstr: _conversion,
        llvm.ShuffleVector: _values,
        llvm.InsertElement: _values,
        llvm.ExtractElement: _values,
        llvm.PhiInstr: _phi,
        llvm.CallInstr: _call,
        llvm.Branch: _jump,
        llvm.ConditionalBranch: _jump,
    }


# Metadata

_DISTINCT = re.compile(r'^(!\d+) = !\{ !"(loop|group)\d+"(, .*)? \}$', re.MULTILINE)


def distinct(text: str) -> str:
    """Make loops and access groups distinct metadata nodes; the node of a loop refers to itself."""

    def node(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        return (
            f"{name} = distinct !{{ {name}{rest or ''} }}" if kind == "loop" else f"{name} = distinct !{{}}"
        )

    return _DISTINCT.sub(node, text)
