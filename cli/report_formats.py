"""Findings as text, as JSON, as SARIF 2.1.0, as annotations of GitHub's, and as a page.

text      error[AGC110]: a jump leaves …               for people; the shape of every error of agc
json      {"findings": [{"code": "AGC110", …}]}        each finding as `Diagnostic.to_dict` gives it
sarif     {"version": "2.1.0", "runs": […]}            for code scanning and editors
github    ::error file=a.py,line=3,…::a jump …         a line that GitHub shows at the code
html      <!doctype html> …                            a page for a browser
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from agc.autograph.errors import Diagnostic, Where, visible

from . import error_manual

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def text(found: Sequence[Diagnostic], colored: bool = False) -> str:
    """Format each finding like an error, with a blank line between them."""
    return "\n\n".join(diagnostic.format(color=colored) for diagnostic in found) + ("\n" if found else "")


def as_json(found: Sequence[Diagnostic], colored: bool = False) -> str:
    return _dumped({"findings": [diagnostic.to_dict() for diagnostic in found]})


def sarif(found: Sequence[Diagnostic], colored: bool = False) -> str:
    from importlib.metadata import version  # takes time to load

    codes = sorted({diagnostic.code for diagnostic in found})
    driver = {"name": "agc", "version": version("agc-autograph"), "rules": [_rule(code) for code in codes]}
    results = [_result(diagnostic, codes.index(diagnostic.code)) for diagnostic in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return _dumped({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: str) -> dict[str, Any]:
    page = error_manual.pages()[code]
    help_ = {"text": error_manual.plain(page.text), "markdown": page.text}
    return {"id": code, "shortDescription": {"text": error_manual.plain(page.title)}, "help": help_}


def _result(diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": diagnostic.level,
        "message": {"text": _message(diagnostic)},
    }
    if diagnostic.where is not None:
        result["locations"] = [_location(diagnostic.where)]
    if diagnostic.notes:
        result["relatedLocations"] = [
            {**_location(note.where), "message": {"text": note.label}} for note in diagnostic.notes
        ]
    return result


def _location(where: Where) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(where.file)}}
    if where.line:
        columns = {"startColumn": where.column, "endColumn": where.end_column}
        physical["region"] = {"startLine": where.line, **{key: at for key, at in columns.items() if at}}
    return {"physicalLocation": physical}


def uri(file: str) -> str:
    """Return the URI of a file for SARIF: a relative path unchanged, an absolute one with its scheme.

    >>> uri("src/my model.py"), uri("/home/me/a.py"), uri("<stdin>")
    ('src/my%20model.py', 'file:///home/me/a.py', '%3Cstdin%3E')
    """
    from pathlib import Path
    from urllib.parse import quote

    return Path(file).as_uri() if os.path.isabs(file) else quote(os.fsencode(file.replace(os.sep, "/")))


def github(found: Sequence[Diagnostic], colored: bool = False) -> str:
    return "".join(f"{annotation(diagnostic)}\n" for diagnostic in found)


def annotation(diagnostic: Diagnostic) -> str:
    """Return a workflow command, which GitHub's runner reads from the output of a step.

    >>> annotation(Diagnostic("AGC110", "a jump", Where("a,b.py", 3, 5, 9), fix="100% less"))
    '::error file=a%2Cb.py,line=3,col=5,endColumn=9,title=AGC110::a jump%0Afix: 100%25 less'
    """
    where = diagnostic.where or Where("")
    fields = {
        "file": visible(where.file),
        "line": where.line,
        "col": where.column,
        "endColumn": where.end_column,
        "title": diagnostic.code,
    }
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items() if value)
    return f"::{diagnostic.level} {listed}::{_data(_message(diagnostic))}"


def page(found: Sequence[Diagnostic], colored: bool = False) -> str:
    from agc.explorer.findings import findings_page  # not for the other formats

    return findings_page(
        found, {code: error_manual.plain(each.text) for code, each in error_manual.pages().items()}
    )


def _message(diagnostic: Diagnostic) -> str:
    advice = ("why", diagnostic.why), ("fix", diagnostic.fix)
    return "\n".join([diagnostic.title, *(f"{key}: {said}" for key, said in advice if said)])


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _dumped(value: Any) -> str:
    import json  # not for the other formats

    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


FORMATS: dict[str, Callable[[Sequence[Diagnostic], bool], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
    "html": page,
}
