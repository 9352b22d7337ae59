"""Programs that were not written for this tool: converted or not, they print the same and exit the same.

python program.py            the program itself
agc run program.py           its converted module
agc convert program.py       its generated code, run by plain Python
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support import prepared

FOLDER = Path(__file__).parent.parent / "fixtures" / "stranger"
LISP, PENDULUM, SEARCHES = FOLDER / "tinylisp.py", FOLDER / "pendulum.py", FOLDER / "searches.py"

Result = tuple[int, str, str]  # exit code, standard output, standard error

LISP_ARGUMENTS = [
    [],
    ["--profile"],
    ["--list"],
    ["--only", "queens", "--only", "words"],
    ["--only", "nosuch"],
    ["-e", "(fold + 0 (map (lambda (x) (* x x)) (range 10)))"],
    ["-e", "(car 5"],
    ["--help"],
]


# A program that recurses deeply: blocks take frames of their own, which `agc run` makes room for.
WITH_ROOM = """
import runpy, sys
sys.setrecursionlimit(5 * sys.getrecursionlimit())
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def python(*arguments: str | Path) -> Result:
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def agc(*arguments: str | Path) -> Result:
    done = prepared.run(arguments, env={**os.environ, "PYTHONIOENCODING": "utf-8"})
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def converted_lisp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated code of the interpreter, in a file of its own."""
    target = tmp_path_factory.mktemp("converted") / "tinylisp.py"
    assert agc("convert", LISP, "-o", target) == (0, "", "")
    return target


@pytest.mark.parametrize("arguments", LISP_ARGUMENTS, ids=" ".join)
def test_an_interpreter_runs_the_same_converted(arguments: list[str], converted_lisp: Path) -> None:
    original = python(LISP, *arguments)
    assert original[1] or original[2]
    assert agc("run", LISP, *arguments) == original
    assert python("-c", WITH_ROOM, converted_lisp, *arguments) == original


def test_a_simulation_prints_what_it_prints_under_tensorflow() -> None:
    expected = (FOLDER / "pendulum.out").read_text(encoding="utf-8")
    for code, printed, warned in (python(PENDULUM), agc("run", PENDULUM)):
        assert (code, printed) == (0, expected)
        # Each experiment has another length, and two functions are traced for each.
        assert re.findall(r"calls to (.*) triggered tf\.function retracing", warned) == [
            "over_the_top",
            "histogram",
        ]


def test_a_simulation_that_gives_up_says_so_and_fails() -> None:
    arguments = ["wide swing", "--most-steps", "50"]
    code, printed, warned = agc("run", PENDULUM, *arguments)
    assert code == 1
    assert "wide swing: stopped before t = 40" in printed
    assert "0 of 1 experiments finished" in printed
    assert warned.startswith("gave up after ")
    assert python(PENDULUM, *arguments) == (code, printed, warned)


def test_puzzles_and_simulations_print_what_python_computes() -> None:
    """The expected text is what the same functions give for NumPy's and Python's values."""
    expected = (0, SEARCHES.with_suffix(".out").read_text(encoding="utf-8"), "")
    assert python(SEARCHES) == expected
    assert agc("run", SEARCHES) == expected
