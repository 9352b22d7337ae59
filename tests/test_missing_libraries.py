"""A package for another library says which extra installs that library."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("package", "library"), [("agc.jax", "jax"), ("agc.torch", "torch")])
def test_a_package_without_its_library_names_the_extra(package, library):
    hidden = f"import sys; sys.modules[{library!r}] = None; import {package}"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, timeout=60)
    assert f"ImportError: {package} needs " in done.stderr
    assert f"pip install 'agc-autograph[{library}]'" in done.stderr
