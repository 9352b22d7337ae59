"""`function` as a Python object: methods, properties, inheritance, copies, pickles, types, options."""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import inspect
import pathlib
import pickle
import re
import subprocess
import sys
import textwrap

import agc.runtime as tf
import pytest


@tf.function
def module_level(x):
    return x + 1


def plain(x):
    return x + 2


class Base:
    def __init__(self, k):
        self.k = k

    @tf.function
    def scaled(self, x):
        return x * self.k

    @property
    @tf.function
    def doubled(self):
        return tf.constant(self.k) * 2

    @classmethod
    @tf.function
    def made(cls, x):
        return x + 1

    @staticmethod
    @tf.function
    def free(x):
        return x + 2


class Derived(Base):
    @tf.function
    def scaled(self, x):
        return super().scaled(x) + 1


class TestMethods:
    def test_of_all_kinds(self):
        b = Base(3)
        assert [int(b.scaled(2)), int(b.doubled), int(b.made(1)), int(Base.made(1)), int(b.free(1))] == [
            6,
            6,
            2,
            2,
            3,
        ]

    def test_inheritance(self):
        b, d = Base(3), Derived(3)
        assert int(d.scaled(2)) == 7
        assert int(b.scaled(2)) == 6

    def test_each_instance_counts_its_traces(self):
        a, b = Base(1), Base(2)
        a.scaled(1)
        a.scaled(2)
        b.scaled(1)
        counts = [x.scaled.experimental_get_tracing_count() for x in (a, b, Base(3))]
        assert counts == [2, 1, 0]

    def test_a_method_equals_itself(self):
        a = Base(1)
        assert a.scaled == a.scaled
        assert a.scaled != Base(1).scaled
        assert len({a.scaled, a.scaled}) == 1
        assert a.scaled.__self__ is a
        assert a.scaled.__func__ is Base.__dict__["scaled"]

    def test_its_signature_is_that_of_a_bound_method(self):
        assert list(inspect.signature(Base(1).scaled).parameters) == ["x"]
        assert list(inspect.signature(Base.scaled).parameters) == ["self", "x"]

    @pytest.mark.parametrize(
        ("function", "names"),
        [
            (module_level, ["x"]),
            (Base(1).scaled, ["x"]),
            (Base.scaled, ["self", "x"]),
            (tf.add, ["x", "y", "name"]),
            (tf.nn.conv2d, ["input", "filters", "strides", "padding", "data_format", "dilations", "name"]),
        ],
    )
    def test_tools_that_do_not_follow_wrapped_functions_see_the_signature(self, function, names):
        assert inspect.getfullargspec(function).args == names

    def test_self_may_have_any_name(self):
        class Odd:
            def __init__(me):  # noqa: N805
                me.v = None

            @tf.function
            def get(me):  # noqa: N805
                if me.v is None:
                    me.v = tf.Variable(7)
                return me.v.read_value()

        assert [int(Odd().get()), int(Odd().get())] == [7, 7]


class TestCopies:
    def test_a_module_level_function_is_pickled_by_name(self):
        assert pickle.loads(pickle.dumps(module_level)) is module_level
        assert copy.deepcopy(module_level) is copy.copy(module_level) is module_level

    def test_other_functions_are_pickled_without_graphs(self):
        f = tf.function(plain, reduce_retracing=True)
        f(1)
        for other in (pickle.loads(pickle.dumps(f)), copy.copy(f)):
            assert other is not f
            assert other.python_function is plain
            assert other.experimental_get_tracing_count() == 0
            assert int(other(1)) == 3
            other(tf.zeros([1])), other(tf.zeros([2])), other(tf.zeros([3]))
            assert other.experimental_get_tracing_count() == 3

    def test_an_object_that_holds_a_function_is_copied(self):
        class Holder:
            def __init__(self):
                self.v = tf.Variable(1)
                self.f = tf.function(self.get)

            def get(self):
                return self.v + 0

        one = Holder()
        other = copy.deepcopy(one)
        other.v.assign(5)
        assert [int(one.f()), int(other.f())] == [1, 5]


class Color(enum.Enum):
    RED = 1
    BLUE = 2


Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    a: object
    b: object


class TestKindsOfArguments:
    """Behave as TensorFlow 2.21, except for dataclasses, which TensorFlow compares by identity."""

    def test_enums(self):
        f = tf.function(lambda color: 1 if color is Color.RED else 2)
        assert [int(f(c)) for c in (Color.RED, Color.BLUE, Color.RED)] == [1, 2, 1]
        assert f.experimental_get_tracing_count() == 2

    def test_namedtuples_and_dataclasses(self):
        f = tf.function(lambda p: p[0] - p[1] if isinstance(p, tuple) else p.a - p.b)
        assert int(f(Point(tf.constant(5), 2))) == int(f(Point(tf.constant(5), 2))) == 3
        assert int(f(Pair(tf.constant(5), 1))) == int(f(Pair(tf.constant(5), 1))) == 4
        assert f.experimental_get_tracing_count() == 2

    def test_all_kinds_of_parameters(self):
        @tf.function
        def f(x, *args, k=1, **kw):
            return x + sum(args) + k + sum(kw.values())

        assert int(f(1, 2, 3, k=4, z=5)) == int(f(1, 2, 3, z=5, k=4)) == 15
        assert f.experimental_get_tracing_count() == 1

    def test_globals_that_change_are_read_when_tracing(self, monkeypatch):
        module = sys.modules[__name__]
        monkeypatch.setattr(module, "LIVE", tf.constant(5), raising=False)
        f = tf.function(lambda x: x + LIVE)  # noqa: F821
        assert int(f(tf.constant(1))) == 6
        monkeypatch.setattr(module, "LIVE", tf.constant(7))
        assert int(f(tf.constant(1))) == 6
        assert int(f(2)) == 9

    def test_captured_values_stay_alive(self):
        def made():
            v, t = tf.Variable(1), tf.constant(2)
            return tf.function(lambda: v + t).get_concrete_function()

        assert int(made()()) == 3


class TestOptions:
    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            (
                {"experimental_attributes": {"blah": 1}},
                ValueError,
                "blah is not supported by tf.function as an attribute",
            ),
            ({"experimental_implements": 3}, TypeError, "experimental_implements must be a string"),
            (
                {"input_signature": tf.TensorSpec([None])},
                TypeError,
                "input_signature must be either a tuple or a list",
            ),
            ({"input_signature": [3]}, TypeError, "input_signature must be a nest of TensorSpecs"),
            ({"input_signature": [tf.TensorSpec([])] * 2}, TypeError, "input_signature contains 1 extra"),
            ({"unknown": 1}, TypeError, "unknown"),
        ],
    )
    def test_unknown_options_are_refused(self, options, error, message):
        with pytest.raises(error, match=message):
            tf.function(plain, **options)

    def test_known_experimental_options_are_accepted(self):
        f = tf.function(
            plain, experimental_implements="plus_two", experimental_attributes={"disable_acd": True},
            experimental_follow_type_hints=True, experimental_relax_shapes=True, experimental_compile=False,
        )  # fmt: skip
        for n in (1, 2, 3):
            f(tf.zeros([n]))
        assert f.experimental_get_tracing_count() == 2


def test_static_types_are_kept(tmp_path):
    """A type checker sees the parameters and the result of the Python function."""
    pytest.importorskip("mypy")
    root = pathlib.Path(tf.__file__.rsplit("/runtime/", 1)[0].removesuffix("/typings/agc"))
    rooms = sorted(path.name for path in (root / "runtime").iterdir() if (path / "__init__.py").exists())
    others = [f"agc.runtime.{room}.*" for room in rooms if room not in ("core", "tracing")]
    options = tmp_path / "pyproject.toml"
    options.write_text(
        (root / "pyproject.toml").read_text()
        # What says nothing of this is not read: that takes most of the time.
        + f'\n[[tool.mypy.overrides]]\nmodule = {["numpy.*", "agc.autograph.*", *others]}\nfollow_imports = "skip"\n'
    )
    program = tmp_path / "typed.py"
    program.write_text(
        textwrap.dedent(
            """
            import agc.runtime as tf

            @tf.function
            def f(x: tf.Tensor, n: int = 1) -> tf.Tensor:
                return x

            @tf.function(reduce_retracing=True)
            def g(x: tf.Tensor) -> list[tf.Tensor]:
                return [x]

            class A:
                @tf.function
                def m(self, x: tf.Tensor) -> tf.Tensor:
                    return x

            x = tf.convert_to_tensor(1)
            reveal_type(f)
            reveal_type(f(x, n=2))
            reveal_type(g(x))
            reveal_type(A().m(x))
            f(x, "no")
            """
        )
    )
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--follow-imports=silent",
        f"--config-file={options}",
        f"--cache-dir={tmp_path / 'cache'}",
        str(program),
    ]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    told = re.sub(r"agc\.runtime\.|builtins\.", "", result.stdout)
    assert re.findall(r"typed\.py:\d+: \w+: (.*)", told) == [
        'Revealed type is "tracing.function.Function[[x: core.tensor.Tensor, n: int =], core.tensor.Tensor]"',
        'Revealed type is "core.tensor.Tensor"',
        'Revealed type is "list[core.tensor.Tensor]"',
        'Revealed type is "core.tensor.Tensor"',
        'Argument 2 to "__call__" of "Function" has incompatible type "str"; expected "int"  [arg-type]',
    ], result.stdout + result.stderr
