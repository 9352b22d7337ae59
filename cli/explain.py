"""`agc explain`: what an error code means, with an example and the fix.

agc explain AGC207      its page of docs/errors.md, as text
agc explain             all codes
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import click

from . import color, error_manual, output
from .error_manual import Page
from .errors import BAD_USAGE, OK, CommandError, problem, suggestion
from .options import color_option

HELP = """Explain an error: the reason, an example, the fix.

Without CODE, list all codes. A code may be written AGC207, agc207 or 207.

\b
Examples:
  agc explain AGC207
  agc explain AGC201 AGC203
  agc explain --json AGC207
"""


def complete_code(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Return the completions that the shell offers for CODE."""
    return [code for code in error_manual.pages() if code.startswith(incomplete.upper())]


@click.command(help=HELP, short_help="Explain an error code.")
@click.argument("codes", metavar="[CODE]...", nargs=-1, shell_complete=complete_code)
@click.option(
    "--json", "as_json", is_flag=True, help="Print a list of objects: code, title, text (Markdown)."
)
@color_option
def command(codes: tuple[str, ...], as_json: bool) -> Callable[[], int]:
    return partial(explain, codes, as_json=as_json)


def explain(codes: Sequence[str], *, as_json: bool = False) -> int:
    """Run the command; return the exit code."""
    chosen = [find(code) for code in codes]
    colored = color.wanted(sys.stdout)
    if as_json:
        import json  # imported here: text needs no JSON

        listed = [page._asdict() for page in chosen or error_manual.pages().values()]
        output.emit(json.dumps(listed, ensure_ascii=False, indent=2) + "\n")
    elif chosen:
        output.emit("\n\n".join(_shown(page, colored) for page in chosen) + "\n")
    else:
        output.emit("".join(f"{line}\n" for line in _list(colored)))
    return OK


def find(code: str) -> Page:
    """Return the page of a code, in any spelling of the code."""
    known = error_manual.pages()
    bare = re.fullmatch(r"(?:error|warning)?\[?(?:agc)?(\d{3})\]?", code.strip(), re.IGNORECASE)
    full = f"AGC{bare[1]}" if bare else code
    if full not in known:
        raise _unknown(full, list(known))
    return known[full]


def _unknown(code: str, known: list[str]) -> CommandError:
    fix = suggestion(code.upper(), known, "`agc explain` lists all codes")
    return problem(BAD_USAGE, f"there is no error code `{code}`", fix=fix)


def _shown(page: Page, colored: bool) -> str:
    heading = f"{page.code}: {page.title}"
    if colored:
        heading = f"{color.HEADER}{heading}{color.RESET}"
    return f"{heading}\n\n{error_manual.plain(page.text)}"


def _list(colored: bool) -> Iterator[str]:
    family = ""
    for page in error_manual.pages().values():
        if not page.code.startswith(family) or not family:
            if family:
                yield ""
            family = page.code[:4]
            heading = f"{family}xx: {error_manual.FAMILIES[family]}"
            yield f"{color.HEADER}{heading}{color.RESET}" if colored else heading
        yield f"  {page.code}  {error_manual.plain(page.title)}"
