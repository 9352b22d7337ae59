"""`agc check`: everything that is wrong in a project, in one go and in four formats."""

import json
import os

import pytest

GOOD = "def f(x):\n    return x if x > 0 else -x\n"
JUMP = """\
def first(xs):
    while xs > 0:
        try:
            return 2
        finally:
            return 1


class Model:
    def last(self, xs):
        for x in xs:
            try:
                return x
            finally:
                break
"""
TRACED = """\
import agc.runtime as tf


@tf.function
def f(x, formula):
    if x > 0:
        x = eval(formula)
    return x
"""


@pytest.fixture
def project(folder):
    """Write the files of a project: `project(**{"src/a.py": "x = 1"})`."""

    def write(files):
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return folder

    return write


def found(result):
    """(file, line, code) of everything that `--json` lists."""
    findings = json.loads(result.stdout)["findings"]
    return [(one["where"]["file"], one["where"]["line"], one["code"]) for one in findings]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
@pytest.mark.parametrize("command", [["check", "p"], ["convert", "p", "--diff"]], ids=lambda parts: parts[0])
def test_pipes_and_devices_in_a_folder_are_left_out(inside, project, command):
    """To read one would never end, or take all memory."""
    folder = project({"p/good.py": GOOD})
    os.mkfifo(folder / "p/pipe.py")
    os.symlink("/dev/zero", folder / "p/zero.py")
    result = inside(*command)
    assert (result.returncode, "pipe" in result.stdout, "zero" in result.stdout) == (0, False, False)


def test_nothing_found(inside, project):
    project({"good.py": GOOD})
    result = inside("check", "good.py")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "nothing found in 1 file\n"


def test_every_refusal_is_listed(inside, project):
    project({"jump.py": JUMP})
    result = inside("check", "jump.py")
    assert result.returncode == 1
    assert result.stdout == (
        "error[AGC110]: a jump leaves a `finally` block inside control flow that may be staged\n"
        "  --> jump.py:6:13\n"
        " 6 |             return 1\n"
        "   |             ^^^^^^^^\n"
        "why: it would cancel a jump out of the `try` part, which a staged block cannot do\n"
        "fix: move the jump after the `try` statement\n"
        "\n"
        "error[AGC110]: a jump leaves a `finally` block inside control flow that may be staged\n"
        "  --> jump.py:15:17\n"
        " 15 |                 break\n"
        "    |                 ^^^^^\n"
        "why: it would cancel a jump out of the `try` part, which a staged block cannot do\n"
        "fix: move the jump after the `try` statement\n"
    )
    assert result.stderr == "2 errors in 1 file; more: agc explain AGC110\n"


def test_every_bad_file_is_listed(inside, project):
    project(
        {
            "p/a.py": "def f(:\n",
            "p/b.py": b"x = '\xe9'\n",
            "p/c.py": b"x = 1\0",
            "p/d.py": JUMP,
            "p/e.py": "return 1\n",
            "p/f.py": GOOD,
        }
    )
    result = inside("check", "p", "--json")
    assert result.returncode == 1
    assert found(result) == [
        ("p/a.py", 1, "AGC303"),
        ("p/b.py", 1, "AGC302"),
        ("p/c.py", 1, "AGC302"),
        ("p/d.py", 6, "AGC110"),
        ("p/d.py", 15, "AGC110"),
        ("p/e.py", 1, "AGC303"),
    ]
    assert result.stderr == "6 errors in 6 files; more: agc explain AGC110 AGC302 AGC303\n"


def test_a_file_that_is_not_there_is_wrong_usage_and_the_others_are_checked(inside, project):
    project({"jump.py": JUMP})
    result = inside("check", "nowhere.py", "jump.py", "--json")
    assert result.returncode == 2
    assert found(result)[0] == ("nowhere.py", 0, "AGC301")
    assert len(found(result)) == 3


def test_a_file_that_may_not_be_read(inside, project):
    folder = project({"p/a.py": GOOD, "p/b.py": JUMP})
    os.symlink("nowhere", folder / "p/dangling.py")
    assert [code for _, _, code in found(inside("check", "p", "--json"))] == ["AGC110", "AGC110", "AGC301"]


def test_excluded_files_are_skipped(inside, project):
    skipped = [
        ".hidden/a.py",
        "__pycache__/a.py",
        "env/lib/a.py",
        "build/a.py",
        "x.egg-info/a.py",
        "node_modules/a.py",
    ]
    folder = project(dict.fromkeys((*skipped, "b/z.py", "b/a.py", "a.py", "notes.txt", "test_a.py"), JUMP))
    (folder / "env" / "pyvenv.cfg").touch()
    files = [file for file, _, _ in found(inside("check", "--json"))]
    assert list(dict.fromkeys(files)) == ["a.py", "test_a.py", "b/a.py", "b/z.py"]
    fewer = [
        file
        for file, _, _ in found(inside("check", ".", "--json", "--exclude", "test_*", "--exclude", "b/a.py"))
    ]
    assert list(dict.fromkeys(fewer)) == ["a.py", "b/z.py"]
    # What is named is looked at, whatever it is called, and once.
    named = found(inside("check", "build/a.py", "notes.txt", "./build/../build/a.py", "--json"))
    assert [file for file, _, _ in named] == ["build/a.py", "build/a.py", "notes.txt", "notes.txt"]
    assert inside("check", "b", "--exclude", "*.py").stderr == "nothing found in 0 files\n"


def test_a_folder_by_its_absolute_name(inside, project):
    folder = project({"p/jump.py": JUMP})
    result = inside("check", folder / "p")
    assert "\n  --> p/jump.py:6:13\n" in result.stdout  # short, as in every error
    assert found(inside("check", folder / "p", "--json"))[0][0] == str(folder / "p" / "jump.py")


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX only")
def test_a_file_whose_name_is_not_text(inside, project):
    folder = project({"p/a.py": JUMP})
    os.rename(folder / "p" / "a.py", os.fsencode(folder / "p") + b"/\xff.py")
    assert "  --> p/\\udcff.py:6:13\n" in inside("check", "p").stdout
    assert found(inside("check", "p", "--json"))[0] == ("p/\udcff.py", 6, "AGC110")
    sarif = json.loads(inside("check", "p", "--format", "sarif").stdout)
    place = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "p/%FF.py"}
    assert inside("check", "p", "--format", "github").stdout.startswith("::error file=p/\\udcff.py,line=6")


def test_stdin(inside):
    assert found(inside("check", "-", "--json", stdin=JUMP))[0] == ("<stdin>", 6, "AGC110")


def test_generated_code_is_not_looked_at(inside, agc, project):
    project({"converted.py": agc("convert", "collatz.py").stdout + JUMP})
    assert inside("check", "converted.py").returncode == 0


def test_warnings_are_about_traced_functions(inside, project):
    project({"traced.py": TRACED, "untraced.py": TRACED.replace("@tf.function\n", "")})
    result = inside("check", "traced.py", "untraced.py", "--json")
    assert found(result) == [("traced.py", 7, "AGC191")]
    assert result.returncode == 1
    strict = inside("check", "traced.py", "untraced.py", "--json", "--strict")
    assert found(strict) == [("traced.py", 7, "AGC191"), ("untraced.py", 6, "AGC191")]


def test_a_comment_silences_a_line(inside, project):
    def check(comment):
        project({"jump.py": JUMP.replace("return 1", f"return 1  {comment}")})
        result = inside("check", "jump.py", "--json")
        return [line for _, line, _ in found(result)], result.stderr

    assert check("# agc: ignore[AGC110]")[0] == [15]
    assert check("#agc:ignore [ agc303, agc110 ] since it is tested")[0] == [15]
    assert check("# noqa  # agc: ignore")[0] == [15]
    assert check("# agc: ignore[AGC191]")[0] == [6, 15]
    assert check("# agc: ignore[]")[0] == [6, 15]
    assert "1 error in 1 file, 1 ignored by a comment; " in check("# agc: ignore")[1]


def test_select_and_ignore(inside, project):
    project({"p/a.py": JUMP, "p/b.py": TRACED, "p/c.py": "def f(:\n"})

    def codes(*options):
        return [code for _, _, code in found(inside("check", "p", "--json", *options))]

    assert codes("--select", "AGC1") == ["AGC110", "AGC110", "AGC191"]
    assert codes("--select", "agc191,AGC303") == ["AGC191", "AGC303"]
    assert codes("--select", "AGC191", "--select", "AGC303") == ["AGC191", "AGC303"]
    assert codes("--ignore", "AGC11,AGC3") == ["AGC191"]
    assert codes("--select", "AGC1", "--ignore", "AGC110") == ["AGC191"]
    assert inside("check", "p", "--ignore", "AGC").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", "AGC999"], "there is no error code `AGC999`"),
        (["--format", "xml"], "'xml' is not one of"),
        (["--json", "--format", "sarif"], "--json and --format sarif exclude each other"),
        (["--nosuch"], "no such option"),
    ],
)
def test_wrong_usage(inside, arguments, said):
    result = inside("check", *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error[AGC300]: ")
    assert said in result.stderr.lower() or said in result.stderr


def test_a_fault_of_agc_is_reported_with_the_file(inside, project, monkeypatch):
    from agc import autograph

    honest = autograph.check_source

    def broken(text, filename, **settings):
        if filename.endswith("b.py"):
            raise KeyError("lost")
        return honest(text, filename, **settings)

    monkeypatch.setattr(autograph, "check_source", broken)
    project({"p/a.py": GOOD, "p/b.py": GOOD, "p/c.py": JUMP})
    result = inside("check", "p", "--select", "AGC110", "--json")
    assert result.returncode == 123
    assert [(file, code) for file, _, code in found(result)] == [
        ("p/b.py", "AGC399"),
        ("p/c.py", "AGC110"),
        ("p/c.py", "AGC110"),
    ]


def test_json_findings_equal_json_errors(inside, project):
    from agc import autograph

    project({"jump.py": JUMP})
    (expected, _) = autograph.check_source(JUMP, "jump.py")
    finding = json.loads(inside("check", "jump.py", "--json").stdout)["findings"][0]
    assert finding == json.loads(expected.to_json()) == expected.to_dict()
    assert finding["level"] == "error"
    assert (
        inside("check", "jump.py", "--format", "json").stdout == inside("check", "jump.py", "--json").stdout
    )
    assert json.loads(inside("check", "collatz.py", "--json").stdout) == {"findings": []}


def test_sarif(inside, project):
    project({"my src/a.py": TRACED, "b.py": JUMP, "c.py": "def f(:\n"})
    log = json.loads(inside("check", "my src", "b.py", "c.py", "gone.py", "--format", "sarif").stdout)
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "agc"
    assert driver["version"]
    rules = driver["rules"]
    assert [rule["id"] for rule in rules] == ["AGC110", "AGC191", "AGC301", "AGC303"]
    assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning")
        assert result["message"]["text"]
    assert run["columnKind"] == "unicodeCodePoints"
    first, *_, last = run["results"]
    assert first["ruleId"] == "AGC191"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "my%20src/a.py"},
                "region": {"startLine": 7, "startColumn": 13, "endColumn": 26},
            }
        }
    ]
    assert first["relatedLocations"][0]["message"] == {"text": "stays Python"}
    assert last["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "gone.py"}}}]
    empty = json.loads(inside("check", "collatz.py", "--format", "sarif").stdout)
    assert empty["runs"][0]["results"] == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")
def test_annotations_contain_no_control_characters_of_names(inside, project):
    project({"a\n::error::\x1b[31m.py": JUMP})
    shown = inside("check", ".", "--format", "github").stdout
    assert "\x1b" not in shown and shown.startswith("::error file=a%0A%3A%3Aerror%3A%3A␛[31m.py,line=6,")


def test_annotations_for_github(inside, project):
    project({"a,b:c.py": JUMP, "traced.py": TRACED})
    lines = inside("check", "a,b:c.py", "traced.py", "--format", "github").stdout.splitlines()
    assert lines[0] == (
        "::error file=a%2Cb%3Ac.py,line=6,col=13,endColumn=21,title=AGC110::"
        "a jump leaves a `finally` block inside control flow that may be staged"
        "%0Awhy: it would cancel a jump out of the `try` part, which a staged block cannot do"
        "%0Afix: move the jump after the `try` statement"
    )
    assert lines[2].startswith(
        "::warning file=traced.py,line=7,col=13,endColumn=26,title=AGC191::`eval` keeps"
    )
    assert len(lines) == 3


def test_color(inside, project):
    project({"jump.py": JUMP, "traced.py": TRACED})
    colored = inside("check", "jump.py", "traced.py", "--color", "always").stdout
    assert "\x1b[1;31merror[AGC110]" in colored
    assert "\x1b[1;33mwarning[AGC191]" in colored
    assert "\x1b" not in inside("check", "jump.py", "--json", "--color", "always").stdout
