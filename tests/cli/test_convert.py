"""`agc convert`: the generated module, with each of the options."""

import ast
import os
import re

import pytest
from agc import autograph


def test_the_module_runs_by_itself(inside, python, folder):
    result = inside("convert", "collatz.py")
    assert (result.stderr, result.returncode) == ("", 0)
    assert "ag__.while_loop(" in result.stdout
    (folder / "generated.py").write_text(result.stdout)
    ran = python("generated.py")
    assert (ran.stdout, ran.stderr) == ("111\n", "")


def test_from_stdin(inside, folder):
    text = (folder / "collatz.py").read_text()
    assert inside("convert", "-", stdin=text).stdout == inside("convert", "collatz.py").stdout


@pytest.mark.parametrize("words", [["collatz.py", "--function", "collatz"], ["collatz.py::collatz"]])
def test_one_function_is_printed(inside, words):
    code = inside("convert", *words).stdout
    defined = [
        node.name for node in ast.parse(code).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    ]
    assert defined == ["collatz"]
    scope = {}
    exec(code, scope)
    assert scope["collatz"](27) == 111


def test_one_method_is_printed(inside):
    code = inside("convert", "collatz.py", "-f", "Counter.down").stdout
    assert "def down(self, by):" in code
    assert "ag__.while_loop(" in code
    assert "__init__" not in code and "collatz" not in code


def test_a_function_in_a_function_and_a_class(inside):
    program = (
        "def f():\n    def g(x):\n        return -x if x < 0 else x\n    return g\n\nclass A:\n    b = 1\n"
    )
    inner = inside("convert", "-::f.g", stdin=program).stdout
    assert "def g(x):" in inner and "def f" not in inner
    assert "class A:\n" in inside("convert", "-", "--function", "A", stdin=program).stdout


def test_into_a_file(inside, folder):
    result = inside("convert", "collatz.py", "-o", "out.py")
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)
    assert (folder / "out.py").read_text() == inside("convert", "collatz.py", "-o", "-").stdout


def test_into_a_device(inside):
    assert inside("convert", "collatz.py", "-o", os.devnull).returncode == 0


def test_a_diff_leads_from_the_original_to_the_generated_code(inside, folder):
    diff = inside("convert", "collatz.py", "--diff").stdout
    assert diff.startswith("--- collatz.py\toriginal\n+++ collatz.py\tgenerated\n@@ ")
    assert "\n-    while n != 1:\n" in diff
    original = (folder / "collatz.py").read_text()
    assert patched(original, diff) == inside("convert", "collatz.py").stdout


def patched(text, diff):
    """What `patch` would make of `text`."""
    old, new, at = text.splitlines(), [], 0
    for line in diff.splitlines()[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            new += old[at:start]
            at = start
        elif line[0] == "+":
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            new += [line[1:]] if line[0] == " " else []
            at += 1
    return "".join(f"{line}\n" for line in new + old[at:])


def test_a_diff_of_one_function(inside):
    diff = inside("convert", "collatz.py::Counter.down", "--diff").stdout
    assert "-    while self.value > 0:" in diff
    assert "collatz(n)" not in diff


def test_annotated(inside):
    code = inside("convert", "collatz.py", "--annotate").stdout
    comments = [line.strip() for line in code.splitlines() if line.strip().startswith("#")]
    assert any("while n != 1:" in comment for comment in comments)
    assert any("if n % 2 == 0:" in comment for comment in comments)
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(inside("convert", "collatz.py").stdout))


@pytest.mark.parametrize("name", autograph.PASSES)
def test_after_every_pass_the_program_still_runs(inside, python, name):
    code = inside("convert", "collatz.py", "--after", name).stdout
    assert python("-", stdin=code).stdout == "111\n"


def test_in_color(inside):
    plain = inside("convert", "collatz.py").stdout
    colored = inside("convert", "collatz.py", "--color", "always", env={"NO_COLOR": "1"}).stdout
    assert "\x1b[" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain
    assert "\x1b[31m-    while n != 1:" in inside("convert", "collatz.py", "--diff", "--color=always").stdout
    assert "\x1b[" not in inside("convert", "collatz.py", "--color", "never").stdout


def test_errors_in_color(inside, folder):
    (folder / "broken.py").write_text("x = (\n")
    assert inside("convert", "broken.py", "--color", "always").stderr.startswith("\x1b[")
    assert inside("convert", "broken.py").stderr.startswith("error[AGC303]")


@pytest.mark.parametrize(
    ("data", "printed"),
    [
        (b"", ""),
        (b"\n\n# only a comment\n", ""),
        (b"\xef\xbb\xbfif 1:\r\n\tprint('tab')\r\n", "tab\n"),
        (b"# -*- coding: latin-1 -*-\nprint('caf\xe9')\n", "caf\u00e9\n"),
        ("print('字')".encode(), "字\n"),
        (b'"""Doc."""\nfrom __future__ import annotations\nprint(__doc__)\n', "Doc.\n"),
    ],
)
def test_byte_order_marks_and_encodings_are_read(inside, python, folder, data, printed):
    (folder / "source.py").write_bytes(data)
    result = inside("convert", "source.py", "-o", "out.py")
    assert (result.stderr, result.returncode) == ("", 0)
    assert inside("convert", "source.py").stdout == (folder / "out.py").read_text("utf-8")
    assert python("out.py").stdout == printed


def test_the_terminals_encoding_does_not_matter(agc, folder):
    (folder / "source.py").write_text("x = '字'\n", "utf-8")
    assert "'字'" in agc("convert", "source.py", env={"PYTHONIOENCODING": "ascii"}).stdout


def test_a_refusal_is_printed_with_its_location(agc, inside, folder):
    (folder / "refused.py").write_text(REFUSED)
    (folder / "out.py").write_text("precious = True\n")
    result = inside("convert", "refused.py", "-o", "out.py")
    assert (result.returncode, result.stdout) == (1, "")
    assert re.match(r"error\[AGC1\d\d\]: .*\n  --> refused\.py:\d+:\d+", result.stderr), result.stderr
    assert (folder / "out.py").read_text() == "precious = True\n"
    ran = agc("run", "refused.py")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == result.stderr


REFUSED = """\
def f(xs):
    for x in xs:
        try:
            return x
        finally:
            if x > 2:
                break
    return x
"""
