"""The contract between converted code and the libraries that stage it.

    if x > 0:                     (y,) = ag__.cond(x > 0, if_true, if_false, ...)
        y = f(x)                            │
    else:                 ==>               └─ backend_of(x > 0).cond(x > 0, if_true, if_false, ...)
        y = g(x)

Converted code asks who owns the value that decides. For a bool that is plain Python, which just calls one
branch. A library that builds graphs registers a `Backend` for the types of its symbolic values; it then gets
the test and both branches as functions, *state in, results out*, and may call each to see what it does.

A backend for another library starts like this one, for symbolic texts, which writes down what it is given:

>>> class Symbol:
...     def __init__(self, text): self.text = text
...     def __repr__(self): return self.text
...     def __mul__(self, other): return Symbol(f"{self} * {other}")
...     def __gt__(self, other): return Symbol(f"{self} > {other}")
>>> class Writer:
...     builtins = {abs: lambda x: Symbol(f"|{x}|")}
...     def owns(self, value):
...         return True
...     def cond(self, test, then, orelse, state, names):
...         pairs = zip(then(*state), orelse(*state), strict=True)
...         return tuple(Symbol(f"({a} if {test} else {b})") for a, b in pairs)
>>> from agc.autograph import operators as ag__, staging
>>> staging.register(Writer(), Symbol)
>>> def if_true(y):
...     return (y * 2,)
>>> x = Symbol("x")
>>> ag__.cond(x > 0, if_true, ag__.keep, (x,), names=("y",))
((x * 2 if x > 0 else x),)
>>> ag__.cond(3 > 0, if_true, ag__.keep, (3,), names=("y",))
(6,)
>>> ag__.converted(abs)(x), ag__.converted(abs)(-3)
(|x|, 3)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, Protocol

from .errors import leave_no_trace

State = tuple[Any, ...]


class Backend(Protocol):
    """What a library implements so that converted code stages its values.

    Functions that a backend receives (`then`, `orelse`, `test`, `body`) are pure in the state: what the block
    reads and assigns comes in as arguments and leaves in a tuple of results. They may be called once, many
    times or never. Entries of the state and of the results are the backend's own values, any other Python
    values, and `Undefined` objects, which stand for variables that have no value yet. `names` are the user's
    names, for messages and for printing.
    """

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        """What is called in place of a built-in function when one of the arguments is the backend's.

        For instance `{len: tensor_len, range: tensor_range}`. A built-in that is not there is called itself.
        """
        ...

    def owns(self, value: Any) -> bool:
        """Whether to stage on this value of a registered type; perhaps only while a graph is being built."""
        ...

    def cond(
        self,
        test: Any,
        then: Callable[..., State],
        orelse: Callable[..., State],
        state: State,
        names: tuple[str, ...],
    ) -> State:
        """`if`. Both branches take `*state` and return one result for each of `names`.

        State and results need not be the same variables: a branch may read what it does not assign.
        """
        ...

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> State:
        """`while`. `test(*state)` gives a truth value, `body(*state)` the next state.

        To learn whose value it is, the test has been called once already, with this very state;
        `options["first"]` is what it gave. When a test may have effects, start from that value:
        see `rotated`. When it has none, call `test` again and forget `first`.
        """
        ...

    def for_loop(
        self,
        items: Any,
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...],
        until: str | None,
        options: Mapping[str, Any],
    ) -> State:
        """`for`. `body(item, *state)` gives the next state.

        `until` names the state variable that ends the loop once it is true; it is consulted before each item.
        """
        ...

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        """`first and rest()`, `first or rest()` or `not first` (`op` is that word; `rest` is None for "not").

        Python calls `rest` only when `first` does not decide.
        """
        ...

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        """`assert test, message()`. A message that is an exception is raised as it is."""
        ...


class PythonBackend:
    """Plain Python as a backend: the default, and the contract's meaning in a few lines."""

    builtins: Mapping[Callable[..., Any], Callable[..., Any]] = {}

    def owns(self, value: Any) -> bool:
        return True

    def cond(
        self,
        test: Any,
        then: Callable[..., State],
        orelse: Callable[..., State],
        state: State,
        names: tuple[str, ...] = (),
    ) -> State:
        return then(*state) if test else orelse(*state)

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> State:
        while test(*state):
            state = body(*state)
        return state

    def for_loop(
        self,
        items: Iterable[Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...] = (),
        until: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> State:
        pull = iter(items)
        stop = None if until is None else names.index(until)
        while stop is None or not state[stop]:
            try:
                item = next(pull)
            except StopIteration:
                break
            state = body(item, *state)
        return state

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        if rest is None:
            return not first
        return (first and rest()) if op == "and" else (first or rest())

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        if not test:
            raise AssertionError(*() if message is None else (message(),))


PYTHON = PythonBackend()


class _Backends(dict[type, Backend]):
    """type → backend, filled on demand from what is registered for the type or one of its bases."""

    limit = 10_000  # types made on the fly must not pile up here

    def __init__(self) -> None:
        super().__init__()
        self.registered: dict[type, Backend] = {}

    def __missing__(self, kind: type) -> Backend:
        if len(self) >= self.limit:
            self.clear()
        # type.__mro__ is read past any metaclass that overrides it.
        bases = type.__dict__["__mro__"].__get__(kind)
        found = next((self.registered[base] for base in bases if base in self.registered), PYTHON)
        self[kind] = found
        return found


# Read by operators.py, where one lookup in it decides the plain-Python path.
backends = _Backends()


def register(backend: Backend, *types: type) -> None:
    """Make `backend` the owner of the values of these types and of their subclasses."""
    for kind in types:
        if not isinstance(kind, type):
            raise TypeError(f"register() takes a backend and then types, but got {kind!r}")
        backends.registered[kind] = backend
    backends.clear()
    overloaded.update(backend.builtins)


# The built-in functions that some backend has a version of.
overloaded: set[Callable[..., Any]] = set()


def backend_of(value: Any) -> Backend:
    """The backend that stages on `value`; plain Python unless one is registered for its type and owns it.

    >>> backend_of(3) is PYTHON
    True
    """
    backend = backends[type(value)]
    return backend if backend is PYTHON or backend.owns(value) else PYTHON


def rotated(
    test: Callable[..., Any], body: Callable[..., State], state: State, first: Any
) -> tuple[Callable[..., Any], Callable[..., State], State]:
    """The same loop, testing at the end of the body, from a first test that has been made already.

        while test(*s):               go = first
            s = body(*s)      ==>     while go:
                                          s = body(*s)
                                          go = test(*s)

    The answer is a test, a body and a state with `go` in front. The test is evaluated as often as in Python.
    """

    def rotated_body(go: Any, *old: Any) -> State:
        new = body(*old)
        return (test(*new), *new)

    return lambda go, *_: go, rotated_body, (first, *state)


class Undefined:
    """Stands for a variable that has no value yet; any use of it is Python's own error.

    >>> y = Undefined("y")
    >>> y
    <undefined variable 'y'>
    >>> y + 1
    Traceback (most recent call last):
    UnboundLocalError: cannot access local variable 'y' where it is not associated with a value
    """

    __slots__ = ("__name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_Undefined__name", name)

    def __repr__(self) -> str:
        return f"<undefined variable {name_of(self)!r}>"

    def __copy__(self) -> Undefined:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Undefined:
        return self

    def __getattr__(self, attribute: str) -> NoReturn:
        raise unbound(name_of(self))


def unbound(name: str) -> UnboundLocalError:
    """What Python raises when a local variable is read before it has a value."""
    return UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")


def name_of(value: Undefined) -> str:
    """The variable that an `Undefined` stands for."""
    name: str = object.__getattribute__(value, "_Undefined__name")
    return name


# fmt: off
_BINARY = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow",
    "lshift", "rshift", "and", "xor", "or",
)
_USES = (
    *_BINARY, *(f"r{op}" for op in _BINARY), *(f"i{op}" for op in _BINARY if op != "divmod"),
    "neg", "pos", "abs", "invert", "int", "float", "complex", "index", "round", "trunc", "floor", "ceil",
    "eq", "ne", "lt", "le", "gt", "ge", "bool", "hash", "str", "bytes", "format", "dir",
    "len", "iter", "next", "reversed", "contains", "getitem", "setitem", "delitem", "setattr", "delattr",
    "call", "enter", "exit", "await", "aiter", "anext", "aenter", "aexit",
)
# fmt: on


def _complain(self: Undefined, *args: Any, **kwargs: Any) -> NoReturn:
    raise unbound(name_of(self))


for _use in _USES:
    setattr(Undefined, f"__{_use}__", _complain)


class Pending(Undefined):
    """A generated variable that is certain to be assigned before it is read, such as a function's result.

    A backend may carry any value of the right type in its place, and needs no flag for it.
    """

    __slots__ = ()


class Maybe(Undefined):
    """A variable that a staged block may have left undefined: its value, and whether that is real.

    Backends make these for variables that get a value on one path only, or in a loop that may not run.
    Reading one (`ag__.ld`) checks `defined` when the staged code runs. `defined` and `value` are the
    backend's values.
    """

    __slots__ = ("defined", "name", "value")

    def __init__(self, name: str, value: Any, defined: Any) -> None:
        super().__init__(name)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "defined", defined)


def ld(value: Any, name: str) -> Any:
    """The value of a variable that may have none; then it is Python's UnboundLocalError."""
    kind = type(value)
    if kind is Maybe:
        backend_of(value.defined).check(value.defined, lambda: unbound(name))
        return value.value
    if kind is Undefined:
        try:
            raise unbound(name)
        except UnboundLocalError as error:
            leave_no_trace(error)
            raise
    return value
