"""Build the C extension in the source tree, where the tests run without an installation that has built it."""

from __future__ import annotations

import pathlib
import shlex
import subprocess
import sysconfig

FOLDER = pathlib.Path(__file__).parents[2] / "runtime/executors/llvm/call"
SOURCE = FOLDER / "native_call.c"


def build(folder: pathlib.Path = FOLDER, *options: str) -> bool:
    """Build the extension if it is missing or older than its source; return whether it is there."""
    import numpy

    target = folder / f"_native_call{sysconfig.get_config_var('EXT_SUFFIX')}"
    if target.exists() and target.stat().st_mtime >= SOURCE.stat().st_mtime:
        return True
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    includes = [f"-I{sysconfig.get_path('include')}", f"-I{numpy.get_include()}"]
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    try:
        subprocess.run(
            [*compiler, "-shared", "-fPIC", "-O2", *options, *includes, str(SOURCE), "-o", str(target)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return False
    return True
