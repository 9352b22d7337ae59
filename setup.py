"""Build the optional C extensions, and adapt the README for the package index; the rest is in pyproject.toml."""

from __future__ import annotations

import sys
import sysconfig
from email import message_from_string
from pathlib import Path

from setuptools import Extension, setup

ROOT = Path(__file__).parent

SOURCES = [
    str(path.relative_to(ROOT))
    for package in ("autograph", "runtime")
    for path in sorted(ROOT.glob(f"{package}/**/native_*.c"))
]
"""Each becomes a module with the same name after an underscore, in the same folder."""

HEADERS = [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("runtime/**/*.h"))]


def extensions() -> list[Extension]:
    """Return the extensions, unless they cannot be built: free-threaded CPython lacks the lock that they rely on."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    try:
        import numpy
    except ImportError:  # a build without isolation, in an environment without NumPy
        return []
    return [
        Extension(
            f"agc.{folder.replace('/', '.')}._{name.removesuffix('.c')}",
            [f"{folder}/{name}"],
            include_dirs=[numpy.get_include()],
            depends=HEADERS,
            optional=True,
        )
        for folder, _, name in (source.rpartition("/") for source in SOURCES)
    ]


def description() -> str:
    """Return the README with links that work outside of the repository; a source archive has it in PKG-INFO."""
    known = ROOT / "PKG-INFO"
    if known.exists():
        return str(message_from_string(known.read_text(encoding="utf-8")).get_payload())
    sys.path.insert(0, str(ROOT))
    try:
        from docs.site.links import for_the_package_index
    finally:
        sys.path.remove(str(ROOT))
    return for_the_package_index(ROOT / "README.md")


setup(
    ext_modules=extensions(),
    long_description=description(),
    long_description_content_type="text/markdown",
)
