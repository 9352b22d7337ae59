"""Write graphs, run them in TensorFlow, and compare: `python -m tensorflow_formats --peer PYTHON [-k PART]`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agc.runtime as tf
import numpy as np
from agc.runtime.export.verify import difference
from agc.runtime.formats.program import Program

from . import cases

TESTS = Path(__file__).parents[1]
QUIET = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="tensorflow_formats", description=__doc__)
    parser.add_argument("--peer", required=True, help="the Python of an environment with TensorFlow")
    parser.add_argument("-k", dest="part", default="", help="only cases with this in their name")
    parser.add_argument("--only", choices=["operations", "programs"], default="")
    parser.add_argument("-v", dest="verbose", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = dict(written(Path(folder), chosen))
        command = [chosen.peer, "-m", "tensorflow_formats.run_in_tensorflow", folder]
        environment = os.environ | QUIET | {"PYTHONPATH": str(TESTS)}
        subprocess.run(
            command, env=environment, check=True, stderr=None if chosen.verbose else subprocess.DEVNULL
        )
        for name, program, arrays in list(WRITTEN):
            outcomes[name] = compared(Path(folder), name, program, arrays)
    report(outcomes)
    return 0


WRITTEN: list[tuple[str, Program, Any]] = []


def written(folder: Path, chosen: Any) -> Iterator[tuple[str, str]]:
    """Write each case; yield those that cannot be written, with the reason."""
    if chosen.only != "programs":
        for name, program, arrays in cases.operation_cases(part=chosen.part):
            yield name, write(folder, name, program, arrays, "graphdef")
    if chosen.only != "operations":
        for name, function, arguments in cases.fixture_cases(chosen.part):
            program = tf.export.resolve(function, arguments)
            yield f"program {name}", write(folder, f"program {name}", program, program.examples, "FORMAT")


def write(folder: Path, name: str, program: Program, arrays: Any, kind: str) -> str:
    kind = "saved_model" if kind == "FORMAT" and "saved_model" in tf.export.FORMATS else "graphdef"
    file = f"{name}.pb" if kind == "graphdef" else name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tf.export.write(program, folder / file, to=kind)
    except tf.export.CannotExportError as error:
        return "refused: " + "; ".join(error.reasons)
    except Exception as error:
        if os.environ.get("AGC_TRACE"):
            traceback.print_exc()
        return f"failed here: {type(error).__name__}: {error}"
    names = {
        "inputs": [port.name for port in program.inputs],
        "outputs": [port.name for port in program.outputs],
    }
    about = {"file": file, "dtypes": [port.spec.dtype.name for port in program.inputs], **names}
    (folder / f"{name}.json").write_text(json.dumps(about))
    np.savez(folder / f"{name}.in.npz", *[plain(array) for array in arrays])
    WRITTEN.append((name, program, arrays))
    return "not run"


def plain(array: Any) -> Any:
    """Return an array of a dtype that NumPy itself has."""
    array = np.asarray(array)
    return array if array.dtype.kind in "biufcO" else array.view(f"u{array.dtype.itemsize}")


def compared(folder: Path, name: str, program: Program, arrays: Any) -> str:
    error = folder / f"{name}.error"
    if error.exists():
        return "failed there: " + " ".join(error.read_text().split())[:600]
    with np.load(folder / f"{name}.out.npz", allow_pickle=True) as stored:
        found = [stored[key] for key in stored]
    expected = program.run([np.asarray(array) for array in arrays])
    for port, one, other in zip(program.outputs, expected, found, strict=True):
        other = other.view(one.dtype) if other.dtype.kind == "V" else other
        result = difference(port.name, np.asarray(one), np.asarray(other))
        if not result.agrees:
            return f"{result}: {one!r} here, {other!r} there"
    return "agrees"


def report(outcomes: dict[str, str]) -> None:
    """Print the counts, and what does not agree."""
    for name, outcome in outcomes.items():
        if outcome != "agrees":
            print(f"{name}: {outcome}")
    for kind, chosen in (("operations", False), ("programs", True)):
        worst: dict[str, str] = {}
        for name, outcome in outcomes.items():
            if name.startswith("program ") == chosen:
                key = name.rpartition(".")[0] or name
                if worst.get(key, "agrees") == "agrees":
                    worst[key] = outcome
        if worst:
            counts = Counter(outcome.partition(":")[0] for outcome in worst.values())
            print(f"{kind}: {counts['agrees']} of {len(worst)} agree; {dict(counts)}")


if __name__ == "__main__":
    sys.exit(main())
