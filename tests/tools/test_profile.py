"""cProfile names the user's functions, files and lines."""

import re

PROGRAM = """\
def helper(x):
    return x * 2


def work(xs):
    total = 0
    for x in xs:
        if x > 1 and x < 100:
            total += helper(x)
        elif x == 1:
            total -= 1
        while total > 10:
            total -= 10
        y = 1 if total else 2
    return total + y


if __name__ == "__main__":
    print(work([3, 1, 5, 7, 9]))
"""


def profiled(python, *command):
    """(line, name) → number of calls, for what is in the program's file."""
    said = python("-m", "cProfile", *command).stdout
    rows = re.findall(r"^\s*([\d/]+) .* \S*profiled\.py:(\d+)\((\S+)\)$", said, re.MULTILINE)
    return {(int(line), name): count for count, line, name in rows}


def test_functions_have_their_names_lines_and_numbers_of_calls(python, tmp_path):
    (tmp_path / "profiled.py").write_text(PROGRAM)
    plain = profiled(python, "profiled.py")
    converted = profiled(python, "-m", "agc.cli", "run", "profiled.py")
    assert plain == {(1, "<module>"): "1", (1, "helper"): "4", (5, "work"): "1"}
    assert plain.items() <= converted.items()
    # What else there is are blocks: they go by the name of their function, at the line where they begin.
    assert {name for _, name in converted} == {"<module>", "helper", "work"}
    assert {PROGRAM.splitlines()[line - 1].split()[0] for line, name in converted if name == "work"} <= {
        "def", "for", "if", "elif", "while", "y",
    }  # fmt: skip
