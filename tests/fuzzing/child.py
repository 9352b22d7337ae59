"""Run mutations of loaders, in a process of its own with little memory: `python -m fuzzing.child START STOP NAME …`.

`python -m fuzzing.child hostile` runs the files of `hostile`.

It prints a line of JSON for each error that is not a clean one, and counts at the end. A crash shows as a missing end.
"""

import contextlib
import json
import logging
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from pathlib import Path

import agc.runtime as tf
from agc.runtime.ir.json_reader import GraphFormatError
from agc.runtime.ir.lexer import GraphSyntaxError

from .loaders import LOADERS

SECONDS = 2.0  # of processor time
MEMORY = 100 << 20
CLEAN = (tf.errors.OpError, FileNotFoundError, GraphFormatError, GraphSyntaxError)


class SlowError(BaseException):
    """A call took too long."""


def run_mutations(start, stop, names):
    """Run the mutations with these numbers of each loader."""
    for name in names:
        with tempfile.TemporaryDirectory() as place:
            _run(name, LOADERS[name], range(start, stop), Path(place))


def _run(name, loader, seeds, place):
    counts = {"read": 0, "refused": 0, "unclean": 0}
    good = place / "good"
    good.mkdir()
    loader.write(good)
    loader.read(good)
    for seed in seeds:
        folder = place / f"{seed:08}" / "native"
        shutil.copytree(good, folder)
        loader.damage(folder, random.Random(f"{name} {seed}"))
        outcome = judged(loader, folder)
        counts[outcome if outcome in counts else "unclean"] += 1
        if outcome not in counts:
            print(json.dumps({"loader": name, "seed": seed, "error": outcome}), flush=True)
        shutil.rmtree(folder.parent)
    print(json.dumps({"loader": name, "counts": counts}), flush=True)


def run_hostile():
    """Run each hostile file once."""
    from .hostile import HOSTILE

    for name, (loader, change) in HOSTILE.items():
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "hostile", "native")
            folder.mkdir(parents=True)
            LOADERS[loader].write(folder)
            change(folder)
            print(json.dumps({"loader": name, "outcome": judged(LOADERS[loader], folder)}), flush=True)


def _too_slow(signum, frame):
    raise SlowError


def judged(loader, folder):
    """Read the files of a folder. Return "read", "refused", or what is wrong with the error."""
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with _limited(MEMORY + 10 * size):
            loader.read(folder)
    except SlowError:
        return f"more than {SECONDS} s"
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        return _fault(loader, folder, error) or "refused"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return "read"


def _fault(loader, folder, error):
    """Return what is wrong with an error, if anything."""
    cause = error if loader.has_bounded_memory else None
    while cause is not None:
        if isinstance(cause, (MemoryError, tf.errors.ResourceExhaustedError)):
            return f"too much memory: {_shown(error)}"
        cause = cause.__cause__ or cause.__context__
    if type(error) is not ValueError and not isinstance(error, CLEAN):
        return _shown(error)
    if loader.names_file and folder.parent.name not in str(error):
        return f"does not name the file: {_shown(error)}"
    return None


def _shown(error):
    places = traceback.extract_tb(error.__traceback__)[-3:]
    where = " < ".join(f"{Path(place.filename).name}:{place.lineno}" for place in reversed(places))
    return f"{type(error).__name__}: {str(error)[:150]} at {where}"


@contextlib.contextmanager
def _limited(count):
    """Let the process grow by so many bytes."""
    if sys.platform != "linux":
        yield
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * os.sysconf("SC_PAGE_SIZE") + count, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    signal.signal(signal.SIGPROF, _too_slow)
    if sys.argv[1] == "hostile":
        run_hostile()
    else:
        run_mutations(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
