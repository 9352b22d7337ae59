"""The server of `agc explore --serve`: a page that is made anew when a source file changes."""

import http.client
import os
import socket
import threading

import pytest
from agc.explorer import serve
from agc.explorer.serve import PageServer, note_page


class Reading:
    """A page that is the text of a file, once the event is set."""

    def __init__(self, path, may_end):
        self.path, self.may_end, self.stopped = path, may_end, False

    def page(self):
        text = self.path.read_text()
        self.may_end.wait(120)
        return text

    def stop(self):
        self.stopped = True


@pytest.fixture
def may_end():
    """Whether pages that are being made may come to an end."""
    event = threading.Event()
    event.set()
    yield event
    event.set()


@pytest.fixture
def makings():
    """The pages whose making has started."""
    return []


@pytest.fixture
def server(tmp_path, may_end, makings):
    def make():
        makings.append(Reading(tmp_path / "model.py", may_end))
        return makings[-1]

    save(tmp_path, "x = 1\n", at=1)
    with PageServer(make, str(tmp_path)) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def save(folder, text, at):
    (folder / "model.py").write_text(text)
    os.utime(folder / "model.py", (at, at))


def get(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=120)
    connection.request("GET", server.root + path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_pages_are_made_anew_when_a_file_changes(server, tmp_path):
    assert get(server, "") == (200, "x = 1\n")
    assert get(server, "version") == (200, "1")
    save(tmp_path, "x = 2\n", at=2)
    assert get(server, "") == (200, "x = 2\n")
    assert get(server, "version") == (200, "2")


def test_a_page_that_takes_long_is_announced(server, may_end, monkeypatch):
    monkeypatch.setattr(serve, "PATIENCE", 0.01)
    may_end.clear()
    assert "The program is running" in get(server, "")[1]
    assert get(server, "version") == (200, "0…")


def test_a_page_that_takes_long_is_given_up_when_a_file_changes(server, may_end, makings, tmp_path):
    may_end.clear()
    get(server, "version")
    save(tmp_path, "x = 2\n", at=2)
    assert get(server, "version") == (200, "0…")
    assert [each.stopped for each in makings] == [True, False]
    may_end.set()
    assert get(server, "") == (200, "x = 2\n")
    assert get(server, "version") == (200, "1")


def test_the_page_that_is_being_made_ends_with_the_server(tmp_path, may_end):
    may_end.clear()
    save(tmp_path, "x = 1\n", at=1)
    making = Reading(tmp_path / "model.py", may_end)
    with PageServer(lambda: making, str(tmp_path)) as server:
        server.refresh()
    assert making.stopped


def test_other_sites_and_paths_get_nothing(server, makings):
    assert get(server, "", Host="evil.example:80")[0] == 403
    assert get(server, "model.py")[0] == 404
    assert get(server, "../version")[0] == 404
    assert server.server_address[0] == "127.0.0.1"
    assert not makings


def test_other_users_do_not_know_the_address(server, makings):
    assert server.address == f"http://127.0.0.1:{server.server_port}{server.root}"
    for path in ("/", "/version", "//version", f"/{'A' * 22}/"):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=120)
        connection.request("GET", path)
        assert connection.getresponse().status == 404
        connection.close()
    assert not makings


def test_connections_without_a_request_are_closed(server, monkeypatch):
    monkeypatch.setattr(serve._Handler, "timeout", 0.05)
    with socket.create_connection(server.server_address, timeout=120) as connection:
        assert connection.recv(1) == b""


def test_errors_are_pages_that_load_again():
    page = note_page("error: <b>")
    assert "error: &lt;b&gt;" in page and 'fetch("version")' in page
