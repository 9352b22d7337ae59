"""Later uses: the code that can observe what a block mutates, and the uses in it.

def fit(self, x):
    if x > 0:              a block: the functions that it calls, and the rest of the enclosing functions, are code
        self.step(x)       that can observe its mutations
    return self.log        `log` is used here
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Sequence, Set
from types import CodeType, FrameType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from ..analysis import bytecode_effects
from ..errors import Where, is_block, is_own_file
from ..introspection.code_objects import nested_code_objects
from .caller_frames import frames_around, is_converted
from .container_snapshots import Entries
from .heap_walk import HeapWalker
from .locations import Location
from .snapshots import AccessPath, StructuralChange

if TYPE_CHECKING:
    from .aliasing.referrers import ReferrerSearch


class LaterUses:
    """The code that can observe a block's mutations: its callees and the enclosing functions.

    `frame` is running for as long as the block is being staged. So the enclosing functions are found lazily,
    as most blocks do not need them.
    """

    def __init__(self, frame: FrameType) -> None:
        self._frame = frame
        self._in_modules: ReferrerSearch | None = None  # what modules reach, while that is valid
        self.codes: list[CodeType] = []
        self.own: Sequence[CodeType] = ()  # the block's functions

    @functools.cached_property
    def _frames(self) -> list[FrameType]:
        return frames_around(self._frame)

    @functools.cached_property
    def around(self) -> list[tuple[CodeType, int]]:
        """Return the code of the enclosing functions, innermost first, and the current instruction in each."""
        return [(frame.f_code, frame.f_lasti) for frame in self._frames]

    @functools.cached_property
    def blocks(self) -> set[CodeType]:
        """Return the code of the block's own functions, and of functions nested in them."""
        return {inner for code in self.own for inner in nested_code_objects(code)}

    def only_grows(self, change: StructuralChange) -> bool:
        """Return whether a container has grown, and all reachable code only adds elements to it."""
        return change.has_grown and not (
            self._later.reflects or any(True for _ in self.uses(self.labels(change)))
        )

    def labels(self, change: StructuralChange) -> set[str]:
        """Return the names of a container, in the block and in later code."""
        number = id(change.record.owner)
        known = self._later.records.get(number)
        return change.record.labels | (set() if known is None else known.labels)

    @functools.cached_property
    def _later(self) -> HeapWalker:
        """Return a heap walk from what the enclosing functions use after the block, including their callees."""
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
        """Yield the lines that read a container, or mutate it other than by adding an element."""
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

    def asks_for(self, location: Location, is_over: bool) -> bool:
        """Return whether code may test if `location` has a value without reading it.

        `is_over` says that the block has ended.
        """
        if _has_defaults(location):
            return True
        done = self._code_done() if is_over else set()
        if location.kind == ".":
            return any(bytecode_effects.facts(code).reflects for code in self.codes)
        label = _container(location)
        return label != "" and any(
            not mention.indexes and mention.code not in done
            for code in self.codes
            for mention in bytecode_effects.mentions(code, label)
        )

    def changes_later(self, names: Sequence[str]) -> Iterator[Where]:
        """Yield the later lines that mutate the object of one of `names`, or pass it to a function that does.

        Only lines of the enclosing functions count.
        """
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

    def changes_inside(self, name: str) -> Iterator[Where]:
        """Yield the lines of the block's functions that mutate the object of a variable."""
        for code in self.own:
            for mention in bytecode_effects.mentions(code, _label(name)):
                if mention.alters:
                    yield Where(code.co_filename, mention.line, function=code.co_name)

    def compares_later(self, names: Set[str], values: Sequence[Any]) -> bool:
        """Return whether later code compares the identity of an object, or calls a function that does.

        The variables `names` hold one of the objects `values`.
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

    def _codes_later(self, values: Sequence[Any]) -> list[CodeType]:
        """Return the code that may run later, including methods of `values`, but not the enclosing functions."""
        later = self._later
        methods = HeapWalker(
            [(value, AccessPath(None, "", "")) for value in values], later.names, later.reflects
        )
        found = {id(code): code for code in self.codes} | later.codes | methods.codes
        # Generated methods of a dataclass compare only classes and defaults, and have no file.
        return [code for code in found.values() if code not in self.blocks and code.co_filename != "<string>"]

    def _compares_around(self, labels: Set[str]) -> bool:
        besides = frozenset() if self._is_repeated() else frozenset(self.blocks)
        return any(
            bytecode_effects.compares(code, labels, position, besides) for code, position in self.around
        )

    def target(self, item: int = 0) -> str:
        """Return the variable to which the innermost function assigns the current expression, or an item of it."""
        return bytecode_effects.stored_after(*self.around[0], item) if self.around else ""

    def holders_later(self, container: Any, assigned: Set[str]) -> Iterator[str]:
        """Yield the variables of enclosing functions, modules and loops from which an object is reachable.

        Of the block's own function, variables in `assigned` and variables that are not used again are left
        out. A caller may have passed the values of its variables on, so all of these count.
        """
        from .aliasing.referrers import ReferrerSearch  # few blocks have objects that may be aliased

        modules = self._modules()
        in_modules = self._in_modules or self._searched(modules)
        is_there = in_modules.has_met(container)
        search = ReferrerSearch(container, None if is_there else in_modules)
        for variables in modules:
            search.pass_by(variables)
        for variables in (*self._variables_later(container, assigned), *(modules if is_there else ())):
            yield from search.names(variables)

    def _modules(self) -> list[dict[str, Any]]:
        """Return the variables of the modules of the enclosing functions, each module once."""
        return list({id(frame.f_globals): frame.f_globals for frame in self._frames}.values())

    def _searched(self, modules: Sequence[dict[str, Any]]) -> ReferrerSearch:
        """Search everything reachable from these modules; the result is valid until code of the program runs."""
        from .aliasing.referrers import ReferrerSearch

        self._in_modules = search = ReferrerSearch()
        for variables in modules:
            search.pass_by(variables)
        for variables in modules:
            search.meet(variables)
        return search

    def forget(self) -> None:
        """Discard the search of the modules: code of the program has run, and may have changed them."""
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
                items = loop.f_locals.get("items")  # the iterable of the loop that has this body
                suspended = items.gi_frame if isinstance(items, GeneratorType) else None
                yield {"items": items} if suspended is None else suspended.f_locals
            is_own = is_own and is_block(code)

    def _is_repeated(self) -> bool:
        """Return whether the block is in a Python loop, and so is staged in each iteration."""
        for code, position in self.around:
            if code.co_qualname.rpartition(".")[2].startswith("loop_body") or bytecode_effects.is_in_loop(
                code, position
            ):
                return True
            if not is_block(code):
                break
        return False

    def uses_name_later(self, name: str) -> bool:
        """Return whether later code uses a variable, or may use it because it is shared."""
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

    def uses_later(self, location: Location) -> bool:
        """Return whether later code of the enclosing functions uses a location."""
        if _has_defaults(location) or self.may_ask_later(location):
            return True
        is_attribute = location.kind == "."
        label = location.label if is_attribute else _container(location)
        done = self._code_done()
        return any(
            bytecode_effects.comes_after(code, mention, position)
            or (is_attribute and bytecode_effects.facts(code).reflects)
            for code, position in self.around
            for mention in bytecode_effects.mentions(code, label)
            if not mention.assigns and mention.code not in done
        )

    def tests_later(self, location: Location) -> bool:
        """Return whether later code may do more with a location than read it by its name or key."""
        if self.may_ask_later(location):
            return True
        return location.kind != "." and any(
            not mention.indexes and bytecode_effects.comes_after(code, mention, position)
            for code, position in self.around
            for mention in bytecode_effects.mentions(code, _container(location))
        )

    def may_ask_later(self, location: Location) -> bool:
        """Return whether code may read a location without naming it, or through an alias."""
        if location.kind == ".":
            name = location.label
            return any(bytecode_effects.may_ask_for(code, name, at) for code, at in self.around) or any(
                bytecode_effects.may_ask_for(code, name) for code in self._later.codes.values()
            )
        if (label := _container(location)) == "":
            return any("globals" in bytecode_effects.facts(code).names for code, _ in self.around)
        known = self._later.records.get(id(location.container))
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

    def tells_later(self, location: Location) -> bool:
        """Return whether later code may distinguish an instance attribute from a class attribute."""
        return _may_tell(code for code, _ in self.around) and self.may_ask_later(location)

    def sees_order(self, record: Entries) -> bool:
        """Return whether code may observe the key order of a dict."""
        codes = {id(code): code for code in self.codes} | self._later.codes
        whole = (*codes.values(), *(code for code, _ in self.around))
        if record.kind != "[":
            return _may_tell(whole)
        if not any(map(bytecode_effects.goes_through, whole)):
            return False
        known = self._later.records.get(id(record.owner))
        labels = record.labels | (set() if known is None else known.labels)
        return any(
            any(bytecode_effects.looks_at_order(code, label) for code in codes.values())
            or any(bytecode_effects.looks_at_order(code, label, at) for code, at in self.around)
            for label in labels
        )

    def may_change_later(self, names: Set[str]) -> bool:
        """Return whether reachable code assigns attributes of these names."""
        codes = [*self.codes, *self._later.codes.values(), *(code for code, _ in self.around)]
        stored = {bytecode_effects.STORED + name for name in names}
        return any(not stored.isdisjoint(bytecode_effects.facts(code).stored) for code in codes)

    def _code_done(self) -> set[CodeType]:
        """Return the code that does not run again after the block.

        This is the block's own code, unless it is in a loop or its function is called again.
        """
        functions = [code for code, _ in self.around if not is_block(code)]
        may_return = self._is_repeated() or len(functions) > 1 or self._is_called_back()
        return set() if may_return else self.blocks

    def _is_called_back(self) -> bool:
        """Return whether a library's frame is between the enclosing functions and other converted code."""
        frame = self._frames[-1].f_back if self._frames else None
        while frame is not None and (is_own_file(frame.f_code.co_filename) or not is_converted(frame.f_code)):
            frame = frame.f_back
        return frame is not None


def _is_handed_on(mention: bytecode_effects.Mention, frame: FrameType) -> bool:
    """Return whether a function on the line of the mention mutates its parameters."""
    return any(bytecode_effects.alters_parameters(f.__code__) for f in _functions_next_to(mention, frame))


def _functions_next_to(mention: bytecode_effects.Mention, frame: FrameType) -> Iterator[FunctionType]:
    """Yield the functions named on the line of a mention; one may be called with the mentioned object."""
    for name in bytecode_effects.named_beside(mention):
        found = frame.f_locals.get(name, frame.f_globals.get(name))
        if isinstance(found, FunctionType):
            yield found


def _label(name: str) -> str:
    """Return the last name of a location.

    >>> _label("self.log[0]"), _label("x")
    ('log', 'x')
    """
    return name.partition("[")[0].rpartition(".")[2]


def _container(location: Location) -> str:
    """Return the name of the container of an item; empty if `location` is no item."""
    return location.label if location.kind == "[" else ""


def _may_tell(codes: Iterable[CodeType]) -> bool:
    """Return whether code may distinguish attributes of an object from those of its class, as `vars` does."""
    return any(not bytecode_effects.TELLERS.isdisjoint(bytecode_effects.facts(code).names) for code in codes)


def _has_defaults(location: Location) -> bool:
    """Return whether a location without a value reads as a default, as in a defaultdict."""
    return isinstance(location.container, dict) and hasattr(type(location.container), "__missing__")
