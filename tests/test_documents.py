"""What the documents say is true: examples and commands give what is shown, links and codes resolve."""

import doctest
import importlib.util
import re
from collections import Counter

import pytest
from agc.runtime.ops.framework.op import REGISTRY
from support.documents import DOCUMENTS, ROOT, agrees, commands, examples, failures, folder, printed, rewrite
from support.each_case import each_case

PACKAGES = ("autograph", "runtime", "cli", "backends", "explorer")
MODULES = [
    path
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py") or ">>>" in path.read_text()
]
FEWEST_EXAMPLES = {"autograph": 40, "runtime": 300, "cli": 8, "backends": 8, "explorer": 5}

CODE = re.compile(r"AGC\d{3}")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A document is about the project: not about who made it, in which steps, on which machine. `Session` is a class.
FOREIGN = re.compile(
    r"\b(?:issues?|(?<![`./])sessions?|helpers?|TODO|FIXME)\b|/(?:work|root|tmp|usr|home/(?!me\b))\b", re.I
)


def named(documents):
    return [pytest.param(path, id=path.relative_to(ROOT).as_posix()) for path in documents]


@pytest.mark.parametrize("document", named(DOCUMENTS))
def test_the_examples_of_a_document(document, update_golden):
    if update_golden:
        rewrite(document)
    text = document.read_text()
    with folder(text):
        assert failures(examples(text, document.name)) == ""


@pytest.mark.parametrize("document", named(DOCUMENTS))
def test_the_commands_of_a_document(document):
    text = document.read_text()
    with folder(text) as here:
        for command in commands(text):
            got = printed(command.text, here)
            assert agrees(command.expected, got), f"$ {command.text}\n" + "\n".join(got)


def test_a_wrong_example_is_found():
    text = "```python\n>>> 1 + 1\n3\n```\n"
    assert "Expected:\n    3\nGot:\n    2\n" in failures(examples(text, "wrong.md"))
    assert not agrees(["3"], ["2"])
    assert agrees(["1 ... 3"], ["1 2 3"])


def anchors(text):
    """What links may point at inside a document, by GitHub's rule for headings."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each_case("document", named(DOCUMENTS))
def test_links_resolve(document):
    for link in LINK.findall(re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.M | re.S)):
        if not link.startswith(("https://", "http://")):
            path, _, anchor = link.partition("#")
            target = (document.parent / path).resolve() if path else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target.read_text()), link


@each_case("document", named(DOCUMENTS))
def test_a_document_is_about_the_project_only(document):
    text = document.read_text()
    if document.name == "compatibility.md":
        text = re.sub(r"`[^`]*`", "", text)  # it quotes names and errors of other programs
    assert FOREIGN.findall(text) == []


def sections(text):
    """code → the text of its section in docs/errors.md."""
    parts = re.split(r"^## ", text, flags=re.M)[1:]
    return {part[:6]: part for part in parts}


def test_every_error_code_is_explained():
    code_base = "".join(path.read_text() for path in MODULES)
    explained = sections((ROOT / "docs" / "errors.md").read_text())
    assert set(CODE.findall(code_base)) == set(explained)


def test_the_index_of_errors_lists_each_section():
    text = (ROOT / "docs" / "errors.md").read_text()
    listed = re.findall(r"^\| \[(AGC\d{3})\]\(#.*\) \| (.+) \|$", text, re.M)
    assert listed == re.findall(r"^## (AGC\d{3}): (.+)$", text, re.M)


def test_every_error_has_an_example_that_gives_its_code():
    # The outputs in that document are those of real runs: see the two tests of examples and commands.
    for code, section in sections((ROOT / "docs" / "errors.md").read_text()).items():
        assert f"error[{code}]: " in section or f"warning[{code}]: " in section
        assert "\nFix: " in section


def test_commands_of_the_readme_exist():
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.M)
    shown = re.findall(r"^make ([a-z]+)", (ROOT / "README.md").read_text(), re.M)
    assert {"demo", "test"} <= set(shown) <= set(targets)


def module_of(path):
    parts = path.relative_to(ROOT / "backends" if "backends" in path.parts else ROOT).with_suffix("").parts
    return importlib.import_module(".".join(("agc", *parts)).removesuffix(".__init__"))


def found_examples(path):
    return [test for test in doctest.DocTestFinder().find(module_of(path)) if test.examples]


def can_run(path):
    """Return whether the module can be imported: `make torch` installs PyTorch, `make test` does not."""
    return "torch" not in path.relative_to(ROOT).parts or importlib.util.find_spec("torch") is not None


def is_tried_elsewhere(path):
    """Return whether tests/runtime/ops/framework/test_conformance.py runs the examples of this file."""
    return path.is_relative_to(ROOT / "runtime") and path != ROOT / "runtime" / "__init__.py"


@each_case("path", named(path for path in MODULES if can_run(path) and not is_tried_elsewhere(path)))
def test_the_examples_of_a_module(path):
    assert [report for test in found_examples(path) if (report := failures(test))] == []


def test_no_examples_get_lost():
    count = Counter()
    shown = set()
    for path in filter(can_run, MODULES):
        for test in found_examples(path):
            count[path.relative_to(ROOT).parts[0]] += len(test.examples)
            shown.add(test.docstring)
    assert {
        package: count[package] for package in PACKAGES if count[package] < FEWEST_EXAMPLES[package]
    } == {}
    # doctest sees functions and classes; operations are objects, and show their manuals all the same.
    lost = {op.name for op in REGISTRY.values() if ">>>" in (op.__doc__ or "") and op.__doc__ not in shown}
    assert lost == set()
    assert sum(">>>" in (op.__doc__ or "") for op in REGISTRY.values()) > 100
