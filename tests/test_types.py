"""mypy finds wrong names and arguments by the stubs of `agc.runtime` alone; `make lint` reads what they import, too."""

import re
import subprocess
import sys
from pathlib import Path

from generate import stubs

TESTS = Path(__file__).parent
OF_STUBS = re.compile(r"^tf\.(reduce|math|linalg|nn|concat)")

SETTINGS = """
[mypy]
python_version = 3.11
mypy_path = {typings}
namespace_packages = True
explicit_package_bases = True
follow_imports = skip
[mypy-agc,agc.runtime,{stubs}]
follow_imports = normal
"""


def test_wrong_names_and_arguments_are_found(tmp_path):
    names = [
        f"agc.runtime.{'.'.join(path.relative_to(stubs.ROOT).with_suffix('').parts)}"
        for path in stubs.files()
    ]
    settings = SETTINGS.format(
        typings=TESTS.parent / "typings", stubs=",".join(name.removesuffix(".__init__") for name in names)
    )
    (tmp_path / "mypy.ini").write_text(settings)
    program, expected = [], []
    for line in (TESTS / "typed" / "wrong.py").read_text(encoding="utf-8").splitlines():
        code, _, comment = line.partition("  # type: ignore")
        if comment and OF_STUBS.match(code):
            program.append(code)
            expected.append((len(program) + 3, comment.strip("[]")))
    (tmp_path / "wrong.py").write_text(
        "\n".join(["import agc.runtime as tf", "", "x = tf.constant(1)", *program, ""])
    )
    options = [
        "--config-file",
        str(tmp_path / "mypy.ini"),
        "--cache-dir",
        str(tmp_path),
        str(tmp_path / "wrong.py"),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options], capture_output=True, text=True, check=False
    )
    report, problems = done.stdout, done.stderr
    found = [
        (int(line), code)
        for line, code in re.findall(r"wrong\.py:(\d+): error: .*\[([\w-]+)\]$", report, re.M)
    ]
    assert len(expected) >= 8
    assert found == expected, report + problems
