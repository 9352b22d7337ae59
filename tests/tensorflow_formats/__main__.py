"""Write graphs, run them in TensorFlow, and compare: `python -m tensorflow_formats --peer PYTHON [-k PART]`."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import agc.runtime as tf
import numpy as np
from agc.runtime.export import tensorflow_runtime
from agc.runtime.export.verify import difference

from . import cases, written_programs


def main() -> int:
    parser = argparse.ArgumentParser(prog="tensorflow_formats", description=__doc__)
    parser.add_argument("--peer", required=True, help="the Python of an environment with TensorFlow")
    parser.add_argument("-k", dest="part", default="", help="only cases with this in their name")
    parser.add_argument("--only", choices=["operations", "programs"], default="")
    parser.add_argument(
        "--record", action="store_true", help="keep TensorFlow's answers of the written programs"
    )
    parser.add_argument("-v", dest="verbose", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        outcomes: dict[str, str] = {}
        written: list[cases.Case] = []
        for case in found(chosen):
            outcomes[case.name] = write(folder, case)
            if outcomes[case.name] == "written":
                written.append(case)
        tensorflow_runtime.run_cases(folder, chosen.peer, chosen.verbose)
        outcomes |= {case.name: compared(folder, case) for case in written}
        if chosen.record:
            record(folder, written)
    report(outcomes, {case.name: case for case in written})
    return 0


def record(folder: Path, written: list[cases.Case]) -> None:
    """Write TensorFlow's answers of the written programs to the fixture that the tests compare with."""
    answers = {}
    for case in written:
        name = case.name.removeprefix("program ")
        if name in written_programs.PROGRAMS:
            arrays = tensorflow_runtime.outcome(folder, case.name, case.program)
            answers[name] = [[array.dtype.name, array.tolist()] for array in arrays]
    lines = [f"  {json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
    written_programs.ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def found(chosen: argparse.Namespace) -> Iterator[cases.Case]:
    if chosen.only != "programs":
        yield from cases.operation_cases(part=chosen.part)
    if chosen.only != "operations":
        yield from cases.program_cases(chosen.part)


def write(folder: Path, case: cases.Case) -> str:
    kind = "saved_model" if case.is_program else "graphdef"
    path = folder / (f"{case.name}.pb" if kind == "graphdef" else case.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tf.export.write(case.program, path, to=kind)
    except tf.export.CannotExportError as error:
        return "refused: " + "; ".join(error.reasons)
    except Exception as error:
        if os.environ.get("AGC_TRACE"):
            traceback.print_exc()
        return f"failed here: {type(error).__name__}: {error}"
    tensorflow_runtime.write_case(folder, case.name, path, case.program, case.arrays)
    return "written"


def compared(folder: Path, case: cases.Case) -> str:
    try:
        found = tensorflow_runtime.outcome(folder, case.name, case.program)
    except RuntimeError as error:
        return f"failed there: {' '.join(str(error).split())[:600]}"
    expected = case.program.run([np.asarray(array) for array in case.arrays])
    for port, one, other in zip(case.program.outputs, expected, found, strict=True):
        if case.by_shape:
            one, other = np.zeros(np.shape(one)), np.zeros(np.shape(other))
        elif case.is_image:
            one, other = (tf.io.decode_image(bytes(each.item())).numpy() for each in (one, other))
        result = difference(port.name, np.asarray(one), np.asarray(other))
        if not result.agrees:
            return f"{result}: {one!r} here, {other!r} there"
    return "agrees"


def report(outcomes: dict[str, str], written: dict[str, cases.Case]) -> None:
    """Print what does not agree, and the counts; an operation agrees if all its examples do, or a program has it."""
    for name, outcome in outcomes.items():
        if outcome != "agrees":
            print(f"{name}: {outcome}")
    programs = {name: outcome for name, outcome in outcomes.items() if name.startswith("program ")}
    operations: dict[str, str] = {}
    for name, outcome in outcomes.items():
        if name not in programs:
            key = name.rpartition(".")[0]
            operations[key] = outcome if operations.get(key, "agrees") == "agrees" else operations[key]
    for name in [name for name, outcome in programs.items() if outcome == "agrees"]:
        for operation in written[name].program.graph.walk():
            if operation.type in cases.NAMES:
                operations.setdefault(operation.type, "agrees")
    for kind, known, total in (
        ("operations", operations, len(cases.NAMES)),
        ("programs", programs, len(programs)),
    ):
        counts = Counter(outcome.partition(":")[0] for outcome in known.values())
        if known:
            print(f"{kind}: {counts['agrees']} of {total} agree; {dict(counts)}")


if __name__ == "__main__":
    sys.exit(main())
