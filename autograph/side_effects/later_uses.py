"""The code that sees what a block changes, and what that does with it.

def fit(self, x):
    if x > 0:              a block: what it calls, and what the functions around do after it, is within its reach
        self.step(x)
    return self.log        `log` is used here
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence, Set
from itertools import pairwise
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from ..analysis import bytecode_effects
from ..errors import Where, is_block, is_own_file
from ..introspection.code_objects import nested_code_objects
from .caller_frames import frames_around, is_converted
from .container_snapshots import Entries
from .heap_walk import HeapWalker
from .locations import Attribute, Item, Location
from .snapshots import AccessPath, StructuralChange

if TYPE_CHECKING:
    from .aliasing.referrers import ReferrerSearch


class LaterUses:
    """The code that a block's changes are seen by: what the block calls, and the function around it.

    `frame` is running for as long as the block is being staged: most blocks end before anybody has asked what is
    around them.
    """

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame
        self._in_modules: ReferrerSearch | None = None  # what modules lead to, for as long as that is known
        self.codes: list[CodeType] = []
        self.own: Sequence[CodeType] = ()  # the block's functions

    @functools.cached_property
    def _frames(self) -> list[FrameType]:
        return frames_around(self._frame)

    @functools.cached_property
    def around(self) -> list[tuple[CodeType, int]]:
        """The functions around the block, outwards, and where each of them is."""
        return [(frame.f_code, frame.f_lasti) for frame in self._frames]

    @functools.cached_property
    def blocks(self) -> set[CodeType]:
        """The block's own functions, and those inside of them."""
        return {inner for code in self.own for inner in nested_code_objects(code)}

    def only_grows(self, change: StructuralChange) -> bool:
        """Whether a container has grown, and no code within reach does anything but put things into it."""
        return change.has_grown and not (
            self._later.reflects or any(True for _ in self.uses(self.labels(change)))
        )

    def labels(self, change: StructuralChange) -> set[str]:
        """The names of a container, in the block and in what runs later."""
        number = id(change.record.owner)
        known = self._later.records.get(number)
        return change.record.labels | (set() if known is None else known.labels)

    @functools.cached_property
    def _later(self) -> HeapWalker:
        """What the functions around go on to reach when the block is over, with the code that they call."""
        roots, names = [], set[str]()
        for frame, (code, position) in zip(self._frames, self.around, strict=True):
            named = bytecode_effects.names_after(code, position)
            variables = {**frame.f_globals, **frame.f_locals}
            roots += [
                (variables[name], AccessPath(None, "", name)) for name in sorted(named & variables.keys())
            ]
            names |= named
        return HeapWalker(roots, names, not bytecode_effects.REFLECTION.isdisjoint(names))

    def uses(self, labels: set[str]) -> Iterator[Where]:
        """The lines that read a container, or change it other than by putting something into it."""
        codes = {id(code): code for code in self.codes} | self._later.codes
        for label in sorted(labels):
            for code in codes.values():
                for mention in bytecode_effects.mentions(code, label):
                    if not mention.appends:
                        yield Where(code.co_filename, mention.line, function=code.co_name)
            for code, position in self.around:
                for mention in bytecode_effects.mentions(code, label):
                    if not mention.appends and bytecode_effects.comes_after(code, mention, position):
                        yield Where(code.co_filename, mention.line, function=code.co_name)

    def asks_for(self, place: Location, is_over: bool) -> bool:
        """Whether code may ask if a place has a value, other than by using it; `is_over` says that the block is."""
        if _has_defaults(place):
            return True
        done = self._code_done() if is_over else set()
        if isinstance(place, Attribute) or getattr(place, "kind", "") == ".":
            return any(bytecode_effects.facts(code).reflects for code in self.codes)
        label = _container(place)
        return label != "" and any(
            not mention.indexes and mention.code not in done
            for code in self.codes
            for mention in bytecode_effects.mentions(code, label)
        )

    def changes_later(self, names: Sequence[str]) -> Iterator[Where]:
        """The lines at which the function goes on to change what one of these holds, or has a function do so."""
        for name in names:
            for frame, (code, position) in zip(self._frames, self.around, strict=True):
                for mention in bytecode_effects.mentions(code, _label(name)):
                    alters = mention.alters or (not mention.indexes and _is_handed_on(mention, frame))
                    if (
                        alters
                        and mention.code not in self.blocks
                        and bytecode_effects.comes_after(code, mention, position)
                    ):
                        yield Where(code.co_filename, mention.line, function=code.co_name)

    def compares_later(self, names: Set[str], values: Sequence[Any]) -> bool:
        """Whether the function goes on to ask which object one of these is, or has a function do so.

        The variables `names` have one of the objects `values`.
        """
        labels = set(map(_label, names))
        return self._compares_around(labels) or (
            any(map(bytecode_effects.compares, self._codes_later(values)))
            and any(
                not mention.indexes and bytecode_effects.comes_after(code, mention, position)
                for code, position in self.around
                for label in labels
                for mention in bytecode_effects.mentions(code, label)
            )
        )

    def asks_which(self, values: Sequence[Any]) -> bool:
        """Whether code that may run later asks of any objects whether they are one, as far as it is in sight."""
        return self._compares_around(None) or any(map(bytecode_effects.compares, self._codes_later(values)))

    def _codes_later(self, values: Sequence[Any]) -> list[CodeType]:
        """The code that may run later, apart from the function itself; with the methods of some objects."""
        later = self._later
        methods = HeapWalker(
            [(value, AccessPath(None, "", "")) for value in values], later.names, later.reflects
        )
        found = {id(code): code for code in self.codes} | later.codes | methods.codes
        # What a dataclass gets compares classes and defaults only, and has no file.
        return [code for code in found.values() if code not in self.blocks and code.co_filename != "<string>"]

    def _compares_around(self, labels: Set[str] | None) -> bool:
        besides = frozenset() if self._is_repeated() else frozenset(self.blocks)
        return any(
            bytecode_effects.compares(code, labels, position, besides) for code, position in self.around
        )

    def target(self, item: int = 0) -> str:
        """The variable that gets the value, or an item, of the expression which the innermost function is at."""
        return bytecode_effects.stored_after(*self.around[0], item) if self.around else ""

    def names_outside(self, name: str) -> Iterator[str]:
        """How those who called call what is in a variable, which their functions return."""
        for (code, position), caller in pairwise(self.around):
            if not bytecode_effects.returns(code, name, position):
                return
            name = bytecode_effects.stored_after(*caller)
            yield name

    def holders_later(self, container: Any, assigned: Set[str]) -> Iterator[str]:
        """The variables that lead to an object, of each function around, and of its module, and of the loops there.

        Of the block's own function are left out those that it has `assigned`, and those that the function does not
        use again. A caller may have handed on what is in its variables, so all of these count.
        """
        from .aliasing.referrers import ReferrerSearch  # few blocks have objects that somebody else may know

        modules = self._modules()
        in_modules = self._in_modules or self._searched(modules)
        is_there = in_modules.has_met(container)
        search = ReferrerSearch(container, None if is_there else in_modules)
        for variables in modules:
            search.pass_by(variables)
        for variables in (*self._variables_later(container, assigned), *(modules if is_there else ())):
            yield from search.names(variables)

    def _modules(self) -> list[dict[str, Any]]:
        """The variables of the modules of the functions around, each once."""
        return list({id(frame.f_globals): frame.f_globals for frame in self._frames}.values())

    def _searched(self, modules: Sequence[dict[str, Any]]) -> ReferrerSearch:
        """Everything that these lead to: it is the same until code of the program runs."""
        from .aliasing.referrers import ReferrerSearch

        self._in_modules = search = ReferrerSearch()
        for variables in modules:
            search.pass_by(variables)
        for variables in modules:
            search.meet(variables)
        return search

    def forget(self) -> None:
        """Code of the program has run, and may have changed what modules lead to."""
        self._in_modules = None

    def _variables_later(self, container: Any, assigned: Set[str]) -> Iterator[dict[str, Any]]:
        is_own = True
        for frame, (code, position) in zip(self._frames, self.around, strict=True):
            yield {
                name: value
                for name, value in frame.f_locals.items()
                if not (isinstance(value, FunctionType) and value.__code__ in code.co_consts)
                if not (is_own and name in assigned)
                if not is_own or value is not container or self._is_used_later(name, code, position)
            }
            loop = frame.f_back
            if is_block(code) and is_own and loop is not None:
                items = loop.f_locals.get("items")  # what the loop of which this is the body walks over
                suspended = items.gi_frame if isinstance(items, GeneratorType) else None
                yield {"items": items} if suspended is None else suspended.f_locals
            is_own = is_own and is_block(code)

    def _is_repeated(self) -> bool:
        """Whether the block stands in a loop of Python's, in which it is staged in each round."""
        for code, position in self.around:
            if code.co_qualname.rpartition(".")[2].startswith("loop_body") or bytecode_effects.is_in_loop(
                code, position
            ):
                return True
            if not is_block(code):
                break
        return False

    def uses_name_later(self, name: str) -> bool:
        """Whether code goes on to use a variable, or perhaps does: what others know as well they may use."""
        code, position = self.around[0] if self.around else ((lambda: None).__code__, 0)
        if bytecode_effects.returned_after(code, position):
            return True
        is_own = name in code.co_varnames or name in code.co_cellvars
        return not is_own or self._is_used_later(name, code, position)

    def _is_used_later(self, name: str, code: CodeType, position: int) -> bool:
        is_repeated = self._is_repeated()
        return any(
            (is_repeated or mention.code not in self.blocks)
            and bytecode_effects.comes_after(code, mention, position)
            for mention in bytecode_effects.mentions(code, name)
        )

    def uses_later(self, place: Location) -> bool:
        """Whether the function goes on to use a place."""
        if _has_defaults(place) or self.may_ask_later(place):
            return True
        is_attribute = isinstance(place, Attribute) or getattr(place, "kind", "") == "."
        label = _attribute(place) if is_attribute else _container(place)
        done = self._code_done()
        return any(
            bytecode_effects.comes_after(code, mention, position)
            or (is_attribute and bytecode_effects.facts(code).reflects)
            for code, position in self.around
            for mention in bytecode_effects.mentions(code, label)
            if not mention.assigns and mention.code not in done
        )

    def may_ask_later(self, place: Location) -> bool:
        """Whether code asks for a place without speaking of it, or by another name."""
        if isinstance(place, Attribute) or getattr(place, "kind", "") == ".":
            name = _attribute(place)
            return any(bytecode_effects.may_ask_for(code, name, at) for code, at in self.around) or any(
                bytecode_effects.may_ask_for(code, name) for code in self._later.codes.values()
            )
        if (label := _container(place)) == "":
            return any("globals" in bytecode_effects.facts(code).names for code, _ in self.around)
        container = place.base if isinstance(place, Item) else getattr(place, "owner", None)
        known = self._later.records.get(id(container))
        others = (set() if known is None else known.labels) | {label}
        return any(
            not mention.indexes
            for code in self._later.codes.values()
            for name in others
            for mention in bytecode_effects.mentions(code, name)
        ) or any(
            not mention.assigns and bytecode_effects.comes_after(code, mention, at)
            for code, at in self.around
            for name in others - {label}
            for mention in bytecode_effects.mentions(code, name)
        )

    def tells_later(self, place: Location) -> bool:
        """Whether code looks into objects, and so may tell an attribute of an object from one of its class."""
        codes = [code for code, _ in self.around]
        return any(
            not bytecode_effects.TELLERS.isdisjoint(bytecode_effects.facts(code).names) for code in codes
        ) and (self.may_ask_later(place))

    def sees_order(self, record: Entries) -> bool:
        """Whether code may see in which order a dict has its keys."""
        codes = {id(code): code for code in self.codes} | self._later.codes
        if record.kind != "[":
            whole = (*codes.values(), *(code for code, _ in self.around))
            return any(
                not bytecode_effects.TELLERS.isdisjoint(bytecode_effects.facts(code).names) for code in whole
            )
        if not any(map(bytecode_effects.goes_through, (*codes.values(), *(code for code, _ in self.around)))):
            return False
        known = self._later.records.get(id(record.owner))
        labels = record.labels | (set() if known is None else known.labels)
        return any(
            any(bytecode_effects.looks_at_order(code, label) for code in codes.values())
            or any(bytecode_effects.looks_at_order(code, label, at) for code, at in self.around)
            for label in labels
        )

    def may_change_later(self, names: Set[str]) -> bool:
        """Whether code within reach assigns attributes of these names."""
        codes = [*self.codes, *self._later.codes.values(), *(code for code, _ in self.around)]
        stored = {bytecode_effects.STORED + name for name in names}
        return any(not stored.isdisjoint(bytecode_effects.facts(code).stored) for code in codes)

    def _code_done(self) -> set[CodeType]:
        """The block's own code, unless it may run again: in a loop, or because its function is called again."""
        functions = [code for code, _ in self.around if not is_block(code)]
        may_return = self._is_repeated() or len(functions) > 1 or self._is_called_back()
        return set() if may_return else self.blocks

    def _is_called_back(self) -> bool:
        """Whether a library stands between the functions around and others that are part of the graph."""
        frame = self._frames[-1].f_back if self._frames else None
        while frame is not None and (is_own_file(frame.f_code.co_filename) or not is_converted(frame.f_code)):
            frame = frame.f_back
        return frame is not None


def _is_handed_on(mention: bytecode_effects.Mention, frame: FrameType) -> bool:
    """Whether a function beside the mention changes what it is given."""
    return any(bytecode_effects.alters_parameters(f.__code__) for f in _functions_beside(mention, frame))


def _functions_beside(mention: bytecode_effects.Mention, frame: FrameType) -> Iterator[FunctionType]:
    """The functions that the line of a mention names: one of them is called with what is mentioned."""
    for name in bytecode_effects.named_beside(mention):
        found = frame.f_locals.get(name, frame.f_globals.get(name))
        if isinstance(found, FunctionType):
            yield found


def _label(name: str) -> str:
    """The last name of a place.

    >>> _label("self.log[0]"), _label("x")
    ('log', 'x')
    """
    return name.partition("[")[0].rpartition(".")[2]


def _container(place: Any) -> str:
    """The name of the container that an item is in; empty if the place is none."""
    return str(place.label) if isinstance(place, Item) or getattr(place, "kind", "") == "[" else ""


def _has_defaults(place: Any) -> bool:
    """Whether a place without a value reads as something else: in a defaultdict."""
    container = getattr(place, "base", None) if isinstance(place, Item) else getattr(place, "owner", None)
    return isinstance(container, dict) and hasattr(type(container), "__missing__")


def _attribute(place: Any) -> str:
    return str(place.key if isinstance(place, Attribute) else place.trail.key)
