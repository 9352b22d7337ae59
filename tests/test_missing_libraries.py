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


def test_keras_is_named_next_to_the_import():
    hidden = "import agc.runtime.interop.tensorflow.keras_import as it; it.is_installed = lambda: False"
    program = f"{hidden}\nfrom agc.runtime.keras import layers"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'agc-autograph[keras]'" in done.stderr
    assert done.stderr.count("  File ") == 2  # the program's line, and the one that imports Keras
