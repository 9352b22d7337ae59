"""The command `python -m tests.stdlib`: CPython's own tests, put to the standard library before and after conversion.

    heapq             51 tests    0 breaks     15 functions     603 lines   2.97 times 0.45 s

Each part of the library is converted whole, in a process of its own, and CPython's tests for it are run; so they
are, in another process, on the part as it is. A test that passes there and not here is a break. What conversion
is known to change is told in docs/faithfulness.md, and the tests that notice are listed in targets.py.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import json
import pathlib
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from typing import Any, NamedTuple

from .targets import EXPECTED, NAMES, Target, target

CHILD = pathlib.Path(__file__).with_name("child.py")
NO_TESTS = f"""\
This Python, {sys.base_prefix}, was installed without CPython's tests: it has no package `test.support`.
Builds from source have it, and so has pyenv; for Debian's Python it is in the package libpython3-testsuite.
"""

Figures = dict[str, Any]  # what child.py writes


class Report(NamedTuple):
    """What became of one row of the table."""

    target: Target
    plain: Figures
    converted: Figures
    unsteady: list[str]  # tests that failed in one of two runs of the converted code

    @property
    def passed(self) -> list[str]:
        return [name for name, outcome in self.plain["outcomes"].items() if outcome == "passed"]

    @property
    def different(self) -> list[str]:
        """The tests that pass before and not after, every time."""
        outcomes = self.converted["outcomes"]
        return [n for n in self.passed if outcomes.get(n) != "passed" and n not in self.unsteady]

    @property
    def breaks(self) -> list[str]:
        return [name for name in self.different if name not in EXPECTED]


class NotJudgedError(Exception):
    """A row without a result."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    if importlib.util.find_spec("test.support") is None:
        print(NO_TESTS, end="", file=sys.stderr)
        return 2
    rows = [target(name, sysconfig.get_path("stdlib")) for name in options.names or NAMES]
    reports: list[Report] = []
    troubled = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {pool.submit(judged, row, options.timeout): row for row in rows if row.modules}
        for done in concurrent.futures.as_completed(waiting):
            try:
                reports.append(done.result())
                print(line(reports[-1], options.verbose), flush=True)
            except NotJudgedError as error:
                troubled += 1
                print(f"{waiting[done].name:14} {error}", flush=True)
    print(summary(reports, troubled))
    return int(troubled > 0 or any(report.breaks for report in reports))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.stdlib", description="Run CPython's tests on its library, converted and as it is."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="rows of the table (default: all)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="how many rows at a time (default: 1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="show how each test failed that breaks")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for each run (default: 600)")
    return parser.parse_args(arguments)


def judged(row: Target, timeout: float) -> Report:
    """Run the tests of a row both ways; once more if there is a difference, for there are unsteady tests."""
    report = Report(row, outcome(row, "plain", timeout), outcome(row, "converted", timeout), [])
    if not report.passed:
        raise NotJudgedError("none of its tests passes as it is")
    if not report.breaks:
        return report
    again = outcome(row, "converted", timeout)["outcomes"]
    return report._replace(unsteady=[name for name in report.breaks if again.get(name) == "passed"])


def outcome(row: Target, mode: str, timeout: float) -> Figures:
    """What child.py finds out."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "result.json")
        words = [str(path), mode, " ".join(row.modules), " ".join(row.tests)]
        command = [sys.executable, "-P", str(CHILD), *words]
        try:
            done = subprocess.run(
                command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise NotJudgedError(f"{mode}: not done after {timeout:.0f} s") from None
        if not path.exists():
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
            raise NotJudgedError(f"{mode}: " + "\n    ".join(said[-1:] if mode == "plain" else said[-15:]))
        result: Figures = json.loads(path.read_text())
        return result


def line(report: Report, verbose: bool) -> str:
    done, before = report.converted, max(report.plain["seconds"], 1e-3)
    parts = [
        f"{report.target.name:14} {len(report.passed):5} tests {len(report.breaks):4} breaks",
        f"{done['functions']:6} functions {done['lines']:7} lines",
        f"{done['seconds'] / before:6.2f} times {before:.2f} s",
    ]
    text = " ".join(parts)
    for name in report.different:
        text += f"\n    {EXPECTED.get(name, done['outcomes'].get(name, 'not run'))}: {name}"
        if verbose and name not in EXPECTED:
            text += "\n" + done["reports"].get(name, "")
    return text + "".join(f"\n    failed once of two times: {name}" for name in report.unsteady)


def summary(reports: Sequence[Report], troubled: int) -> str:
    def total(mode: str, key: str) -> float:
        return sum(getattr(report, mode)[key] for report in reports)

    modules = sum(len(report.converted["loaded"]) for report in reports)
    known = sum(len(report.different) - len(report.breaks) for report in reports)
    speed = total("converted", "lines") / max(total("converted", "conversion"), 1e-9)
    slower = total("converted", "seconds") / max(total("plain", "seconds"), 1e-9)
    return (
        f"\nPython {sys.version.split()[0]}: {len(reports)} rows, {modules} modules,"
        f" {total('converted', 'functions'):,.0f} functions and none of them refused.\n"
        f"{sum(len(report.passed) for report in reports):,} tests pass as they are. Converted, {known} of them differ"
        f" as documented, and {sum(len(report.breaks) for report in reports)} break.\n"
        f"{total('converted', 'lines'):,.0f} lines, {speed:,.0f} converted a second;"
        f" the tests take {slower:.2f} times as long."
        + (f"\n{troubled} rows could not be judged." if troubled else "")
    )


if __name__ == "__main__":
    sys.exit(main())
