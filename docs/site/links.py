"""Rewrite the links of a document for the place where its page is.

    [passes](../runtime/optimize)      ==>      passes                       no page of the site
    [rules](../CONTRIBUTING.md#rules)  ==>      [rules](contributing.md#rules)
    ![times](../benchmarks/a.svg)      ==>      ![times](pictures/a.svg)     the file is copied

A link to a file that has no page needs the address of the repository, `project.urls.Repository` of pyproject.toml.
Without an address only the text of the link remains.
"""

from __future__ import annotations

import os
import re
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
FENCED = re.compile(r"^(```|~~~).*?^\1$", re.MULTILINE | re.DOTALL)
PICTURES = frozenset({".svg", ".png"})

OF_THE_ROOT = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CODE_OF_CONDUCT.md": "code_of_conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "security.md",
}
"""Pages made of documents that are not in docs/; the site has an own first page instead of the README."""


def repository() -> str | None:
    """Return the address of the files of the project, if pyproject.toml has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository")
    return f"{address.rstrip('/')}/blob/main" if address else None


def page_of(document: Path) -> str | None:
    """Return the path of the page of a document, from the first page of the site; None if it has no page."""
    name = document.relative_to(ROOT).as_posix()
    if name in OF_THE_ROOT:
        return OF_THE_ROOT[name]
    return name.removeprefix("docs/") if name.startswith("docs/") and name.endswith(".md") else None


def for_the_site(document: Path, target: Path) -> str:
    """Return the text of a document for the pages in the folder `target`; copy the pictures that it shows."""
    page = page_of(document)
    assert page is not None, document
    up = "../" * page.count("/")

    def linked(mark: str, text: str, path: Path, anchor: str) -> str:
        other = page_of(path)
        if other is not None:
            return f"[{text}]({up}{other}{anchor})"
        if mark and path.suffix in PICTURES:
            (target / "pictures").mkdir(exist_ok=True)
            shutil.copy(path, target / "pictures" / path.name)
            return f"![{text}]({up}pictures/{path.name})"
        return outside(text, path, anchor)

    return rewritten(document, linked)


def for_the_package_index(document: Path) -> str:
    """Return the text of a document whose links and pictures do not depend on the folder where it is."""
    address = repository()

    def linked(mark: str, text: str, path: Path, anchor: str) -> str:
        if not mark:
            return outside(text, path, anchor)
        return f"![{text}]({address}/{path.relative_to(ROOT).as_posix()}?raw=true)" if address else ""

    return rewritten(document, linked)


def outside(text: str, path: Path, anchor: str) -> str:
    """Return a link to a file of the repository; only the text if the address is unknown."""
    address = repository()
    return f"[{text}]({address}/{path.relative_to(ROOT).as_posix()}{anchor})" if address else text


def rewritten(document: Path, linked: Callable[[str, str, Path, str], str]) -> str:
    """Return the text with the relative links outside of code replaced; ValueError for one that leads nowhere."""

    def replaced(found: re.Match[str]) -> str:
        mark, text, link = found.groups()
        if re.match(r"\w+:|#", link):
            return found[0]
        path, hash_sign, anchor = link.partition("#")
        place = Path(os.path.normpath(document.parent / path))
        if not place.exists():
            raise ValueError(f"{document}: the link {link} leads nowhere")
        return linked(mark, text, place, hash_sign + anchor)

    text = document.read_text(encoding="utf-8")
    parts: list[str] = []
    end = 0
    for code in FENCED.finditer(text):
        parts += [LINK.sub(replaced, text[end : code.start()]), code[0]]
        end = code.end()
    return "".join([*parts, LINK.sub(replaced, text[end:])])
