"""`python -m differential [--record] [--classes] [-k PART] [part]...`; without parts all of them."""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # oneDNN's softmax gives 0 where a row holds NaN

import agc.runtime as ours
from support import answers, tape_programs, training_cases

from . import examples, gradients, meant, numpy_functions, signatures, sweep
from .judging import Comparison, shown

NEEDS = """\
make differential compares agc with the real TensorFlow, which is not one of agc's dependencies. Make an environment
for it, and say where its Python is:

    python3 -m venv peer
    peer/bin/python -m pip install tensorflow gast astunparse llvmlite pillow tensorboard
    make differential PEER=peer/bin/python
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="differential", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help="one of " + ", ".join(PARTS))
    parser.add_argument(
        "--record", action="store_true", help="write what TensorFlow says anew: names, answers, losses"
    )
    parser.add_argument(
        "--classes", action="store_true", help="also show where the classes of exceptions differ"
    )
    parser.add_argument("-k", metavar="PART", default="", help="only what has this in its name")
    chosen = parser.parse_args(arguments)
    try:
        import tensorflow as tf
    except ImportError:
        print(NEEDS, file=sys.stderr)
        return 2
    if chosen.record:
        signatures.write(tf)
        answers.write([expression for expression, _ in answers.read()], tf)
        training_cases.record(tf)
        tape_programs.record(tf)
    parts = chosen.parts or list(PARTS)
    shown_results = {"differ", "other class"} if chosen.classes else {"differ"}
    return min(1, sum(report(part, PARTS[part](tf, chosen.k), shown_results) for part in parts))


def report(title: str, comparisons: Iterable[Comparison], results: set[str]) -> int:
    """Print what differs, and how much agrees; the number of the differences that are not meant."""
    counts: Counter[str] = Counter()
    for found in comparisons:
        result = found.result
        if result == "differ" and meant.reason(found.what):
            result = "differ as meant"
        counts[result] += 1
        if result in results:
            print(f"{found.what}\n    agc         {shown(found.mine)}\n    tensorflow  {shown(found.theirs)}")
    print(
        f"{title}: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())), flush=True
    )
    return counts["differ"]


def names(tf: Any, part: str) -> Iterator[Comparison]:
    compared = list(signatures.compare(signatures.described(tf), ours))
    return (found for found in [*compared, *signatures.there_by_now(compared)] if part in found.what)


def expressions(tf: Any, part: str) -> Iterator[Comparison]:
    for expression, _ in answers.read():
        if part in expression:
            mine, theirs = answers.answer(expression, ours), answers.answer(expression, tf)
            same = answers.agree(mine, theirs)
            result = "agree" if same else "differ as meant" if expression in answers.DIFFERENT else "differ"
            yield Comparison(expression, result, mine, theirs)


def tapes(tf: Any, part: str) -> Iterator[Comparison]:
    for name, program in tape_programs.PROGRAMS.items():
        if part in name:
            mine, theirs = (tape_programs.answer(program, library) for library in (ours, tf))
            same_answer = tape_programs.agree(mine, theirs)
            result = (
                "agree" if same_answer else "differ as meant" if name in tape_programs.DIFFERENT else "differ"
            )
            yield Comparison(name, result, mine, theirs)


PARTS = {
    "names": names, "expressions": expressions, "examples": examples.compare, "sweep": sweep.compare,
    "gradients": gradients.compare, "tapes": tapes, "numpy": numpy_functions.compare,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
