"""The page as a file: it lets nothing but its own script run, and no text of a program becomes markup."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from agc.autograph import Diagnostic, Note, Where
from agc.explorer import findings_page, render
from agc.explorer.page import embedded

HOSTILE = "</script><img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the contents of scripts and styles."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.raw, self.open = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open = tag

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open in ("script", "style"):
            self.raw.append((self.open, self.tags[-1][1].get("id"), data))


@pytest.fixture(scope="module")
def page(model):
    return render({**model, "title": HOSTILE, "result": HOSTILE})


def hashes(page, name):
    (rules,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    rule = dict(part.split(" ", 1) for part in rules.split("; "))
    return rule, rule[name]


def test_texts_of_programs_do_not_become_elements(page):
    found = Elements(page)
    assert [tag for tag, _ in found.tags if tag in ("img", "iframe", "object", "link", "base")] == []
    assert sum(tag == "script" for tag, _ in found.tags) == 3
    (data,) = [text for tag, name, text in found.raw if name == "model"]
    assert json.loads(data)["title"] == HOSTILE


def test_no_element_has_a_handler_or_loads_anything(page):
    for _, attributes in Elements(page).tags:
        assert not any(name.startswith("on") or name in ("src", "href", "style") for name in attributes)


@pytest.mark.parametrize(("tag", "rule"), [("script", "script-src"), ("style", "style-src")])
def test_the_policy_allows_the_page_itself_by_its_hash(page, tag, rule):
    (own,) = [text for kind, name, text in Elements(page).raw if kind == tag and name is None]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    rules, allowed = hashes(page, rule)
    assert allowed == f"'sha256-{digest}'"
    assert rules["default-src"] == rules["connect-src"] == "'none'"


def test_live_pages_may_connect_to_their_server_only(model):
    rules, _ = hashes(render(model, live=True), "connect-src")
    assert rules["connect-src"] == "'self'"


@pytest.mark.parametrize("text", [HOSTILE, "<!--", "\u2028", "\udcff", "]]>", "é"])
def test_models_survive_their_way_into_the_page(text):
    found = embedded({"text": text})
    assert "<" not in found and json.loads(found)["text"] in (text, "\\udcff")


def test_findings_are_escaped():
    where = Where(HOSTILE, 3, 1, 4, source=HOSTILE)
    found = [
        Diagnostic("AGC110", HOSTILE, where, HOSTILE, (Note(where, HOSTILE),), HOSTILE, HOSTILE, HOSTILE)
    ] * 2
    page = findings_page([*found, Diagnostic("AGC303", "x", Where("b.py"))], {"AGC110": HOSTILE})
    tags = {tag for tag, _ in Elements(page).tags}
    assert not tags & {"script", "img"} and "mark" in tags
    assert page.count("&lt;/script&gt;") > 10


def test_findings_are_counted_and_listed_by_file():
    found = [
        Diagnostic("AGC110", "a jump", Where("a.py", 1)),
        Diagnostic("AGC191", "eval", Where("b.py", 2), level="warning"),
    ]
    page = findings_page(found)
    assert "<h1>1 error and 1 warning</h1>" in page
    assert '<a href="#file-1">b.py</a>' in page
    assert "<h1>Nothing found</h1>" in findings_page([])
