"""The backend protocol, and its implementation for plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

State = tuple[Any, ...]


class UnescapedList(list[Any]):
    """An unescaped list in the state of a block: the block may change it, also its length.

    >>> UnescapedList([1, 2])
    [1, 2]
    """


class MutableValue:
    """A backend's value that its methods change in place, like a list; all references see the change.

    >>> class Rows(MutableValue):
    ...     def __init__(self): self.rows = []
    >>> Rows().is_own
    False
    """

    is_own = False  # whether this is a copy that one function of a block works on


class Backend(Protocol):
    """The protocol that a library implements so that converted code stages its values.

    The functions that a backend receives (`then`, `orelse`, `test`, `body`) are pure in the state. Variables
    that the block reads and assigns are parameters, and its results are a tuple. The functions may be called
    once, many times or never. Entries of the state and of the results are the backend's own values, other
    Python values, and `Undefined` objects, which represent unbound variables. `names` are the names in user
    code, for messages and for printing.

    A function may raise the exception of a `raise` or `assert` in user code (`raised_by_user`). Then the
    block never completes and its results are not needed; running the block must raise the exception.

    A backend may have a method `mentions(text)`, which returns whether a string was formatted from its
    values, so that the backend must stage a `print` of the string. It may also have a method
    `is_lost(value)`, which returns whether a value belongs to a finished graph and is useless in the current
    one.

    >>> isinstance(PYTHON, PythonBackend)
    True
    """

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        """The replacements for built-in functions when one of the arguments is the backend's.

        For instance `{len: tensor_len, range: tensor_range}`. Other built-in functions are called unchanged."""
        ...

    @property
    def lasting(self) -> tuple[type, ...]:
        """The types of values that are created once and outlive every graph, such as variables.

        An object that gets such a value during a trace has been built by then; that is not undone."""
        ...

    def owns(self, value: Any) -> bool:
        """Return whether to stage on this value of a registered type, perhaps only while a graph is built."""
        ...

    def cond(
        self,
        test: Any,
        then: Callable[..., State],
        orelse: Callable[..., State],
        state: State,
        names: tuple[str, ...],
    ) -> State:
        """Stage an `if`. Both branches take `*state` and return one result for each of `names`.

        State and results may be different variables: a branch may read variables that it does not assign."""
        ...

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...],
        options: Mapping[str, Any],
    ) -> State:
        """Stage a `while`. `test(*state)` returns a truth value, `body(*state)` the next state.

        The operator has called the test once already, with this state, to find the backend;
        `options["first"]` is its result. If a test may have effects, start from that value: see `rotated`.
        Otherwise call `test` again and ignore `first`."""
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
        """Stage a `for`. `body(item, *state)` returns the next state.

        `until` names the state variable that ends the loop once it is true; it is tested before each item. Items that
        call functions of the user's list them as `functions`. Their method `apart` returns their indices, and a
        function that moves the calls into the body."""
        ...

    def logical(self, op: str, first: Any, rest: Callable[[], Any] | None) -> Any:
        """Stage `first and rest()` or `first or rest()`, as the word `op` says; or `not first`, if `rest` is None.

        Python calls `rest` only if `first` does not decide the result. For `not first`, `op` is the word of the program
        that needs the truth, for error messages: "not", "any" or "all"."""
        ...

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        """Stage `assert test, message()`. A message that is an exception is raised unchanged."""
        ...

    def length(self, value: Any) -> int | None:
        """Return the number of items of `value` for a sequence pattern of `match`; None if it is not a
        sequence.

        The items are extracted by an assignment to several variables (`a, b = value`)."""
        ...

    def is_(self, value: Any, truth: bool) -> Any:
        """Return whether `value` is that truth value, for `case True` or `case False`."""
        ...

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        """Stage `target[key] = value`; return the new value, or `target` itself if it was changed in place.

        This is called for every target of a registered type, even if `owns` is false for it."""
        ...


class PythonBackend:
    """The default backend: plain Python, which also shows the meaning of the protocol.

    >>> PythonBackend().cond(True, lambda x: (x + 1,), lambda x: (x,), (1,))
    (2,)
    """

    builtins: Mapping[Callable[..., Any], Callable[..., Any]] = {}
    lasting: tuple[type, ...] = ()

    def owns(self, value: Any) -> bool:
        """Return True: each value may be a Python value."""
        return True

    def cond(
        self,
        test: Any,
        then: Callable[..., State],
        orelse: Callable[..., State],
        state: State,
        names: tuple[str, ...] = (),
    ) -> State:
        """Run the branch that `test` selects."""
        return then(*state) if test else orelse(*state)

    def while_loop(
        self,
        test: Callable[..., Any],
        body: Callable[..., State],
        state: State,
        names: tuple[str, ...] = (),
        options: Mapping[str, Any] | None = None,
    ) -> State:
        """Run the body while the test is true; return the last state."""
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
        """Run the body for each item, until the variable `until` is true; return the last state."""
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
        """Return `first and rest()`, `first or rest()`, or `not first`."""
        if rest is None:
            return not first
        return (first and rest()) if op == "and" else (first or rest())

    def check(self, test: Any, message: Callable[[], Any] | None) -> None:
        """Raise AssertionError, with the message, unless the test is true."""
        if not test:
            raise AssertionError(*() if message is None else (message(),))

    def length(self, value: Any) -> int | None:
        """Return the number of items of a sequence; None for other values."""
        match value:
            case [*_]:  # tests the type only
                return len(value)
        return None

    def is_(self, value: Any, truth: bool) -> bool:
        """Return whether the value is this bool itself."""
        return value is truth

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        """Assign an item in place; return the target."""
        target[key] = value
        return target


PYTHON = PythonBackend()


def rotated(
    test: Callable[..., Any], body: Callable[..., State], state: State, first: Any
) -> tuple[Callable[..., Any], Callable[..., State], State]:
    """Rotate a loop, so that it tests at the end of the body and starts from an evaluated first test.

        while test(*s):               go = first
            s = body(*s)      ==>     while go:
                                          s = body(*s)
                                          go = test(*s)

    Return a test, a body and a state with `go` prepended. The test is evaluated as often as in Python.

    >>> test, body, state = rotated(lambda n: n < 9, lambda n: (2 * n,), (5,), True)
    >>> PYTHON.while_loop(test, body, state)
    (False, 10)
    """

    def rotated_body(go: Any, *old: Any) -> State:
        new = body(*old)
        return (test(*new), *new)

    return lambda go, *_: go, rotated_body, (first, *state)
