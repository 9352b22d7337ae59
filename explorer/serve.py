"""Serve a page on this machine, and make it anew when a source file changes.

    GET /KEY/          the page; in it, `web/live.js` loads it again when the version changes
    GET /KEY/version   the number of the version, and "…" while a newer one is being made

A program may run for long: a page that is being made is given up when a file changes again, or the server ends. The
server listens on the loopback interface, and answers only requests that name it: other sites cannot read the page.
Other users of the machine cannot, either: the key is random, and only the address that is printed has it.
"""

from __future__ import annotations

import html
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Protocol

from .page import DARK_BY_SYSTEM, script, small_page, style

MOST_FILES = 5000
"""The number of source files that are watched."""
PATIENCE = 3.0
"""The seconds that a browser waits for a page until it gets the last one, or a note instead."""
MOST_SILENCE = 30.0
"""The seconds after which a connection without a request is closed."""


class Making(Protocol):
    """A page that is being made."""

    def page(self) -> str:
        """Wait, and return the page as HTML."""

    def stop(self) -> None:
        """Give the page up: `page` returns soon."""


class PageServer(ThreadingHTTPServer):
    """A server of one page, which `make` starts to make; `folder` has the files that are watched."""

    daemon_threads = True

    def __init__(self, make: Callable[[], Making], folder: str, port: int = 0) -> None:
        self.version = 0
        self.root = f"/{secrets.token_urlsafe(16)}/"
        self._make = make
        self._folder = folder
        self._lock = threading.Lock()
        self._seen: dict[str, float] = {}
        self._page = ""
        self._making: Making | None = None
        self._made = threading.Event()
        super().__init__(("127.0.0.1", port), _Handler)  # closes the server if the port is in use

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.root}"

    def refresh(self) -> None:
        """Start to make the page if a file has changed since the last start."""
        with self._lock:
            seen = dict(_files(self._folder))
            if seen == self._seen:
                return
            self._seen = seen
            if self._making is not None:
                self._making.stop()
            self._making = self._make()
            self._made.clear()
        threading.Thread(target=self._finish, args=(self._making,), daemon=True).start()

    def _finish(self, making: Making) -> None:
        page = making.page()
        with self._lock:
            if making is self._making:
                self._page, self._making = page, None
                self.version += 1
                self._made.set()

    def page(self) -> str:
        """Return the newest page, or a note if the first one takes long."""
        self.refresh()
        self._made.wait(PATIENCE)
        return self._page or note_page("The program is running; its page comes when it has ended.")

    def state(self) -> str:
        """Return the version as text."""
        self.refresh()
        return f"{self.version}{'' if self._made.is_set() else '…'}"

    def server_close(self) -> None:
        """End the server, and give up the page that is being made."""
        super().server_close()
        with self._lock:
            if self._making is not None:
                self._making.stop()


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    timeout = MOST_SILENCE

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").rpartition(":")[0]
        if host not in ("127.0.0.1", "localhost"):
            self.send_error(403)
        elif self.path == self.server.root:
            self._answer("text/html", self.server.page())
        elif self.path == f"{self.server.root}version":
            self._answer("text/plain", self.server.state())
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


def note_page(text: str) -> str:
    """Return a page with a text, such as the error of a program; a newer page replaces it."""
    sheet, code = style(DARK_BY_SYSTEM, "note", "live"), script("live")
    body = f"<main><pre>{html.escape(text)}</pre></main><script>{code}</script>"
    return small_page("agc explore", body, sheet, code, connect="'self'")
