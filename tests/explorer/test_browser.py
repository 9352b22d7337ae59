"""The page in a real browser: a headless Chromium, which these tests need on the PATH."""

import contextlib
import importlib.util
import os
import pathlib
import threading
import time

import pytest
from agc.autograph import Diagnostic, Where
from agc.explorer import findings_page, render
from agc.explorer.serve import PageServer
from support import chromium

pytestmark = pytest.mark.skipif(chromium.executable() is None, reason="Chromium is not installed")

CLEARED = """new Promise(done => {
    if (!location.hash) return done();
    addEventListener("hashchange", () => setTimeout(done), { once: true });
    location.hash = "";
})"""
ROWS = "[...document.querySelectorAll('{} .row')]"


@pytest.fixture(scope="module")
def browser():
    with chromium.Chromium() as found:
        yield found


@pytest.fixture(scope="module")
def address(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "page.html"
    path.write_text(render(model))
    return path.as_uri()


@pytest.fixture(scope="module")
def shared(browser, address):
    return browser.open(address)


@pytest.fixture
def page(shared, address):
    """The page as it is at first; it makes no request but for itself, and its console stays empty."""
    shared.evaluate(CLEARED)
    shared.press("Escape")
    shared.wait_for("document.querySelectorAll('.chosen').length === 0")
    yield shared
    assert shared.complaints == []
    assert [each for each in shared.requests if not each.startswith("blob:")] == [address]


def texts(page, selector, kind=""):
    rows = f"{ROWS.format(selector)}.filter(row => row.matches('.row{kind}'))"
    return page.evaluate(f"{rows}.map(row => row.querySelector('.text').textContent)")


def row(page, selector, text):
    """Return the number of the rendered row that has a text."""
    return page.evaluate(f"{ROWS.format(selector)}.findIndex(row => row.textContent.includes({text!r}))")


def test_pointing_at_a_line_lights_its_forms_everywhere(page):
    page.mouse("#source .row", "move", row(page, "#source", "x @ w"))
    page.wait_for("document.querySelectorAll('.lit').length > 2")
    assert texts(page, "#source", ".lit") == ["        x = leaky(x @ w, 0.1) * 1.0"]
    assert any("ag__.converted(leaky)" in text for text in texts(page, "#code", ".lit"))
    assert any("= matmul x" in text for text in texts(page, "#forms", ".lit"))
    assert "became" in page.evaluate("document.getElementById('details').textContent")


def test_operations_show_their_values_and_the_selection_is_an_address(page):
    page.mouse("#forms .listing .row", index=row(page, "#forms", "= matmul x"))
    details = page.wait_for("document.getElementById('details').textContent")
    assert "float32[1, 2]" in details and "ran3 times" in details
    assert texts(page, "#source", ".chosen") == ["        x = leaky(x @ w, 0.1) * 1.0"]
    assert "at=tests%2Fexplorer%2Fconftest.py%3A" in page.evaluate("location.hash")


def test_addresses_restore_form_pass_and_selection(page, model):
    at = f"{model['source'][0]['title']}:{model['source'][0]['first']}"
    page.evaluate(f"location.hash = 'pass=algebraic_simplify&at={at}'")
    page.wait_for("document.querySelectorAll('.chosen').length")
    assert (
        page.evaluate("document.getElementById('stage').textContent")
        == "after algebraic_simplify: 3 lines removed, 2 added"
    )
    assert texts(page, "#source", ".chosen") == ["@tf.function"]
    page.evaluate("location.hash = 'tab=plan'")
    page.wait_for("document.querySelector('[data-tab=plan]').getAttribute('aria-pressed') === 'true'")
    assert any(" @ " in text for text in texts(page, "#forms"))


def test_passes_show_removed_and_added_lines(page):
    page.press("]")
    page.press("]")
    assert any("multiply result, 1.0" in text for text in texts(page, "#forms", ".ghost"))
    page.press("[")
    page.press("[")
    assert page.evaluate("document.getElementById('stage').textContent") == "as traced"


def test_blocks_fold_by_mouse_and_keyboard(page):
    before = len(texts(page, "#forms"))
    at = row(page, "#forms", "= while ")
    page.mouse("#forms .listing .row", index=at)
    page.evaluate("document.querySelector('#forms .listing').focus()")
    page.press("ArrowLeft")
    assert "lines" in page.evaluate(f"{ROWS.format('#forms')}[{at}].textContent")
    assert len(texts(page, "#forms")) < before
    page.press("ArrowRight")
    assert len(texts(page, "#forms")) == before
    page.evaluate(f"{ROWS.format('#forms')}[{at}].querySelector('.fold').click()")
    assert len(texts(page, "#forms")) < before


def test_searches_count_hits_and_open_what_hides_them(page):
    page.evaluate(f"{ROWS.format('#forms')}[0].querySelector('.fold').click()")
    page.press("/")
    page.type("tanh")
    assert page.evaluate("document.getElementById('hits').textContent").endswith(" hits")
    for _ in range(8):
        page.press("Enter")
        if any("= tanh " in text for text in texts(page, "#forms", ".current")):
            break
    assert texts(page, "#forms", ".current.hit") != []
    page.evaluate("document.getElementById('query').value = ''")
    page.evaluate("document.getElementById('query').dispatchEvent(new Event('input'))")


def test_drawings_have_boxes_for_regions_that_collapse(page):
    page.press("g")
    page.wait_for("/^[0-9]+ nodes$/.test(document.getElementById('drawn').textContent)")
    labels = page.evaluate("[...document.querySelectorAll('svg .caption')].map(each => each.textContent)")
    assert labels[0] == "graph settle" and {"test", "body", "then", "else"} <= set(labels)
    assert page.evaluate(
        "[...document.querySelectorAll('svg .type')].some(each => each.textContent === 'float32[1, 2]')"
    )
    places = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('svg .caption')]"
        ".map(each => [each.textContent, each.getBoundingClientRect().left]))"
    )
    assert places["test"] < places["body"] and places["then"] < places["else"]
    page.evaluate("document.querySelector('[data-zoom=fit]').click()")
    assert page.evaluate(
        "(paper => paper.scrollWidth <= paper.clientWidth && paper.scrollHeight <= paper.clientHeight)"
        "(document.getElementById('paper'))"
    )
    count = page.evaluate("document.querySelectorAll('svg .node').length")
    page.evaluate(
        "document.querySelector('svg .node.open').dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    page.wait_for(f"document.querySelectorAll('svg .node').length < {count} / 2")
    assert texts(page, "#source", ".chosen") == ["    for _ in tf.range(rounds):"]
    page.press("g")


def test_dark_mode_follows_the_system_and_a_switch(page):
    assert not page.evaluate("document.documentElement.classList.contains('dark')")
    page.press("d")
    assert page.evaluate("document.documentElement.classList.contains('dark')")
    page.press("d")


def test_the_keyboard_has_a_list(page):
    page.press("?")
    assert page.evaluate("document.getElementById('keys').open")
    page.press("Escape")
    page.wait_for("!document.getElementById('keys').open")


def test_native_code_says_how_it_is_added(page):
    page.press("4")
    assert texts(page, "#forms") == ["Native code is not in this page: agc explore --native-ir adds it."]


def test_native_code_is_linked_with_the_source(browser, model, tmp_path):
    at = model["source"][0]["at"][2]
    native = {"lines": ["define i32 @kernel(ptr %0) {", "  %1 = fmul float %0, %0"], "at": [None, at]}
    path = tmp_path / "native.html"
    path.write_text(render({**model, "native": native}))
    page = browser.open(f"{path.as_uri()}#tab=native")
    page.mouse("#forms .listing .row", index=1)
    assert texts(page, "#source", ".chosen") == [model["source"][0]["lines"][2]]
    assert page.evaluate("document.querySelector('#forms .row .o').textContent") == "fmul"
    assert page.complaints == []
    page.close()


def test_narrow_windows_show_one_pane(browser, address):
    page = browser.open(address, 400, 780, dark=True)
    assert page.evaluate(
        "[...document.querySelectorAll('section')].filter(each => each.offsetWidth).map(each => each.id)"
    ) == ["forms"]
    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.mouse("#narrow button")
    assert page.evaluate(
        "[...document.querySelectorAll('section')].filter(each => each.offsetWidth).map(each => each.id)"
    ) == ["source"]
    page.mouse("#narrow [data-tab=plan]")
    assert any(" @ " in text for text in texts(page, "#forms"))
    assert page.evaluate(
        "[...document.querySelectorAll('#narrow [aria-pressed=true]')].map(each => each.textContent)"
    ) == ["Plan"]
    page.close()


def axe(page):
    """Return what axe-core finds on a page."""
    found = importlib.util.find_spec("axe_core_python")
    page.evaluate((pathlib.Path(found.origin).parent / "axe.min.js").read_text() + "; 0")
    text = "each => `${each.id}: ${each.nodes.map(node => node.html).join(' ')}`"
    run = f"axe.run().then(found => found.violations.map({text}))"
    return page.evaluate(run)


@pytest.mark.skipif(
    importlib.util.find_spec("axe_core_python") is None, reason="axe-core-python is not installed"
)
@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_accessible(browser, address, dark, tmp_path):
    page = browser.open(f"{address}#pass=algebraic_simplify&at=tests/explorer/conftest.py:18", dark=dark)
    assert axe(page) == []
    page.close()
    path = tmp_path / "findings.html"
    where = Where("a.py", 1, 1, 4, source="raise")
    path.write_text(
        findings_page([Diagnostic("AGC110", "a jump", where, why="so", fix="move")] * 2, {"AGC110": "More."})
    )
    page = browser.open(path.as_uri(), dark=dark)
    assert axe(page) == []
    page.close()


def test_hostile_texts_stay_texts(browser, model, tmp_path):
    hostile = "</script><img src=x onerror=document.title='hurt'>"
    source = [{**each, "title": hostile, "lines": [hostile] * len(each["lines"])} for each in model["source"]]
    values = {
        number: {"runs": 1, "values": [{"type": hostile, "first": hostile}]} for number in model["values"]
    }
    rows = [
        {**each, "text": each["text"][: -len(each["text"].lstrip()) or None] + hostile, "name": hostile}
        for each in model["rows"]
    ]
    path = tmp_path / "hostile.html"
    path.write_text(
        render(
            {**model, "title": hostile, "result": hostile, "source": source, "values": values, "rows": rows}
        )
    )
    page = browser.open(path.as_uri())
    page.mouse("#forms .listing .row", index=3)
    page.press("g")
    page.wait_for("document.querySelector('svg text')")
    assert "hurt" not in page.evaluate("document.title")[:4]
    assert page.evaluate("document.images.length") == 0
    assert page.complaints == [] and all(each.startswith(("file:", "blob:")) for each in page.requests)
    page.close()


def test_marks_of_direction_are_visible(browser, model, tmp_path):
    hidden = "\u202etext\u2066"
    source = [{**each, "lines": [hidden] * len(each["lines"])} for each in model["source"]]
    path = tmp_path / "directions.html"
    path.write_text(render({**model, "source": source}))
    page = browser.open(path.as_uri())
    assert set(texts(page, "#source", ":not(.title)")) <= {"\ufffdtext\ufffd", ""}
    page.close()


def test_ten_thousand_operations_need_few_elements(browser, model, tmp_path):
    def operation(i):
        text = f"  v{i} = add v{i - 1}, 1.0                         : float32[]"
        return {"text": text, "kind": "op", "name": "add", "defs": [f"v{i}"], "uses": [f"v{i - 1}"],
                "types": ["float32[]"], "constants": ["1.0"]}  # fmt: skip

    first = {
        "text": "graph chain(v0: float32[])",
        "kind": "graph",
        "name": "graph",
        "defs": ["v0"],
        "types": [""],
    }
    rows = [first, *map(operation, range(1, 10_001))]
    stage = {"name": "traced", "rows": [*range(len(rows))], "ops": [-1, *range(10_000)], "changes": []}
    path = tmp_path / "chain.html"
    graphs = {"forward": [stage], "gradient": []}
    path.write_text(render({**model, "rows": rows, "graphs": graphs, "values": {}, "times": {}}))
    page = browser.open(path.as_uri())
    page.evaluate("document.querySelector('#forms .listing').focus()")
    page.press("End")
    assert "v10000 = add" in texts(page, "#forms", ".current")[0]
    assert page.evaluate("document.querySelectorAll('.row').length") < 300
    page.press("g")
    page.wait_for("document.getElementById('drawn').textContent.startsWith('80 nodes of 10,001')")
    assert page.evaluate("document.querySelectorAll('svg .node').length") == 80
    assert page.complaints == []
    page.close()


class Made:
    """A page that is ready at once."""

    def __init__(self, text):
        self.page = lambda: text

    def stop(self):
        """Do nothing: there is no process."""


def until(page, expression):
    """Wait until an expression is true on a page that loads again meanwhile."""
    for _ in range(1000):
        with contextlib.suppress(RuntimeError):  # the page goes while the expression is evaluated
            if page.evaluate(expression):
                return
        time.sleep(0.02)
    pytest.fail(f"{expression} did not become true")


def test_served_pages_load_again_and_keep_the_selection(browser, model, tmp_path):
    file = tmp_path / "model.py"

    def make():
        return Made(render({**model, "title": file.read_text()}, live=True))

    file.write_text("one")
    with PageServer(make, str(tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        page = browser.open(server.address)
        page.mouse("#source .row", index=row(page, "#source", "x @ w"))
        file.write_text("two and more")
        os.utime(file, (1, 1))
        until(page, "document.getElementById('title')?.textContent === 'two and more'")
        until(page, "document.querySelectorAll('#source .chosen').length")
        assert texts(page, "#source", ".chosen") == ["        x = leaky(x @ w, 0.1) * 1.0"]
        assert page.complaints == []
        server.shutdown()
        thread.join()
    page.wait_for("document.body.classList.contains('ended')")
    page.close()
