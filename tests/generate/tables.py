"""Tables that are a part of a document, between two comments."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).parent.parent.parent / "docs"
START, END = "<!-- begin of the generated table -->\n", "<!-- end of the generated table -->\n"


def with_table(path: Path, system: str, rows: Iterable[tuple[str, list[str]]]) -> dict[Path, str]:
    """Return the text of a page with a table of operations: how each is written for a system, or why it is not."""
    before, _, rest = path.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    lines = [f"| {how} ({len(names)}) | {' '.join(f'`{name}`' for name in names)} |" for how, names in rows]
    table = "\n".join(["", f"| in {system} | operations |", "|---|---|", *lines, "", ""])
    return {path: f"{before}{START}{table}{END}{after}"}
