"""Workers meet before JAX joins them: each gets an exception if another one is missing, or has other numbers."""

import socket
from concurrent.futures import ThreadPoolExecutor

import agc.runtime as tf
import pytest
from agc.cli.run_workers import reserved_ports
from agc.runtime.distribute import rendezvous


@pytest.fixture(params=["127.0.0.1", "localhost"])
def address(request):
    with reserved_ports(1) as ports:
        yield f"{request.param}:{ports[0]}"


def outcome(addresses, rank, limit):
    try:
        rendezvous.meet(addresses, rank, limit)
    except Exception as error:
        return error
    return None


def outcomes(*calls):
    """Return what the calls of `meet` have raised, each in a thread."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(lambda call: outcome(*call), calls))


def test_all_workers_meet(address):
    addresses = [address, "other:1", "other:2"]
    assert outcomes(*[(addresses, rank, 30.0) for rank in (2, 0, 1)]) == [None] * 3


def test_missing_workers_are_named(address):
    addresses = [address, "other:1", "other:2"]
    chief, worker = outcomes((addresses, 0, 0.5), (addresses, 1, 1.0))
    assert isinstance(chief, tf.errors.UnavailableError)
    assert str(chief) == f"worker 0 has waited for 0.5 s at {address} for worker 2 (other:2)"
    assert isinstance(worker, tf.errors.UnavailableError)
    assert f"worker 1 has waited for 1 s for the others, which meet at {address}" in str(worker)


def test_the_reason_is_that_of_the_last_attempt():
    error = outcome(["127.0.0.1:1", "other:1"], 1, 0.2)
    assert "Connection refused" in str(error)


@pytest.mark.parametrize(
    ("rank", "size", "message"),
    [
        (1, 3, "worker 1 is one of 3 workers, and worker 0 one of 2: all need the same addresses"),
        (0, 2, "two workers have the number 0: each needs its own"),
    ],
)
def test_wrong_numbers_are_told_to_both(address, rank, size, message):
    def worker():
        host, port = rendezvous.host_and_port(address)
        while True:
            try:
                connection = socket.create_connection((host, port), timeout=30.0)
                break
            except OSError:
                pass  # the chief does not listen yet
        with connection:
            rendezvous._send(connection, {"rank": rank, "size": size})
            return rendezvous._message(connection)

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(worker)
        with pytest.raises(ValueError, match=message):
            rendezvous.meet([address, "other:1"], 0, 30.0)
        assert message in answer.result()["error"]


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"[1]\n", b'{"rank": "1"}\n', b"\xff\n", b"1" * 100 + b"\n"]
)
def test_programs_that_are_no_workers_are_ignored(address, sent):
    with ThreadPoolExecutor(2) as pool:
        chief = pool.submit(rendezvous.meet, [address, "other:1"], 0, 30.0)
        while not chief.done():
            try:
                with socket.create_connection(rendezvous.host_and_port(address), timeout=30.0) as stranger:
                    stranger.sendall(sent)
                break
            except ConnectionError:
                pass  # the chief does not listen yet
        pool.submit(rendezvous.meet, [address, "other:1"], 1, 30.0).result()
        assert chief.result() is None


@pytest.mark.parametrize("address", ["host", "host:", ":80", "host:0", "host:65536", "host:x"])
def test_the_address_of_the_chief_has_a_host_and_a_port(address):
    with pytest.raises(ValueError, match="is not HOST:PORT"):
        rendezvous.meet([address, "other:1"], 0, 1.0)
