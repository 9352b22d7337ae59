"""Python's own debugger on converted code: breakpoints, variables and the stack are those of the user's file."""

import re

import pytest

PROGRAM = """\
def scale(x, by):
    while x > by:
        x -= by
    return x


def total(xs):
    result = 0
    limit = 3
    for x in xs:
        if x > 1:
            y = scale(x, 2)
            result += y
        else:
            result -= 1
        if result > 3:
            break
    return result


if __name__ == "__main__":
    START
"""
PDB = PROGRAM.replace("START", "from agc.autograph import convert; print(convert(total)([3, 1, 5, 7, 9]))")
HOOK = PROGRAM.replace("START", "breakpoint()\n    print(total([3, 1, 5, 7, 9]))")


@pytest.fixture
def debugged(python, tmp_path):
    """What a debugger says to each of some commands, without its prompt."""

    def start(program, options, *commands):
        (tmp_path / "program.py").write_text(program)
        done = python(*options, "program.py", lines=[*commands, "clear", "y", "continue"])
        said = done.stdout.replace(f"{tmp_path}/", "").split("(Pdb) ")
        return [re.sub(r"^Breakpoint \d+ at ", "", part).rstrip() for part in said[1 : 1 + len(commands)]]

    return start


@pytest.fixture
def pdb(debugged):
    """`python -m pdb` on a program that has a function converted."""
    return lambda *commands: debugged(PDB, ["-m", "pdb"], *commands)


@pytest.fixture
def both(debugged):
    """`breakpoint()` in a program that Python runs, and in the same program run by agc."""

    def start(*commands, program=HOOK):
        plain = debugged(program, [], *commands)
        converted = debugged(program, ["-m", "agc.cli", "run"], *commands)
        return plain, converted

    return start


def test_a_breakpoint_at_a_line_of_a_block(pdb):
    assert pdb("b program.py:13", "c", "p x, y, result", "c", "p x, y, result") == [
        "program.py:13",
        "> program.py(13)total()\n-> result += y",
        "(3, 1, 0)",
        "> program.py(13)total()\n-> result += y",
        "(5, 1, 0)",
    ]


def test_a_breakpoint_with_a_condition(pdb):
    assert pdb("b 12, x == 7", "c", "p result") == [
        "program.py:12",
        "> program.py(12)total()\n-> y = scale(x, 2)",
        "1",
    ]


def test_a_breakpoint_at_a_function(pdb):
    said = pdb("b scale", "c", "a", "b total", "c")
    assert [said[1], said[2], said[4]] == [
        "> program.py(2)scale()\n-> while x > by:",
        "x = 3\nby = 2",
        "> program.py(2)scale()\n-> while x > by:",
    ]
    # The latter from Python 3.13 on.
    places = ({"program.py:1", "program.py:7"}, {"program.py:2", "program.py:8"})
    assert {said[0], said[3]} in places


def test_the_frames_above_are_the_user_s_and_hold_the_variables(pdb):
    said = pdb("b 3", "c", "w", "p x, by")
    functions = re.findall(r"program\.py\(\d+\)(\S+)\(\)", said[2])
    assert list(dict.fromkeys(functions)) == ["<module>", "total", "scale"]
    assert said[3] == "(3, 2)"


STEPS = ["b total", "c", "n", "n", "n", "n", "n", "p x, y, result, limit, xs", "n", "p result"]


def test_steps_under_agc_run_equal_pythons(both):
    plain, converted = both(*STEPS)
    assert converted == plain
    assert plain[-3] == "(3, 1, 0, 3, [3, 1, 5, 7, 9])"


def test_stepping_into_a_call_and_out_again(both):
    plain, converted = both("b 12", "c", "s", "s", "s", "s", "s", "r", "n", "n", "w")
    assert converted == plain
    assert "--Call--\n> program.py(1)scale()" in plain[2]


def test_the_stack_shows_each_function_once(both):
    plain, converted = both("b 3", "c", "w", "up", "p result, limit, xs", "down", "p x, by", "until", "c")
    assert converted == plain
    assert plain[4] == "(0, 3, [3, 1, 5, 7, 9])"


def test_return_continues_to_the_end_of_a_function(both):
    plain, converted = both("tbreak 13", "c", "r", "p result")
    assert converted == plain
    assert "--Return--" in converted[2]


def test_a_breakpoint_of_the_user_s_in_a_block(both):
    program = PROGRAM.replace(
        "            y = scale", "            breakpoint()\n            y = scale"
    ).replace("START", "print(total([3, 1, 5, 7, 9]))")
    plain, converted = both("n", "p x, result, limit", "w", "c", "p x, result", program=program)
    assert converted == plain
    assert plain[1] == "(3, 0, 3)"


def test_pythonbreakpoint_selects_another_debugger(python, tmp_path):
    (tmp_path / "program.py").write_text("breakpoint()\nprint('done')\n")
    run = ["-m", "agc.cli", "run", "program.py"]
    assert python(*run, env={"PYTHONBREAKPOINT": "0"}).stdout == "done\n"
    assert python(*run, env={"PYTHONBREAKPOINT": "builtins.print"}).stdout == "\ndone\n"


def test_the_debugger_of_agc_in_a_program_that_python_runs(python, tmp_path):
    (tmp_path / "program.py").write_text(
        PDB.replace("            y = scale", "            breakpoint()\n            y = scale")
    )
    asked = {"PYTHONBREAKPOINT": "agc.autograph.debugger.set_trace"}
    done = python("program.py", lines=["n", "p limit", "q"], env=asked)
    assert "(Pdb) 3\n" in done.stdout  # `limit` is not mentioned in the block
