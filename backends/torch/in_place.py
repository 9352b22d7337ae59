"""Changes of tensors in place in staged blocks: the block works on copies, and the results are written back.

y = x                        y = x
if c:                 ⇒      (new,) = cond(c, lambda x: x + 1, lambda x: x, (x,))
    x += 1                   x.copy_(new)                        y sees the change, as in Python
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agc.arrays import ArrayBackend, Branch, Names, Options
from agc.autograph.staging import State
from agc.autograph.staging_errors import staging_error

import torch


class _Again(BaseException):
    """Asks for another trace of a conditional, because it changes more tensors than were known."""


class TorchBackend(ArrayBackend):
    """An `ArrayBackend` whose arrays can change in place."""

    def cond(self, test: Any, then: Branch, orelse: Branch, state: State, names: Names) -> State:
        changed: list[int] = []
        while True:
            branches = _Branches(changed)
            labels = (*names, *(f"tensor {number}, changed in place" for number in changed))
            try:
                found = super().cond(test, branches.first(then), branches.second(orelse), state, labels)
            except _Again:
                changed = sorted(branches.found)
                continue
            return branches.written_back(state, found, len(names))

    def while_loop(
        self, test: Callable[..., Any], body: Branch, state: State, names: Names, options: Options
    ) -> State:
        iteration = _Iteration(body, names)
        found = super().while_loop(test, iteration.run, state, names, options)
        return iteration.written_back(state, found)

    def for_loop(
        self, items: Any, body: Branch, state: State, names: Names, until: str | None, options: Options
    ) -> State:
        iteration = _Iteration(body, names, leading=1)
        found = super().for_loop(items, iteration.run, state, names, until, options)
        return iteration.written_back(state, found)


def _copies(state: Sequence[Any]) -> list[Any]:
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in state]


def _is_changed(copy: Any) -> bool:
    return isinstance(copy, torch.Tensor) and copy._version > 0


class _Branches:
    """The branches of an `if`: each works on copies, and also returns those that one of them changes."""

    def __init__(self, changed: Sequence[int]) -> None:
        self.changed, self.found = changed, set(changed)
        self._kept: list[dict[int, int]] = []  # for each branch: result → the state that it is

    def first(self, branch: Callable[..., State]) -> Callable[..., State]:
        def run(*state: Any) -> State:
            copies = _copies(state)
            results = tuple(branch(*copies) or ())
            self.found |= {number for number, copy in enumerate(copies) if _is_changed(copy)}
            numbers = {id(copy): number for number, copy in enumerate(copies)}
            self._kept.append(
                {place: numbers[id(result)] for place, result in enumerate(results) if id(result) in numbers}
            )
            return (*results, *(copies[number] for number in self.changed))

        run.__wrapped__ = branch  # type: ignore[attr-defined]  # messages show the lines of the block itself
        return run

    def second(self, branch: Callable[..., State]) -> Callable[..., State]:
        inner = self.first(branch)

        def run(*state: Any) -> State:
            results = inner(*state)
            if not self.found <= set(self.changed):
                raise _Again
            return results

        run.__wrapped__ = branch  # type: ignore[attr-defined]
        return run

    def written_back(self, state: State, found: Sequence[Any], count: int) -> State:
        results = list(found[:count])
        for number, value in zip(self.changed, found[count:], strict=True):
            state[number].copy_(value)
            for place in range(count):
                if all(kept.get(place) == number for kept in self._kept):
                    results[place] = state[number]
        return tuple(results)


class _Iteration:
    """The body of a loop, which works on copies; a tensor that it changes stays the variable's tensor."""

    def __init__(self, body: Callable[..., State], names: Sequence[str], leading: int = 0) -> None:
        self._body, self._names, self._leading = body, names, leading
        self._changed: set[int] = set()
        self._replaced: set[int] = set()

        def run(*values: Any) -> State:
            return self._run(values)

        run.__wrapped__ = body  # type: ignore[attr-defined]  # messages show the lines of the block itself
        self.run = run

    def _run(self, values: tuple[Any, ...]) -> State:
        copies = _copies(values[self._leading :])
        results = tuple(self._body(*values[: self._leading], *copies) or ())
        changed = {number for number, copy in enumerate(copies) if _is_changed(copy)}
        self._changed |= changed
        self._replaced |= {number for number in changed if results[number] is not copies[number]}
        return results

    def written_back(self, state: State, found: Sequence[Any]) -> State:
        for number in self._replaced:
            name = self._names[number]
            raise staging_error(
                "AGC232",
                f"the loop changes `{name}` in place and assigns it",
                why="the first iteration would change the tensor from before the loop, and the others would not",
                fix=f"only assign it: write `{name} = {name} + …`",
            )
        results = list(found)
        for number in self._changed:
            if isinstance(state[number], torch.Tensor):  # not a number, which the loop has made a tensor
                state[number].copy_(results[number])
                results[number] = state[number]
        return tuple(results)
