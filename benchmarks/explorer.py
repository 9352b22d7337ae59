"""Measure the page of `agc explore` for a large graph in Chromium: until it is shown, and until it answers.

make bench-explorer

10,000 operations, 12.8 MB    shown 1.80 s    next pass 0.02 s    plan 0.08 s    drawing 1.90 s
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
import time
from collections.abc import Callable

import agc.runtime as tf
from agc.explorer import collect, render
from support.chromium import Chromium, Page, executable

AFTER_NEXT_FRAME = "new Promise(done => requestAnimationFrame(() => setTimeout(() => done(true))))"
DRAWN = "/ nodes( of .*)?$/.test(document.getElementById('drawn').textContent.split(';')[0])"


def chain(length: int) -> tf.Function:
    """Return a function with this number of operations."""

    def function(x: tf.Tensor) -> tf.Tensor:
        y = x
        for _ in range(length // 3):
            y = tf.tanh(y * 0.5) + x
        return y

    return tf.function(function, autograph=False)


def took(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def pressed(page: Page, key: str) -> float:
    """Return the seconds from a key to the frame that shows its effect."""

    def action() -> None:
        page.press(key)
        page.evaluate(AFTER_NEXT_FRAME)

    return took(action)


def measure(address: str) -> dict[str, float]:
    with Chromium() as browser:
        start = time.perf_counter()
        page = browser.open(address)
        page.wait_for("document.querySelectorAll('#forms .row').length > 10")
        found = {"shown": time.perf_counter() - start}
        found["next pass"] = pressed(page, "]")
        found["plan"] = pressed(page, "3")
        page.press("1")
        page.evaluate("document.querySelector('#forms .listing').focus()")
        found["end of the list"] = pressed(page, "End")
        page.press("g")
        found["drawing"] = took(lambda: page.wait_for(DRAWN, 30))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000)
    count = parser.parse_args().operations
    if executable() is None:
        raise SystemExit("Chromium is not installed")
    text = render(collect(chain(count), tf.ones([4])))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "page.html")
        path.write_text(text)
        found = measure(path.as_uri())
    numbers = "    ".join(f"{name} {seconds:.2f} s" for name, seconds in found.items())
    print(f"{count:,} operations, {len(text) / 1e6:.1f} MB    {numbers}")


if __name__ == "__main__":
    main()
