"""TensorFlow's names that agc has not, with reasons, from what `fixtures/tensorflow` records of TensorFlow."""

from __future__ import annotations

import fnmatch
import inspect
from pathlib import Path
from typing import Any

import agc.runtime as tf
from agc.runtime.compat.functions import OTHER
from differential import signatures

PATH = Path(__file__).parent.parent.parent / "runtime" / "core" / "missing_names.txt"
HEAD = "Names of TensorFlow that are not here: a reason, what to use instead, and the names; by `make generate`.\n\n"
OTHER_V1 = "in TensorFlow 1 it has another meaning or other parameters"
OF_V1 = "TensorFlow 1's, for graphs that grow and are run in parts"
INSTEAD_V1 = "what TensorFlow 2 has for it: https://www.tensorflow.org/guide/migrate"


def files() -> dict[Path, str]:
    """Return the text of the file."""
    absent = [path for path in signatures.read() if of_module(path) and not signatures.has(tf, path)]
    blocks = []
    for why, instead, patterns in signatures.missing_blocks():
        names = sorted({name for pattern in patterns for name in fnmatch.filter(absent, pattern)})
        absent = [name for name in absent if name not in names]
        blocks.append(block(why, instead, names))
    blocks.append(block(OTHER_V1, INSTEAD_V1, [f"compat.v1.{path}={path}" for path in sorted(OTHER)]))
    blocks.append(block(OF_V1, INSTEAD_V1, [*of_v1(), *moved()]))
    return {PATH: HEAD + "\n".join(filter(None, blocks))}


def block(why: str, instead: str, names: list[str]) -> str:
    return (
        f"# {why}\n> {instead}\n{chr(10).join(name.removeprefix('tf.') for name in names)}\n" if names else ""
    )


def of_module(path: str) -> bool:
    """Whether the name is one of a module that there is."""
    parent = path.rpartition(".")[0]
    return signatures.has(tf, parent) and inspect.ismodule(signatures.found(tf, parent))


def of_v1() -> list[str]:
    """Return the names that `tf.compat.v1` lacks, each with the name that TensorFlow 2 has for it."""
    return [
        f"compat.v1.{path}" + replacement(home)
        for path, home in signatures.read_v1().items()
        if not home.startswith("(")
        and path not in OTHER
        and of_module(f"tf.compat.v1.{path}")
        and not has_v1(path)
    ]


def moved() -> list[str]:
    """Return names that TensorFlow 1 had at its top, each with what there is for it."""
    names = {path: home for path, home in signatures.read_v1().items() if "." not in path}
    found = {path: replacement(home) or f"=compat.v1.{path}" * has_v1(path) for path, home in names.items()}
    return [f"{path}{new}" for path, new in found.items() if new and not signatures.has(tf, f"tf.{path}")]


def replacement(home: str) -> str:
    is_here = bool(home) and not home.startswith("(") and signatures.has(tf, f"tf.{home}")
    return f"={home}" if is_here else ""


def has_v1(path: str) -> Any:
    return signatures.has(tf, f"tf.compat.v1.{path}")
