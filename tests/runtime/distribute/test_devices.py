"""`MirroredStrategy` on four devices of JAX, in a process of its own; AGC_FUZZ=1 also trains a model of Keras."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax")

PROGRAM = Path(__file__).parents[2] / "support" / "device_program.py"
FUZZ = bool(os.environ.get("AGC_FUZZ"))


def run(*parts, **environment):
    """Return what the parts of the program have found."""
    ended = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", str(PROGRAM), *parts],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def found():
    return run("train", "values", "refusals", "accelerators")


def test_four_devices_train_like_one(found):
    train = found["train"]
    assert len(train["devices"]["losses"]) == 50
    np.testing.assert_allclose(train["devices"]["losses"], train["alone"]["losses"], rtol=1e-5)
    np.testing.assert_allclose(train["turns"]["losses"], train["alone"]["losses"][:3], rtol=1e-5)
    assert train["devices"]["equal"] == [True] * 4
    assert train["devices"]["seen"] == train["alone"]["seen"]


def test_a_step_is_one_operation_for_all_devices(found):
    assert found["train"]["devices"]["graph"].count("run_in_replicas") == 1
    assert "run_in_replicas" not in found["train"]["turns"]["graph"]


def test_replicas_reduce_gather_and_merge(found):
    values = found["values"]
    assert values["mean"] == [5.0] * 4
    assert values["gradient"] == [1.0, 2.0, 3.0, 4.0]
    assert values["rows"] == [[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]] * 4
    assert values["merged"] == [14.0] * 4
    assert values["gathered"] == [[0.0, 1.0, 2.0, 3.0]] * 4
    assert values["dense"] == [[[0.0], [1.0], [2.0], [3.0]]] * 4
    assert values["total"] == [12.0] * 4  # of two iterations


def test_updates_of_variables_are_aggregated(found):
    assert found["values"]["variables"] == {
        "NONE": [2.0, 3.0, 4.0, 5.0],
        "SUM": [11.0] * 4,
        "MEAN": [3.5] * 4,
        "ONLY_FIRST_REPLICA": [2.0] * 4,
    }
    assert found["values"]["shared"] == [4, 1, 1, 1]  # of 7
    assert found["values"]["table"] == [[0.0, 0.0, 4.0, 0.0]] * 4


def test_generators_draw_the_numbers_of_replicas_that_take_turns(found):
    np.testing.assert_allclose(found["values"]["drawn"], found["values"]["drawn in turns"], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "reason", "results"),
    [
        ("assigns", "take turns to run assigns: it assigns .* not made in the scope of the strategy", [10.0] * 4),
        ("unique", "runs in threads .* on 4 devices: .*unique: the shape of its result", [3.0, 4.0, 5.0, 6.0]),
        ("missing", "no device CPU:4: start the program with XLA_FLAGS=--xla_force_host", [1.0, 2.0, 3.0, 4.0, 5.0]),
    ],
)  # fmt: skip
def test_functions_that_devices_cannot_run_are_run_elsewhere_with_a_warning(found, name, reason, results):
    (warning,), values = found["refusals"][name]
    assert values == results
    assert re.search(reason, warning), warning


def test_replicas_that_share_a_random_stream_take_turns(found):
    (warning,), values = found["refusals"]["draws"]
    assert "it draws from a global random stream" in warning
    assert values == [values[0]] * 4


def test_accelerators_run_all_functions(found):
    """The CPUs of JAX are taken for GPUs here."""
    accelerators = found["accelerators"]
    assert accelerators["count"] == 4
    assert accelerators["total"] == [6.0] * 4
    assert accelerators["devices"] == [
        f"/job:localhost/replica:0/task:0/device:GPU:{index}" for index in range(4)
    ]
    assert "run_in_replicas" in accelerators["graph"]
    assert accelerators["one"] == 2.0


def test_a_failed_check_of_one_replica_names_the_line(found):
    assert "slice index 3 of dimension 0 out of bounds" in found["refusals"]["error"]
    assert "device_program.py:" in found["refusals"]["error"]


@pytest.mark.skipif(not FUZZ, reason="imports Keras in a process of its own: for `make hosts`")
def test_models_of_keras_are_fitted_on_the_devices_that_the_program_has_chosen():
    in_turns, on_devices = run("fit", XLA_FLAGS="--xla_force_host_platform_device_count=4")["fit"]
    np.testing.assert_allclose(on_devices[0], in_turns[0], rtol=1e-4)
    np.testing.assert_allclose(on_devices[1], in_turns[1], rtol=1e-4)
