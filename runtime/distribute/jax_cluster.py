"""Join the processes of a cluster by JAX's coordination service, which runs in process 0.

["host0:2222", "host1:2222"], rank 1     ==>     the client of the service at host0:2222, once all have joined
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .. import errors
from ..executors.xla import INSTALL
from .rendezvous import is_local, meet
from .service_relay import ServiceRelay

START_LIMIT = 300
"""The seconds for which a process waits at the start for the others to join."""

_NEVER = 1 << 30


def require_jax() -> Any:
    """Return the module jax; raise ImportError with the extra that installs it."""
    # No warning of the experimental recovery, which is used here.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        import jax
    except ImportError:
        raise ImportError(f"strategies of several processes need JAX: {INSTALL}") from None
    return jax


def joined(addresses: Sequence[str], rank: int, timeout: float | None) -> tuple[Any, ServiceRelay | None]:
    """Join the processes. Return JAX's client of the coordination service, and its relay outside of process 0.

    Raises UnavailableError if others are missing, or if another program has the address of process 0, ValueError if
    the processes have different addresses, RuntimeError if JAX is in another cluster.
    """
    jax = require_jax()
    from jax._src import distributed  # the client has no public name

    size = len(addresses)
    relay = None
    if distributed.global_state.client is None:
        meet(addresses, rank, timeout or START_LIMIT)
        if rank > 0:
            relay = ServiceRelay(addresses[0])
        jax.config.update("jax_enable_recoverability", True)  # a lost worker ends no other
        jax.config.update("jax_enable_preemption_service", False)  # SIGTERM ends the program, as usual
        try:
            jax.distributed.initialize(
                addresses[0] if relay is None else relay.address,
                size,
                rank,
                cluster_detection_method="deactivate",
                coordinator_bind_address=addresses[0] if is_local(addresses[0]) else None,
                initialization_timeout=int(timeout or START_LIMIT),
                heartbeat_timeout_seconds=_NEVER,  # `WorkerHealth` watches the workers
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
    return distributed.global_state.client, relay
