"""The rules of CONTRIBUTING.md for words: docstrings, private words, spelling, class names, messages and documents."""

import ast
import functools
import io
import pathlib
import re
import tokenize
from collections import Counter

import pytest

ROOT = pathlib.Path(__file__).parent.parent
FILES = [
    path
    for package in ("autograph", "runtime", "backends", "cli", "explorer")
    for path in sorted((ROOT / package).rglob("*.py"))
]
RIDDLES = re.compile(r"(What|Who|Whose|Whom|Where|How|Those|Of|Whether|Which)\b")
NOUNS = re.compile(
    r"(The|A|An|One|All|It|These|This|That|As|When|Before|After|Static|NaN)\b|[A-Z][a-z]*[^s]s\b|[^A-Z]"
)
"""No verb in the imperative: articles and others, words such as "Makes" and "Names", and code."""

PRIVATE = re.compile(r"\b(nobody|somebody|anybody|stands|stood|beside|behind)\b", re.I)
NAME_RIDDLES = re.compile(
    r"^test_(what|who|whom|how|it|they|those)_|_(nobody|somebody|anybody|stands|stood|beside|behind|asks|knows|wants)(_|$)"
)
PERSONS = re.compile(r"\b(asks|knows|wants|tells|told|needs to know|has to know|whoever)\b", re.I)
DOCUMENTS = [
    ROOT / "Makefile",
    *sorted(p for f in ("", "docs/**/", "benchmarks/**/") for p in ROOT.glob(f + "*.md")),
]
BRITISH = re.compile(
    r"(optimi|seriali|normali|initiali|speciali|generali|vectori|recogni)s(?!m)|(neighb|col|behavi)our", re.I
)


@functools.cache
def documented(path):
    """(line, kind, first line) of every docstring."""
    found = []
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                found.append((getattr(node, "lineno", 1), kind_of(node), text.splitlines()[0]))
    return found


def statements(node):
    """Yield a module or statement, and those inside of it; to walk through all expressions would take long."""
    yield node
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for each in getattr(node, part, ()):
            yield from statements(each)


def kind_of(node):
    decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", ())]
    if any(each.endswith(("property", ".setter")) for each in decorators):
        return "property"
    return type(node).__name__


def prose(path):
    """(line, text) of comments and docstrings, without their examples."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT or (
            token.type == tokenize.STRING and token.string.startswith('"""')
        ):
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                if not line.strip().startswith((">>>", "...")):
                    yield number, line


def messages(path):
    """(line, text) of the strings with several words in raised errors and in calls, such as diagnostics and help."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Raise, ast.Call)):
            for each in ast.walk(node):
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value:
                    yield each.lineno, each.value


def files_with(is_found):
    """The files whose texts have what is looked for, perhaps in other places: to read the others would take long."""
    return [path for path in FILES if is_found(path.read_text())]


def named(path, line, text):
    return f"{path.relative_to(ROOT)}:{line}: {text.strip()}"


def test_no_docstring_begins_with_a_pronoun():
    found = [named(p, n, text) for p in FILES for n, _, text in documented(p) if RIDDLES.match(text)]
    assert found == []


def test_no_comment_begins_with_a_pronoun():
    comment = re.compile(r" *(# |/[*/] )(?!Whether)" + RIDDLES.pattern, re.M)
    files = [*FILES, *ROOT.glob("runtime/**/native_*.[ch]")]
    lines = ((p, n, line) for p in files for n, line in enumerate(p.read_text().splitlines(), 1))
    assert [named(*each) for each in lines if comment.match(each[2])] == []


def test_docstrings_of_functions_begin_with_a_verb():
    kinds = ("FunctionDef", "AsyncFunctionDef")
    found = [
        named(p, n, text)
        for p in FILES
        for n, kind, text in documented(p)
        if kind in kinds and NOUNS.match(text)
    ]
    assert found == []


def test_prose_has_no_private_words():
    found = [
        named(p, n, text) for p in files_with(PRIVATE.search) for n, text in prose(p) if PRIVATE.search(text)
    ]
    assert found == []


def is_private(text):
    return PRIVATE.search(text) or PERSONS.search(text)


def test_messages_have_no_private_words():
    found = {named(p, n, text) for p in files_with(is_private) for n, text in messages(p) if is_private(text)}
    assert found == set()


def test_documents_have_no_private_words():
    lines = [(p, n, line) for p in DOCUMENTS for n, line in enumerate(p.read_text().splitlines(), 1)]
    assert [named(*each) for each in lines if is_private(each[2])] == []


@pytest.mark.parametrize(
    "folder", ["autograph", "runtime", "backends", "cli", "explorer", "benchmarks", "tests", "docs"]
)
def test_spelling_is_american(folder):
    files = [*(ROOT / folder).rglob("*.py"), *(ROOT / folder).rglob("*.md")]
    found = [
        named(p, n, text)
        for p in files
        if p.name != "test_prose.py"
        for n, text in enumerate(p.read_text().splitlines(), 1)
        if BRITISH.search(text)
    ]
    assert found == []


def test_names_of_tests_state_facts():
    """A name such as `test_what_is_refused` says too little, and code is no person that asks or knows."""
    found = [
        named(path, number, line)
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (test := re.match(r" *def (test_\w+)", line)) and NAME_RIDDLES.search(test[1])
    ]
    assert found == []


OF_TENSORFLOW = {"Feature", "GraphDef", "NodeDef", "OpDef", "TFRecordWriter", "Variable"}
"""Names that TensorFlow gives to two classes each."""


def test_public_classes_have_unique_names():
    names = Counter(
        node.name
        for path in files_with(lambda text: "\nclass " in text)
        if "backends" not in path.parts  # packages that do not use the runtime
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name in names if names[name] > 1} == OF_TENSORFLOW
