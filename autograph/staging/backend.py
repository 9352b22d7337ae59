"""What a backend implements, and what that means in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

State = tuple[Any, ...]


class UnescapedList(list[Any]):
    """A list in the state of a block that nobody else knows: the block may change it, also in length."""


class MutableValue:
    """A backend's value that its methods change in place, as they do a list: whoever knows it sees that."""

    is_own = False  # whether it is a copy that one function of a block works on


class Backend(Protocol):
    """What a library implements so that converted code stages its values.

    Functions that a backend receives (`then`, `orelse`, `test`, `body`) are pure in the state: what the block
    reads and assigns comes in as arguments and leaves in a tuple of results. They may be called once, many
    times or never. Entries of the state and of the results are the backend's own values, any other Python
    values, and `Undefined` objects, which stand for variables that have no value yet. `names` are the user's
    names, for messages and for printing.

    A function may raise what the user's `raise` or `assert` says (`raised_by_user`): then the block never comes to
    its end, and what it was to give is not needed; running the block must raise the exception.

    A backend may have a method `mentions(text)`: whether a text was made from its values, so that a staged `print`
    of the text is its business; and a method `is_lost(value)`: whether one of its values is of no use any more to what
    is being staged, as it belongs to something that is finished.
    """

    @property
    def builtins(self) -> Mapping[Callable[..., Any], Callable[..., Any]]:
        """What is called in place of a built-in function when one of the arguments is the backend's.

        For instance `{len: tensor_len, range: tensor_range}`. A built-in that is not there is called itself.
        """
        ...

    @property
    def lasting(self) -> tuple[type, ...]:
        """The types of values that are made once and outlive every graph, such as variables.

        An object that gets one while a block is traced has been built then: that is not undone.
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

    def length(self, value: Any) -> int | None:
        """How many items a sequence pattern of `match` sees in `value`, None where it sees no sequence.

        Assigning to several variables (`a, b = value`) takes the items out.
        """
        ...

    def is_(self, value: Any, truth: bool) -> Any:
        """`case True` or `case False`: whether `value` is that truth value."""
        ...

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        """`target[key] = value`: what the variable is after that, `target` itself when it has changed in place.

        This is asked for every target of a registered type, whether it is owned now or not.
        """
        ...


class PythonBackend:
    """Plain Python as a backend: the default, and the contract's meaning in a few lines."""

    builtins: Mapping[Callable[..., Any], Callable[..., Any]] = {}
    lasting: tuple[type, ...] = ()

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

    def length(self, value: Any) -> int | None:
        match value:
            case [*_]:  # asks for the kind only
                return len(value)
        return None

    def is_(self, value: Any, truth: bool) -> bool:
        return value is truth

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        target[key] = value
        return target


PYTHON = PythonBackend()


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
