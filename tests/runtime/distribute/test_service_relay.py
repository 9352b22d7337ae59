"""The relay waits for a late service, and keeps a connection that the service has closed."""

import socket
import time

from agc.cli.run_workers import reserved_ports
from agc.runtime.distribute.service_relay import ServiceRelay


def connected(address):
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=10.0)


def test_bytes_pass_and_the_end_of_the_service_is_seen():
    with reserved_ports(1) as ports:
        pass
    relay = ServiceRelay(f"127.0.0.1:{ports[0]}")
    with connected(relay.address) as client:
        client.sendall(b"early")
        with socket.create_server(("127.0.0.1", ports[0])) as listener:
            service, _ = listener.accept()
            with service:
                assert service.recv(5) == b"early"
                service.sendall(b"answer")
                assert client.recv(6) == b"answer"
                assert not relay.has_ended
        end = time.monotonic() + 10.0
        while not relay.has_ended and time.monotonic() < end:
            time.sleep(0.01)
        assert relay.has_ended
        client.settimeout(0.05)
        try:
            closed = client.recv(1) == b""
        except TimeoutError:
            closed = False
        assert not closed
