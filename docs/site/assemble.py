"""Assemble the pages of the site in one folder.

docs/**/*.md, ARCHITECTURE.md, …   copied, with the links rewritten
docstrings                         api/*.md
fixtures/programs, examples        gallery/*.md, examples.md
"""

from __future__ import annotations

import shutil
from pathlib import Path

from . import gallery, links, reference

BUILD = links.ROOT / "build" / "docs"
HERE = Path(__file__).parent


def documents() -> list[Path]:
    """Return the documents that have a page."""
    root = [links.ROOT / name for name in links.OF_THE_ROOT if name != "README.md"]
    return [*root, *sorted((links.ROOT / "docs").rglob("*.md"))]


def assemble(folder: Path = BUILD / "pages") -> Path:
    """Write all pages anew; return their folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(HERE / "conf.py", folder)
    shutil.copytree(HERE / "static", folder / "static")
    for document in documents():
        page = folder / str(links.page_of(document))
        page.parent.mkdir(exist_ok=True)
        page.write_text(links.for_the_site(document, folder), encoding="utf-8")
    gallery.write(folder / "gallery", folder / "files" / "explore")
    gallery.write_examples(folder / "examples.md")
    reference.write(folder / "api")
    return folder
