"""The manual of error codes: docs/errors.md, which is part of the package, cut into one page for each code.

## AGC207: the condition is not a scalar  Page("AGC207", "the condition is not a scalar", "The condition …")
                                 ==>
The condition …
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

FAMILIES = {
    "AGC1": "the source, or its conversion",
    "AGC2": "staging, that is, making a graph of control flow",
    "AGC3": "the command line",
}

_HEADING = re.compile(r"^## (AGC\d{3}): (.+)$", re.MULTILINE)


class Page(NamedTuple):
    """The section of the manual about one code; `text` is Markdown."""

    code: str
    title: str
    text: str


@functools.cache
def pages() -> dict[str, Page]:
    """Return the pages by code, in the order of the codes."""
    from importlib import resources  # loads much that the other commands do not need

    manual = resources.files(__package__).joinpath("errors.md").read_text(encoding="utf-8")
    _, *parts = _HEADING.split(manual)
    found = [Page(*part) for part in zip(parts[0::3], parts[1::3], map(str.strip, parts[2::3]), strict=True)]
    return {page.code: page for page in sorted(found)}


def plain(markdown: str) -> str:
    """Return Markdown as plain text: code is indented by four blanks; links and emphasis become their words.

    >>> print(plain("See **[this](a.md)**:\\n\\n```python\\n# a.py\\nx = `1`\\n```"))
    See this:
    <BLANKLINE>
        # a.py
        x = `1`
    """
    lines = []
    in_code = False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            in_code = not in_code
        elif in_code:
            lines.append(f"    {line}".rstrip())
        else:
            lines.append(re.sub(r"\*\*(.+?)\*\*", r"\1", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", line)))
    return "\n".join(lines)
