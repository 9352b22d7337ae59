"""Functions of installed packages: converted while a traced function calls them, and left alone otherwise."""

import importlib

import agc.runtime as tf
import pytest
from agc import autograph

TEXT = """
class Counter:
    def __init__(self):
        self.count = 0

    def up(self):
        self.count += 1

    def __call__(self, x):
        return positive(x)

    def __add__(self, x):
        if x > 0:
            return x
        return -x


def positive(x):
    if x > 0:
        return x
    return 0 * x


def repeated(x, step):
    while x < 10:
        x = step(x)
    return x


def careless(x):
    for _ in x:
        try:
            continue
        finally:
            if x[0] > 0:
                break
    return x
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_one.py").write_text(TEXT)
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("installed_one")
    del importlib.sys.modules["installed_one"]


def listed(name):
    return [str(line) for line in autograph.conversions() if name in str(line)][-1]


def test_functions_methods_and_operators_are_converted_in_a_trace(package, tmp_path):
    counter = package.Counter()
    assert tf.function(lambda x: package.positive(x))(tf.constant(-3)).numpy() == 0
    assert tf.function(lambda x: package.repeated(x, lambda y: y + 3))(tf.constant(0)).numpy() == 12
    assert tf.function(lambda x: counter(x))(tf.constant(-3)).numpy() == 0
    assert tf.function(lambda x: counter + x)(tf.constant(-3)).numpy() == 3
    positive = package.positive
    assert tf.function(lambda x: tf.map_fn(positive, x))(tf.constant([-3, 3])).numpy().tolist() == [0, 3]
    assert listed(str(tmp_path)).startswith("converted")


def test_changes_of_its_objects_are_carried(package):
    counter = package.Counter()

    @tf.function
    def f(x):
        counter.count = 0
        if x > 0:
            counter.up()
        return counter.count

    assert [f(tf.constant(x)).numpy() for x in (1, -1)] == [1, 0]


def test_outside_a_trace_its_code_is_python(package):
    before = package.positive.__code__
    assert autograph.convert(lambda x: package.positive(x))(-3) == 0
    assert package.positive.__code__ is before
    assert tf.function(lambda x: package.positive(x))(tf.constant(-3)).numpy() == 0
    assert package.positive.__code__ is before


def test_code_that_cannot_be_converted_is_left_alone(package):
    assert tf.function(lambda x: [*package.careless([1]), x])(tf.constant(2))[1].numpy() == 2
    assert "left alone" in listed("careless")
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"AGC281.*careless"):
        tf.function(lambda x: package.careless(x))(tf.constant([2]))


def test_a_switch_excludes_it(package):
    autograph.leave_packages("installed_one")
    try:
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="AGC281"):
            tf.function(lambda x: package.positive(x))(tf.constant(-3))
    finally:
        autograph.convert_packages("installed_one")
        from agc.autograph import policy

        policy.switch(["installed_one"], None)
