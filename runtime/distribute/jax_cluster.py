"""Join the processes of a cluster by JAX's coordination service, which runs in process 0.

["host0:2222", "host1:2222"], rank 1     ==>     the client of the service at host0:2222, once all have joined
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..executors.xla import INSTALL

START_LIMIT = 300
"""The seconds for which a process waits at the start for the others to join."""


def require_jax() -> Any:
    """Return the module jax; raise ImportError with the extra that installs it."""
    os.environ.setdefault(
        "TF_CPP_MIN_LOG_LEVEL", "2"
    )  # no warning of the experimental recovery, which is used here
    try:
        import jax
    except ImportError:
        raise ImportError(f"strategies of several processes need JAX: {INSTALL}") from None
    return jax


def joined(addresses: Sequence[str], rank: int, timeout: float | None) -> Any:
    """Join the processes, and return JAX's client of the coordination service.

    Raises UnavailableError if others are missing, or if another program has the address of process 0. Raises
    RuntimeError if JAX is in another cluster.
    """
    jax = require_jax()
    from jax._src import distributed  # the client has no public name

    size = len(addresses)
    if distributed.global_state.client is None:
        if rank == 0:
            _demand_free(addresses[0])
        jax.config.update("jax_enable_recoverability", True)  # a lost worker ends no other
        jax.config.update("jax_enable_preemption_service", False)  # SIGTERM ends the program, as usual
        try:
            jax.distributed.initialize(
                addresses[0],
                size,
                rank,
                cluster_detection_method="deactivate",
                coordinator_bind_address=addresses[0] if _is_here(addresses[0]) else None,
                initialization_timeout=int(timeout or START_LIMIT),
            )
        except jax.errors.JaxRuntimeError as error:
            raise errors.UnavailableError(
                f"worker {rank} of {size} cannot join the others at {addresses[0]}, the address of worker 0: "
                f"{str(error).splitlines()[0]}"
            ) from None
    if (jax.process_index(), jax.process_count()) != (rank, size):
        raise RuntimeError(
            f"JAX has joined this process as {jax.process_index()} of {jax.process_count()}; the cluster says "
            f"{rank} of {size}"
        )
    return distributed.global_state.client


def _is_here(address: str) -> bool:
    """Return whether all processes are on this machine: then the service does not listen on the network."""
    return address.rpartition(":")[0] in ("localhost", "127.0.0.1")


def _demand_free(address: str) -> None:
    """Raise UnavailableError if another program listens at the address. A launcher may reserve it."""
    host, _, port = address.rpartition(":")
    is_used = False
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=1.0):
        is_used = True
    with socket.socket() as own:
        if hasattr(socket, "SO_REUSEPORT"):
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            own.bind((host if _is_here(address) else "", int(port)))
        except OSError as error:
            is_used |= error.errno == errno.EADDRINUSE
    if is_used:
        raise errors.UnavailableError(
            f"worker 0 cannot listen at its address {address}: another program does. End it, or choose another port"
        )
