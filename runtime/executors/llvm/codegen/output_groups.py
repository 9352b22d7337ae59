"""Groups of outputs that one loop nest computes: outputs that read a common lazy value, up to a number.

    a = x * 2                                    for i: a[i] ← …, b[i] ← …
    b = a + 1                        ==>
    c = y * 2                                    for i: c[i] ← …, d[i] ← …
    d = c + 1

A nest for all the variables of a large model would be one large function. Nests of equal groups are merged.
"""

from __future__ import annotations

from collections.abc import Iterable

from .lazy_values import LazyValue

MOST = 16
"""The number of outputs up to which a nest also computes outputs that have nothing in common."""


def output_groups(outputs: Iterable[LazyValue]) -> list[list[LazyValue]]:
    """Divide lazy outputs of one shape among loop nests."""
    found: list[list[LazyValue]] = []
    for each in _connected(outputs):
        if found and len(found[-1]) + len(each) <= MOST:
            found[-1] += each
        else:
            found.append(each)
    return found


def _connected(outputs: Iterable[LazyValue]) -> list[list[LazyValue]]:
    """Return the outputs in groups that have no lazy value in common."""
    groups: list[list[LazyValue]] = []
    number_of: dict[LazyValue, int] = {}  # of the group that reads a lazy value
    merged: list[int] = []  # the group that a group has become part of, or itself

    def root(number: int) -> int:
        while merged[number] != number:
            merged[number] = number = merged[merged[number]]
        return number

    for number, output in enumerate(outputs):
        groups.append([output])
        merged.append(number)
        pending = [output]
        while pending:
            each = pending.pop()
            if each in number_of:
                merged[root(number)] = root(number_of[each])
                continue
            number_of[each] = number
            pending += [operand for operand in each.operands if operand.is_lazy]
    together: dict[int, list[LazyValue]] = {}
    for number, group in enumerate(groups):
        together.setdefault(root(number), []).extend(group)
    return [*together.values()]
