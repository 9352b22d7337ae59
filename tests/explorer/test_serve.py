"""The server of `agc explore --serve`: a page that is made anew when a source file changes."""

import http.client
import os
import threading

import pytest
from agc.explorer.serve import PageServer, error_page


@pytest.fixture
def server(tmp_path):
    (tmp_path / "model.py").write_text("x = 1\n")
    with PageServer(lambda: (tmp_path / "model.py").read_text(), str(tmp_path)) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def get(server, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_pages_are_made_anew_when_a_file_changes(server, tmp_path):
    assert get(server, "/") == (200, "x = 1\n")
    assert get(server, "/version") == (200, "1")
    (tmp_path / "model.py").write_text("x = 2\n")
    os.utime(tmp_path / "model.py", (1, 1))
    assert get(server, "/version") == (200, "2")
    assert get(server, "/") == (200, "x = 2\n")


def test_other_sites_and_paths_get_nothing(server):
    assert get(server, "/", Host="evil.example:80")[0] == 403
    assert get(server, "/model.py")[0] == 404
    assert server.server_address[0] == "127.0.0.1"


def test_errors_are_pages_that_load_again():
    page = error_page("error: <b>")
    assert "error: &lt;b&gt;" in page and "/version" in page
