"""Modules that are converted when they are imported, and kept on disk for the next time."""

import importlib
import inspect
import os
import pickle
import subprocess
import sys
import textwrap
import zipfile

import pytest
from agc.autograph import code_cache, convert, install_import_hook
from agc.autograph import operators as ag__
from agc.autograph.import_hook import hook as importing
from agc.autograph.introspection.code_objects import nested_code_objects

FILES = {
    "model/__init__.py": "from .layers import *\nfrom . import layers\n",
    "model/layers.py": """
        def relu(x):
            if x > 0:
                return x
            return 0


        def later(n):
            from .deep import sums
            return sums.total(n)
    """,
    "model/deep/sums.py": """
        def total(n):
            result = 0
            while n > 0:
                result += n
                n -= 1
            return result
    """,
    "model/broken.py": "def f(:\n",
    "model/failing.py": "def f(x):\n    if x:\n        return 1 / 0\n    return 1\n",
    "model/strange.py": """
        def refused(xs):
            for x in xs:
                try:
                    return x()
                finally:
                    break


        def fine(x):
            return 1 if x else 2
    """,
    "other.py": "def f(x):\n    return 1 if x else 2\n",
}


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder on sys.path with the package `model`, and a cache of its own; forgotten in the end."""
    for name, text in FILES.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("AGC_CACHE", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    yield tmp_path / "site"
    forget()


def forget():
    for name in [name for name in sys.modules if name.partition(".")[0] in ("model", "other")]:
        del sys.modules[name]


def is_converted(f):
    """Whether the code of a function calls the operators."""
    return any(constant is ag__ for code in nested_code_objects(f.__code__) for constant in code.co_consts)


@pytest.mark.usefixtures("site")
def test_a_package_is_converted_on_import():
    with install_import_hook("model"):
        import model
        import other

        assert model.later(4) == 10  # a submodule, in a namespace package, that is imported only now
    assert is_converted(model.relu)
    assert is_converted(sys.modules["model.deep.sums"].total)
    assert not is_converted(other.f)


@pytest.mark.usefixtures("site")
def test_without_names_all_modules_of_the_user_are_converted():
    with install_import_hook():
        import other

        json = importlib.reload(importlib.import_module("json.tool"))
    assert is_converted(other.f)
    assert not is_converted(json.main)


@pytest.mark.usefixtures("site")
def test_the_hook_can_be_removed():
    hook = install_import_hook("model")
    hook.uninstall()
    hook.uninstall()  # once is enough, twice is fine
    import model

    assert hook not in sys.meta_path
    assert not is_converted(model.relu)


@pytest.mark.usefixtures("site")
def test_two_hooks_can_be_installed_and_removed():
    with install_import_hook("model"), install_import_hook("other"):
        import model
        import other
    assert is_converted(model.relu)
    assert is_converted(other.f)


def test_a_package_is_named():
    with pytest.raises(TypeError, match="packages are named by str, not module"):
        install_import_hook(sys)


@pytest.mark.usefixtures("site")
def test_module_attributes_are_unchanged():
    def facts(module):
        spec = module.__spec__
        return (
            type(module.__loader__),
            module.__file__,
            module.__cached__,
            module.__path__,
            (spec.name, spec.origin, spec.parent, spec.cached, spec.has_location),
            module.__loader__.get_source("model"),
            list(vars(module)),
            list(vars(module.layers)),
        )

    import model as plain

    forget()
    with install_import_hook("model"):
        import model
    assert model is not plain
    assert facts(model) == facts(plain)
    assert inspect.getsource(model.relu) == inspect.getsource(plain.relu)


@pytest.mark.usefixtures("site")
def test_functions_of_a_converted_module_are_pickled_by_name():
    with install_import_hook("model"):
        import model
    assert pickle.loads(pickle.dumps(model.relu)) is model.relu
    assert convert(model.relu) is model.relu


def test_a_package_in_an_archive(site, monkeypatch):
    archive = site.parent / "site.zip"
    with zipfile.ZipFile(archive, "w") as made:
        for path in sorted((site / "model").rglob("*.py")):
            made.write(path, path.relative_to(site))
    monkeypatch.syspath_prepend(str(archive))
    with install_import_hook("model"):
        import model
    assert model.__file__ == str(archive / "model" / "__init__.py")
    assert is_converted(model.relu)
    assert model.relu(2) == 2
    forget()
    import model as plain  # the loader of an archive is one for all: it is as it was

    assert not is_converted(plain.relu)


def test_a_module_without_source_is_imported_unconverted(site):
    import py_compile

    py_compile.compile(str(site / "other.py"), str(site / "model" / "other.pyc"), doraise=True)
    with install_import_hook("model"):
        from model import other
    assert other.f(0) == 2
    assert not is_converted(other.f)


@pytest.mark.usefixtures("site")
def test_a_syntax_error_is_python_s():
    with pytest.raises(SyntaxError) as plain:
        importlib.import_module("model.broken")
    with install_import_hook("model"), pytest.raises(SyntaxError) as hooked:
        importlib.import_module("model.broken")
    assert type(hooked.value) is SyntaxError
    assert (hooked.value.args, hooked.value.filename) == (plain.value.args, plain.value.filename)


def test_a_warning_of_the_compiler_is_given_once_as_by_python(site):
    def given(*hooked):
        forget()
        importlib.invalidate_caches()
        (site / "other.py").write_text('def f(x):\n    return "\\d" if x is 1 else x\n')
        with install_import_hook(*hooked), pytest.warns() as caught:
            assert importlib.import_module("other").f(2) == 2
        return [(warning.category, str(warning.message), warning.lineno) for warning in caught]

    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    try:
        assert given("other") == given("something else")
    finally:
        sys.dont_write_bytecode = before


@pytest.mark.usefixtures("site")
def test_an_unconvertible_function_does_not_stop_the_import():
    with install_import_hook("model"):
        from model import strange
    assert strange.refused([dict]) is None
    from agc.autograph import ConversionError

    assert convert(strange.fine)(0) == 2
    with pytest.raises(ConversionError, match="AGC110"):
        ag__.converted(strange.refused)


def test_do_not_convert_is_found_in_every_spelling(site):
    (site / "other.py").write_text(
        "from agc.autograph import do_not_convert\n"
        "skip = do_not_convert\n\n\n"
        "@skip\nclass Model:\n    def call(self, x):\n        return super().__init__() or (1 if x else 2)\n\n\n"
        "@do_not_convert()\ndef f(x):\n    return 1 if x else 2\n\n\n"
        "def g(x):\n    return 1 if x else 2\n\n\n"
        "def h(x):\n    def inner(y):\n        return x if y else 2\n    return do_not_convert(inner)\n"
    )
    for _ in range(2):
        other = imports("other")
        assert other.do_not_convert(other.g) is other.g
        for function in (other.Model.call, other.f, other.g, other.h(1)):
            assert not is_converted(function)
            assert ag__.converted(function) is function
        assert (other.Model().call(0), other.f(1), other.g(0), other.h(1)(1)) == (2, 1, 2, 1)
        assert is_converted(other.h)


def test_do_not_convert_distinguishes_the_lambdas_of_a_line(site):
    (site / "other.py").write_text(
        "from agc.autograph import do_not_convert as skip\n"
        "f, g, h = skip(lambda x: abs(x) + 1), skip(lambda x: abs(x) * 2), skip(lambda x: 5 if x else abs(x))\n"
    )
    for _ in range(2):
        other = imports("other")
        assert (other.f(3), other.g(3), other.h(3)) == (4, 6, 5)
        assert not any(map(is_converted, (other.f, other.g, other.h)))


# The cache


def conversions(monkeypatch):
    """The names of the modules that are converted from now on."""
    from agc.autograph.import_hook import compile_module

    seen, convert_module = [], compile_module.convert

    def watched(text, filename):
        seen.append(os.path.basename(filename))
        return convert_module(text, filename)

    monkeypatch.setattr(compile_module, "convert", watched)
    return seen


def imports(*names):
    """Import modules anew, converted; return the last one."""
    forget()
    with install_import_hook("model", "other"):
        return [importlib.import_module(name) for name in names][-1]


def entries(site):
    return sorted((site.parent / "cache").rglob("*.agc"))


def test_a_cached_module_is_not_converted_again(site, monkeypatch):
    seen = conversions(monkeypatch)
    first = imports("model").relu
    again = imports("model").relu
    assert seen == ["__init__.py", "layers.py"]
    assert again is not first
    assert is_converted(again)
    assert again.__code__ == first.__code__
    assert list(again.__code__.co_positions()) == list(first.__code__.co_positions())
    assert len(entries(site)) == 2


def test_a_traceback_through_code_from_the_disk(site):
    def failure():
        with pytest.raises(ZeroDivisionError) as error:
            imports("model.failing").f(1)
        return [(str(entry.path), entry.lineno, entry.name) for entry in error.traceback[1:]]

    first = failure()
    assert failure() == first
    assert first[-1] == (str(site / "model" / "failing.py"), 2, "f")


def test_a_changed_file_is_converted_again_in_the_same_place(site, monkeypatch):
    seen = conversions(monkeypatch)
    assert imports("other").f(0) == 2
    os.utime(site / "other.py", (0, 0))  # its time is of no account
    assert imports("other").f(0) == 2
    (site / "other.py").write_text("def f(x):\n    return 1 if x else 3\n")
    assert imports("other").f(0) == 3
    assert seen == ["other.py"] * 2
    assert len(entries(site)) == 1


def test_another_version_of_the_compiler_converts_again(site, monkeypatch):
    seen = conversions(monkeypatch)
    imports("other")
    monkeypatch.setattr(code_cache, "_version", lambda: b"another")
    imports("other")
    imports("other")
    assert seen == ["other.py"] * 2


def test_a_module_that_becomes_user_code_is_converted(site, monkeypatch):
    (site / "other.py").write_text(
        "import hypothesis\n\n\ndef f(x):\n    return hypothesis.given(x) if x else None\n"
    )
    seen = conversions(monkeypatch)
    imports("other")
    imports("other")
    assert seen == ["other.py"]
    (site / "hypothesis.py").write_text("")  # now the import would find this one
    imports("other")
    assert seen == ["other.py"] * 2


@pytest.mark.parametrize("damage", ["emptied", "cut", "changed", "replaced", "a directory"])
def test_a_damaged_entry_is_written_again(site, monkeypatch, damage):
    seen = conversions(monkeypatch)
    imports("other")
    (entry,) = entries(site)
    data = entry.read_bytes()
    if damage == "a directory":
        entry.unlink()
        entry.mkdir()
    else:
        middle = len(data) // 2
        changed = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        entry.write_bytes(
            {"emptied": b"", "cut": data[:-9], "changed": changed, "replaced": b"agc" * 100}[damage]
        )
    assert imports("other").f(1) == 1
    assert seen == ["other.py"] * 2
    if damage != "a directory":
        assert entry.read_bytes() == data


@pytest.mark.parametrize("value", ["0", None])
def test_a_cache_that_is_off_or_cannot_be_written(site, monkeypatch, value):
    seen = conversions(monkeypatch)
    if value == "0":
        monkeypatch.setenv("AGC_CACHE", "0")
    else:  # a file where the folder would be, which not even root can write into
        (site.parent / "cache").write_text("")
    for _ in range(2):
        assert imports("other").f(1) == 1
    assert seen == ["other.py"] * 2
    assert entries(site) == []


def test_entries_differ_by_file_and_flags(monkeypatch):
    def names():
        return {code_cache.Entry("", filename).name for filename in ("/a/x.py", "/b/x.py")}

    one = names()
    monkeypatch.setenv("PYTHONNODEBUGRANGES", "1")
    assert len(one | names()) == 4


@pytest.mark.parametrize("name", ["m\udcff", "m\ud800", "m\0", "<m: 1/2>", "m\u00e9", "\u6a5f" * 100])
def test_code_of_files_with_any_name_is_stored(monkeypatch, tmp_path, name):
    """A file system may have names that are no UTF-8, and code may come from no file."""
    monkeypatch.setenv("AGC_CACHE_DIR", str(tmp_path))
    entry = code_cache.Entry("", f"/a/{name}.py")
    entry.write(compile("1", "m", "eval"), {})
    assert eval(entry.read(lambda question: True)) == 1
    assert all(path.name.isascii() for path in tmp_path.rglob("*"))


def test_many_processes_at_once(site):
    program = (
        "from agc.autograph import install_import_hook\n"
        "install_import_hook('model')\n"
        "import model\n"
        "assert model.later(4) == 10\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", program], cwd=site, stderr=subprocess.PIPE) for _ in range(4)
    ]
    assert [process.communicate()[1] for process in started] == [b""] * 4
    assert [process.returncode for process in started] == [0] * 4
    kept = {"".join(path.suffixes) for path in (site.parent / "cache").rglob("*") if path.is_file()}
    assert kept == {".agc"}  # nothing half-written is left
    assert len(entries(site)) == 3


def test_only_loaders_that_execute_code_are_replaced():
    assert importing._runs_its_code(importlib.machinery.SourceFileLoader("x", "x.py"))
    assert not importing._runs_its_code(importlib.machinery.BuiltinImporter)
    assert not importing._runs_its_code(None)
