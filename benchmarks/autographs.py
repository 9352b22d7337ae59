"""Count the programs that each AutoGraph carries: the same Python functions, compiled by agc and by its peers.

    python -m benchmarks.autographs --peer tensorflow=PYTHON --peer jax=PYTHON --peer numba=PYTHON

PYTHON is the interpreter of an environment with the library. A peer is also `catalyst`, which brings PennyLane, whose
AutoGraph is diastatic-malt. The programs are those of tests/jax_backend/programs.py, which know nothing of any library.
A program counts if each of its calls gives what Python gives.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parents[1] / "tests" / "jax_backend" / "programs.py"


def _agc_jax() -> Callable[..., Any]:
    import agc.jax
    import jax

    return lambda f: lambda *args: agc.jax.jit(f)(*map(jax.numpy.asarray, args))


def _agc_runtime() -> Callable[..., Any]:
    import agc.runtime as tf

    return lambda f: lambda *args: tf.function(f)(*map(tf.constant, args))


def _tensorflow() -> Callable[..., Any]:
    import tensorflow as tf

    tf.experimental.numpy.experimental_enable_numpy_behavior()  # adds methods such as `astype`
    return lambda f: lambda *args: tf.function(f)(*map(tf.constant, args))


def _jax() -> Callable[..., Any]:
    import jax

    return lambda f: lambda *args: jax.jit(f)(*map(jax.numpy.asarray, args))


def _numba() -> Callable[..., Any]:
    import numba

    return lambda f: numba.njit(f)


def _catalyst() -> Callable[..., Any]:
    import catalyst
    import jax

    return lambda f: lambda *args: catalyst.qjit(f, autograph=True)(*map(jax.numpy.asarray, args))


CONTESTANTS = {
    "agc.jax": _agc_jax,
    "agc.runtime": _agc_runtime,
    "tensorflow": _tensorflow,
    "jax": _jax,
    "numba": _numba,
    "catalyst": _catalyst,
}


def leaves(value: Any) -> list[Any]:
    """Return the numbers and arrays of nested tuples, lists and dicts."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for each in value for leaf in leaves(each)]
    return [] if value is None else [value]


def carried(contestant: str) -> dict[str, str]:
    """Return for each program "" or why it fails."""
    import numpy as np

    spec = importlib.util.spec_from_file_location("programs", PROGRAMS)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["programs"] = module
    spec.loader.exec_module(module)
    compiled = CONTESTANTS[contestant]()
    found = {}
    for function, calls in module.PROGRAMS:
        try:
            for arguments in calls:
                expected = leaves(function(*(each.copy() for each in arguments)))
                got = [np.asarray(leaf) for leaf in leaves(compiled(function)(*arguments))]
                assert len(got) == len(expected), "another structure"
                for one, other in zip(got, expected, strict=True):
                    np.testing.assert_allclose(one, other, rtol=1e-5)
            found[function.__name__] = ""
        except BaseException as error:
            found[function.__name__] = f"{type(error).__name__}: {str(error).strip()[:200]}"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--worker", metavar="NAME", help=argparse.SUPPRESS)
    parser.add_argument("--failures", action="store_true", help="show why programs fail")
    options = parser.parse_args()
    if options.worker:
        warnings.simplefilter("ignore")
        print("\n" + json.dumps(carried(options.worker)))
        return
    peers = {"agc.jax": sys.executable, "agc.runtime": sys.executable}
    peers |= dict(peer.split("=", 1) for peer in options.peer)
    for name, python in peers.items():
        run = subprocess.run([python, __file__, "--worker", name], capture_output=True, text=True)
        if run.returncode:
            print(f"{name:12} failed: {run.stderr.strip().splitlines()[-1]}")
            continue
        found = json.loads(run.stdout.strip().splitlines()[-1])
        print(f"{name:12} {sum(not why for why in found.values()):3} of {len(found)}")
        for program, why in found.items():
            if why and options.failures:
                print(f"    {program}: {' '.join(why.split())}")


if __name__ == "__main__":
    main()
