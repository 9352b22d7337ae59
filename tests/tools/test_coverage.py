"""coverage.py counts the lines and branches of converted code as those of the user's file."""

import json

import pytest

PROGRAM = """\
import sys


def branches(n, flag):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
            continue
        elif i == 4:
            break
        else:
            total -= 1
        while total > 2:
            total -= 2
    else:
        total += 100
    if flag:
        return total
    try:
        if n == 3:
            raise ValueError(n)
    except ValueError:
        total = (
            1 if flag
            else 2
        )
    finally:
        total += 1
    assert total is not None
    return total + sum([x * x for x in range(n) if x])


def never(x):
    if x:
        return 1
    while x:
        x -= 1
    return 2


class Model:
    def __init__(self, k):
        self.k = k

    def call(self, x):
        y = x
        while y > self.k:
            y -= self.k
            if y == 2:
                return "two"
        with open(__file__) as lines:
            for line in lines:
                if "no such line" in line[:2]:
                    print(line)
        return y


if __name__ == "__main__":
    for n in (0, 2, 3, 7):
        print(branches(n, n == 2))
    print(Model(3).call(10), Model(4).call(10), never(1))
"""


@pytest.fixture
def covered(python, tmp_path):
    def start(*command, program=PROGRAM):
        (tmp_path / "program.py").write_text(program)
        run = python("-m", "coverage", "run", "--branch", "--include=program.py", *command)
        assert run.stderr == ""
        report = python("-m", "coverage", "json", "-o", "-", "-q")
        facts = json.loads(report.stdout)["files"]["program.py"]
        branches = facts["executed_branches"], facts["missing_branches"]
        return run.stdout, facts["executed_lines"], facts["missing_lines"], branches

    return start


def test_a_program_that_agc_runs(covered):
    for _ in range(2):  # converted, then from the disk
        assert covered("-m", "agc.cli", "run", "program.py") == covered("program.py")


def test_lines_of_a_function_that_is_converted_by_itself(covered):
    # Its blocks are functions: branches into them, and a bare `continue`, are not seen.
    text = PROGRAM.replace("            continue\n", "            total += 0\n")
    plain = covered("program.py", program=text)
    live = text.replace("print(branches(", "print(convert(branches)(")
    live = live.replace("import sys\n", "from agc.autograph import convert\n")
    assert covered("program.py", program=live)[:3] == plain[:3]


def test_missing_lines_are_those_that_did_not_run(covered):
    _, executed, missing, _ = covered("-m", "agc.cli", "run", "program.py")
    lines = PROGRAM.splitlines()
    assert [lines[number - 1].strip() for number in missing] == [
        "total -= 2", "while x:", "x -= 1", "return 2", "print(line)",
    ]  # fmt: skip
    assert set(executed).isdisjoint(missing)
