"""Which parts of the standard library are converted, and which of CPython's tests judge them.

A row is converted as one: a module `m`, or a package with all modules in it, judged by `test.test_m`, unless
a table says otherwise.
"""

from __future__ import annotations

import os
from typing import NamedTuple

NAMES = """
    abc argparse ast base64 bdb bisect calendar cmd code codecs codeop collections colorsys compileall
    configparser contextlib copy copyreg csv dataclasses datetime decimal difflib dis doctest email
    enum filecmp fileinput fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib
    gzip heapq hmac html http imaplib inspect io ipaddress json keyword linecache locale logging lzma mailbox
    mimetypes modulefinder netrc ntpath numbers opcode operator optparse os pathlib pdb pickle pickletools
    pkgutil platform plistlib poplib posixpath pprint profile pstats pyclbr pydoc queue quopri random re reprlib
    rlcompleter runpy sched secrets selectors shelve shlex shutil site smtplib socketserver stat statistics
    string stringprep struct subprocess symtable tabnanny tarfile tempfile textwrap threading timeit tokenize
    tomllib trace traceback types typing unittest urllib uuid warnings wave weakref webbrowser wsgiref xml
    xmlrpc zipapp zipfile zipimport zoneinfo
""".split()  # noqa: SIM905 - a table of names is read more easily without its commas

MODULES = {
    "bdb": ["bdb", "cmd"],
    "codecs": ["codecs", "encodings"],
    "datetime": ["datetime", "_pydatetime", "_strptime"],
    "decimal": ["decimal", "_pydecimal"],
    "gzip": ["gzip", "_compression"],
    "io": ["io", "_pyio"],
    "opcode": ["opcode", "_opcode_metadata"],
    "unittest": ["unittest"],
    "warnings": ["warnings", "_py_warnings"],
    "weakref": ["weakref", "_weakrefset"],
}

TESTS = {
    "contextlib": ["test.test_contextlib", "test.test_contextlib_async"],
    "enum": ["test.test_enum"],
    "html": ["test.test_html", "test.test_htmlparser"],
    "http": ["test.test_httplib", "test.test_httpservers", "test.test_http_cookies", "test.test_http_cookiejar"],
    "io": ["test.test_io", "test.test_memoryio", "test.test_fileio"],
    "code": ["test.test_code_module"],
    "numbers": ["test.test_abstract_numbers"],
    "opcode": ["test.test__opcode", "test.test_dis"],
    "collections": ["test.test_collections", "test.test_ordered_dict", "test.test_userdict", "test.test_userlist"],
    "urllib": [
        "test.test_urlparse", "test.test_urllib", "test.test_urllib2", "test.test_urllib_response",
        "test.test_robotparser",
    ],
    "weakref": ["test.test_weakref", "test.test_weakset"],
    "xml": ["test.test_xml_etree", "test.test_minidom", "test.test_sax", "test.test_pulldom"],
}  # fmt: skip


# The tests that notice what docs/faithfulness.md says of converted code.
EXPECTED = {
    "test.test_contextlib.TestExitStack.test_exit_exception_traceback": "traceback of a block",
    "test.test_contextlib_async.TestAsyncExitStack.test_exit_exception_traceback": "traceback of a block",
    "test.test_dis.BytecodeTests.test_info": "other code",
    "test.test_dis.CodeInfoTests.test_code_info": "other code",
    "test.test_dis.CodeInfoTests.test_show_code": "other code",
    "test.test_tomllib.test_misc.TestMiscellaneous.test_inline_array_recursion_limit": "deeper recursion",
    "test.test_tomllib.test_misc.TestMiscellaneous.test_inline_table_recursion_limit": "deeper recursion",
    "test.test_trace.TestFuncs.test_inst_method_calling": "references of agc's",
}


class Target(NamedTuple):
    name: str
    modules: list[str]
    tests: list[str]


def target(name: str, library: str) -> Target:
    """What a row of the table means to a Python with this standard library."""
    found = [module for part in MODULES.get(name, [name]) for module in modules_in(part, library)]
    return Target(name, found, TESTS.get(name, [f"test.test_{name}"]))


def modules_in(name: str, library: str) -> list[str]:
    """A module, or a package with everything in it; nothing if this Python has none of that name."""
    stem = os.path.join(library, *name.split("."))
    if not os.path.isdir(stem):
        return [name] if os.path.exists(stem + ".py") else []
    found = [name]
    for entry in sorted(os.listdir(stem)):
        part, extension = os.path.splitext(entry)
        is_package = os.path.exists(os.path.join(stem, entry, "__init__.py"))
        if (extension == ".py" and part not in ("__init__", "__main__")) or (
            is_package and part not in ("test", "tests")
        ):
            found += modules_in(f"{name}.{part}", library)
    return found
