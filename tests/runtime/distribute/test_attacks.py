"""Workers that differ, come late or fail: each ends with an error that says why. `make hosts` starts processes."""

import os
import socket
from pathlib import Path

import agc.runtime as tf
import pytest
from agc.runtime.distribute.rendezvous import _listener
from support.workers import run_workers

PROGRAM = Path(__file__).parents[2] / "support" / "attack_program.py"
DIFFERENT = "FailedPreconditionError: the workers run different collectives: "
LOST = "UnavailableError: worker {} (127.0.0.1:"

needs_processes = pytest.mark.skipif(
    not os.environ.get("AGC_FUZZ"), reason="starts two processes for each attack: for `make hosts`"
)


def test_a_port_in_use_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(
            tf.errors.UnavailableError, match=f"listen at its address {address}: another program does"
        ):
            _listener(address)


def test_a_port_that_a_launcher_has_reserved_is_free():
    with socket.socket() as launcher:
        launcher.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        launcher.bind(("127.0.0.1", 0))
        _listener(f"127.0.0.1:{launcher.getsockname()[1]}").close()


@needs_processes
def test_workers_that_come_late_are_waited_for(tmp_path):
    assert run_workers(2, tmp_path, ["late"], program=PROGRAM).codes == [0, 0]


@needs_processes
@pytest.mark.parametrize(
    "attack",
    [
        "other_program",
        "other_variables",
        "other_shapes",
        "other_shapes_in_native_code",
        "other_shapes_in_xla",
    ],
)
def test_workers_that_differ_say_how(tmp_path, attack):
    ended = run_workers(2, tmp_path, [attack], program=PROGRAM)
    assert ended.codes == [1, 1], ended.errors
    assert any(DIFFERENT in text for text in ended.errors), ended.errors
    for rank, text in enumerate(
        ended.errors
    ):  # the first one to see it ends, and the other may see that first
        assert DIFFERENT in text or LOST.format(1 - rank) in text, text


@needs_processes
def test_an_exception_in_one_worker_ends_the_other(tmp_path):
    first, second = run_workers(2, tmp_path, ["exception"], program=PROGRAM).errors
    assert "KeyError: 'worker 1 has a bug'" in second
    assert LOST.format(1) in first
