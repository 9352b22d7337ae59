"""The findings of `agc check` as one page without scripts: by file, each with its lines, its reason and its fix.

error AGC110   a jump leaves a block       <article> … the line, marked … why, fix, the section of the manual
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from textwrap import dedent

from agc.autograph import Diagnostic, Note

from .page import DARK_BY_SYSTEM, small_page, style

_BODY = """
<header>
<h1>{title}</h1>
<p class="quiet">agc check</p>
</header>
<main>
{body}
</main>
"""


def findings_page(found: Sequence[Diagnostic], manual: Mapping[str, str] | None = None) -> str:
    """Return the page of findings; `manual` has a text for each code, which the page shows on demand.

    >>> page = findings_page([Diagnostic("AGC110", "a <jump>")])
    >>> "a &lt;jump&gt;" in page, "<script" in page
    (True, False)
    """
    levels = [f"{count} {level}{'s' * (count != 1)}" for level, count in _counts(found) if count]
    files = [
        (name, list(part))
        for name, part in groupby(found, lambda each: each.where.file if each.where else "")
    ]
    links = [
        f'<li><a href="#file-{i}">{_escaped(name)}</a> {len(part)}</li>'
        for i, (name, part) in enumerate(files)
    ]
    parts = [f'<nav aria-label="Files"><ul>{"".join(links)}</ul></nav>'] if len(files) > 1 else []
    for i, (name, part) in enumerate(files):
        articles = "\n".join(_article(each, (manual or {}).get(each.code, "")) for each in part)
        parts.append(
            f'<section id="file-{i}" aria-label="{_escaped(name)}">\n<h2>{_escaped(name)}</h2>\n{articles}\n</section>'
        )
    title = " and ".join(levels) or "Nothing found"
    body = _BODY.format(title=title, body="\n".join(parts))
    return small_page(f"{title} — agc check", body, style(DARK_BY_SYSTEM, "findings"))


def _counts(found: Sequence[Diagnostic]) -> list[tuple[str, int]]:
    return [(level, sum(each.level == level for each in found)) for level in ("error", "warning")]


def _article(found: Diagnostic, manual: str) -> str:
    where = found.where
    lines = [f'<p class="level {_escaped(found.level)}">{_escaped(found.level)} {_escaped(found.code)}</p>']
    lines.append(f"<h3>{_prose(found.title)}</h3>")
    if where is not None:
        lines.append(f'<p class="quiet">{_escaped(str(where))}</p>')
        notes = sorted([Note(where, found.label), *found.notes], key=lambda note: note.where.line)
        excerpt = "".join(map(_line, notes))
        if excerpt:
            lines.append(f'<pre tabindex="0" aria-label="Source">{excerpt}</pre>')
    advice = [(name, said) for name, said in (("why", found.why), ("fix", found.fix)) if said]
    if advice:
        rows = "".join(f"<dt>{name}</dt><dd>{_prose(said)}</dd>" for name, said in advice)
        lines.append(f"<dl>{rows}</dl>")
    if manual:
        lines.append(f"<details><summary>About {_escaped(found.code)}</summary>{_blocks(manual)}</details>")
    return "\n".join(["<article>", *lines, "</article>"])


def _line(note: Note) -> str:
    where = note.where
    text = where.text()
    if text is None:
        return ""
    start, end = where.column - 1, where.end_column - 1
    if 0 <= start < end:
        shown = f"{_escaped(text[:start])}<mark>{_escaped(text[start:end])}</mark>{_escaped(text[end:])}"
    else:
        shown = _escaped(text)
    label = f'   <span class="quiet">{_escaped(note.label)}</span>' if note.label else ""
    return f'<span class="number">{where.line:>4} </span> {shown}{label}\n'


def _blocks(manual: str) -> str:
    """Return a section of the manual as paragraphs, lists and, where it is indented, code.

    >>> _blocks("A `break`\\nleaves.\\n\\n    x = 1\\n\\n    y = 2")
    '<p>A <code>break</code> leaves.</p><pre tabindex="0">x = 1\\n\\ny = 2</pre>'
    """
    found = []
    for is_code, blocks in groupby(manual.strip("\n").split("\n\n"), lambda block: block.startswith("    ")):
        if is_code:
            code = dedent("\n\n".join(blocks))
            found.append(f'<pre tabindex="0">{_escaped(code)}</pre>')
        else:
            found += map(_block, blocks)
    return "".join(found)


def _block(text: str) -> str:
    """Return a paragraph or a list.

    >>> _block("* one\\n* two,\\n  three")
    '<ul><li>one</li><li>two, three</li></ul>'
    """
    if not text.startswith("* "):
        return f"<p>{_prose(' '.join(text.split()))}</p>"
    items = re.split(r"^\* ", text, flags=re.MULTILINE)[1:]
    return "".join(["<ul>", *(f"<li>{_prose(' '.join(item.split()))}</li>" for item in items), "</ul>"])


def _prose(text: str) -> str:
    """Return a text with its code in backticks as elements."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", _escaped(text))


def _escaped(text: str) -> str:
    """Return text as HTML; lone surrogates of file names become escapes.

    >>> _escaped("<\\udcff>")
    '&lt;\\\\udcff&gt;'
    """
    return escape(text.encode("utf-8", "backslashreplace").decode())
