"""Draw an animated terminal, docs/pictures/terminal.svg: `python -m docs.site.terminal`, from what agc really prints.

    agc convert --color always collatz.py   ==>   <text y="62"><tspan class="c35">def</tspan> …

Each command with its output is a scene; the scenes take turns, and a reader who wants no motion sees the last one.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from .links import ROOT

PICTURE = ROOT / "docs" / "pictures" / "terminal.svg"
PROGRAM = """\
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
"""
SCENES = (
    ("your function", "cat collatz.py", None),
    ("the generated code", "agc convert collatz.py", ("convert", "--color", "always", "collatz.py")),
    ("the graph, and its result", "agc run collatz.py::collatz 27 --graph",
     ("run", "collatz.py::collatz", "27", "--graph")),
)  # fmt: skip
"""Title, the command as it is shown, and the arguments of agc; None shows the program itself."""

SECONDS = 6
LINE, COLUMN, LEFT, TOP = 18, 7.83, 20, 66
COLORS = {
    "35": "#d2a8ff", "1;34": "#79c0ff", "33": "#ffa657", "32": "#a5d6ff", "36": "#79c0ff", "2": "#8b949e",
    "1": "#f0f6fc",
}  # fmt: skip
ANSI = re.compile(r"\x1b\[([\d;]*)m")

Run = Callable[[tuple[str, ...], Path], str]


def run(arguments: tuple[str, ...], folder: Path) -> str:
    """Return what the command agc prints."""
    command = [sys.executable, "-m", "agc.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, check=True, encoding="utf-8").stdout


def scenes(run: Run = run) -> list[tuple[str, str, list[str]]]:
    """Return title, command and lines of output of each scene."""
    from agc.cli.color import python

    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "collatz.py").write_text(PROGRAM, encoding="utf-8")
        outputs = [run(arguments, Path(name)) if arguments else python(PROGRAM) for _, _, arguments in SCENES]
    return [
        (*scene[:2], output.rstrip("\n").split("\n")) for scene, output in zip(SCENES, outputs, strict=True)
    ]


def spans(line: str) -> str:
    """Return a line with colors of a terminal as text of an SVG."""
    first, *rest = ANSI.split(line)
    parts = [html.escape(first, quote=False)]
    for code, text in zip(rest[::2], rest[1::2], strict=True):
        escaped = html.escape(text, quote=False)
        parts.append(
            f'<tspan fill="{COLORS[code]}">{escaped}</tspan>' if code in COLORS and text else escaped
        )
    return "".join(parts)


def plain(line: str) -> str:
    """Return a line without its colors."""
    return ANSI.sub("", line)


def svg(shown: list[tuple[str, str, list[str]]]) -> str:
    """Return the picture."""
    rows = max(len(lines) for _, _, lines in shown) + 1
    columns = max(len(plain(line)) for _, _, lines in shown for line in lines)
    width, height = round(columns * COLUMN) + 2 * LEFT, TOP + rows * LINE
    total = SECONDS * len(shown)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="A terminal: a Python function, the code that agc generates for it, and its graph">',
        f"<style>{style(total, len(shown))}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{20 + 18 * n}" cy="18" r="5" fill="{color}"/>'
          for n, color in enumerate(("#ff5f57", "#febc2e", "#28c840"))),
    ]  # fmt: skip
    for number, (title, command, lines) in enumerate(shown):
        parts.append(f'<g class="scene" style="animation-delay:{number * SECONDS}s">')
        parts.append(
            f'<text class="title" x="{width // 2}" y="22" text-anchor="middle">{html.escape(title)}</text>'
        )
        prompt = f'<tspan fill="#3fb950">$</tspan> {html.escape(command)}'
        for row, text in enumerate([prompt, *map(spans, lines)]):
            parts.append(f'<text x="{LEFT}" y="{TOP - 16 + row * LINE}">{text}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def style(total: int, count: int) -> str:
    """Return the style sheet: each scene is visible for its share of the time."""
    share = 100 / count
    return (
        "text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#c9d1d9;"
        "white-space:pre}.title{fill:#8b949e}"
        f".scene{{opacity:0;animation:turn {total}s infinite backwards}}.scene:last-of-type{{opacity:1}}"
        f"@keyframes turn{{0%{{opacity:0}}1%,{share - 1:.2f}%{{opacity:1}}{share:.2f}%,100%{{opacity:0}}}}"
        "@media (prefers-reduced-motion:reduce){.scene{animation:none}}"
    )


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(svg(scenes()), encoding="utf-8")
