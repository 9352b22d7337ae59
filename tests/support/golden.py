"""Golden cases: a file of titles, sources and results.

    === title

    source

    --->

    result

`pytest --update-golden` writes the results anew; the diff of the file is what there is to review.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

TITLE, ARROW = "=== ", "--->"


class Case(NamedTuple):
    title: str
    source: str
    result: str


def read(path: Path) -> list[Case]:
    cases = []
    for part in ("\n" + path.read_text()).split("\n" + TITLE)[1:]:
        title, _, rest = part.partition("\n")
        source, _, result = rest.partition(f"\n{ARROW}\n")
        cases.append(Case(title, source.strip("\n") + "\n", result.strip("\n") + "\n"))
    return cases


def write(path: Path, cases: list[Case]) -> None:
    texts = [f"{TITLE}{case.title}\n\n{case.source}\n{ARROW}\n\n{case.result}" for case in cases]
    path.write_text("\n\n".join(texts))
