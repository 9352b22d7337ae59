"""Run a program of others, a script, with its training cut to a few steps, and record its end and its losses.

python script_runner.py program.py       ==>     AGC_OUTCOMES gets ["program.py", "passed", [losses]]

As `recorder`, this file runs in other environments than the project's.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
import types
from pathlib import Path
from typing import Any

import recorder  # installs agc as TensorFlow on request

STEPS = 20

LOSSES: list[list[float]] = []


def shorten_deepxde() -> None:
    """Cut the training of a DeepXDE model to `STEPS` steps, and record its losses.

    DeepXDE imports TensorFlow Probability for one optimizer, L-BFGS, which is left out on both sides.
    """
    stub: Any = types.ModuleType("tensorflow_probability")
    stub.__version__ = "0.25.0"
    sys.modules[stub.__name__] = stub
    import numpy
    import tensorflow

    tensorflow.keras.utils.set_random_seed(
        1234
    )  # DeepXDE draws the seeds of its initializers when it is imported
    import deepxde

    train = deepxde.Model.train

    def few_steps(self: Any, *args: Any, **kwargs: Any) -> Any:
        if getattr(self, "opt_name", None) in ("L-BFGS", "L-BFGS-B"):
            return self.losshistory, self.train_state
        for name in ("epochs", "iterations"):
            kwargs.pop(name, None)
        result = train(self, iterations=STEPS, **kwargs | {"display_every": STEPS})
        LOSSES.append([float(numpy.sum(loss)) for loss in self.losshistory.loss_train])
        return result

    deepxde.Model.train = few_steps
    deepxde.saveplot = lambda *args, **kwargs: None
    deepxde.config.set_random_seed(1234)


def main(program: str) -> None:
    """Run a program in its own folder."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    path = Path(program).resolve()
    os.chdir(path.parent)
    sys.argv = [path.name]
    sys.path.insert(0, str(path.parent))
    shorten_deepxde()
    try:
        runpy.run_path(str(path), run_name="__main__")
    except BaseException as error:
        traceback.print_exc()
        recorder.record(path.name, "failed", f"{type(error).__name__}: {error}")
    else:
        recorder.record(path.name, "passed", " ".join(f"{loss:.9g}" for run in LOSSES for loss in run))


if __name__ == "__main__":
    main(sys.argv[1])
