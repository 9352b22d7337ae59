"""Which code is the user's own."""

import collections
import dataclasses
import functools
import json
import os
import sys
import types

import agc.autograph.api
import numpy
import pytest
from agc.autograph import policy


def mine(x):
    return x


def library(f):
    return not policy.is_user_code(f)


def made(text, filename, **module_globals):
    namespace = {"__name__": "made_up", **module_globals}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def test_the_user_s_own_functions():
    assert policy.is_user_code(mine)
    assert policy.is_user_code(lambda: 0)


@pytest.mark.parametrize(
    "f", [json.dumps, os.path.join, collections.Counter.update, numpy.broadcast_shapes, pytest.approx]
)
def test_the_standard_library_and_installed_packages_are_not(f):
    assert library(f)


def test_locating_the_standard_library_imports_nothing(monkeypatch):
    # The import hook calls this, and sysconfig imports a module of its own when it is first used.
    monkeypatch.setitem(sys.modules, "sysconfig", None)
    policy._standard_library.cache_clear()
    assert os.path.dirname(os.__file__) + os.sep in policy._standard_library()


def test_code_of_agc_is_not_user_code():
    assert library(agc.autograph.api.convert)
    assert policy.is_own(agc.autograph.api.convert)


@pytest.mark.parametrize(
    "filename",
    ["<stdin>", "<string>", "<ipython-input-1-abc>", "<python-input-3>", "/x/app.zip/m.py", "m.py"],
)
def test_code_without_a_common_file_is_the_user_s(filename):
    assert policy.is_user_code(made("def f(): pass", filename))


def test_frozen_code():
    assert library(made("def f(): pass", "<frozen os>", __name__="os"))
    assert policy.is_user_code(made("def f(): pass", "<frozen app>", __name__="app"))


def test_code_that_a_library_generates():
    @dataclasses.dataclass
    class Point:
        x: int

    assert library(collections.namedtuple("P", "x").__new__)
    assert library(made("def f(): pass", "<string>", __name__="numpy"))
    assert policy.is_user_code(Point.__init__)  # it lives in the user's module


@pytest.mark.parametrize("folder", ["lib/python3.11/site-packages", "usr/lib/python3/dist-packages"])
def test_installed_is_judged_by_the_folder(folder):
    assert policy.is_library_file(f"/some/{folder}/package/module.py")


def test_an_editable_install_is_the_user_s():
    assert not policy.is_library_file("/home/me/project/src/package/module.py")


def test_modules():
    assert all(map(policy.is_library_module, [os, sys, numpy, json, agc.autograph.api]))
    assert not policy.is_library_module(sys.modules[__name__])
    assert not policy.is_library_module(types.ModuleType("my_namespace"))


def test_names_are_judged_without_importing(tmp_path, monkeypatch):
    (tmp_path / "never_imported").mkdir()
    (tmp_path / "never_imported/__init__.py").write_text("raise AssertionError('it was imported')")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("os", "os.path", "numpy", "numpy.linalg", "agc.runtime", "agc.autograph", "pytest"):
        assert policy.is_library_name(name), name
    for name in ("my_model", "agc_tests", "__main__", "click", "mypy.nodes", "never_imported.part"):
        assert not policy.is_library_name(name), name


def test_a_module_next_to_the_file_is_user_code(tmp_path):
    (tmp_path / "numpy.py").write_text("")
    assert not policy.is_library_name("numpy", str(tmp_path))
    assert policy.is_library_name("numpy")


def test_do_not_convert_with_and_without_parentheses():
    @policy.do_not_convert
    def f():
        pass

    @policy.do_not_convert()
    def g():
        pass

    def h():
        pass

    assert policy.is_excluded(f.__code__)
    assert policy.is_excluded(g.__code__)
    assert not policy.is_excluded(h.__code__)


def test_do_not_convert_on_methods_and_classes():
    class A:
        @policy.do_not_convert
        @staticmethod
        def one():
            pass

        @classmethod
        @policy.do_not_convert
        def two(cls):
            pass

        def three(self):
            pass

        @property
        def four(self):
            pass

    excluded = [policy.is_excluded(f.__code__) for f in (A.one, A.two, A.three, A.four.fget)]
    assert excluded == [True, True, False, False]
    assert policy.do_not_convert(A) is A
    assert all(policy.is_excluded(f.__code__) for f in (A.one, A.two, A.three, A.four.fget))
    assert policy.do_not_convert(functools.partial(mine)).func is mine


def test_only_what_can_be_called_is_marked():
    marked = classmethod(mine), staticmethod(mine), property(mine), int, len, functools.partial(len)
    for function in marked:
        assert policy.do_not_convert(function) is function
    for value in (3, "mine", [mine]):
        with pytest.raises(TypeError, match="a function, a method or a class, not"):
            policy.do_not_convert(value)
