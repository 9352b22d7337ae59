"""to_code, convert_source, compile_source: the text of converted functions and of whole modules."""

import ast
import subprocess
import sys

import pytest
from agc import autograph
from agc.autograph import ConversionError, convert, convert_source, to_code
from agc.autograph import operators as ag__
from support.recording import staged


def absolute(x):
    if x < 0:
        x = -x
    return x


class Counter:
    def __init__(self, start):
        self.count = start

    def up_to(self, limit):
        while self.count < limit:
            self.count += 1
        return self.count


def runs(text, name):
    namespace = {"__name__": "printed"}
    exec(compile(text, "<printed>", "exec"), namespace)
    return namespace[name]


def test_to_code_output_runs_by_itself():
    text = to_code(absolute)
    assert text.startswith("from agc.autograph import operators as ag__\n")
    assert runs(text, "absolute")(-3) == 3
    assert staged(runs(text, "absolute"), "x")(-3) == 3


def test_to_code_without_control_flow_is_the_function():
    def double(x):
        return x * 2

    assert to_code(double) == "def double(x):\n    return x * 2\n"


def test_to_code_of_a_class_a_lambda_and_a_method():
    assert runs(to_code(Counter), "Counter")(0).up_to(3) == 3
    assert runs(to_code(lambda x: x if x else 1), "function")(0) == 1
    assert to_code(Counter(0).up_to).splitlines()[2:] == to_code(Counter.up_to).splitlines()[2:]
    assert to_code(convert(absolute)) == to_code(absolute)
    with pytest.raises(ConversionError, match="AGC104"):
        to_code(len)


MODULE = '''\
#!/usr/bin/env python
# A program.

"""What it does."""

from __future__ import annotations

import math


def f(x):
    if x > 0:
        x = math.sqrt(x)
    return x


class Model:
    def fit(self, n):
        for i in range(n):
            if i > 3:
                break
        return i


if __name__ == "__main__":
    print(f(16.0), Model().fit(10), __doc__)
'''


def test_a_printed_module_runs_by_itself(tmp_path):
    text = convert_source(MODULE, "program.py")
    lines = text.splitlines()
    assert lines[0] == "#!/usr/bin/env python"
    body = ast.parse(text).body
    assert ast.get_docstring(ast.parse(text)) == "What it does."
    assert [ast.unparse(node) for node in body[1:4]] == [
        "from __future__ import annotations",
        "from agc.autograph import operators as ag__",
        "import math",
    ]
    path = tmp_path / "converted.py"
    path.write_text(text)
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "4.0 4 What it does.\n"


def test_a_printed_module_is_not_converted_twice():
    text = convert_source(MODULE, "program.py")
    assert convert_source(text, "converted.py") == text
    f = runs(text, "f")
    assert convert(f) is f
    assert ag__.converted(f) is f


def test_one_function_of_a_module_can_be_converted():
    text = convert_source(MODULE, "program.py", function="Model.fit")
    *imports, function = ast.parse(text).body
    assert all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in imports)
    assert ast.unparse(imports[-1]) == "from agc.autograph import operators as ag__"
    assert isinstance(function, ast.FunctionDef)
    assert runs(text, "fit")(None, 10) == 4
    assert "class Model" in convert_source(MODULE, "program.py", function="Model")


def test_one_function_is_printed_with_its_imports():
    module = "import os\nimport math as m, sys\n\ndef f(x):\n    return m.floor(x) if x > 0 else 0\n"
    text = convert_source(module, "program.py", function="f")
    assert text.startswith("import math as m\nfrom agc.autograph import operators as ag__\n")
    assert runs(text, "f")(2.5) == 2


def test_annotated_text_shows_the_original_lines():
    text = convert_source(MODULE, "program.py", function="f", annotate=True)
    assert [line for line in text.splitlines() if "# 12 |" in line] == ["    # 12 |     if x > 0:"]
    head = "from __future__ import annotations\nimport math\nfrom agc.autograph import operators as ag__\n"
    assert text.startswith(head)
    assert ast.unparse(ast.parse(text)) == ast.unparse(
        ast.parse(convert_source(MODULE, "p.py", function="f"))
    )


def test_a_function_that_is_not_there():
    with pytest.raises(ConversionError, match=r"AGC105.*no function `Model.fitt`(.|\n)*Model.fit"):
        convert_source(MODULE, "program.py", function="Model.fitt")


def test_a_module_that_needs_no_operators_imports_none():
    assert convert_source("x = 1\n", "a.py") == "x = 1\n"
    assert convert_source("", "a.py") == ""


def test_libraries_are_recognized_without_importing_them():
    text = convert_source("import numpy as np, mine\n\ndef f(x):\n    return np.exp(mine.g(x))\n", "a.py")
    assert "return np.exp(ag__.converted(mine.g)(x))" in text
    text = convert_source("import numpy as np\nnp = 3\n\ndef f(x):\n    return np.exp(x)\n", "a.py")
    assert "ag__.converted(np.exp)(x)" in text


def test_text_that_is_not_python():
    with pytest.raises(ConversionError) as error:
        convert_source("def f(:\n    pass\n", "bad.py")
    assert str(error.value).splitlines()[1:4] == ["  --> bad.py:1:7", " 1 | def f(:", "   |       ^"]


def test_compiled_source_runs_as_a_converted_module():
    namespace = {"__name__": "compiled"}
    exec(autograph.compile_source(MODULE, "program.py"), namespace)
    f, fit = namespace["f"], namespace["Model"]().fit
    assert (f(16.0), fit(10)) == (4.0, 4)
    assert f.__code__.co_firstlineno == 11
    assert ag__.converted(f) is f
    assert ag__.converted(fit) == fit
    assert convert(f) is f


def test_after_a_pass():
    assert "lower_return" in autograph.PASSES
    for name in autograph.PASSES:
        namespace = {"__name__": "intermediate"}
        exec(convert_source(MODULE, "program.py", after=name), namespace)
        assert namespace["Model"]().fit(10) == 4
    with pytest.raises(ValueError, match="lower_return"):
        convert_source(MODULE, "program.py", after="no_such_pass")


def test_a_very_long_expression():
    terms = " + ".join(["x"] * 5000)
    text = f"def f(x):\n    if x:\n        x = {terms}\n    return x\n"
    if sys.version_info[:2] == (3, 12):  # which cannot read it
        with pytest.raises(ConversionError, match="AGC107"):
            convert_source(text, "long.py")
    else:
        assert convert_source(text, "long.py").count("x + x") == 2500


def test_a_match_of_many_sequences():
    """Its tests are nested: the text needs more levels of indentation than Python reads, but the code runs."""
    cases = "".join(f"        case [{i}, *_]:\n            x = {i}\n" for i in range(110))
    text = f"def f(x):\n    match x:\n{cases}    return x\n"
    with pytest.raises(ConversionError, match=r"AGC107.*blocks are nested(.|\n)*long\.py"):
        convert_source(text, "long.py")


def test_unparsable_source_is_refused():
    with pytest.raises(ConversionError, match=r"AGC10[67]"):
        convert_source("x = " + "(" * 5000 + ")" * 5000, "deep.py")


def test_doctests_and_exec(tmp_path):
    import doctest

    text = """
    >>> from agc.autograph import convert, to_code
    >>> def f(x):
    ...     if x > 0:
    ...         x = -x
    ...     return x
    >>> convert(f)(3)
    -3
    """
    test = doctest.DocTestParser().get_doctest(text, {}, "example", None, None)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0
