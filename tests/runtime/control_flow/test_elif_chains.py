"""Chains of `elif` on tensors, however long: each test only when those before it are false, one branch."""

import linecache

import agc.runtime as tf
import pytest

RUNS = [
    pytest.param(lambda f: f, id="eager"),
    pytest.param(tf.function, id="plan"),
    pytest.param(lambda f: tf.function(f, experimental_executor="interpret"), id="interpret"),
]


def made(name, text):
    """Return the function `f` of a source text that is in linecache."""
    filename = f"<chain {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"tf": tf}
    exec(compile(text, filename, "exec"), namespace)
    return namespace["f"]


def chain(arms, test="x == {}", body="y = {0} * {0}", otherwise="y = -1"):
    lines = [f"    {'el' if i else ''}if {test.format(i)}:\n        {body.format(i)}" for i in range(arms)]
    last = f"    else:\n        {otherwise}\n" if otherwise else ""
    return "def f(x):\n    z = 0\n" + "\n".join(lines) + f"\n{last}    return y\n"


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("arms", [15, 16, 17, 40])
def test_every_arm_and_no_arm(run, arms):
    f = run(made(f"{arms}", chain(arms)))
    for x in (0, 1, arms // 2, arms - 2, arms - 1, arms, -5):
        assert f(tf.constant(x)) == (x * x if 0 <= x < arms else -1)


@pytest.mark.parametrize("run", RUNS)
def test_two_hundred_arms(run):
    f = run(made("200", chain(200)))
    assert [f(tf.constant(x)) for x in (0, 150, 199, 200)] == [0, 150 * 150, 199 * 199, -1]


@pytest.mark.parametrize("run", RUNS)
def test_tests_after_the_first_true_one_are_not_evaluated(run):
    text = chain(30, "passed(x, {0})") + (
        "def passed(x, i):\n    if i > 25:\n        tf.debugging.assert_greater(x, 25)\n    return x == i\n"
    )
    f = run(made("lazy", text))
    assert f(tf.constant(20)) == 400
    assert f(tf.constant(27)) == 27 * 27
    assert f(tf.constant(30)) == -1


@pytest.mark.parametrize("run", RUNS)
def test_python_tests_between_tensors(run):
    text = chain(40, "(x == {0} if {0} % 3 else {0} == 33)")
    f = run(made("mixed", text))
    assert [f(tf.constant(x)) for x in (1, 3, 32, 39)] == [1, 33 * 33, 32 * 32, 33 * 33]


@pytest.mark.parametrize("run", RUNS)
def test_a_variable_that_no_arm_may_define(run):
    f = run(made("maybe", chain(40, otherwise="")))
    assert f(tf.constant(39)) == 39 * 39
    with pytest.raises(UnboundLocalError, match="'y'"):
        f(tf.constant(40))


@pytest.mark.parametrize("run", RUNS)
def test_attributes(run):
    class Box:
        pass

    box = Box()
    text = chain(20, body="box.y = {0}.5; y = {0}", otherwise="box.y = 0.25; y = -1")
    text = (
        "def make(box):\n"
        + "".join("    " + line + "\n" for line in text.splitlines())
        + "    return f\nf = make\n"
    )
    inner = made("box", text)(box)

    def f(x):
        y = inner(x)
        return y, box.y

    assert [float(v) for v in run(f)(tf.constant(19))] == [19, 19.5]
    assert [float(v) for v in run(f)(tf.constant(99))] == [-1, 0.25]
