"""The model of a page: all forms of a function, with the line of the source that each of their lines comes from."""

import functools
import json

import agc.runtime as tf
import numpy as np
import pytest
from agc.explorer import collect, explore
from agc.explorer.stages import changed
from agc.runtime.executors import Plan
from agc.runtime.optimize import optimize


def source_lines(model):
    """Return the text of each numbered line of the source."""
    return {at: text for each in model["source"] for at, text in zip(each["at"], each["lines"], strict=True)}


def rows(model, stage):
    return [model["rows"][number] for number in stage["rows"]]


def test_all_functions_that_a_graph_comes_from_are_shown(model):
    assert [(each["name"], each["title"]) for each in model["source"]] == [
        ("settle", "tests/explorer/conftest.py"),
        ("leaky", "tests/explorer/conftest.py"),
    ]
    assert [each["name"] for each in model["code"]] == ["settle", "leaky"]
    assert all(
        "ag__.cond" in "".join(each["lines"]) or "for_loop" in "".join(each["lines"])
        for each in model["code"]
    )


def test_operations_come_from_the_lines_that_name_them(model):
    texts = source_lines(model)
    traced = rows(model, model["graphs"]["forward"][0])
    for name, text in (
        ("matmul", "x @ w"),
        ("tanh", "tf.tanh(x)"),
        ("where", "tf.where"),
        ("while", "for _ in"),
    ):
        (row,) = [each for each in traced if each.get("name") == name and each["kind"] == "op"]
        assert text in texts[row["at"]]


def test_lines_of_code_and_plan_come_from_lines_of_the_source(model):
    texts = source_lines(model)
    code = model["code"][0]
    origins = {text.strip(): at for text, at in zip(code["lines"], code["at"], strict=True)}
    assert "loss += " in texts[origins["loss += tf.reduce_sum(x)"]]
    plan = model["plan"]
    (matmul,) = [at for text, at in zip(plan["lines"], plan["at"], strict=True) if " @ " in text]
    assert "x @ w" in texts[matmul]


def test_stages_say_what_each_pass_changed(model, program):
    stages = {each["name"]: each for each in model["graphs"]["forward"]}
    assert [*stages][:: len(stages) - 1] == ["traced", "fusion"]
    assert stages["constant_fold"] == {"name": "constant_fold", "same": True}
    before, after = rows(model, stages["dce"]), rows(model, stages["algebraic_simplify"])
    removed = [
        row["text"].strip()
        for first, end, *_ in stages["algebraic_simplify"]["changes"]
        for row in before[first:end]
    ]
    assert any(text.startswith("x.1 = multiply result, 1.0") for text in removed)
    assert len(after) == len(before) - 1
    function, arguments = program
    optimized = str(optimize(function.get_concrete_function(*arguments).graph))
    assert "\n".join(row["text"] for row in after) == optimized


def test_values_of_the_run_are_those_of_the_program(model, program):
    function, arguments = program
    x, loss = function(*arguments)
    traced = model["graphs"]["forward"][0]
    by_text = {
        model["rows"][row]["text"].strip(): model["values"].get(op)
        for row, op in zip(traced["rows"], traced["ops"], strict=True)
    }
    (loop,) = [value for text, value in by_text.items() if "= while " in text]
    assert loop["runs"] == 1
    assert float(loop["values"][2]["first"]) == pytest.approx(float(loss), rel=1e-5)
    (matmul,) = [value for text, value in by_text.items() if text.startswith("matmul = ")]
    assert matmul["runs"] == 3 and matmul["values"][0]["type"] == "float32[1, 2]"
    (product,) = [value for text, value in by_text.items() if text.startswith("x.1 = multiply")]
    assert product["values"][0]["max"] == f"{np.max(x.numpy()):.6g}"


def test_times_belong_to_operations_that_the_plan_runs(model):
    last = [each for each in model["graphs"]["forward"] if "rows" in each][-1]
    assert model["times"] and set(model["times"]) <= set(last["ops"])
    assert all(spent > 0 for spent in model["times"].values())


def test_gradients_have_a_graph_of_their_own(model):
    names = {
        row.get("name")
        for stage in model["graphs"]["gradient"]
        if "rows" in stage
        for row in rows(model, stage)
    }
    assert model["gradient_note"] == ""
    assert {"while", "matmul"} <= names


def test_functions_without_gradient_say_why():
    model = collect(tf.function(lambda n: n + 1), tf.constant(1))
    assert model["graphs"]["gradient"] == []
    assert (
        model["gradient_note"] == "No floating-point result depends on a floating-point argument or variable."
    )


def test_variables_keep_their_values():
    count = tf.Variable(1.0)

    @tf.function
    def step(x):
        count.assign_add(x)
        return count * x

    model = collect(step, tf.constant(2.0))
    assert count.numpy() == 1.0
    assert model["result"].startswith("tf.Tensor(6.0")


def test_functions_with_effects_run_once():
    seen = []
    numbers = iter(tf.data.Dataset.range(1))

    def step():
        seen.append("traced")
        return tf.py_function(lambda x: seen.append("run") or x, [next(numbers) + 5], tf.int64) * 2

    model = collect(step)
    assert seen == ["traced", "run"]
    assert model["result"].startswith("tf.Tensor(10") and model["times"]
    assert "ran once" in model["run_note"]


def test_values_of_a_run_that_fails_are_kept_until_then():
    def root(x):
        half = x * 0.5
        tf.debugging.assert_positive(half, message="no root")
        return tf.sqrt(half)

    model = collect(root, tf.constant(-4.0))
    assert "no root" in model["error"] and "in root" in model["error"] and "result" not in model
    firsts = {each["values"][0]["first"] for each in model["values"].values() if each["values"]}
    assert "-2" in firsts


def test_values_are_those_that_an_operation_returned_even_if_its_array_is_reused():
    def powers(x, n):
        found = []
        for _ in tf.range(n):
            x = x * 2.0
            found.append(x)
        return tf.stack(found)

    model = collect(powers, tf.ones([2]), tf.constant(3))
    plan = model["plan"]
    (line,) = [i for i, text in enumerate(plan["lines"]) if "append" in text]
    (value,) = model["values"][plan["ops"][line]]["values"]
    assert value == {"type": "list of 3", "first": "[2, 2], [4, 4], [8, 8]"}


def test_specs_are_traced_and_not_run(program):
    function, _ = program
    model = collect(function, tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32))
    assert model["values"] == model["times"] == {} and "result" not in model
    assert "[?, 2]" in model["signature"]


def test_plain_functions_methods_and_lambdas_are_shown():
    class Model:
        def call(self, x):
            return x * 2.0

    for function, name in ((Model().call, "call"), (lambda x: x * 2.0, "lambda_")):
        model = collect(function, tf.constant(1.0))
        assert model["title"] == name and "x * 2.0" in "".join(model["source"][0]["lines"])


def test_objects_that_can_be_called_and_partial_functions_are_shown():
    class Model:
        def __call__(self, x):
            return self.half(x)

        def half(self, x):
            return x * 0.5

    def scaled(x, factor):
        return x * factor

    model = collect(Model(), tf.constant(1.0))
    assert model["source"][0]["name"] == "test_objects_that_can_be_called_and_partial_functions_are_shown"
    assert "def __call__" in "".join(model["code"][0]["lines"])
    model = collect(functools.partial(scaled, factor=2.0), tf.constant(1.0))
    assert "x * factor" in "".join(model["source"][0]["lines"])
    assert "x * factor" in "".join(model["code"][0]["lines"])


def test_native_code_is_added_on_demand():
    pytest.importorskip("llvmlite")

    def f(x):
        y = tf.reduce_sum(x)
        return tf.tanh(x) * y

    model = collect(f, tf.ones([100]), native=True)
    native, texts = model["native"], source_lines(model)
    assert any(line.startswith("define") for line in native["lines"])
    assert not any("!dbg" in line for line in native["lines"])
    origins = {texts[at].strip() for at in native["at"] if at is not None}
    assert origins == {"y = tf.reduce_sum(x)", "return tf.tanh(x) * y"}


def test_the_page_holds_its_model_and_is_one_file():
    page = explore(lambda x: x + 1, tf.constant(1))
    start = page.index('id="model">') + len('id="model">')
    model = json.loads(page[start : page.index("</script>", start)])
    assert model["title"] == "lambda_" and model["result"].startswith("tf.Tensor(2")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], []),
        ([1], [], [[0, 1, 0, 0]]),
        ([1, 2, 3], [1, 3], [[1, 2, 1, 1]]),
        ([1, 2], [2, 1], [[0, 0, 0, 1], [1, 2, 2, 2]]),
        ([7, 7, 1, 7], [7, 1, 7, 7], [[0, 1, 0, 0], [4, 4, 3, 4]]),
    ],
)
def test_changes_are_ranges_of_rows(before, after, expected):
    found = changed(before, after)
    assert found == expected or apply(before, after, found) == after


def apply(before, after, changes):
    rows, at = [], 0
    for first, end, start, stop in changes:
        rows += [*before[at:first], *after[start:stop]]
        at = end
    return rows + before[at:]


def test_changes_turn_one_list_into_the_other():
    rng = np.random.default_rng(0)
    for size in (5, 40, 1000):
        before = rng.integers(0, size, size).tolist()
        after = [each for each in before if rng.random() < 0.9] + rng.integers(0, size, size // 9).tolist()
        assert apply(before, after, changed(before, after)) == after


def test_plans_name_the_operation_of_a_line():
    graph = tf.function(lambda x: tf.tanh(x) + 1.0).get_concrete_function(tf.TensorSpec([3])).graph
    plan = Plan(graph)
    lines = plan.source.splitlines()
    assert {lines[line - 1].split("=")[0].strip(): op.type for line, op in plan.operations.items()} == {
        "tanh": "tanh",
        "add": "add",
    }
