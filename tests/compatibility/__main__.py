"""`python -m compatibility --peer PYTHON [--cache FOLDER] [--keep SIDE] [suite]...`; without suites all of them."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import archives, comparison, report, running
from .suites import SUITES, Suite

DOCUMENT = Path(__file__).parents[2] / "docs" / "compatibility.md"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "agc-compatibility"
NEEDS = """\
make compatibility compares agc with a real TensorFlow, in an environment of its own:

    make peer
    make compatibility PEER=.peers/tensorflow/bin/python
"""


def main(arguments: list[str]) -> int:
    """Run the chosen suites on both sides, show what differs, and write the document of all suites that have run."""
    parser = argparse.ArgumentParser(prog="compatibility", description=__doc__)
    parser.add_argument(
        "suites", nargs="*", metavar="suite", help="a name, or the start of names: keras/layers"
    )
    parser.add_argument(
        "--peer", default="", help="the Python of an environment with TensorFlow, Keras and pytest"
    )
    parser.add_argument("--cache", type=Path, default=CACHE, help=f"for archives and outcomes ({CACHE})")
    parser.add_argument(
        "--keep", choices=["none", "tensorflow", "both"], default="tensorflow",
        help="whose outcomes of an earlier run are used again (tensorflow)",
    )  # fmt: skip
    chosen = parser.parse_args(arguments)
    if not chosen.peer:
        print(NEEDS, file=sys.stderr)
        return 2
    suites = [
        suite for name, suite in SUITES.items() if not chosen.suites or name.startswith(tuple(chosen.suites))
    ]
    archives.fetch(chosen.cache, sys.executable)
    theirs = running.Side("tensorflow", str(Path(chosen.peer).absolute()), is_agc=False)
    ours = running.Side("agc", sys.executable, is_agc=True)
    kept = {"none": (), "tensorflow": (theirs,), "both": (theirs, ours)}[chosen.keep]
    for suite in suites:
        for side in (theirs, ours):
            if side not in kept or not running.outcomes_file(suite.name, side, chosen.cache).exists():
                running.run(suite, side, chosen.cache)
        show(compared(suite, theirs, ours, chosen.cache))
    done = [suite for suite in SUITES.values() if have_run(suite, (theirs, ours), chosen.cache)]
    comparisons = [compared(suite, theirs, ours, chosen.cache) for suite in done]
    missing = [name for name, suite in SUITES.items() if suite not in done]
    missing += [
        f"{count} script{'s' * (count > 1)} of {suite.name}"
        for suite in done
        if (count := left(suite, theirs, chosen.cache))
    ]
    DOCUMENT.write_text(report.text(comparisons, versions(theirs), missing), encoding="utf-8")
    return 0


def have_run(suite: Suite, sides: tuple[running.Side, ...], cache: Path) -> bool:
    return all(running.outcomes_file(suite.name, side, cache).exists() for side in sides)


def left(suite: Suite, side: running.Side, cache: Path) -> int:
    """Return how many scripts of a suite have no outcome: those that take too long, or a run that was stopped."""
    found = comparison.read(running.outcomes_file(suite.name, side, cache))
    return sum(file.name not in found for file in suite.files(cache / suite.root)) if suite.scripts else 0


def compared(suite: Suite, theirs: running.Side, ours: running.Side, cache: Path) -> comparison.Comparison:
    outcomes = [comparison.read(running.outcomes_file(suite.name, side, cache)) for side in (theirs, ours)]
    return comparison.compare(suite.name, *outcomes)


def show(found: comparison.Comparison) -> None:
    """Print the counts of a suite, and each failure."""
    print(f"{found.suite:24} {found.counted - len(found.failures):5} of {found.counted:5}", flush=True)
    for test, reason in found.failures:
        print(f"    {test}\n        {reason}", flush=True)


def versions(side: running.Side) -> dict[str, str]:
    """Return the versions of the packages that the document names."""
    code = "from importlib.metadata import version as v; import tensorflow; print(tensorflow.__version__, v('keras'))"
    tensorflow, keras = subprocess.check_output([side.python, "-c", code], text=True).split()[-2:]
    return {"tensorflow": tensorflow, "keras": keras}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
