"""Long programs: the work for each operation is the same whatever the length, and nothing recurses along them.

Work is counted, not timed: by the calls of Python functions. From 2 to n pieces it grows by the work for nearly n of
them; from n to 2n as much again, where it grows evenly, and three times as much where it grows with the square. Half as
much more is the limit: some work begins only beyond a certain depth.
"""

import cProfile
import sys

import agc.runtime as tf
import pytest
from agc.runtime.autodiff import eager_gradients, tape_plans
from agc.runtime.executors import Plan, interpret
from agc.runtime.ir.parser import parse
from agc.runtime.ir.printer import print_graph
from agc.runtime.optimize import OptimizerOptions, dce
from support.verifier import verify

X = tf.constant(0.5)


def calls_of(job):
    """How many Python functions a job calls, and its result."""
    profile = cProfile.Profile(builtins=False)
    result = profile.runcall(job)
    return sum(entry.callcount for entry in profile.getstats()), result


def written(tmp_path, count, lines, end="return x"):
    """A function of so many pieces, in a file of its own."""
    body = "".join(lines.format(i=i) for i in range(count))
    path = tmp_path / f"pieces_{count}.py"
    path.write_text(f"def f(x):\n{body}    {end}\n")
    names = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    return names["f"]


def straight(tmp_path, count):
    return written(tmp_path, count, "    x = x * 1.5 + {i}\n")


def many_ifs(tmp_path, count):
    return written(tmp_path, count, "    if x > {i}:\n        x = x - 1\n    else:\n        x = x + 1.5\n")


def elif_chain(tmp_path, count):
    return written(tmp_path, count, "    if x > {i}:\n        return x - {i}\n")


def functions(tmp_path, count):
    """As many functions in one file, each called once."""
    text = "".join(f"def g{i}(x):\n    return x - 1.0 if x > {i} else x\n" for i in range(count))
    text += "def f(x):\n" + "".join(f"    x = g{i}(x)\n" for i in range(count)) + "    return x\n"
    path = tmp_path / f"functions_{count}.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


def unrolled(tmp_path, count):
    def f(x):
        for i in range(count):
            x = x * 1.5 + float(i)
        return x

    return f


def calls(tmp_path, count):
    g = tf.function(lambda x: x * 2 + 1)

    def f(x):
        for _ in range(count):
            x = g(x)
        return x

    return f


def conds(tmp_path, count):
    def f(x):
        for _ in range(count):
            x = tf.cond(x > 0, lambda: x - 1.0, lambda: x + 1.5)  # noqa: B023
        return x

    return f


def loops(tmp_path, count):
    def f(x):
        for _ in range(count):
            (x,) = tf.while_loop(lambda x: x < 3.0, lambda x: (x + 1.0,), (x,))
        return x

    return f


def variables(tmp_path, count):
    state = [tf.Variable(float(i)) for i in range(count)]

    def f(x):
        for v in state:
            x = x + v
        for v in state:
            v.assign_add(1.0)
        return x

    return f


def made_inside(tmp_path, count):
    state = []

    def f(x):
        if not state:
            state.extend([tf.Variable(tf.random.normal([2]) * x) for _ in range(count)])
        return x + 1

    return f


def results(tmp_path, count):
    def f(x):
        return {f"y{i}": x + float(i) for i in range(count)}

    return f


def array(tmp_path, count):
    def f(x):
        written = tf.TensorArray(tf.float32, count)
        for i in range(count):
            written = written.write(i, x * float(i))
        return written.stack()

    return f


PROGRAMS = (
    straight, many_ifs, elif_chain, functions, unrolled, calls, conds, loops, variables, made_inside, results, array,
)  # fmt: skip


LENGTHS = {elif_chain: (2, 32, 64)}  # longer ones are recorded in another way from some length on


def gradient(function):
    with tf.GradientTape() as tape:
        tape.watch(X)
        y = function(X)
    return tape.gradient(y, X)


def work(python_function):
    """Calls for each step from the source to gradients."""
    counts = {}

    def step(name, job):
        counts[name], result = calls_of(job)
        return result

    function = tf.function(python_function)
    step("first call", lambda: function(X))
    step("second call", lambda: function(X))
    step("third call", lambda: function(X))
    concrete = function.get_concrete_function(X)
    graph = concrete.graph
    text = step("print", lambda: print_graph(graph))
    step("parse", lambda: parse(text))
    step("verify", lambda: verify(graph))
    step("names", lambda: [operation.name for operation in graph.get_operations()])
    step("as_graph_def", lambda: str(graph.as_graph_def()))
    step("plan", lambda: Plan(graph))
    step("interpret", lambda: interpret(graph, [X._array, *concrete.variables]))
    step("gradient of a call", lambda: gradient(function))
    step("gradient in a graph", lambda: tf.function(gradient)(python_function))
    for _ in range(2):
        gradient(python_function)  # eager calls are kept when they run for the second time
    step("gradient of eager code", lambda: gradient(python_function))
    return counts


@pytest.fixture
def no_plans(monkeypatch):
    """Plan no gradients of eager code: that is work for those that have run often, in other tests, too."""
    for module in (eager_gradients, tape_plans):
        monkeypatch.setattr(module, "OFTEN", sys.maxsize)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_work_grows_with_the_length(program, tmp_path, no_plans):
    lengths = LENGTHS.get(program, (2, 20, 40))
    work(program(tmp_path, lengths[0]))  # what is done once, and kept after some calls
    short, middle, long = (work(program(tmp_path, length)) for length in lengths)
    evenly = (lengths[2] - lengths[1]) / (lengths[1] - lengths[0])
    for step, least in short.items():
        first, then = middle[step] - least, long[step] - middle[step]
        assert then <= 1.5 * evenly * max(first, 0) + 60, (
            f"{step}: {least}, {middle[step]}, {long[step]} calls"
        )


def test_reading_names_while_a_graph_grows_takes_as_much_work_for_each_operation():
    """Messages of assertions have the names of their tensors."""

    def calls_for(count):
        def f(x):
            for _ in range(count):
                tf.debugging.assert_less(x, 1e9)
                x = x * 0.5 + 1.0
            return x

        return calls_of(lambda: tf.function(f).get_concrete_function(X))[0]

    calls_for(2)
    least, middle, long = (calls_for(count) for count in (2, 50, 98))
    assert long - middle <= 1.1 * (middle - least)


def test_ten_thousand_operations_are_traced_and_run():
    length = 5_000

    @tf.function
    def f(x):
        y = x
        for _ in range(length):
            y = y * 0.5 + 1.0
        return y

    assert float(f(X)) == 2.0
    graph = f.get_concrete_function(X).graph
    assert len(graph.operations) == 2 * length
    text = print_graph(graph)
    verify(parse(text))
    assert float(gradient(f)) == 0.0


def test_ten_thousand_eager_operations_under_a_tape():
    def f(x):
        for _ in range(5_000):
            x = x * 1.0 + 1.0
        return x

    assert float(gradient(f)) == 1.0


def test_a_thousand_arguments_results_and_variables_work():
    state = [tf.Variable(float(i)) for i in range(1_000)]

    @tf.function
    def f(xs):
        return [x + v for x, v in zip(xs, state, strict=True)]

    xs = [tf.constant(1.0)] * 1_000
    for _ in range(3):
        assert [float(y) for y in f(xs)] == [1.0 + i for i in range(1_000)]


def lines_of(job):
    """How many lines of Python a job runs: a loop that goes around too often calls nothing."""
    count = 0

    def traced(frame, event, argument):
        nonlocal count
        count += event == "line"
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        job()
    finally:
        sys.settrace(before)
    return count


def delay_line(count):
    """A loop that hands each state on to the next: the last one needs all of them."""

    def f(n, *values):
        def body(i, *state):
            return (i + 1, state[0] * 2.0, *[each + 1.0 for each in state[:-1]])

        return tf.while_loop(lambda i, *state: i < n, body, (0, *values))[-1]

    values = [tf.constant(float(i)) for i in range(count)]
    return tf.function(f).get_concrete_function(tf.constant(3), *values).graph


def test_dependent_state_is_visited_once():
    few, many = (delay_line(count) for count in (40, 160))
    work = [lines_of(lambda graph=graph: dce.run(graph, OptimizerOptions())) for graph in (few, many)]
    assert work[1] < 6 * work[0]
