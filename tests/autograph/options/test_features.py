"""Optional features, options of loops, and what AutoGraph says of its work."""

import contextlib
import operator
import pkgutil
from unittest import mock

import agc.runtime as tf
import pytest
from agc import autograph

Feature = tf.autograph.experimental.Feature
set_loop_options = tf.autograph.experimental.set_loop_options

both_executors = pytest.mark.parametrize("executor", ["plan", "interpret"])


def test_features_have_tensorflows_names():
    assert [feature.name for feature in Feature] == [
        "ALL", "AUTO_CONTROL_DEPS", "ASSERT_STATEMENTS", "BUILTIN_FUNCTIONS", "EQUALITY_OPERATORS", "LISTS",
        "NAME_SCOPES",
    ]  # fmt: skip
    assert Feature.all() == tuple(Feature)
    assert set(Feature.all()) - set(Feature.all_but(Feature.LISTS)) == {Feature.ALL, Feature.LISTS}
    assert autograph.experimental.Feature is Feature


@pytest.mark.parametrize("wrong", ["LISTS", 3, [Feature.LISTS, 3]])
def test_an_unknown_feature_is_refused(wrong):
    for take in (
        lambda: autograph.convert(double, optional_features=wrong),
        lambda: tf.autograph.to_graph(double, True, wrong),
        lambda: tf.autograph.to_code(double, True, wrong),
        lambda: tf.function(double, experimental_autograph_options=wrong),
    ):
        with pytest.raises(TypeError, match="is not a feature of AutoGraph: pass members of Feature"):
            take()


def double(x):
    return x + x


# print


def tell(x):
    print("in tell", x)


def telling(x, say=print):
    print("x is", x, [x], f"{x:.2f} or {x}", sep="; ")
    if x > 1:
        print("big:", x, end="!\n")
    tell(x)
    say("said", x)
    return x


@both_executors
def test_print_runs_in_the_graph_with_the_feature(capsys, executor):
    f = tf.function(
        telling, experimental_autograph_options=Feature.BUILTIN_FUNCTIONS, experimental_executor=executor
    )
    f(tf.constant(1.5))
    capsys.readouterr()
    f(tf.constant(2.0))
    f(tf.constant(0.25))
    assert capsys.readouterr().out == (
        "x is; 2; [2]; 2.00 or 2.0\nbig: 2!\nin tell 2\nsaid 2\n"
        "x is; 0.25; [0.25]; 0.25 or 0.25\nin tell 0.25\nsaid 0.25\n"
    )


def test_print_runs_while_tracing_without_the_feature(capsys):
    f = tf.function(telling)
    f(tf.constant(2.0))
    assert "x is; Tensor(" in capsys.readouterr().out
    f(tf.constant(0.25))
    assert capsys.readouterr().out == ""


def test_print_stays_pythons_for_pythons_values(capsys):
    autograph.convert(telling, optional_features=Feature.ALL)(2.0)
    converted = capsys.readouterr().out
    telling(2.0)
    assert converted == capsys.readouterr().out


def test_tf_print_of_texts_made_from_tensors(capsys):
    @tf.function
    def f(x):
        text = f"<{x:4d}>" + "%s!" % x  # noqa: UP031
        tf.print(text, [text, x], output_stream="stdout")

    f(tf.constant(7))
    assert capsys.readouterr().out == "<   7>7! ['<   7>7!', 7]\n"


# == and !=


def is_training(mode):
    if mode == "train":
        return 1
    if mode != "test":
        return 2
    return 3


@both_executors
def test_equality_of_texts(executor):
    options = (Feature.EQUALITY_OPERATORS, Feature.LISTS)
    f = tf.function(is_training, experimental_autograph_options=options, experimental_executor=executor)
    assert [int(f(tf.constant(mode))) for mode in ("train", "eval", "test")] == [1, 2, 3]
    assert autograph.convert(is_training, optional_features=options)("test") == 3
    assert "ag__.eq(mode, 'train')" in tf.autograph.to_code(is_training, True, options)


@both_executors
def test_texts_are_compared_without_the_feature(executor):
    f = tf.function(is_training, experimental_executor=executor)
    assert [int(f(tf.constant(mode))) for mode in ("train", "eval", "test")] == [1, 2, 3]
    assert f("eval").numpy() == 2


def test_operator_eq_and_ne_are_staged():
    f = tf.function(lambda x, y: (operator.eq(x, y), operator.ne(x, y)))
    assert [bool(part) for part in f(tf.constant(1), tf.constant(1))] == [True, False]


# Whom the options are for


def outer(x):
    return inner(x)


def inner(x):
    print("inner", x)
    if x > 0:
        x = -x
    return x


def test_callees_have_their_callers_features(capsys):
    printing = tf.function(outer, experimental_autograph_options=Feature.BUILTIN_FUNCTIONS)
    tracing = tf.function(outer)
    for x in (tf.constant(1), tf.constant(2)):
        tracing(x)
        printing(x)
    assert capsys.readouterr().out == 'inner Tensor("x:0", shape=(), dtype=int32)\ninner 1\ninner 2\n'


def test_recursive_false_leaves_callees_unconverted():
    assert int(tf.function(autograph.to_graph(outer), autograph=False)(tf.constant(3))) == -3
    alone = tf.function(autograph.to_graph(outer, recursive=False), autograph=False)
    with pytest.raises(TypeError, match="not convert"):
        alone(tf.constant(3))


# What AutoGraph says


def test_verbosity(capsys, monkeypatch):
    def chatty(x):
        return quiet(x) if x > 0 else x

    def quiet(x):
        return -x

    for setting in ("level", "to_stdout"):  # which are as they were when the test is over
        name = f"agc.autograph.options.verbosity._verbosity.{setting}"
        monkeypatch.setattr(name, pkgutil.resolve_name(name))
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        tf.autograph.set_verbosity("all")
    tf.autograph.set_verbosity(1)
    autograph.convert(chatty)(1)
    said = capsys.readouterr()
    assert [line.partition(", at ")[0].rpartition(".")[2] for line in said.err.splitlines()] == [
        "chatty",
        "quiet",
    ]
    assert said.out == ""
    tf.autograph.set_verbosity(3, alsologtostdout=True)
    autograph.convert(lambda x: 1 if x else 2)
    assert "ag__.if_exp(x, lambda: 1, lambda: 2)" in capsys.readouterr().out
    tf.autograph.set_verbosity(0)
    autograph.convert(lambda x: 3 if x else 4)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("agc.autograph.options.verbosity._verbosity.level", None)
    monkeypatch.setenv("AUTOGRAPH_VERBOSITY", "1")
    autograph.convert(lambda x: 5 if x else 6)
    assert "converted" in capsys.readouterr().err


def test_a_mocked_environment_is_not_touched():
    class Instance:
        def __call__(self):
            return 1

    with mock.patch("os.environ") as environ:
        assert tf.autograph.to_graph(lambda call: call())(Instance()) == 1
        with contextlib.suppress(ZeroDivisionError):
            tf.autograph.to_graph(lambda x: 1 / x)(0)
    assert not environ.mock_calls


def test_trace_prints_while_tracing(capsys):
    @tf.function(experimental_autograph_options=Feature.ALL)
    def f(x):
        tf.autograph.trace("tracing", 1)
        return x

    f(tf.constant(1))
    f(tf.constant(2))
    assert capsys.readouterr().out == "tracing 1\n"
