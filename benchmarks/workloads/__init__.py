"""The workloads, one file each: the same program in the words of every library that is measured.

    TITLE, FULL, TINY                     what it is called; its sizes for measuring and for tests
    SHORT                                 sizes that make the same program as FULL, where that runs for very long
    tensorflow(tf, compiled, **size)      a run of it: in agc and in TensorFlow, the same text
    jax(jax, **size), torch(torch, compiled, **size), numba(numba, **size)
    by_hand(**size)                       with NumPy: the result that all others must have
    limit(compiled_c, **size)             in C, or the bare calls of BLAS that nothing can do without
    EAGER = False                         too much for a mode without graphs
    ONLY_EAGER = True                     a program without graphs: no other mode runs it
    UNROLLED = True                       torch has no loops in graphs: what it compiles is too long
    STEPS = 3                             the result of the third run is compared, for runs change what they use
    TOLERANCE = 1e-4, DIFFERENT = 0       of floats, relative to the largest; the share of integers that may differ

Each gives a function without arguments, which the clock sees; what is made before is not measured. A file has what
makes sense for its workload. It is loaded anew for every first call, under a new name and further down in its file,
so that no library knows the code.
"""

from __future__ import annotations

import importlib.util
import itertools
import pathlib
import tempfile
from types import ModuleType
from typing import Any, NamedTuple

_numbers = itertools.count(1)
_folder = tempfile.TemporaryDirectory()


class Workload(NamedTuple):
    """A file of this folder, and what is added to its sizes."""

    file: str
    more: dict[str, Any] = {}

    def load(self) -> ModuleType:
        """The file as a module that no other shares."""
        number = next(_numbers)
        copy = pathlib.Path(_folder.name, f"{self.file}_{number}.py")
        copy.write_text("\n" * number + pathlib.Path(__file__).with_name(f"{self.file}.py").read_text())
        spec = importlib.util.spec_from_file_location(f"{__name__}.{copy.stem}", copy)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    def size(self, module: ModuleType, name: str) -> dict[str, Any]:
        """The sizes called `full`, `tiny` or `short`."""
        return getattr(module, name.upper()) | self.more  # type: ignore[no-any-return]

    def title(self, module: ModuleType) -> str:
        return module.TITLE.format(**self.more)  # type: ignore[no-any-return]


TABLE = {
    "power": Workload("power"),
    "scalar call": Workload("scalar_call"),
    "ten arguments": Workload("ten_arguments"),
    "Collatz": Workload("collatz"),
    "jumps": Workload("jumps"),
    "Mandelbrot": Workload("mandelbrot"),
    "RNN": Workload("rnn"),
    "RNN gradient": Workload("rnn_gradient"),
    "MLP": Workload("mlp"),
    "chain": Workload("chain"),
    "dead": Workload("ten_chains", {"kind": "dead"}),
    "common": Workload("ten_chains", {"kind": "common"}),
    "constant": Workload("ten_chains", {"kind": "constant"}),
    "recurrence": Workload("recurrence"),
}
"""What is measured, in the order of the table."""

MODELS = {
    "CNN": Workload("cnn"),
    "bottleneck forward": Workload("bottleneck", {"what": "forward"}),
    "bottleneck training": Workload("bottleneck", {"what": "training"}),
    "transformer": Workload("transformer"),
    "LSTM": Workload("lstm"),
    "fit": Workload("fit", {"what": "fit"}),
    "evaluate": Workload("fit", {"what": "evaluate"}),
    "predict": Workload("fit", {"what": "predict"}),
    "eager MLP": Workload("eager_mlp"),
    "eager Mandelbrot": Workload("eager_mandelbrot"),
    "tf.data": Workload("pipeline"),
    "RK45": Workload("rk45"),
    "unrolled": Workload("unrolled"),
    "1,000 layers": Workload("thousand_layers"),
}
"""Whole models, each of which is measured in processes of its own."""

LENGTHS = (100, 1_000, 10_000)
GROWTH = {f"straight {count}": Workload("straight", {"count": count}) for count in LENGTHS}
LOOPS = {f"loop {count}": Workload("recurrence", {"count": count}) for count in (10_000, 1_000_000)}

DEEP = {"batch": 1_024, "width": 64, "layers": 1_000}
STEPS = {
    "MLP 4096": Workload("mlp", {"batch": 4096}),
    "CNN 256": Workload("cnn", {"batch": 256}),
    "transformer": Workload("transformer"),
    "LSTM": Workload("lstm"),
    "wide": Workload("deep", {"batch": 64, "width": 2_048, "layers": 6}),
    "deep": Workload("deep", DEEP),
    "deep recomputed": Workload("deep", DEEP | {"recomputed": True, "note": ", recomputed"}),
}
"""Steps of training whose memory is measured (`benchmarks.step_memory`)."""

WORKLOADS = TABLE | MODELS | GROWTH | LOOPS | STEPS
"""The workloads that a worker can run."""
