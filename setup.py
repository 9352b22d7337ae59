"""Build the optional C extensions. Everything else about the package is in pyproject.toml."""

from __future__ import annotations

import sysconfig

from setuptools import Extension, setup

SOURCES = ("runtime/executors/llvm/call/native_call.c", "runtime/kernels/random/native_draws.c")
"""Each becomes a module with the same name after an underscore, in the same folder."""


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
            optional=True,
        )
        for folder, _, name in (source.rpartition("/") for source in SOURCES)
    ]


setup(ext_modules=extensions())
