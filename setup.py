"""Build the optional C extension. Everything else about the package is in pyproject.toml."""

from __future__ import annotations

import sysconfig

from setuptools import Extension, setup

FOLDER = "runtime/executors/llvm/call"


def extensions() -> list[Extension]:
    """Return the extension, unless it cannot be built: free-threaded CPython lacks the lock that it relies on."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return []
    try:
        import numpy
    except ImportError:  # a build without isolation, in an environment without NumPy
        return []
    name = f"agc.{FOLDER.replace('/', '.')}._native_call"
    source = f"{FOLDER}/native_call.c"
    return [Extension(name, [source], include_dirs=[numpy.get_include()], optional=True)]


setup(ext_modules=extensions())
