"""Real notebooks in one Jupyter kernel: cells run, show what they should, and errors name them."""

import json
import pathlib
import re
import textwrap

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))

# notebook → texts of its outputs
SHOWN = {
    "01_first_graph": [
        "<summary>Generated code</summary>",
        "Graph of scaled(x: float32[2], factor: float32[])",
    ],
    "02_generated_code": ["ag__.while_loop", "numpy=111"],
    "03_graph_and_plan": ["graph root(x: float32[]) -> float32[]", "while True:"],
    "04_findings": ["warning[AGC191]", "--> Cell In["],
    "05_errors": ["error[AGC", "--> Cell In[", "y = tf.constant(1)"],
    "06_tensors": ["tf.Tensor shape=(20, 20) dtype=int32", "tf.Variable &#x27;w:0&#x27;", "⋮"],
    "07_gradients": ["108.0"],
    "08_datasets": ["13 elements", "328350"],
    "09_profiles": [">share</th>", "matmul", "Cell In["],
    "10_retracing": ["norm(x): traced 3 times", "norm(x): traced 1 time"],
    "11_training": ["tf.Variable"],
    "12_explorer": ["&lt;!doctype html&gt;", "<summary>Source</summary>"],
}


@pytest.fixture(scope="module")
def run():
    """Run cells in the kernel that all share, after the names of the last ones are gone; return their outputs."""
    client = nbclient.NotebookClient(nbformat.v4.new_notebook(), timeout=600)

    def execute(sources, may_fail=False):
        outputs = []
        for source in ("%reset -f", *sources):
            cell = nbformat.v4.new_code_cell(source)
            cell.metadata["tags"] = ["raises-exception"] if may_fail else []
            client.nb.cells.append(cell)
            outputs += client.execute_cell(cell, len(client.nb.cells) - 1).outputs
        return outputs

    with client.setup_kernel():
        yield execute


def text_of(outputs):
    found = []
    for output in outputs:
        data = output.get("data", {})
        found += [output.get("text", ""), data.get("text/html", ""), data.get("text/plain", "")]
        found += output.get("traceback", [])
    return "\n".join(found)


def test_every_notebook_is_tested():
    assert list(SHOWN) == NOTEBOOKS


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run_and_show_their_results(run, name):
    book = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    text = text_of(run([cell.source for cell in book.cells if cell.cell_type == "code"]))
    assert [each for each in SHOWN[name] if each not in text] == []


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name):
    cells = json.loads((FOLDER / f"{name}.ipynb").read_text())["cells"]
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_tracebacks_name_the_cell_of_the_magic_and_its_line(run):
    cells = ["%load_ext agc", "%%agc --show code\ndef f(x):\n    return x / 0\n\nf(1)"]
    text = re.sub(r"\x1b\[[0-9;]*m", "", text_of(run(cells, may_fail=True)))
    assert "ZeroDivisionError" in text
    numbers = re.findall(r"Cell In\[(\d+)\], line (\d+)", text)
    assert len({cell for cell, _ in numbers}) == 1
    assert [line for _, line in numbers] == ["1", "5", "3"]


def test_wrong_options_of_the_magic_are_named(run):
    cells = ["%load_ext agc", "%%agc --show tree\nx = 1"]
    text = text_of(run(cells, may_fail=True))
    assert "--show takes code, graph, plan, not `tree`" in text


def test_progress_of_datasets_is_one_bar(run):
    cell = """
    import agc, agc.runtime as tf
    for x in agc.progress(tf.data.Dataset.range(2000), name="count <"):
        pass
    """
    (output,) = run([textwrap.dedent(cell)])
    assert 'value="2000" max="2000"' in output.data["text/html"]
    assert output.data["text/plain"].startswith("count <  2000 of 2000")


def test_syntax_errors_in_a_cell_of_the_magic_name_its_line(run):
    cells = ["%load_ext agc", "%%agc --show code\ndef f(x:\n    return x"]
    text = text_of(run(cells, may_fail=True))
    assert re.search(r"UsageError: Cell In\[\d+\], line 2\n    def f\(x:", text)
    assert "notebook.py" not in text


def test_classes_in_a_cell_of_the_magic_are_shown(run):
    cells = [
        "%load_ext agc",
        "%%agc --show code\nclass A:\n    def m(self, x):\n        return -x if x > 0 else x",
    ]
    assert "return ag__.if_exp(x > 0" in text_of(run(cells))
