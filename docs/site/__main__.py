"""Build the site: `python -m docs.site`, which `make docs` calls. A warning of Sphinx is an error."""

from __future__ import annotations

import subprocess
import sys

from .assemble import BUILD, assemble


def main() -> int:
    """Assemble the pages and build them; return the exit code of Sphinx."""
    pages = assemble()
    command = ["-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(pages), str(BUILD / "html")]
    code = subprocess.run([sys.executable, *command]).returncode
    if code == 0:
        print(f"{BUILD / 'html' / 'index.html'}")
    return code


if __name__ == "__main__":
    sys.exit(main())
