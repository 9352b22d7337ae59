"""Build the site: `python -m docs.site`, which `make docs` calls.

A warning of Sphinx is an error, and so is a page that loads anything from the network.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .assemble import BUILD, assemble

LOADED = re.compile(r'<(?:script|img|iframe|link rel="stylesheet")[^>]* (?:src|href)="(?:https?:)?//[^"]*"')
"""The parts of a page that it would load from the network."""


def main() -> int:
    """Assemble the pages and build them; return the exit code of Sphinx."""
    pages = assemble()
    command = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(pages), str(BUILD / "html")]
    code = subprocess.run([sys.executable, *command]).returncode
    found = [f"{path}: {tag}" for path in sorted((BUILD / "html").rglob("*.html")) for tag in foreign(path)]
    print(*found or [BUILD / "html" / "index.html"], sep="\n")
    return code or bool(found)


def foreign(page: Path) -> list[str]:
    """Return the parts of a page that load something from the network."""
    return LOADED.findall(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    sys.exit(main())
