"""All workers meet at the address of worker 0, before JAX joins them: JAX aborts a process that waits for too long.

worker 1: {"rank": 1, "size": 2}  ─►  worker 0 compares  ─►  {}, once all have come, or {"error": "…"}
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .. import errors

PAUSE = 0.1
"""The seconds between attempts to reach worker 0, which may start later."""

PATIENCE = 5.0
"""The seconds that a connection may take to be made, or to send its line."""

LONGEST = 1 << 20
"""The most bytes of a line."""


def host_and_port(address: str) -> tuple[str, int]:
    """Return the parts of "host:port". Raises ValueError for something else."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"the address {address!r} of a worker is not HOST:PORT, with a port from 1 to 65535")
    return host.strip("[]"), int(port)


def is_local(address: str) -> bool:
    """Return whether all processes are on this machine: then nothing listens on the network."""
    return host_and_port(address)[0] in ("localhost", "127.0.0.1", "::1")


def meet(addresses: Sequence[str], rank: int, limit: float) -> None:
    """Return when all workers have called this.

    Raises UnavailableError if some have not within `limit` seconds, or if the address of worker 0 is in use. Raises
    ValueError if a worker counts other workers, or if two have the same number.
    """
    end = time.monotonic() + limit
    if rank == 0:
        _receive_all(addresses, end, limit)
    else:
        _report(addresses, rank, end, limit)


def _receive_all(addresses: Sequence[str], end: float, limit: float) -> None:
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(_listener(addresses[0]))
        arrived: dict[int, socket.socket] = {}
        for connection in _connections(listener, end):
            opened.enter_context(connection)
            arrived = {rank: one for rank, one in arrived.items() if _is_open(one)}
            said = _message(connection)
            if said is None or not isinstance(rank := said.get("rank"), int):
                continue  # no worker
            refusal = _refusal(rank, said.get("size"), addresses, arrived)
            if refusal:
                _send(connection, {"error": refusal})
                raise ValueError(refusal)
            arrived[rank] = connection
            if len(arrived) == len(addresses) - 1:
                for one in arrived.values():
                    _send(one, {})
                return
    missing = [rank for rank in range(1, len(addresses)) if rank not in arrived]
    named = ", ".join(f"worker {rank} ({addresses[rank]})" for rank in missing)
    raise errors.UnavailableError(f"worker 0 has waited for {limit:g} s at {addresses[0]} for {named}")


def _refusal(rank: int, size: Any, addresses: Sequence[str], arrived: dict[int, socket.socket]) -> str:
    """Return the reason why a worker cannot join, or an empty text."""
    if size != len(addresses):
        return (
            f"worker {rank} is one of {size} workers, and worker 0 one of {len(addresses)}: all need the same "
            "addresses, in TF_CONFIG or in `cluster_resolver`"
        )
    if not 0 < rank < len(addresses) or rank in arrived:
        return f"two workers have the number {rank}: each needs its own, in `task` of TF_CONFIG"
    return ""


def _report(addresses: Sequence[str], rank: int, end: float, limit: float) -> None:
    reason = "it does not answer"
    while time.monotonic() < end:
        try:
            with _connected(addresses[0], end) as connection:
                _send(connection, {"rank": rank, "size": len(addresses)})
                answer = _message(connection, end)
            if answer is not None:
                if "error" in answer:
                    raise ValueError(answer["error"])
                return
        except OSError as error:
            reason = str(error)
        time.sleep(PAUSE)
    raise errors.UnavailableError(
        f"worker {rank} has waited for {limit:g} s for the others, which meet at {addresses[0]}, the address of "
        f"worker 0: {reason}"
    )


def _connected(address: str, end: float) -> socket.socket:
    patience = min(PATIENCE, max(end - time.monotonic(), PAUSE))
    return socket.create_connection(host_and_port(address), patience)


def _listener(address: str) -> socket.socket:
    """Listen at the address of this worker. Raises UnavailableError if another program does."""
    host, port = host_and_port(address)
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1.0):
        raise _in_use(address)
    is_dual = not is_local(address) and socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if is_dual or ":" in host else socket.AF_INET
    try:
        return socket.create_server(
            (host if is_local(address) else "", port),
            family=family,
            reuse_port=hasattr(socket, "SO_REUSEPORT"),  # a launcher may reserve it
            dualstack_ipv6=is_dual,
        )
    except OSError:
        raise _in_use(address) from None


def _in_use(address: str) -> errors.UnavailableError:
    return errors.UnavailableError(
        f"worker 0 cannot listen at its address {address}: another program does. End it, or choose another port"
    )


def _connections(listener: socket.socket, end: float) -> Iterator[socket.socket]:
    while (left := end - time.monotonic()) > 0:
        listener.settimeout(left)
        with contextlib.suppress(TimeoutError):
            yield listener.accept()[0]


def _message(connection: socket.socket, end: float | None = None) -> dict[str, Any] | None:
    """Return the next line of JSON; None if there is none, or something else."""
    line = b""
    with contextlib.suppress(OSError, ValueError):
        while not line.endswith(b"\n") and len(line) < LONGEST:
            connection.settimeout(PATIENCE if end is None else max(end - time.monotonic(), PAUSE))
            more = connection.recv(1 << 16)
            if not more:
                return None
            line += more
        found = json.loads(line)
        return found if isinstance(found, dict) else None
    return None


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(json.dumps(message).encode() + b"\n")


def _is_open(connection: socket.socket) -> bool:
    """Return whether the other side has not closed a connection from which nothing is to be read."""
    connection.settimeout(0.0)
    try:
        return bool(connection.recv(1))
    except BlockingIOError:
        return True
    except OSError:
        return False
