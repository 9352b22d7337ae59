"""A second backend: it stages control flow by writing it down as Python text.

    def f(x):                        def staged(x):
        y = 0                            if (x > 0):
        if x > 0:              ==>           y_1 = (x * 2)
            y = x * 2                    else:
        return y                             y_1 = 0
                                         return y_1

What it is given through the contract is all it knows. That the text, when run, does what `f` does shows that
the contract is enough.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from agc.autograph import staging

_INFIX = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip


class Symbol:
    """A value of the program that is being written; `text` is the expression for it."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __format__(self, spec: str) -> str:
        return f"{{{self.text}:{spec}}}" if spec else self.text

    def __neg__(self) -> Symbol:
        return Symbol(f"(-{self})")

    def __getitem__(self, index: Any) -> Symbol:
        return Symbol(f"{self}[{index!r}]")

    def __bool__(self) -> bool:
        raise TypeError(f"`{self}` has no truth value before the program runs")

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"`{self}` has no items before the program runs")


for _name, _sign in _INFIX.items():
    setattr(Symbol, f"__{_name}__", lambda a, b, sign=_sign: Symbol(f"({a!r} {sign} {b!r})"))
    if hasattr(operator, f"__i{_name}__"):
        setattr(Symbol, f"__r{_name}__", lambda b, a, sign=_sign: Symbol(f"({a!r} {sign} {b!r})"))


def _called(name: str) -> Callable[..., Symbol]:
    return lambda *args: Symbol(f"{name}({', '.join(map(repr, args))})")


class Recorder:
    """The backend. `lines` is the program so far."""

    builtins = {f: _called(f.__name__) for f in (abs, len, range, min, max, float)}

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0
        self.options: list[Mapping[str, Any]] = []

    def owns(self, value: Any) -> bool:
        return True

    def cond(self, test: Any, then: Any, orelse: Any, state: Any, names: Any) -> Any:
        variables = [self.variable(name) for name in names]
        results = []
        for head, branch in ((f"if {test}:", then), ("else:", orelse)):
            with self.block(head):
                results.append(self.given(branch, *state))
                if results[-1] is not None:
                    self.assign(variables, results[-1])
        return maybe(variables, names, *(result for result in results if result is not None))

    def while_loop(self, test: Any, body: Any, state: Any, names: Any, options: Any) -> Any:
        self.options.append(options)
        variables = [self.variable(name) for name in names]
        self.assign(variables, state)
        with self.block("while True:"):
            now = maybe(variables, names, state)
            self.write(f"if not {test(*now)}: break")
            results = self.given(body, *now) or now
            self.assign(variables, results)
        return maybe(variables, names, state, results)

    def for_loop(self, items: Any, body: Any, state: Any, names: Any, until: Any, options: Any) -> Any:
        variables = [self.variable(name) for name in names]
        self.assign(variables, state)
        item = self.variable("item")
        with self.block(f"for {item} in {items}:"):
            if until is not None:
                self.write(f"if {variables[names.index(until)]}: break")
            now = maybe(variables, names, state)
            results = self.given(body, item, *now) or now
            self.assign(variables, results)
        return maybe(variables, names, state, results)

    def logical(self, op: str, first: Any, rest: Any) -> Any:
        if rest is None:
            return Symbol(f"(not {first})")
        result = self.variable("truth")
        self.assign([result], [first])
        with self.block(f"if {result}:" if op == "and" else f"if not {result}:"):
            self.assign([result], [rest()])
        return result

    def check(self, test: Any, message: Any) -> None:
        said = None if message is None else message()
        if isinstance(said, Exception):
            self.write(f"if not {test}: raise {said!r}")
        else:
            self.write(f"assert {test}" if message is None else f"assert {test}, {said!r}")

    def set_item(self, target: Any, key: Any, value: Any) -> Any:
        self.write(f"{target}[{key!r}] = {text_of(value)}")
        return target

    def given(self, block: Any, *state: Any) -> Any:
        """What a block gives; None when it raises, which is written down."""
        try:
            return block(*state)
        except Exception as error:
            if not staging.raised_by_user(error):
                raise
            args = (f"f{arg!r}" if isinstance(arg, str) else repr(arg) for arg in error.args)
            self.write(f"raise {type(error).__name__}({', '.join(args)})")
            return None

    # Writing.

    def variable(self, name: str) -> Symbol:
        self.count += 1
        return Symbol("".join(c if c.isalnum() else "_" for c in name) + f"_{self.count}")

    def assign(self, variables: Any, values: Any) -> None:
        assert len(variables) == len(values)
        # All values are read before any variable changes.
        if variables:
            self.write(f"{', '.join(map(repr, variables))} = {', '.join(map(text_of, values))}")

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        self.write(head)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.depth -= 1


def text_of(value: Any) -> str:
    if isinstance(value, staging.Maybe):
        return repr(value.value)
    return "UNDEFINED" if isinstance(value, staging.Undefined) else repr(value)


def maybe(variables: Any, names: Any, *sources: Any) -> Any:
    """The variables; marked as perhaps undefined where one of the values that they get is."""
    return tuple(
        staging.Maybe(name, variable, Symbol(f"({variable} is not UNDEFINED)"))
        if any(isinstance(value, staging.Undefined) for value in values)
        else variable
        for variable, name, *values in zip(variables, names, *sources, strict=True)
    )


class _Current:
    """The registered backend: whatever recorder is at work."""

    builtins = Recorder.builtins
    recorder: Recorder | None = None

    def owns(self, value: Any) -> bool:
        return self.recorder is not None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.recorder, name)


_CURRENT = _Current()
staging.register(_CURRENT, Symbol, always=False)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Stage on symbols inside this block."""
    recorder, before = Recorder(), _CURRENT.recorder
    _CURRENT.recorder = recorder
    try:
        with staging.live():
            yield recorder
    finally:
        _CURRENT.recorder = before


def written(f: Callable[..., Any], *parameters: str) -> str:
    """The program that `f` writes when it is called with symbols of these names."""
    with recording() as recorder:
        result = f(*map(Symbol, parameters))
        recorder.write(f"return {text_of(result)}")
    return "\n".join([f"def staged({', '.join(parameters)}):", *recorder.lines]) + "\n"


def staged(f: Callable[..., Any], *parameters: str) -> Callable[..., Any]:
    """The same as a function."""
    namespace: dict[str, Any] = {"UNDEFINED": object()}
    exec(written(f, *parameters), namespace)
    return namespace["staged"]  # type: ignore[no-any-return]
