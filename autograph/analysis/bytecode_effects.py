"""Effect analysis of bytecode: which names some code reads, assigns or changes.

    def bump(self):            names       {self, total, log, append}
        self.total += 1   ==>  mentions    of `log`: one, and it only appends
        self.log.append(1)

The analysis needs no source. Functions, lambdas and comprehensions inside of some code count as part of it."""

from __future__ import annotations

import itertools
import opcode
from collections.abc import Iterator, Set
from types import CodeType
from typing import NamedTuple

from ..introspection.code_objects import CodeMap, nested_code_objects
from .bytecode_flow import flow_of
from .bytecode_steps import READS, Step, instructions, kind_at, steps_of

# Code that uses these reaches attributes that it does not name.
REFLECTION = frozenset({
    "getattr", "setattr", "delattr", "hasattr", "vars", "eval", "exec", "__dict__", "__getattribute__",
    "__setattr__", "__delattr__", "attrgetter", "methodcaller",
})  # fmt: skip
STORED = "="  # prefix of the names of assigned attributes, to distinguish them from attributes that are read
# Code that uses these inspects the attributes of an object. `_ASK_BY_NAME` names the attribute.
_ASK_BY_NAME = frozenset({"getattr", "hasattr", "delattr", "setattr", "attrgetter"})
_ASKERS = REFLECTION | {
    "dir", "copy", "deepcopy", "replace", "asdict", "astuple", "dumps", "__getstate__", "__reduce__",
}  # fmt: skip
TELLERS = _ASKERS - _ASK_BY_NAME - {"__setattr__", "__delattr__", "__getattribute__", "methodcaller"}
_ITERATES = frozenset(opcode.opmap[name] for name in ("GET_ITER", "LIST_EXTEND", "DICT_UPDATE", "DICT_MERGE"))
_IN_ORDER = frozenset({
    "list", "tuple", "iter", "next", "reversed", "enumerate", "zip", "map", "filter", "dict", "popitem",
    "repr", "str", "keys", "values", "items", "for_loop", "listed", "sum", "min", "max", "copy", "print",
    "join", "OrderedDict", "any", "all", "sorted", "popleft", "most_common", "elements", "islice", "chain",
    "stack", "concat", "print_",
})  # fmt: skip
# Methods of dicts that take a key and do not depend on the order.
_KEYED = frozenset({"get", "pop", "setdefault", "__getitem__", "__setitem__", "__contains__", "move_to_end"})
# These assign attributes that are named by a string.
SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
# Methods that add to a container and return nothing about its contents.
APPENDERS = frozenset({"append", "extend", "add", "appendleft", "extendleft"})
# Methods and generated calls that change a container.
_CHANGERS = APPENDERS | {
    "insert", "pop", "popleft", "popitem", "remove", "clear", "sort", "reverse", "rotate", "update", "setdefault",
}  # fmt: skip
# Functions that compare identities: `id(x)`, `operator.is_(x, y)`.
_COMPARERS = {"variable": {"id", "is_", "is_not"}, "attribute": {"is_", "is_not"}}
_PUTTERS = frozenset({"put", "put_updated"})  # `x = ag__.put(value, x, 0)`

_SET_GLOBALS = frozenset(opcode.opmap[name] for name in ("STORE_GLOBAL", "DELETE_GLOBAL"))
_SET_ATTRIBUTES = frozenset(opcode.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))


class Facts(NamedTuple):
    """The names that some code reads, assigns or imports."""

    names: frozenset[str]  # of globals, attributes and imports, and string constants that are identifiers
    free: frozenset[str]  # variables of enclosing functions
    globals_set: frozenset[str]
    stored: frozenset[str]  # assigned or deleted attributes as `=name`, if the code names them
    reflects: bool


class Mention(NamedTuple):
    """One instruction that reads a variable or an attribute."""

    line: int
    offset: int
    appends: bool  # the only use is a call such as `append`
    indexes: bool  # an item is read or assigned
    assigns: bool  # an item is assigned
    alters: bool  # an item or attribute is assigned, or a method that changes containers is called
    inner: bool  # inside of a nested function or comprehension
    code: CodeType  # the code object that contains the instruction


_facts: CodeMap[Facts] = CodeMap()
_chains: CodeMap[list[tuple[list[str], int]]] = CodeMap()


def facts(code: CodeType) -> Facts:
    """Return the facts of one code object; they are computed once.

    >>> sorted(facts((lambda self: self.log.append(1)).__code__).names)
    ['append', 'log']
    """
    known = _facts.get(code)
    if known is None:
        names = set(code.co_names)
        globals_set: set[str] = set()
        stored = {STORED + name for name in _stored_attributes(code)}
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                inner = facts(constant)
                names |= inner.names
                globals_set |= inner.globals_set
                stored |= inner.stored
            # Strings name attributes too: `setattr(self, "total", 1)`, `ag__.within(self, 'items')[0] = 1`.
            elif isinstance(constant, str) and constant.isidentifier():
                names.add(constant)
        if not _SET_GLOBALS.isdisjoint(code.co_code[::2]):  # rare, so check first
            for instruction in instructions(code):
                if instruction.opcode in _SET_GLOBALS:
                    globals_set.add(instruction.argval)
        reflects = not REFLECTION.isdisjoint(names)
        if not SETTERS.isdisjoint(names):
            texts = (text for text in code.co_consts if isinstance(text, str))
            stored |= {STORED + text for text in texts if text.isidentifier()}
        known = Facts(
            frozenset(names), frozenset(code.co_freevars), frozenset(globals_set), frozenset(stored), reflects
        )
        _facts[code] = known
    return known


def _stored_attributes(code: CodeType) -> Iterator[str]:
    """Yield the attributes that the instructions of `code` assign or delete."""
    steps = code.co_code
    if _SET_ATTRIBUTES.isdisjoint(steps[::2]):
        return
    argument = 0
    for operation, part in zip(steps[::2], steps[1::2], strict=True):
        argument = argument << 8 | part
        if operation in _SET_ATTRIBUTES:
            yield code.co_names[argument]
        if operation != opcode.EXTENDED_ARG:
            argument = 0


def mentions(code: CodeType, name: str) -> Iterator[Mention]:
    """Yield each use of the variable or attribute `name` in `code`.

    >>> [mention.appends for mention in mentions((lambda log: (log.append(1), len(log))).__code__, "log")]
    [True, False]
    """
    for inner in nested_code_objects(code):
        steps = steps_of(inner)
        if _is_location_name(inner, steps):
            continue
        shared = name in inner.co_cellvars or name in inner.co_freevars
        for at, step in enumerate(steps):
            # Loading a cell variable as a local only builds a closure. The mentions in the nested function
            # count instead.
            if step.value == name and step.kind in READS and not (step.kind == "fast" and shared):
                item = _indexed(steps, at + 1)
                alters = item == "item" or (item == "" and _alters(steps, at))
                rest = _appends(steps, at + 1), item != "", item == "item", alters, inner is not code, inner
                yield Mention(step.line, step.offset, *rest)


def _is_location_name(code: CodeType, steps: list[Step]) -> bool:
    """Return whether this is a generated lambda that only names a location: `ag__.item(lambda: log, lambda:
    0)`."""
    is_generated = code.co_qualname.endswith("<lambda>") and code.co_name != "<lambda>"
    return is_generated and all(step.kind in READS for step in steps[:-1])


def comes_after(code: CodeType, mention: Mention, position: int) -> bool:
    """Return whether `mention` may run after `position`."""
    flow = flow_of(code)
    if mention.inner:
        return flow.may_call(mention.code, position)
    return flow.leads_to(position, mention.offset)


def is_in_loop(code: CodeType, position: int) -> bool:
    """Return whether a position in the code is inside of a loop."""
    return flow_of(code).leads_to(position, position)


def names_after(code: CodeType, position: int) -> set[str]:
    """Return the names of variables and attributes that `code` may use after `position`.

    >>> sorted(names_after((lambda log: log.size()).__code__, 0))
    ['log', 'size']
    """
    flow = flow_of(code)
    steps = (step for step in steps_of(code) if flow.leads_to(position, step.offset))
    found = {str(step.value) for step in steps if isinstance(step.value, str)}
    inside = [one for one in nested_code_objects(code) if one is not code and flow.may_call(one, position)]
    return found.union(*(facts(inner).names | facts(inner).free for inner in inside))


def named_beside(mention: Mention) -> set[str]:
    """Return the variables that the line of a mention reads, among them any function that it calls."""
    steps = steps_of(mention.code)
    return {
        str(step.value) for step in steps if step.line == mention.line and step.kind in ("variable", "fast")
    }


def compares(
    code: CodeType, names: Set[str] | None = None, after: int = -1, besides: Set[CodeType] = frozenset()
) -> bool:
    """Return whether `code` compares identities where one operand may be in one of `names` (any, if None).

    Only comparisons that may run after the position `after` count. The code objects `besides` do not count.

    >>> compares((lambda a, b: a is b).__code__, {"a"}), compares((lambda a, b: a is None).__code__, {"a"})
    (True, False)
    """
    for inner in nested_code_objects(code):
        steps = [] if inner in besides else steps_of(inner)
        for at, step in enumerate(steps):
            is_call = step.kind in ("variable", "attribute") and step.value in _COMPARERS[step.kind]
            is_plain = (
                step.kind != "is" or steps[at - 1].kind == "constant" or steps[at - 1].value == "__class__"
            )
            if is_plain and not is_call:
                continue
            where = Mention(step.line, step.offset, False, False, False, False, inner is not code, inner)
            operands = steps[max(at - 2, 0) : at] if step.kind == "is" else []
            others = len(operands) == 2 and all(operand.kind in ("variable", "fast") for operand in operands)
            is_meant = names is None or not others or any(operand.value in names for operand in operands)
            if is_meant and comes_after(code, where, after):
                return True
    return False


def alters_parameters(code: CodeType) -> bool:
    """Return whether a function changes one of its arguments.

    >>> alters_parameters((lambda log: log.append(1)).__code__), alters_parameters((lambda log: log[0]).__code__)
    (True, False)
    """
    parameters = code.co_varnames[: code.co_argcount]
    return any(mention.alters for name in parameters for mention in mentions(code, name))


def stored_after(code: CodeType, position: int, item: int = 0) -> str:
    """Return the variable that stores the result (or its `item`) of the call at `position`; "" if there is
    none."""
    following = (step for step in instructions(code) if step.offset > position)
    step = next(following, None)
    if step is not None and step.opname == "UNPACK_SEQUENCE" and item < step.argval:
        stores = list(itertools.islice(following, item + 1))
        step = stores[-1] if all(one.opname.startswith("STORE_") for one in stores) else None
    return str(step.argval) if step is not None and step.opname.startswith("STORE_") else ""


def returned_after(code: CodeType, position: int) -> bool:
    """Return whether `code` returns the result of the call at `position` unchanged."""
    following = (step for step in instructions(code) if step.offset > position)
    return next((step.opname for step in following), "") == "RETURN_VALUE"


def may_ask_for(code: CodeType, name: str, after: int = -1) -> bool:
    """Return whether code that may run after `after` inspects attributes of an object without naming `name`.

    >>> may_ask_for((lambda o: getattr(o, "a", 0)).__code__, "b"), may_ask_for((lambda o: vars(o)).__code__, "b")
    (False, True)
    """
    for inner in nested_code_objects(code):
        steps = steps_of(inner)
        for at, step in enumerate(steps):
            if step.kind not in ("variable", "attribute") or step.value not in _ASKERS:
                continue
            where = Mention(step.line, step.offset, False, False, False, False, inner is not code, inner)
            texts = {
                one.value for one in steps[at : at + 12] if one.kind == "constant" and type(one.value) is str
            }
            is_other = step.value in _ASK_BY_NAME and texts and name not in texts
            if not is_other and comes_after(code, where, after):
                return True
    return False


def chains(code: CodeType) -> list[tuple[list[str], int]]:
    """Return the global variables that `code` reads, each with the attributes that follow, and their lines.

    >>> chains((lambda: tf.random.uniform([]).shape).__code__)[0][0]
    ['tf', 'random', 'uniform']
    """
    known = _chains.get(code)
    if known is None:
        known = _chains[code] = list(_read_chains(code))
    return known


def _read_chains(code: CodeType) -> Iterator[tuple[list[str], int]]:
    for inner in nested_code_objects(code):
        steps = steps_of(inner)
        for at, step in enumerate(steps):
            if step.kind == "variable" and step.value not in inner.co_freevars:
                following = itertools.takewhile(lambda one: one.kind == "attribute", steps[at + 1 :])
                yield [str(step.value), *(str(one.value) for one in following)], step.line


def looks_at_order(code: CodeType, name: str, after: int = -1) -> bool:
    """Return whether code that may run after `after` uses the dict `name` in another way than by key.

    >>> looks_at_order((lambda d: d.get("a")).__code__, "d"), looks_at_order((lambda d: list(d)).__code__, "d")
    (False, True)
    """
    for mention in mentions(code, name):
        steps = steps_of(mention.code)
        at = next(number for number, step in enumerate(steps) if step.offset == mention.offset)
        by_key = mention.indexes or (kind_at(steps, at + 1) == "attribute" and steps[at + 1].value in _KEYED)
        if not by_key and comes_after(code, mention, after):
            return True
    return False


def goes_through(code: CodeType) -> bool:
    """Return whether `code` iterates over something in order."""
    return any(
        not _ITERATES.isdisjoint(inner.co_code[::2]) or not _IN_ORDER.isdisjoint(inner.co_names)
        for inner in nested_code_objects(code)
    )


def updates_in_place(code: CodeType) -> set[str]:
    """Return the variables and attributes that operators such as `+=` update; "" means an item.

    >>> def f(a, o):
    ...     a += 1
    ...     o.b *= 2
    >>> sorted(updates_in_place(f.__code__))
    ['a', 'b']
    """
    found = set()
    for inner in nested_code_objects(code):
        steps = [step for step in instructions(inner) if step.opname != "SWAP"]
        for step, then in itertools.pairwise(steps):
            if step.opname == "BINARY_OP" and step.argrepr.endswith("="):
                is_named = then.opname.startswith("STORE_") and then.opname != "STORE_SUBSCR"
                found.add(str(then.argval) if is_named else "")
            elif step.argval == "put_updated":
                found.add("")
    return found


def _appends(steps: list[Step], at: int) -> bool:
    """Return whether the value that was read is only appended to: `log.append`, `logs['loss'].append`."""
    while kind_at(steps, at) in ("constant", "variable", "fast") and kind_at(steps, at + 1) == "subscript":
        at += 2
    return kind_at(steps, at) == "attribute" and steps[at].value in APPENDERS


def _indexed(steps: list[Step], at: int) -> str:
    """Return 'subscript' or 'item' if an item of the value that was read is read or assigned: `log[0]`."""
    if kind_at(steps, at) not in ("constant", "variable", "fast"):
        return ""
    kind = kind_at(steps, at + 1)
    return {"copy": "item"}.get(kind, kind) if kind in ("subscript", "item", "copy") else ""


def _alters(steps: list[Step], at: int) -> bool:
    """Return whether the value is changed: `net.x = 1`, `net.x += 1`, `log.clear()`, `ag__.put(1, log, 0)`."""
    kind, then = kind_at(steps, at + 1), kind_at(steps, at + 2)
    if kind == "set" or (kind == "copy" and then == "attribute"):
        return True
    if kind == "attribute" and steps[at + 1].value in _CHANGERS:
        return True
    line = steps[at].line
    before = steps[max(at - _LONGEST_CALL, 0) : at]
    return any(step.kind == "attribute" and step.value in _PUTTERS and step.line == line for step in before)


_LONGEST_CALL = 64  # steps from the name of a generated call to its last argument
