"""The programs of others that are compared: tests of libraries, and examples that are scripts.

A library comes from an archive of PyPI at a pinned version (`requirements.txt`); Keras is the one of each environment.
The archive of TensorFlow Probability contains no tests, so the folder `programs` has own ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Suite(NamedTuple):
    """Programs that run in one process: tests, by pytest, or one process each: scripts."""

    name: str
    paths: tuple[str, ...]  # patterns of files and folders, below the root
    root: str = (
        "libraries"  # a folder of the cache, or "keras" for the environment's, or "own" for this project's
    )
    scripts: bool = False
    environment: Mapping[str, str] = {}

    def files(self, root: Path) -> list[Path]:
        """Return the files and folders of the suite below `root`."""
        return sorted(file for pattern in self.paths for file in root.glob(pattern))


KERAS = """
    activations callbacks constraints distillation dtype_policies export initializers legacy losses metrics models
    optimizers quantizers random regularizers saving testing trainers tree utils wrappers
    layers/activations layers/attention layers/convolutional layers/core layers/merging layers/normalization
    layers/pooling layers/preprocessing layers/regularization layers/reshaping layers/rnn ops
""".split()  # noqa: SIM905 - a table of names is read more easily without its commas

TENSORLY = "contrib datasets decomposition metrics random regression solvers tenalg utils".split()  # noqa: SIM905

GPFLOW = """
    conditionals config covariances expectations experimental kernels likelihoods models optimizers posteriors utilities
""".split()  # noqa: SIM905

SOURCES = ("autoray==0.11.0", "deepxde==1.15.0", "opt_einsum==3.4.0")
"""Libraries whose tests or examples are in the source archive only."""

DEEPXDE = {"DDE_BACKEND": "tensorflow"}
IN_TENSORLY = {"TENSORLY_BACKEND": "tensorflow"}
ONLY_TENSORFLOW = {"PYTEST_ADDOPTS": "-k tensorflow"}
"""The tests of libraries for several backends that concern this one."""

IN_NAMESPACE = {"PYTEST_ADDOPTS": "-o consider_namespace_packages=true"}
"""Tests in a folder `tests` that is no package, whose names are those of the library otherwise."""

SUITES = {
    suite.name: suite
    for suite in [
        *(Suite(f"keras/{name}", (f"src/{name}",), "keras") for name in KERAS),
        Suite("keras/layers", ("src/layers/*_test.py",), "keras"),
        Suite("keras/backend", ("src/backend/common", "src/backend/tensorflow"), "keras"),
        Suite("einops", ("einops/tests",), environment={"EINOPS_TEST_BACKENDS": "numpy,tensorflow"}),
        *(
            Suite(f"tensorly/{name}", (f"tensorly/{name}/**/tests",), environment=IN_TENSORLY)
            for name in TENSORLY
        ),
        Suite("tensorly/tensors", ("tensorly/tests",), environment=IN_TENSORLY),
        Suite("sonnet/library", ("sonnet/src/*_test.py", "sonnet/src/[!c]*/**/*_test.py")),
        Suite("sonnet/conformance", ("sonnet/src/conformance/*_test.py",)),
        Suite("tensornetwork", ("tensornetwork/backends/tensorflow/*_test.py",)),
        Suite("autoray", ("autoray-0.11.0/tests",), "sources", environment=ONLY_TENSORFLOW),
        Suite("opt_einsum", ("opt_einsum-3.4.0/opt_einsum/tests",), "sources", environment=ONLY_TENSORFLOW),
        Suite("tensorflow_probability/distributions", ("programs/probability_distributions.py",), "own"),
        Suite("tensorflow_probability/inference", ("programs/probability_inference.py",), "own"),
        *(Suite(f"gpflow/{name}", (f"tests/gpflow/{name}",), environment=IN_NAMESPACE) for name in GPFLOW),
        Suite("gpflow/files", ("tests/gpflow/test_*.py",), environment=IN_NAMESPACE),
        Suite("deepxde/forward", ("deepxde-1.15.0/examples/pinn_forward/*.py",), "sources", True, DEEPXDE),
        Suite("deepxde/inverse", ("deepxde-1.15.0/examples/pinn_inverse/*.py",), "sources", True, DEEPXDE),
        Suite("deepxde/function", ("deepxde-1.15.0/examples/function/*.py",), "sources", True, DEEPXDE),
    ]
}
