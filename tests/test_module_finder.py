"""The finder of agc's modules finds and loads what Python's own finder and loader would."""

import importlib.machinery
import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys

import agc
import agc.runtime.core
import agc.runtime.nest
import pytest
from agc import module_finder


@pytest.fixture
def package(tmp_path):
    """A folder with a module, a package, and a folder without code."""
    (tmp_path / "plain.py").write_text("def answer():\n    return 41\n")
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "__init__.py").write_text("name = __name__\n")
    (tmp_path / "tables").mkdir()
    return tmp_path


def found(package, name):
    return module_finder.ModuleFinder().find_spec(f"agc.{name}", [str(package)])


def answer(package):
    module = importlib.util.module_from_spec(spec := found(package, "plain"))
    spec.loader.exec_module(module)
    return module.answer()


@pytest.mark.parametrize("name", ["plain", "inner"])
def test_specs_are_those_of_pythons_own_finder(package, name):
    own, pythons = (
        found(package, name),
        importlib.machinery.PathFinder.find_spec(f"agc.{name}", [str(package)]),
    )
    attributes = ("name", "origin", "cached", "has_location", "parent", "submodule_search_locations")
    assert [getattr(own, each) for each in attributes] == [getattr(pythons, each) for each in attributes]
    assert isinstance(own.loader, type(pythons.loader))
    assert own.loader.is_package(f"agc.{name}") == pythons.loader.is_package(f"agc.{name}")


@pytest.mark.parametrize("name", ["missing", "tables", "inner.missing"])
def test_names_without_a_source_are_left_to_other_finders(package, name):
    assert found(package, name) is None


def test_modules_of_other_packages_are_left_to_other_finders(package):
    assert module_finder.ModuleFinder().find_spec("numpy.plain", [str(package)]) is None
    assert module_finder.ModuleFinder().find_spec("agc", None) is None


def test_byte_code_is_read_until_the_source_changes(package):
    source = package / "plain.py"
    assert answer(package) == 41
    py_compile.compile(str(source))
    assert answer(package) == 41
    source.write_text("def answer():\n    return 100 + 1\n")
    assert answer(package) == 101


@pytest.mark.parametrize("mode", list(py_compile.PycInvalidationMode))
def test_byte_code_of_every_kind_runs(package, mode):
    py_compile.compile(str(package / "plain.py"), invalidation_mode=mode)
    assert answer(package) == 41


def test_damaged_byte_code_is_compiled_again(package):
    path = py_compile.compile(str(package / "plain.py"))
    with open(path, "r+b") as file:
        file.write(b"damaged")
    assert answer(package) == 41


def test_byte_code_that_was_moved_has_the_path_of_its_source(package, tmp_path):
    py_compile.compile(str(package / "plain.py"))
    moved = tmp_path / "moved"
    shutil.copytree(package, moved, ignore=shutil.ignore_patterns("moved"))
    shutil.copystat(package / "plain.py", moved / "plain.py")
    code = found(moved, "plain").loader.get_code("agc.plain")
    assert code.co_filename == str(moved / "plain.py")


@pytest.mark.skipif(os.sep != "/", reason="other paths are left to Python's finder")
def test_modules_of_agc_are_found_here():
    for module in (agc.runtime.core, agc.runtime.nest):
        assert type(module.__spec__.loader) is module_finder.ModuleLoader


def test_finders_that_a_program_installs_first_stay_first():
    script = (
        "import sys\n"
        "class First:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        seen.append(name)\n"
        "seen = []\n"
        "sys.meta_path.insert(0, First())\n"
        "import agc.autograph.errors\n"
        "assert 'agc.autograph.errors' in seen"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
