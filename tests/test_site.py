"""The documentation site: links, the API reference and the gallery are assembled as its builder promises."""

import json
import re
import sys
import tomllib

import pytest
from support import prepared
from support.documents import ROOT

sys.path.insert(0, str(ROOT))

from docs.site import __main__ as main
from docs.site import assemble, docstring_gaps, docstrings, entries, gallery, links, reference, terminal


@pytest.fixture
def project(tmp_path, monkeypatch):
    """An empty project with a folder docs/."""
    monkeypatch.setattr(links, "ROOT", tmp_path)
    (tmp_path / "docs" / "how").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    (tmp_path / "CONTRIBUTING.md").write_text("# Rules")
    (tmp_path / "times.svg").write_text("<svg/>")
    return tmp_path


def page(project, text):
    document = project / "docs" / "how" / "to.md"
    document.write_text(text)
    (project / "pages").mkdir(exist_ok=True)
    return links.for_the_site(document, project / "pages")


def test_links_between_documents_lead_to_their_pages(project):
    assert page(project, "[a](../../CONTRIBUTING.md#rules)") == "[a](../contributing.md#rules)"
    assert page(project, "[a](to.md)") == "[a](../how/to.md)"


def test_links_to_files_without_a_page_become_text_or_lead_to_the_repository(project):
    assert page(project, "see [`f`](../../pyproject.toml)") == "see `f`"
    (project / "pyproject.toml").write_text("[project.urls]\nRepository = 'https://host/agc'\n")
    address = "https://host/agc/blob/main/pyproject.toml"
    assert page(project, "see [`f`](../../pyproject.toml)") == f"see [`f`]({address})"


def test_pictures_are_copied_to_the_pages(project):
    assert page(project, "![t](../../times.svg)") == "![t](../pictures/times.svg)"
    assert (project / "pages" / "pictures" / "times.svg").read_text() == "<svg/>"


def test_links_in_code_and_to_other_sites_stay(project):
    text = "[a](https://b.c) [d](#e)\n```text\n[x](nowhere.md)\n```\n"
    assert page(project, text) == text


def test_a_link_that_leads_nowhere_is_an_error(project):
    with pytest.raises(ValueError, match=r"the link nowhere\.md leads nowhere"):
        page(project, "[a](nowhere.md)")


def test_the_package_index_gets_no_relative_links():
    text = links.for_the_package_index(ROOT / "README.md")
    assert [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match("https?:|#", link)] == []


def test_each_document_is_in_the_contents_of_the_site():
    """Sphinx refuses a page that no contents lead to, too, but `make docs` takes longer than this."""
    index = (ROOT / "docs" / "index.md").read_text()
    parts = re.findall(r":::\{toctree\}\n(.*?)\n:::", index, re.S)
    listed = {line for part in parts for line in part.split("\n") if line and not line.startswith(":")}
    pages = {links.page_of(each).removesuffix(".md") for each in assemble.documents()}
    assert pages - listed == {"index"}, "list them in docs/index.md"
    assert listed - pages == {"api/index", "gallery/index", "examples"}, "remove them from docs/index.md"


def test_each_environment_variable_is_on_its_page():
    folders = ("autograph", "runtime", "cli", "backends", "benchmarks", "tests")
    code = "".join(path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py"))
    variable = re.compile(r"\bAGC_[A-Z_]+")
    described = set(variable.findall((ROOT / "docs" / "environment.md").read_text()))
    of_tests = re.compile(r"AGC_TEST(_|$)")  # which tests set for themselves
    used = {each for each in variable.findall(code) if not of_tests.match(each)}
    assert used - described == set(), "describe them in docs/environment.md"
    assert described - used == set(), "remove them from docs/environment.md"


def test_the_terminal_of_the_readme_shows_what_agc_prints():
    """`python -m docs.site.terminal` draws it anew."""

    def run(arguments, folder):
        return prepared.run(arguments, cwd=folder).stdout

    assert terminal.svg(terminal.scenes(run)) == terminal.PICTURE.read_text()


def test_a_docstring_becomes_markdown():
    text = """Scale `x`.

    Args:
        x: a tensor
            of any shape.

    >>> scale(1)
    2
    """
    assert docstrings.markdown(text) == (
        "Scale `x`.\n\n\n**Args**\n\n* `x`: a tensor\n  of any shape.\n\n```python\n>>> scale(1)\n2\n```"
    )


def test_an_operation_is_described_by_signature_docstring_and_dtypes():
    from agc.runtime.math import sinh

    text = entries.text("tf.math.sinh", sinh)
    assert text.startswith("::::::{py:function} tf.math.sinh(x, name=None)\n\nThe hyperbolic sine.\n")
    assert "*dtypes:* float16, float32, float64, complex64, complex128, bfloat16 · differentiable" in text


def test_each_public_name_has_a_row_in_the_reference():
    found = {
        page.name: page
        for page in reference.pages("tf", "autograph")
        if page.name in ("tf", "tf.sets", "autograph")
    }
    names = reference.canonical(list(found.values()))
    for page in found.values():
        text = reference.page_text(page, names)
        assert [
            key for key in page.members if f"| {{py:obj}}`{key} <" not in text and f"| `{key}` |" not in text
        ] == []
    assert {"tf.function", "tf.sets.union", "autograph.convert"} <= set(names.values())


def test_a_program_of_the_gallery_shows_code_graph_and_result():
    text = gallery.page_text(gallery.PROGRAMS / "gcd.py")
    parts = ("def extended_gcd(", "ag__.while_loop(", "= while ", "`extended_gcd(240, 46)` is `(2, -9, 47)`")
    assert [part for part in parts if part not in text] == []
    assert len(gallery.SHOWN) == 20


def test_version_and_date_are_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    citation = (ROOT / "CITATION.cff").read_text()
    version, date = re.search(r"^## \[(\d.*)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M).groups()
    assert version == project["version"]
    assert f"version: {version}\ndate-released: {date}\n" in citation


def test_the_workflow_tests_the_versions_of_python_that_the_package_names():
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(classifiers))
    matrix = re.search(r"python: (\[.*\])", (ROOT / ".github/workflows/ci.yml").read_text())[1]
    assert json.loads(matrix) == named


def test_pages_that_load_from_the_network_are_found(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        '<a href="https://x.y"></a><script defer src="https://x.y/z.js"></script><img src="a.svg">'
    )
    assert main.foreign(page) == ['<script defer src="https://x.y/z.js"']


def test_the_gallery_has_the_explorers_page_of_a_program():
    assert "def extended_gcd(" in gallery.explore_page(gallery.PROGRAMS / "gcd.py")


def test_each_extra_is_on_the_page_about_installation():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    listed = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "install.md").read_text(), re.M)
    assert set(listed) == set(project["optional-dependencies"]), "list them in docs/install.md"


def test_names_without_example_are_found():
    def described():
        """Do nothing."""

    described.__module__ = "agc.runtime"
    page = reference.Page("x", sys, {"described": described, "Error": ValueError, "fence": str.join})
    assert docstring_gaps.gaps(page, reference.canonical([page])) == ["described"]


def test_errors_without_a_name_are_found():
    def open_file():
        """Open a file; raises OSError."""
        raise OSError

    open_file.__module__ = "agc.runtime"
    page = reference.Page("x", sys, {"open_file": open_file})
    names = reference.canonical([page])
    assert docstring_gaps.unnamed_errors(page, names) == []
    open_file.__doc__ = "Open a file."
    assert docstring_gaps.unnamed_errors(page, names) == ["open_file (OSError)"]


def test_each_public_name_is_documented_with_an_example_and_its_errors():
    """The tests of modules run the examples."""
    found = reference.pages("tf", "autograph", "agc.explorer")
    names = reference.canonical(found)
    assert [f"{page.name}.{key}" for page in found for key in docstring_gaps.gaps(page, names)] == []
    assert [error for page in found for error in docstring_gaps.unnamed_errors(page, names)] == []
    assert [member for page in found for member in docstring_gaps.undocumented(page, names)] == []
