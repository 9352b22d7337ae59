"""Start the processes of tests of several workers, each with its TF_CONFIG, and wait for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agc.cli.run_workers import config, reserved_ports

PROGRAM = Path(__file__).with_name("multi_worker_program.py")


class Ended(NamedTuple):
    """The ends of all processes: their exit codes, what they wrote to stderr, and the JSON that they left."""

    codes: list[int]
    errors: list[str]
    found: list[Any]


def _gpu_of(index: int) -> dict[str, str]:
    """Return the setting by which CUDA shows one GPU to each process, if a test demands that."""
    return {"CUDA_VISIBLE_DEVICES": str(index)} if "AGC_TEST_GPU_EACH" in os.environ else {}


def run_workers(
    count: int,
    folder: Path,
    parts: Sequence[str],
    limit: float = 120.0,
    program: Path = PROGRAM,
    **environment: str,
) -> Ended:
    """Run the parts of the program in `count` processes; none is left when this returns."""
    with reserved_ports(count) as ports:
        members = [f"127.0.0.1:{port}" for port in ports]
        processes = [
            subprocess.Popen(
                [sys.executable, str(program), *([str(folder)] if program is PROGRAM else []), *parts],
                env={**os.environ, **environment, **_gpu_of(index), "TF_CONFIG": config(members, index)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            for index in range(count)
        ]
        try:
            errors = [process.communicate(timeout=limit)[1] for process in processes]
        finally:
            for process in processes:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
    files = [folder / f"worker-{index}.json" for index in range(count)]
    found = [json.loads(file.read_text()) if file.exists() else None for file in files]
    return Ended([process.returncode for process in processes], errors, found)
