"""Download the archives of the compared libraries into the cache, outside of the project."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

from .suites import SOURCES

REQUIREMENTS = Path(__file__).with_name("requirements.txt")


def fetch(cache: Path, python: str) -> None:
    """Install the libraries into `cache/libraries`, and unpack source archives into `cache/sources`.

    `python` is one of the compared environments. What is there already stays.
    """
    libraries, sources = cache / "libraries", cache / "sources"
    if not libraries.exists():
        _pip(python, "install", "--no-deps", "--target", str(libraries), "--requirement", str(REQUIREMENTS))
    for requirement in SOURCES:
        folder = sources / requirement.replace("==", "-")
        if not folder.exists():
            sources.mkdir(parents=True, exist_ok=True)
            _pip(python, "download", "--no-deps", "--no-binary", ":all:", "--dest", str(sources), requirement)
            with tarfile.open(next(sources.glob(f"{folder.name}.tar.gz"))) as archive:
                archive.extractall(sources, filter="data")


def _pip(python: str, *arguments: str) -> None:
    print("pip", *arguments, file=sys.stderr, flush=True)
    subprocess.run([python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments], check=True)
