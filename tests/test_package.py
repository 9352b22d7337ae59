"""The package `agc` itself: light to import, its names loaded at their first use."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import agc
import pytest
from agc.autograph import errors, is_own_file

ROOT = Path(__file__).parent.parent


def test_importing_the_top_package_loads_nothing_else():
    program = "import agc, sys; print([name for name in sys.modules if name.startswith('agc.')])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_names_that_do_not_exist_are_refused():
    with pytest.raises(AttributeError, match="has no attribute 'shew'"):
        agc.shew  # noqa: B018


def test_the_version_is_that_of_the_distribution():
    assert agc.__version__ == version("agc-autograph")


def test_every_folder_with_installed_files_is_a_package():
    """A folder that `packages` leaves out would be missing in the wheel."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    folders = {ROOT / folder: package for package, folder in options["package-dir"].items()}
    found = set()
    for top, package in folders.items():
        for path in top.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so":
                found.add(".".join([package, *path.parent.relative_to(top).parts]))
    assert found == set(options["packages"])


def test_errors_leave_out_the_files_of_every_installed_package():
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    home = Path(errors.__file__).parents[1]  # of `agc` in an installation
    installed = {home.joinpath(*package.split(".")[1:], "some.py") for package in packages if "." in package}
    assert [path for path in installed if not is_own_file(str(path))] == []


def test_groups_of_regular_expressions_are_not_possessive():
    """Python before 3.11.5 does not go back when the second part of one fails: `(?:e\\d)?+` matches "e"."""
    packages = ("autograph", "runtime", "cli", "explorer", "backends")
    for path in (path for package in packages for path in (ROOT / package).rglob("*.py")):
        found = re.search(r"\)(?:[?*+]|\{[\d,]+\})\+|\(\?>", path.read_text(encoding="utf-8"))
        assert found is None, path
