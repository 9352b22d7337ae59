"""Partition of a module: its functions are divided into modules that LLVM compiles separately, on several threads.

    define @kernel: call @nest                define @kernel: call @nest        define hidden @nest: call @exp
    define internal @nest: call @exp   ==>    declare hidden @nest              define internal @exp
    define internal @exp

Each module has its own copy of constants and of the functions `agc.…`, which are inlined. The partition depends
only on the text, so that the object cache has the same modules on all machines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LARGEST = 1200
"""The weight above which a module is divided, in instructions."""

_LOOP = 50
"""The weight of a loop: LLVM vectorizes it, and adds a loop for the remaining iterations."""

_USED = re.compile(r'@"([^"]+)"|\((agc\.[^()]+)\)')  # also the vector variants in attributes
_NODE = re.compile(r"!\d+\b")
_DEFINED = re.compile(r"define (internal )?")


def partition(text: str, largest: int = LARGEST) -> list[str]:
    """Return the LLVM IR of modules that together define the functions of a module; their weights are similar."""
    if _weight(text) <= largest:
        return [text]
    module = _Module(text)
    groups = module.groups(largest)
    if len(groups) < 2:
        return [text]
    return [module.written(group, is_first=group is groups[0]) for group in groups]


def _weight(text: str) -> int:
    return text.count("\n") + _LOOP * text.count("!llvm.loop")


class _Module:
    """The parts of a module's text, by name."""

    def __init__(self, text: str) -> None:
        self.header: list[str] = []
        self.functions: dict[str, str] = {}
        self.globals: dict[str, str] = {}
        self.metadata: dict[str, str] = {}
        lines = iter(text.splitlines())
        for line in lines:
            if line.startswith("define"):
                self.functions[_name(line)] = "\n".join([line, *_body(lines)])
            elif line.startswith(("declare", "@")):
                self.globals[_name(line)] = line
            elif line.startswith("!"):
                self.metadata[line.partition(" ")[0]] = line
            elif line:
                self.header.append(line)
        self.used = {name: _symbols(text) for name, text in self.functions.items()}

    def groups(self, largest: int) -> list[set[str]]:
        """Divide the functions that are not copied: the heaviest first, each to the lightest group."""
        weights = {name: self._weight(name) for name in self.functions if not _is_copied(name)}
        count = min(-(-sum(weights.values()) // largest), len(weights))
        found: list[set[str]] = [set() for _ in range(count)]
        loads = [0] * count
        for name in sorted(weights, key=lambda name: -weights[name]):
            lightest = loads.index(min(loads))
            found[lightest].add(name)
            loads[lightest] += weights[name]
        return found

    def _weight(self, name: str) -> int:
        copied = filter(_is_copied, self.used[name])
        return _weight(self.functions[name]) + sum(self.functions[each].count("\n") for each in copied)

    def written(self, group: set[str], is_first: bool) -> str:
        """Return the module with the functions of `group`. The first one has the variables."""
        lines = list(self.header)
        for name in self._needed(group):
            if name in group:
                lines.append(self.functions[name].replace("define internal", "define hidden", 1))
            elif _is_copied(name):
                lines.append(self.functions[name])
            elif name in self.functions:
                lines.append(_DEFINED.sub("declare ", self.functions[name].partition("\n")[0], 1))
            elif " = global " not in self.globals[name]:
                lines.append(self.globals[name])
            elif not is_first:
                lines.append(_external(self.globals[name]))
        if is_first:
            lines += [line for line in self.globals.values() if " = global " in line]
        return "\n".join([*lines, *self._nodes("\n".join(lines))])

    def _needed(self, group: set[str]) -> list[str]:
        """Return the symbols that the functions of `group` use, with those of the functions that are copied."""
        found = dict.fromkeys(name for name in self.functions if name in group)
        pending = list(found)
        while pending:
            new = [name for name in self.used[pending.pop()] if name not in found]
            found.update(dict.fromkeys(new))
            pending += filter(_is_copied, new)
        return list(found)

    def _nodes(self, text: str) -> list[str]:
        """Return the metadata that a text uses."""
        found = dict.fromkeys(_NODE.findall(text))
        pending = list(found)
        while pending:
            new = [name for name in _NODE.findall(self.metadata[pending.pop()]) if name not in found]
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


def _symbols(text: str) -> list[str]:
    """Return the symbols in a text, without duplicates."""
    return list(dict.fromkeys(first or second for first, second in _USED.findall(text)))


def _external(line: str) -> str:
    """Return the declaration of a variable."""
    return line.replace(" = global ", " = external global ").removesuffix(" zeroinitializer")


def _is_copied(name: str) -> bool:
    return name.startswith("agc.")
