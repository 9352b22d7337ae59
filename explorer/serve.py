"""Serve a page on this machine, and make it anew when a source file changes.

    GET /          the page; in it, `web/live.js` loads it again when the version changes
    GET /version   the number of the version

The server listens on the loopback interface, and answers only requests that name that: other sites cannot read it.
"""

from __future__ import annotations

import html
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .page import policy, script

MOST_FILES = 5000
"""The number of source files that are watched."""


class PageServer(ThreadingHTTPServer):
    """A server of one page, which `make` returns as HTML; `folder` has the files that are watched."""

    daemon_threads = True

    def __init__(self, make: Callable[[], str], folder: str, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.version = 0
        self._make = make
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}
        self._page = ""

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def refresh(self) -> None:
        """Make the page if it has not been made since the last change of a file."""
        with self._lock:
            seen = dict(_files(self._folder))
            if seen != self._seen:
                self._seen = seen
                self._page = self._make()
                self.version += 1

    def page(self) -> str:
        self.refresh()
        return self._page


class _Handler(BaseHTTPRequestHandler):
    server: PageServer

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(403)
        elif self.path == "/":
            self._answer("text/html", self.server.page())
        elif self.path == "/version":
            self.server.refresh()
            self._answer("text/plain", str(self.server.version))
        else:
            self.send_error(404)

    def _answer(self, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing for each request."""


def _files(folder: str) -> Iterator[tuple[str, float]]:
    """Yield the Python files below a folder with the times of their last change."""
    count = 0
    for path, folders, names in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith((".", "__")) and each != "node_modules"]
        for name in names:
            if name.endswith(".py") and count < MOST_FILES:
                count += 1
                whole = os.path.join(path, name)
                try:
                    yield whole, os.stat(whole).st_mtime
                except OSError:  # removed since
                    continue


_ERROR = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>agc explore</title>
<style>{style}</style>
</head>
<body>{text}<script>{script}</script></body>
</html>
"""


def error_page(text: str) -> str:
    """Return a page for a program that fails; it is replaced when the program is corrected."""
    style = "body { font: 13px/1.5 ui-monospace, monospace; margin: 2em; white-space: pre-wrap; }"
    code = script("live")
    allowed = policy(style, code, connect="'self'")
    return _ERROR.format(policy=allowed, style=style, text=html.escape(text), script=code)
