"""The page as one file: markup, style, scripts, the model and the layout engine, allowed by their hashes only.

    web/page.html + web/page.css + web/*.js + vendor/elk-worker.min.js + model  ==>  <!doctype html> …

The policy of the page lets no script run but its own, and no request leave.
"""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import html
import json
from importlib.resources import files
from string import Template
from typing import Any

SCRIPTS = ("text", "listing", "graph", "drawing", "model", "details", "app")


@functools.cache
def _file(*parts: str) -> str:
    return files(__package__).joinpath(*parts).read_text(encoding="utf-8")


@functools.cache
def _layout_engine() -> str:
    """Return the layout engine, packed: base64 of gzip."""
    packed = gzip.compress(_file("vendor", "elk-worker.min.js").encode(), mtime=0)
    return base64.b64encode(packed).decode()


DARK_BY_SYSTEM = "@media (prefers-color-scheme: dark) {{ :root {{ {} }} }}"
DARK_BY_CLASS = ":root.dark {{{}}}"


def style(dark: str, *names: str) -> str:
    """Return style sheets of the folder `web` with the colors; `dark` is a rule for the dark ones.

    >>> style(DARK_BY_CLASS, "page")[:7]
    ':root {'
    """
    light, *rest = (_file("web", f"{name}.css") for name in ("light", *names))
    return "\n".join([f":root {{\n{light}}}", dark.format(_file("web", "dark.css")), *rest])


def script(*names: str) -> str:
    """Return scripts of the folder `web` as one, in a scope of its own."""
    parts = "\n".join(_file("web", f"{name}.js") for name in names)
    return f'(() => {{\n"use strict";\n{parts}}})();'


def embedded(model: Any) -> str:
    """Return JSON that is safe in a `<script>` element: it has no `<`.

    >>> embedded({"a": "</script>"})
    '{"a":"\\\\u003c/script>"}'
    """
    text = json.dumps(model, separators=(",", ":"), ensure_ascii=False)
    text = text.encode("utf-8", "backslashreplace").decode()  # lone surrogates of file names
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def policy(sheet: str, code: str, *, connect: str = "'none'") -> str:
    """Return the content security policy that allows one style sheet and one script, by their hashes."""
    rules = {
        "default-src": "'none'",
        "script-src": _hash(code) if code else "'none'",
        "style-src": _hash(sheet),
        "worker-src": "blob:",
        "connect-src": connect,
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


_SHELL = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>{body}</body>
</html>
"""


def small_page(title: str, body: str, sheet: str, code: str = "", *, connect: str = "'none'") -> str:
    """Return a page without a model, of markup, one style sheet and the script that is in its markup."""
    allowed = policy(sheet, code, connect=connect)
    return _SHELL.format(title=title, body=body, style=sheet, policy=allowed)


def render(model: dict[str, Any], *, live: bool = False) -> str:
    """Return the page of a model. With `live`, it loads itself again when its server has a newer one.

    >>> from agc.explorer import collect
    >>> import agc.runtime as tf
    >>> render(collect(lambda x: x * 2, tf.constant(3)))[:15]
    '<!doctype html>'
    """
    more = ["live"] if live else []
    sheet, code = style(DARK_BY_CLASS, "page", *more), script(*SCRIPTS, *more)
    return Template(_file("web", "page.html")).substitute(
        policy=policy(sheet, code, connect="'self'" if live else "'none'"),
        title=html.escape(f"{model['title']} — agc explore"),
        style=sheet,
        model=embedded(model),
        elk=_layout_engine(),
        script=code,
    )
