"""Build the C extensions in the source tree, where the tests run without an installation that has built them."""

from __future__ import annotations

import pathlib
import shlex
import subprocess
import sysconfig

ROOT = pathlib.Path(__file__).parents[2]
SOURCES = (*ROOT.glob("autograph/**/native_*.c"), *ROOT.glob("runtime/**/native_*.c"))
HEADERS = tuple(ROOT.glob("runtime/**/*.h"))


def build() -> None:
    """Build each extension that is missing or older than its source and the headers, if there is a compiler."""
    import numpy

    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}"]
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    for source in SOURCES:
        target = source.with_name(f"_{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}")
        newest = max(file.stat().st_mtime for file in (source, *HEADERS))
        if target.exists() and target.stat().st_mtime >= newest:
            continue
        try:
            subprocess.run(
                [*compiler, "-shared", "-fPIC", "-O3", *includes, str(source), "-o", str(target)],
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
