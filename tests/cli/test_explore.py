"""`agc explore`: the page is written, or the command line is refused."""

import json
import sys

from agc.cli import explore


def model_of(page):
    start = page.index('id="model">') + len('id="model">')
    return json.loads(page[start : page.index("</script>", start)])


def test_the_page_is_written_to_a_file_of_the_name_of_the_function(inside, folder):
    result = inside("explore", "collatz.py::collatz", "27")
    assert result.stderr == "collatz.html: 0.7 MB\n" and result.stdout == ""
    model = model_of((folder / "collatz.html").read_text())
    assert model["title"] == "collatz" and model["result"] == "tf.Tensor(111, shape=(), dtype=int32)"
    assert model["source"][0]["title"] == "collatz.py"


def test_the_page_goes_to_stdout_and_nothing_runs(inside):
    result = inside("explore", "--no-run", "collatz.py::collatz", "n=27:int64", "-o", "-")
    model = model_of(result.stdout)
    assert model["values"] == {} and "int64" in model["signature"]


def test_runs_that_fail_give_a_page_and_exit_code_1(inside, folder):
    (folder / "root.py").write_text(
        "import agc.runtime as tf\n\n\ndef root(x):\n    tf.debugging.assert_positive(x)\n    return tf.sqrt(x)\n"
    )
    result = inside("explore", "root.py::root", "-1.0")
    assert result.returncode == 1 and "`root` failed" in result.stderr
    assert "root.py:5, in root" in model_of((folder / "root.html").read_text())["error"]


def test_files_without_function_are_refused(inside):
    result = inside("explore", "collatz.py")
    assert result.returncode == 2
    assert "fix: agc explore collatz.py::FUNCTION" in result.stderr


def test_served_pages_have_no_file(inside):
    result = inside("explore", "collatz.py::collatz", "27", "--serve", "-o", "x.html")
    assert (result.returncode, result.stderr.splitlines()[0]) == (2, "error[AGC300]: --serve writes no file")


def test_functions_that_do_not_exist_are_refused(inside):
    assert "collatz" in inside("explore", "collatz.py::colatz", "27").stderr


def test_served_pages_are_made_by_a_new_process(folder):
    target = f"{folder / 'collatz.py'}::collatz"
    again = explore._again(target, ("27",), False, (), False, True)
    assert again == [sys.executable, "-m", "agc", "explore", "--live", "--no-run", target, "27"]
    assert "/version" in explore.made(again)


def test_failures_of_the_program_are_shown_on_the_served_page(folder):
    page = explore.made([sys.executable, "-c", "raise SystemExit('no <module>')"])
    assert "no &lt;module&gt;" in page and "/version" in page


def test_findings_are_a_page(inside, folder):
    (folder / "jump.py").write_text("def f(x:\n")
    result = inside("check", "jump.py", "--format", "html")
    assert result.returncode == 1 and "<h1>1 error</h1>" in result.stdout and "About AGC303" in result.stdout
