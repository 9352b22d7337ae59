"""`agc explore`: the page is written, or the command line is refused."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import pytest


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
    assert "why: the functions are: collatz" in result.stderr
    assert "fix: agc explore collatz.py::collatz" in result.stderr


def test_served_pages_have_no_file(inside):
    result = inside("explore", "collatz.py::collatz", "27", "--serve", "-o", "x.html")
    assert (result.returncode, result.stderr.splitlines()[0]) == (2, "error[AGC300]: --serve writes no file")


def test_programs_on_stdin_are_not_served(inside):
    result = inside("explore", "-::f", "--serve")
    assert (result.returncode, result.stderr.splitlines()[0]) == (
        2,
        "error[AGC300]: --serve cannot read stdin again",
    )


def test_functions_that_do_not_exist_are_refused(inside):
    assert "collatz" in inside("explore", "collatz.py::colatz", "27").stderr


@pytest.fixture
def served(folder):
    """Start `agc explore --serve` with arguments; return the process and a function that reads an address."""
    processes = []

    def start(*arguments):
        environment = {name: text for name, text in os.environ.items() if "DISPLAY" not in name}
        command = [sys.executable, "-m", "agc", "explore", *arguments, "--serve"]
        process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, env=environment)
        processes.append(process)
        address = process.stderr.readline().split()[0]

        def get(path=""):
            with urllib.request.urlopen(address + path, timeout=60) as answer:
                return answer.read().decode()

        return process, get

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stderr.close()


def test_served_pages_follow_the_file_from_an_error_until_the_end(served, folder):
    text = (folder / "collatz.py").read_text()
    (folder / "collatz.py").write_text(text + "return\n")
    process, get = served("collatz.py::collatz", "27", "--no-run")
    wait_for(get, "1")
    assert "outside function" in get() and 'fetch("version")' in get()
    (folder / "collatz.py").write_text(text)
    wait_for(get, "2")
    assert model_of(get())["title"] == "collatz"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert process.stderr.read().strip() == ""


def wait_for(get, version):
    for _ in range(1000):
        if get("version") == version:
            return
        time.sleep(0.05)
    pytest.fail(f"version {version} did not come")


def test_programs_that_never_end_are_given_up_with_the_server(served, folder):
    (folder / "forever.py").write_text("while True:\n    pass\n")
    process, get = served("forever.py::f")
    assert get("version") == "0…"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_ports_in_use_are_refused(inside):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        result = inside("explore", "collatz.py::collatz", "27", "--serve", "--port", port)
    assert result.returncode == 2
    assert f"cannot listen on port {port}" in result.stderr and "leave out --port" in result.stderr


def test_findings_are_a_page(inside, folder):
    (folder / "jump.py").write_text("def f(x:\n")
    result = inside("check", "jump.py", "--format", "html")
    assert result.returncode == 1 and "<h1>1 error</h1>" in result.stdout and "About AGC303" in result.stdout
