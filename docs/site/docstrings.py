"""Turn docstrings into Markdown.

Args:                                **Args**
    x: a tensor,            ==>
        of any shape.                * `x`: a tensor, of any shape.

>>> f(1)                             ```python
2                                    >>> f(1)
                                     2
                                     ```
"""

from __future__ import annotations

import inspect
import re
from typing import Any

SECTION = re.compile(r"^(Args|Arguments|Attributes|Returns|Raises|Yields|Options):$")
ITEM = re.compile(r"^ {2,4}((?:\*{0,2}\w+(?:, )?)+): (.*)$")


def summary_of(value: Any) -> str:
    """Return the first sentence of the docstring, for a cell of a table."""
    paragraph = (inspect.getdoc(value) or "").strip().split("\n\n")[0].split("\n>>>")[0]
    sentence = re.split(r"(?<=\.)\s+(?=[A-Z`])", " ".join(paragraph.split()))[0]
    return escaped(sentence.replace("|", "\\|"))


def escaped(text: str) -> str:
    """Return prose whose stars, brackets and underscores outside of code have no meaning in Markdown."""
    return "".join(part if code else re.sub(r"([*\[\]<_])", r"\\\1", part) for part, code in _parts(text))


def _parts(text: str) -> list[tuple[str, bool]]:
    """Split a text into prose and inline code, with its backticks."""
    return [(part, part.startswith("`")) for part in re.split(r"(`[^`\n]+`)", text) if part]


def markdown(docstring: str) -> str:
    """Return the docstring as Markdown."""
    lines = inspect.cleandoc(docstring).split("\n")
    done: list[str] = []
    while lines:
        if lines[0].startswith(">>>"):
            done += ["```python", *_taken(lines, lambda line: line != ""), "```"]
        elif SECTION.match(lines[0]):
            done += ["", f"**{lines.pop(0)[:-1]}**", "", *_items(_taken(lines, _is_of_a_section))]
        elif lines[0].startswith("    "):
            done += ["```text", *_taken(lines, lambda line: line.startswith("    ")), "```"]
        else:
            done.append(escaped(lines.pop(0)))
    return "\n".join(done)


def _is_of_a_section(line: str) -> bool:
    return line.startswith("  ")


def _taken(lines: list[str], belongs: Any) -> list[str]:
    """Remove the first lines that belong together, and return them."""
    count = next((n for n, line in enumerate(lines) if not belongs(line)), len(lines))
    taken, lines[:] = lines[:count], lines[count:]
    return taken


def _items(lines: list[str]) -> list[str]:
    """Return the items of a section as a list."""
    done: list[str] = []
    for line in lines:
        item = ITEM.match(line)
        if item:
            done.append(f"* `{item[1]}`: {escaped(item[2])}")
        else:
            done.append(f"  {escaped(line.strip())}" if done else escaped(line.strip()))
    return done
