"""`agc run FILE`: what `python FILE` does, in every respect that a program can see."""

import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

SURROUNDINGS = """\
import sys
print(sys.argv, sys.path[0])
print(__name__, __file__, __spec__, __package__, __doc__, __cached__, type(__loader__), __builtins__)
print(list(globals()))
print(sys.modules["__main__"].__dict__ is globals())
"""

#  what               program                                                          exit code
ENDINGS = {
    "nothing special": ("print('done')", 0),
    "exit": ("raise SystemExit", 0),
    "exit None": ("import sys; sys.exit(None)", 0),
    "exit number": ("import sys; sys.exit(7)", 7),
    "exit large number": ("import sys; sys.exit(300)", 44),
    "exit message": ("import sys; sys.exit('no luck')", 1),
    "exit True": ("import sys; sys.exit(True)", 1),
    "exit in a branch": ("import sys\nif len(sys.argv) < 2:\n    sys.exit('usage: prog N')", 1),
    "os._exit": ("import os; print('x', flush=True); os._exit(3)", 3),
    "exception": ("print('before')\n1 / 0", 1),
    "in a function": ("def f(x):\n    return [][x]\n\n\nf(3)\n", 1),
    "with a cause": ("try:\n    {}['k']\nexcept KeyError as e:\n    raise ValueError('v') from e", 1),
    "while handling": ("try:\n    1 / 0\nexcept ZeroDivisionError:\n    undefined_name\n", 1),
    "with a note": ("e = ValueError('v')\ne.add_note('a note')\nraise e", 1),
    "a group": ("raise ExceptionGroup('g', [ValueError(1), TypeError(2)])", 1),
    "a failed import": ("import no_such_module", 1),
    "atexit": ("import atexit; atexit.register(print, 'bye'); raise SystemExit(4)", 4),
    "a hook": ("import sys; sys.excepthook = lambda *error: print('hook', error[1]); 1 / 0", 1),
    "recursion": ("def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    print(1)", 0),
    "a thread": ("import threading as t\nt.Timer(0.1, print, ['late']).start()", 0),
    "an open generator": (
        "def g():\n    try:\n        yield 1\n    finally:\n        print(2)\nnext(g())",
        0,
    ),
}


def same(theirs, ours):
    """Both processes said and returned the same."""
    assert without_addresses(ours.stdout) == without_addresses(theirs.stdout)
    assert ours.stderr == theirs.stderr
    assert ours.returncode == theirs.returncode


def without_addresses(text):
    return re.sub("0x[0-9a-f]+", "0x", text)


def test_the_example(agc):
    result = agc("run", "collatz.py")
    assert (result.stdout, result.stderr, result.returncode) == ("111\n", "", 0)


@pytest.mark.parametrize("path", ["prog.py", "./prog.py", "sub/../prog.py", "sub/link.py"])
def test_names_paths_and_arguments(agc, python, folder, path):
    (folder / "prog.py").write_text(SURROUNDINGS)
    (folder / "sub").mkdir()
    (folder / "sub" / "link.py").symlink_to("../prog.py")
    arguments = ["a", "--eager", "--help", "--", "--graph", "-x", ""]
    same(python(path, *arguments), agc("run", path, *arguments))


def test_options_before_the_file_are_agcs(agc, folder):
    (folder / "prog.py").write_text("import sys; print(sys.argv)")
    assert agc("run", "--", "prog.py", "--", "-m").stdout == "['prog.py', '--', '-m']\n"


def test_a_program_on_stdin(agc, python):
    same(python("-", "a", "-b", stdin=SURROUNDINGS), agc("run", "-", "a", "-b", stdin=SURROUNDINGS))
    assert agc("run", "-", stdin="1 / 0").stderr.endswith("ZeroDivisionError: division by zero\n")


@pytest.mark.parametrize("ending", ENDINGS)
def test_endings(agc, python, folder, ending):
    program, exit_code = ENDINGS[ending]
    (folder / "prog.py").write_text(program)
    theirs = python("prog.py")
    assert theirs.returncode == exit_code
    same(theirs, agc("run", "prog.py"))


def test_a_traceback_through_converted_control_flow_has_the_users_frames_only(agc, python, folder):
    (folder / "prog.py").write_text(
        "def f(xs):\n    total = 0\n    for x in xs:\n        if x > 1:\n            total += 1 // (x - 2)\n"
        "    return total\n\n\ndef g(n):\n    while n > 0:\n        n = f([1, n])\n    return n\n\n\ng(2)\n"
    )
    theirs, ours = python("prog.py"), agc("run", "prog.py")
    lines = [line for line in ours.stderr.splitlines() if not line.strip("^~ ")]
    assert ours.returncode == 1
    assert [line for line in ours.stderr.splitlines() if line.startswith('  File "')] != []
    assert "agc" not in ours.stderr.replace(str(folder), "")
    # The blocks of a function are functions of their own, so a line may occur in several frames.
    said = list(dict.fromkeys(line for line in ours.stderr.splitlines() if line not in lines))
    expected = [line for line in theirs.stderr.splitlines() if line.strip("^~ ")]
    assert [line for line in expected if line not in said] == []


def test_all_frames_on_demand(agc, folder):
    (folder / "prog.py").write_text("1 / 0")
    message = agc("run", "prog.py", env={"AGC_FULL_TRACEBACK": "1"}).stderr
    assert os.path.join("cli", "user_code.py") in message
    assert message.endswith("ZeroDivisionError: division by zero\n")


def test_a_hook_that_fails(agc, folder):
    (folder / "prog.py").write_text("import sys\ndef hook(*error):\n    oops\nsys.excepthook = hook\n1 / 0\n")
    message = agc("run", "prog.py").stderr
    assert message.startswith("Error in sys.excepthook:\nTraceback (most recent call last):\n")
    assert "NameError: name 'oops' is not defined\n\nOriginal exception was:\n" in message
    assert message.endswith("ZeroDivisionError: division by zero\n")


def test_classes_of_the_program_can_be_pickled(agc, python, folder):
    (folder / "prog.py").write_text(
        "import copy, pickle\nfrom dataclasses import dataclass\n\n@dataclass\nclass Point:\n    x: int\n\n"
        "def double(x):\n    return 2 * x\n\n"
        "print(pickle.loads(pickle.dumps([Point(1), double, Point])), Point.__module__)\n"
    )
    theirs, ours = python("prog.py"), agc("run", "prog.py")
    assert ours.stderr == ""
    assert without_addresses(ours.stdout) == without_addresses(theirs.stdout)


def test_modules_next_to_the_program_can_be_imported(agc, folder):
    (folder / "sub").mkdir()
    (folder / "sub" / "beside.py").write_text("value = 5\n")
    (folder / "sub" / "prog.py").write_text("import beside\nprint(beside.value)\n")
    assert agc("run", "sub/prog.py").stdout == "5\n"


@pytest.mark.parametrize("name", ["gast", "click", "tokenize", "textwrap"])
def test_a_module_of_the_program_shadows_one_used_by_agc(agc, python, folder, name):
    (folder / "sub").mkdir()
    (folder / "sub" / f"{name}.py").write_text(
        "def down(x):\n    while x > 0:\n        x = x - 1\n    return x\n"
    )
    (folder / "sub" / "prog.py").write_text(f"import {name}\nprint({name}.down(3))\n")
    same(python("sub/prog.py"), agc("run", "sub/prog.py"))


def test_stdin_belongs_to_the_program(agc, folder):
    (folder / "prog.py").write_text("print(sum(int(line) for line in open(0)))\n")
    assert agc("run", "prog.py", stdin="1\n2\n3\n").stdout == "6\n"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", ""),
        (b"# nothing but this", ""),
        (b"\xef\xbb\xbfprint('bom')\r\nif True:\r\n\tprint('tab')\r\n", "bom\ntab\n"),
        (b"# -*- coding: latin-1 -*-\nprint('caf\xe9')\n", "caf\u00e9\n"),
        (b"print('''a\r\nb''')\rprint(3)", "a\nb\n3\n"),
        ("größe = '字'; print(größe)".encode(), "字\n"),
    ],
)
def test_byte_order_marks_and_encodings_are_read(agc, folder, data, expected):
    (folder / "prog.py").write_bytes(data)
    result = agc("run", "prog.py")
    assert (result.stdout, result.stderr) == (expected, "")


MODULES = {
    "pkg/__init__.py": "print('pkg', __name__)\n",
    "pkg/__main__.py": "import sys\nfrom . import part\nprint('main', part.x, sys.argv[1:])\n" + SURROUNDINGS,
    "pkg/part.py": "x = 1\nif __name__ == '__main__':\n    print('part', __package__)\n",
    "bare/__init__.py": "",
    "broken/__init__.py": "1 / 0\n",
    "broken/part.py": "",
}


@pytest.fixture
def modules(folder):
    for path, text in MODULES.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize("name", ["pkg", "pkg.part", "pkg.__main__", "collatz", "json.tool"])
def test_a_module_by_name(agc, python, name):
    arguments = ["--help"] if name == "json.tool" else ["--eager", "--", "x"]
    theirs, ours = python("-m", name, *arguments), agc("run", "-m", name, *arguments)
    if name == "json.tool":
        ours.stdout = ours.stdout.replace("tool.py", "python -m json.tool")
        theirs.stdout = theirs.stdout.replace("tool.py", "python -m json.tool")
    same(theirs, ours)


PARTS = {
    "model/__init__.py": "from .layers import *\n",
    "model/__main__.py": "from . import layers\nfrom .deep.sums import total\n"
    "import sys\nprint(total(4), layers.relu(-1), sys._getframe().f_code.co_name)\n"
    "if sys.argv[1:] == ['staged']:\n    from agc.autograph import staging\n"
    "    held = staging.live()\n    held.__enter__()\n"
    "if sys.argv[1:]:\n    layers.fail(3)\n",
    "model/layers.py": "def relu(x):\n    if x > 0:\n        return x\n    return 0\n\n\n"
    "def fail(n):\n    while n > -1:\n        n -= 1\n        1 / n\n",
    "model/deep/sums.py": "def total(n):\n    while n > 3:\n        n -= 1\n    return n\n",
}


@pytest.fixture(params=["folder", "archive"])
def package(request, folder):
    """A package with parts of every kind, and the environment in which it is found."""
    place = folder / "parts"
    for path, text in PARTS.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    if request.param == "archive":
        place = shutil.make_archive(str(folder / "parts"), "zip", place)
    return {"PYTHONPATH": str(place)}


@pytest.mark.parametrize("arguments", [[], ["fail"]])
def test_a_package_as_a_program(agc, python, package, arguments):
    theirs = python("-m", "model", *arguments, env=package)
    for _ in range(2):  # converted, then from the disk
        ours = agc("run", "-m", "model", *arguments, env=package)
        assert ours.stdout == theirs.stdout
        assert ours.returncode == theirs.returncode
        assert ours.stderr == without_runpy(theirs.stderr)


def test_all_of_a_package_is_converted(agc, package):
    traceback = agc("run", "-m", "model", "staged", env={**package, "AGC_FULL_TRACEBACK": "1"}).stderr
    assert "in while_loop" in traceback  # of the operators, which `fail` has called


def without_runpy(text):
    return re.sub(r'  File "<frozen runpy>".*\n', "", text)


@pytest.mark.parametrize("place", ["app", "./app/", "app.zip"])
def test_a_folder_or_an_archive_as_a_program(agc, python, folder, place):
    (folder / "app").mkdir()
    (folder / "app" / "part.py").write_text("def f(n):\n    while n > 3:\n        n -= 1\n    return n\n")
    (folder / "app" / "__main__.py").write_text("import part\n" + SURROUNDINGS + "print(part.f(9))\n1 / 0\n")
    shutil.make_archive(str(folder / "app"), "zip", folder / "app")
    theirs, ours = python(place, "x"), agc("run", place, "x")
    assert without_addresses(ours.stdout) == without_addresses(theirs.stdout)
    assert ours.stderr == without_runpy(theirs.stderr)
    assert ours.returncode == 1


def test_an_archive_without_a_program(agc, folder):
    (folder / "app").mkdir()
    (folder / "app" / "part.py").touch()
    shutil.make_archive(str(folder / "app"), "zip", folder / "app")
    result = agc("run", "app.zip")
    assert (
        result.stderr == "error[AGC308]: there is no `__main__` module in `app.zip`\nfix: add __main__.py\n"
    )
    assert result.returncode == 2


@pytest.mark.usefixtures("modules")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nothing", "there is no module `nothing`\nfix: is it in this folder, or installed?\n"),
        ("pkg.nothing", "there is no module `pkg.nothing`\nfix: is it in this folder, or installed?\n"),
        ("collatz.py", "there is no module `collatz.py`\nfix: agc run collatz.py\n"),
        ("bare", "`bare` is a package without a `__main__` module\nfix: add bare.__main__\n"),
        (".pkg", "`.pkg` is not a module's full name\n"),
        ("math", "the module `math` has no Python source\n"),
    ],
)
def test_a_module_that_cannot_be_run(agc, name, expected):
    result = agc("run", "-m", name)
    assert result.stderr == f"error[AGC308]: {expected}"
    assert result.returncode == (1 if name == "math" else 2)


def test_a_module_name_may_be_attached_to_its_option(agc):
    assert agc("run", "-mcollatz").stdout == "111\n"


@pytest.mark.usefixtures("modules")
def test_a_package_that_fails_on_import(agc):
    result = agc("run", "-m", "broken.part")
    assert result.stderr.endswith("ZeroDivisionError: division by zero\n")
    assert "cli" not in result.stderr
    assert result.returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt(agc, folder):
    (folder / "prog.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    result = agc("run", "prog.py")
    assert result.returncode == 130
    assert result.stderr.endswith("KeyboardInterrupt\n")
    (folder / "prog.py").write_text(
        f"try:\n    raise KeyboardInterrupt\nexcept KeyboardInterrupt:\n    print({signal.SIGINT:d})"
    )
    assert agc("run", "prog.py").stdout == "2\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "program",
    [
        "for i in range(100000): print('line', i)",
        "print('one line')",
        "import sys\nprint('one line')\nsys.exit(0)",
    ],
)
def test_a_closed_pipe_ends_the_program_quietly(folder, program, unbuffered):
    (folder / "prog.py").write_text(program)
    assert into_closed_pipe(["run", "prog.py"], folder, unbuffered) in (b"",)


@pytest.mark.parametrize("command", [["convert", "collatz.py"], ["--help"], ["completion", "zsh"]])
def test_a_closed_pipe_ends_agc_quietly(folder, command):
    assert into_closed_pipe(command, folder) == b""


def into_closed_pipe(arguments, folder, unbuffered=""):
    """Return the stderr of a command whose stdout is closed."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return subprocess.run(
            [sys.executable, "-m", "agc.cli", *arguments],
            stdout=writer,
            stderr=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            timeout=60,
        ).stderr
    finally:
        os.close(writer)


def test_a_broken_pipe_of_the_programs_own_is_an_exception(agc, folder):
    (folder / "prog.py").write_text("import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'x')\n")
    result = agc("run", "prog.py")
    assert result.stderr.endswith("BrokenPipeError: [Errno 32] Broken pipe\n")
    assert result.returncode == 1


LISTED = """
import agc.runtime as tf
from agc import autograph


@autograph.do_not_convert
def plain(x):
    return x


@tf.function
def main(x):
    return plain(x) if x > 0 else -x


print(main(tf.constant(-3)).numpy())
"""


def test_conversions_option_lists_converted_and_skipped_functions(agc, folder):
    (folder / "prog.py").write_text(LISTED)
    result = agc("run", "--conversions", "prog.py")
    assert result.stdout == "3\n"
    told = [" ".join(line.split()) for line in result.stderr.splitlines()]
    assert told == [
        f"left alone plain, at {folder / 'prog.py'}:6: do_not_convert",
        f"with its module main, at {folder / 'prog.py'}:11",
    ]


def test_conversions_are_listed_for_a_program_that_exits(agc, folder):
    (folder / "prog.py").write_text("def three():\n    return 3\n\n\nraise SystemExit(three())\n")
    result = agc("run", "--conversions", "prog.py")
    assert result.returncode == 3
    assert result.stderr.split() == ["with", "its", "module", "three,", "at", f"{folder / 'prog.py'}:1"]
