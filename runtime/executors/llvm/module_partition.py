"""Partition of a module: its functions are divided into modules that LLVM compiles separately, on several threads.

    define @kernel: call @nest                define @kernel: call @nest        define hidden @nest: call @exp
    define internal @nest: call @exp   ==>    declare hidden @nest              define internal @exp
    define internal @exp

Each module has its own copy of constants and of the functions `agc.…`, which are inlined. Functions whose
instructions take no time, such as a long sequence of calls, and functions with the attribute `cold` are in a module
of their own, which LLVM does not optimize. Loops are there if each iteration has a product or a parallel loop. The
partition depends only on the text, so that the object cache has the same modules on all machines.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

LARGEST = 800
"""The weight above which a module is divided, in instructions."""

LOOP = 50
"""The weight of a loop: LLVM vectorizes it, and adds a loop for the remaining iterations."""

_USED = re.compile(r'@"([^"]+)"|\((agc\.[^()]+)\)')  # also the vector variants in attributes
NODE = re.compile(r"!\d+\b")
_DEFINED = re.compile(r"define (internal )?")
_RARE = re.compile(r"define .*\) (\w+ )*cold\b")
_LONG_CALL = re.compile(r'call void @"agc_(?:product|run_parts)')
"""A call of a large matrix product or of a parallel loop; `agc_multiply` also multiplies small matrices by vectors."""


LONG = 2000
"""The number of instructions without a loop from which optimizing them takes longer than they ever run."""

HUGE = 20_000
"""The number of instructions from which no function is optimized: LLVM's time grows faster than their number."""

_CALLS = 40
"""A function without a loop is not optimized if one of so many instructions calls a function or a product."""


class ModulePart(NamedTuple):
    """A module, and whether its instructions run so rarely that they are not worth optimizing."""

    text: str
    is_cold: bool = False

    @property
    def weight(self) -> int:
        """The time that LLVM takes, in optimized instructions."""
        return self.text.count("\n") // 2 if self.is_cold else _weight(self.text)


def partition(text: str, largest: int = LARGEST) -> list[ModulePart]:
    """Return the modules that together define the functions of a module; their weights are similar."""
    if _weight(text) <= largest:
        return [ModulePart(text)]
    return divided(ModuleText.parsed(text), largest) or [ModulePart(text)]


def divided(module: ModuleText, largest: int = LARGEST, done: Iterable[str] = ()) -> list[ModulePart]:
    """Return modules of all functions but those in `done`; none if a whole module would be one of them."""
    cold = {name for name in module.functions if module.is_cold(name)}
    groups = module.groups(largest, cold.union(done))
    if len(groups) < 2 and not cold and not done:
        return []
    return [
        ModulePart(module.written(group, is_first=i == 0), is_cold=group is cold)
        for i, group in enumerate([cold, *groups])
        if group
    ]


def _weight(text: str) -> int:
    return text.count("\n") + LOOP * text.count("!llvm.loop")


class ModuleText:
    """The parts of a module's text, by name."""

    def __init__(self, header: Iterable[str] = ()) -> None:
        self.header = list(header)
        self.functions: dict[str, str] = {}
        self.globals: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        self.used: dict[str, Counter[str]] = {}
        """The number of uses of each symbol in each function."""

    @classmethod
    def parsed(cls, text: str) -> ModuleText:
        """Return the parts of a whole text."""
        found = cls()
        lines = iter(text.splitlines())
        for line in lines:
            if line.startswith("define"):
                found.define(_name(line), "\n".join([line, *_body(lines)]))
            elif line.startswith(("declare", "@")):
                found.globals[_name(line)] = line
            elif line.startswith("!"):
                found.metadata[line.partition(" ")[0]] = line
            elif line:
                found.header.append(line)
        return found

    def define(self, name: str, text: str) -> None:
        """Add a function."""
        self.functions[name] = text
        self.used[name] = Counter(first or second for first, second in _USED.findall(text))

    def is_cold(self, name: str) -> bool:
        """Return whether a function is not worth optimizing."""
        text = self.functions[name]
        size = text.count("\n")
        if is_copied(name) or size >= HUGE:
            return not is_copied(name)
        calls = sum(count for used, count in self.used[name].items() if used in self.functions)
        calls += len(_LONG_CALL.findall(text))
        is_glue = name == "run" or size >= LONG or size <= _CALLS * calls
        return bool(_RARE.match(text)) or (is_glue and not _has_loop(text))

    def groups(self, largest: int, excluded: set[str]) -> list[set[str]]:
        """Divide all functions but copied and excluded ones: the heaviest first, each to the lightest group."""
        others = [name for name in self.functions if name not in excluded and not is_copied(name)]
        weights = {name: self._weight(name) for name in others}
        count = min(-(-sum(weights.values()) // largest), len(weights))
        found: list[set[str]] = [set() for _ in range(count)]
        loads = [0] * count
        for name in sorted(weights, key=lambda name: -weights[name]):
            lightest = loads.index(min(loads))
            found[lightest].add(name)
            loads[lightest] += weights[name]
        return found

    def _weight(self, name: str) -> int:
        copied = filter(is_copied, self.used[name])
        return _weight(self.functions[name]) + sum(self.functions[each].count("\n") for each in copied)

    def written(self, group: set[str], is_first: bool) -> str:
        """Return the module with the functions of `group`. The first one has the variables."""
        lines = list(self.header)
        for name in self._needed(group):
            if name in group:
                lines.append(self.functions[name].replace("define internal", "define hidden", 1))
            elif is_copied(name):
                lines.append(self.functions[name])
            elif name in self.functions:
                lines.append(declared(self.functions[name].partition("\n")[0]))
            elif not _is_variable(self.globals[name]):
                lines.append(self.globals[name])
            elif not is_first:
                lines.append(external(name))
        if is_first:
            lines += filter(_is_variable, self.globals.values())
        # The bytes of a constant may read like a node: "!2".
        return "\n".join(
            [*lines, *self._nodes("\n".join(line for line in lines if not line.startswith("@")))]
        )

    def _needed(self, group: set[str]) -> list[str]:
        """Return the symbols that the functions of `group` use, with those of the functions that are copied."""
        found = dict.fromkeys(name for name in self.functions if name in group)
        pending = list(found)
        while pending:
            new = [name for name in self.used[pending.pop()] if name not in found]
            found.update(dict.fromkeys(new))
            pending += filter(is_copied, new)
        return list(found)

    def _nodes(self, text: str) -> list[str]:
        """Return the metadata that a text uses."""
        found = dict.fromkeys(NODE.findall(text))
        pending = list(found)
        while pending:
            new = [name for name in NODE.findall(self.metadata[pending.pop()]) if name not in found]
            found.update(dict.fromkeys(new))
            pending += new
        return [self.metadata[name] for name in found]


def _name(line: str) -> str:
    return line[line.index('"') + 1 :].partition('"')[0]


def _body(lines: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a function up to its end."""
    for line in lines:
        yield line
        if line == "}":
            return


_LABEL = re.compile(rf'^([^\s:"]+|"[^"]+"):$|label %"([^"]+)"|{_LONG_CALL.pattern}', re.MULTILINE)


def _has_loop(text: str) -> bool:
    """Return whether the basic blocks of a function form a cycle without a matrix product or a parallel loop."""
    targets: dict[str, set[str]] = {}
    block: set[str] = set()
    for label, target in _LABEL.findall(text):
        if label:
            block = targets[label.strip('"')] = set()
        elif target:
            block.add(target)
        else:
            block = set()  # the cycles through this block take long
    waiting = Counter(target for found in targets.values() for target in found)
    ready = [name for name in targets if not waiting[name]]
    for name in ready:
        for target in targets[name]:
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return len(ready) < len(targets)


def declared(prototype: str) -> str:
    """Return the declaration of a function, from the first line of its definition."""
    return _DEFINED.sub("declare ", prototype, 1)


def _is_variable(line: str) -> bool:
    """Return whether a global is a variable rather than a constant or a declared function."""
    return line.partition(" = ")[2].startswith("global ")


def external(name: str) -> str:
    """Return the declaration of a variable."""
    return f'@"{name}" = external global i8'


def is_copied(name: str) -> bool:
    """Return whether each module has its own copy of a function."""
    return name.startswith("agc.")
