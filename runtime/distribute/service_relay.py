"""A local relay between JAX's client and the coordination service in worker 0, which outlives that service.

client ─► 127.0.0.1 ─► relay ─► worker 0     ==>     worker 0 ends: the client waits, and `has_ended` is True

JAX's client aborts the process when its connection breaks. The relay keeps this connection open, so that the program
gets an exception, which names the lost worker.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

from .rendezvous import PATIENCE, PAUSE, host_and_port


class ServiceRelay:
    """Forward connections to `address` to the service at `service`."""

    has_ended = False
    """True once the service has closed a connection: it has ended."""

    def __init__(self, service: str) -> None:
        self._service = host_and_port(service)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        _start(self._serve)

    def _serve(self) -> None:
        while True:
            client, _ = self._listener.accept()
            _start(self._relay, client)

    def _relay(self, client: socket.socket) -> None:
        service = self._connected()
        _start(_copy, client, service)
        with service:
            while data := _received(service):
                with contextlib.suppress(OSError):  # the client has left
                    client.sendall(data)
        self.has_ended = True

    def _connected(self) -> socket.socket:
        while True:
            with contextlib.suppress(OSError):
                service = socket.create_connection(self._service, PATIENCE)
                service.settimeout(None)
                return service
            time.sleep(PAUSE)


def _start(target: Callable[..., None], *arguments: Any) -> None:
    threading.Thread(target=target, args=arguments, name="service relay", daemon=True).start()


def _copy(client: socket.socket, service: socket.socket) -> None:
    """Forward what the client sends. Its end does not close the other connection: that means the service has ended."""
    with client:
        while data := _received(client):
            with contextlib.suppress(OSError):
                service.sendall(data)


def _received(source: socket.socket) -> bytes:
    """Return the next bytes; none when the other side has closed the connection, or does not exist any more."""
    try:
        return source.recv(1 << 16)
    except OSError:
        return b""
