"""Drive a headless Chromium over its debugging pipe, with the standard library alone.

    with Chromium() as browser:
        page = browser.open("file:///tmp/page.html")
        page.evaluate("document.title")        the value of an expression, promises awaited
        page.press("g")                        a key
        page.requests, page.complaints         the addresses that it loaded; messages of its console and errors

Messages are JSON, each ended by a zero byte: Chromium reads them from descriptor 3 and writes them to 4.
"""

import json
import os
import shutil
import tempfile

FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --disable-extensions --mute-audio --hide-scrollbars
    --remote-debugging-pipe
"""

KEYS = {
    "ArrowDown": 40,
    "ArrowUp": 38,
    "ArrowLeft": 37,
    "ArrowRight": 39,
    "Enter": 13,
    "Escape": 27,
    "Tab": 9,
}


def executable():
    """Return the path of Chromium, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Chromium:
    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="agc-chromium-", ignore_cleanup_errors=True)
        read_commands, self._commands = os.pipe()
        self._answers, write_answers = os.pipe()

        # No Python code runs in the new process, as libraries warn of a fork. Any of the pipes may have the number 3,
        # 4, or that of another one, so they move to larger numbers first.
        free = max(read_commands, write_answers, 4) + 1
        moves = ((read_commands, free), (write_answers, free + 1), (free, 3), (free + 1, 4))
        actions = [(os.POSIX_SPAWN_DUP2, old, new) for old, new in moves]
        actions += [(os.POSIX_SPAWN_CLOSE, number) for number in (free, free + 1)]
        actions += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        command = [executable(), *FLAGS.split(), f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
        os.close(read_commands)
        os.close(write_answers)
        self._rest = b""
        self._number = 0
        self.pages = {}
        return self

    def __exit__(self, *_):
        self.send("Browser.close")
        os.waitpid(self.process, 0)
        os.close(self._commands)
        os.close(self._answers)
        self.folder.cleanup()

    def send(self, method, session=None, **parameters):
        """Send a command and return its result; events that come first go to their pages."""
        self._number += 1
        number = self._number
        command = {"id": number, "method": method, "params": parameters}
        if session is not None:
            command["sessionId"] = session
        os.write(self._commands, json.dumps(command).encode() + b"\0")
        while True:
            message = self.receive()
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]

    def receive(self):
        while b"\0" not in self._rest:
            piece = os.read(self._answers, 1 << 16)
            if not piece:
                raise RuntimeError("Chromium has ended")
            self._rest += piece
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        page = self.pages.get(message.get("sessionId"))
        if page is not None and "method" in message:
            page.note(message["method"], message["params"])
        return message

    def open(self, address, width=1280, height=800, dark=False, touch=None):
        """Open a page in a new tab, and return once it has loaded."""
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.send(f"{domain}.enable")
        page.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.send("Emulation.setEmulatedMedia", features=[scheme])
        page.go(address)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        self.requests = []
        self.complaints = []
        self.loaded = False

    def send(self, method, **parameters):
        return self.browser.send(method, self.session, **parameters)

    def note(self, event, parameters):
        if event == "Page.loadEventFired":
            self.loaded = True
        elif event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif event == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif event == "Runtime.consoleAPICalled":
            self.complaints.append(str([each.get("value") for each in parameters["args"]]))

    def go(self, address):
        self.loaded = False
        self.send("Page.navigate", url=address)
        while not self.loaded:
            self.browser.receive()

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(result["exceptionDetails"]["exception"].get("description", result))
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        """Wait until an expression is true, and return its value."""
        loop = (
            f"new Promise((done, failed) => {{ const end = performance.now() + {seconds * 1000}; const look = () => {{"
            f"const found = ({expression}); if (found) done(found); else if (performance.now() > end) "
            f"failed(new Error('timed out')); else setTimeout(look, 20); }}; look(); }})"
        )
        return self.evaluate(loop)

    def press(self, key):
        code = {"windowsVirtualKeyCode": KEYS[key]} if key in KEYS else {"text": key}
        if key == "Enter":
            code["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.send("Input.insertText", text=text)

    def mouse(self, selector, kind="click", index=0):
        """Move the mouse over an element, or click it."""
        place = self.evaluate(
            f"(() => {{ const box = document.querySelectorAll({json.dumps(selector)})[{index}].getBoundingClientRect();"
            "return [box.left + Math.min(box.width / 2, 90), box.top + box.height / 2]; })()"
        )
        x, y = place
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if kind == "click":
            for event in ("mousePressed", "mouseReleased"):
                self.send("Input.dispatchMouseEvent", type=event, x=x, y=y, button="left", clickCount=1)

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
