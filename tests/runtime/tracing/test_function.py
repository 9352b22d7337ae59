"""`function`: when it traces, which graph a call gets, methods, variables, captures and errors."""

import collections
import functools
import gc
import threading
import traceback
import weakref

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph import StagingError


def counting(**options):
    """A `function` that notes each trace."""
    traced = []

    @tf.function(**options)
    def f(x):
        traced.append(x)
        return x * 2

    return f, traced


class TestWhenItTraces:
    def test_one_trace_for_each_dtype_and_shape(self):
        f, traced = counting()
        for value in (1.0, 2.0, 1, [1.0], [2.0], [[1.0]]):
            f(tf.constant(value))
        assert len(traced) == 4 == f.experimental_get_tracing_count()

    def test_one_trace_for_each_python_value_and_type(self):
        f, traced = counting()
        for value in (1, 1, 2, 1.0, True, [1, 2], [1, 2], (1, 2)):
            f(value)
        assert traced == [1, 2, 1.0, True, [1, 2], (1, 2)]

    def test_numpy_arrays_are_tensors(self):
        f, traced = counting()
        assert f(np.arange(3)).numpy().tolist() == [0, 2, 4]
        f(np.zeros(3, np.int64))
        f(tf.constant([1, 2, 3], tf.int64))
        assert len(traced) == 1

    def test_keywords_and_defaults_are_the_same_call(self):
        traced = []

        @tf.function
        def f(x, scale=2, *, shift=0):
            traced.append(1)
            return x * scale + shift

        x = tf.constant(3)
        results = [f(x), f(x, 2), f(x=x), f(x, scale=2, shift=0)]
        assert [r.numpy() for r in results] == [6] * 4
        assert len(traced) == 1

    def test_objects_are_keyed_by_identity_without_being_kept_alive(self):
        class Thing:
            size = 3

        f = tf.function(lambda thing: tf.constant(thing.size))
        first, second = Thing(), Thing()
        assert f(first).numpy() == f(second).numpy() == f(first).numpy() == 3
        assert f.experimental_get_tracing_count() == 2
        alive = weakref.ref(first)
        del first
        gc.collect()
        assert alive() is None

    def test_nests_are_keyed_by_structure(self):
        f = tf.function(lambda d: d["a"] + d["b"][0])
        assert f({"a": tf.constant(1), "b": [tf.constant(2)]}).numpy() == 3
        assert f({"b": [tf.constant(5)], "a": tf.constant(1)}).numpy() == 6
        assert f.experimental_get_tracing_count() == 1

    def test_lists_are_converted_to_tensors_inside_nests(self):
        spec = {"x": tf.TensorSpec([None]), "y": (tf.TensorSpec([], tf.int32), tf.TensorSpec([1, 1]))}
        f = tf.function(lambda d: d["x"] * d["y"][1], input_signature=[spec])
        assert f({"x": [1.0, 2.0], "y": (3, [[2.0]])}).numpy().tolist() == [[2.0, 4.0]]
        for wrong in ({"x": [1.0]}, {"x": [1.0], "y": 3}, [1.0], {"x": [1.0], "y": [3, [[2.0]]]}):
            with pytest.raises(TypeError, match="the structure of argument `d`"):
                f(wrong)

    def test_input_signature_shares_one_graph(self):
        f, traced = counting(input_signature=[tf.TensorSpec([None], tf.float32)])
        assert f(tf.constant([1.0])).numpy().tolist() == [2.0]
        assert f([1, 2]).numpy().tolist() == [2.0, 4.0]
        assert len(traced) == 1

    @pytest.mark.parametrize("options", [{}, {"jit_compile": True}], ids=["automatic", "native"])
    @pytest.mark.parametrize(
        "call", [lambda f: f, lambda f: f.get_concrete_function()], ids=["f", "concrete"]
    )
    def test_a_run_checks_what_a_graph_does_not_know_of_a_shape(self, options, call):
        of_columns = tf.function(lambda x: x / x.shape[1], input_signature=[tf.TensorSpec([None, 4])])
        called = call(of_columns)
        outer = tf.function(lambda x: called(x), input_signature=[tf.TensorSpec([None, None])], **options)
        assert outer(tf.ones([1, 4])).numpy().tolist() == [[0.25] * 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1,5\] is not compatible .* \[\?,4\]"):
            outer(tf.ones([1, 5]))

    @pytest.mark.parametrize("wrong", [tf.constant(1.0), tf.constant([1]), "text"])
    def test_input_signature_refuses_other_arguments(self, wrong):
        f, _ = counting(input_signature=[tf.TensorSpec([None], tf.float32)])
        with pytest.raises(TypeError, match="`x`"):
            f(wrong)

    def test_reduce_retracing(self):
        f, traced = counting(reduce_retracing=True)
        for n in (1, 2, 3, 4):
            f(tf.zeros([n]))
        assert len(traced) == 2
        assert str(traced[-1].shape) == "(None,)"

    def test_run_functions_eagerly(self):
        f, traced = counting()
        tf.config.run_functions_eagerly(True)
        try:
            assert f(tf.constant(2)).numpy() == 4
            assert traced[0].numpy() == 2
        finally:
            tf.config.run_functions_eagerly(False)

    def test_threads_trace_once(self):
        f, traced = counting()
        threads = [threading.Thread(target=f, args=(tf.constant(1.0),)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(traced) == 1


class TestConcreteFunctions:
    def test_the_same_graph_for_the_same_kind_of_call(self):
        f = tf.function(lambda x: x + 1)
        one = f.get_concrete_function(tf.constant(1))
        assert (
            one
            is f.get_concrete_function(tf.constant(2))
            is f.get_concrete_function(tf.TensorSpec([], tf.int32))
        )
        assert one is not f.get_concrete_function(1)
        assert isinstance(one.graph, tf.Graph)

    def test_python_values_may_be_left_out(self):
        power = tf.function(lambda a, b: a**b)
        square = power.get_concrete_function(a=tf.TensorSpec(None, tf.float32), b=2)
        calls = [((tf.constant(3.0),), {}), ((), {"a": tf.constant(3.0)}), ((tf.constant(3.0), 2), {})]
        assert [square(*args, **kwargs).numpy() for args, kwargs in calls] == [9.0, 9.0, 9.0]
        with pytest.raises(TypeError, match="`b` was 2 when traced, but is 3"):
            square(tf.constant(3.0), b=3)
        with pytest.raises(TypeError, match="missing a required argument: 'a'"):
            square()
        with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
            square(tf.constant(3.0), c=3)

    def test_an_argument_left_out_has_the_value_of_the_trace_before_its_default(self):
        scaled = tf.function(lambda x, by=2.0, *, plus=1.0: x * by + plus)
        number = tf.TensorSpec([], tf.float32)
        tripled = scaled.get_concrete_function(number, by=3.0)
        assert [tripled(5.0).numpy(), tripled(5.0, 3.0).numpy(), tripled(5.0, plus=1.0).numpy()] == [16.0] * 3
        with pytest.raises(TypeError, match=r"`by` was 3\.0 when traced, but is 2\.0"):
            tripled(5.0, 2.0)
        by_any = scaled.get_concrete_function(number, number)
        assert [by_any(5.0).numpy(), by_any(5.0, 3.0).numpy()] == [11.0, 16.0]

    def test_an_input_signature_of_any_number_of_arguments(self):
        @tf.function(input_signature=[tf.TensorSpec([None]), tf.TensorSpec([]), tf.TensorSpec([], tf.int32)])
        def f(x, *rest):
            return x * rest[0] + tf.cast(rest[1], tf.float32)

        assert f([1.0, 2.0], 3.0, 4).numpy().tolist() == [7.0, 10.0]
        assert f.get_concrete_function().structured_input_signature[0][2].name == "rest_1"
        with pytest.raises(TypeError, match="the structure of argument `rest`"):
            f([1.0], 3.0)

        class Holder:
            @tf.function(input_signature=[tf.TensorSpec([])])
            def only(self, *xs):
                return xs[0] + 1.0

        assert float(Holder().only(2.0)) == 3.0

    def test_an_input_signature_has_a_spec_for_each_parameter_without_a_default(self):
        with pytest.raises(TypeError, match="input_signature missing type constraint for y"):
            tf.function(lambda x, y, z=1: x, input_signature=[tf.TensorSpec([])])

    def test_shapes_of_composite_results_and_trainable_variables(self):
        weight, count = tf.Variable(2.0), tf.Variable(0, trainable=False)

        @tf.function
        def f(x):
            count.assign_add(1)
            return tf.RaggedTensor.from_row_lengths(x * weight, [2])

        concrete = f.get_concrete_function(tf.TensorSpec([None]))
        assert concrete.output_shapes == [[None], [2]] and concrete.output_dtypes == [tf.float32, tf.int64]
        assert [v.ref() for v in concrete.trainable_variables] == [weight.ref()]
        assert {v.ref() for v in concrete.variables} == {weight.ref(), count.ref()}

    def test_signatures_in_and_out(self):
        @tf.function
        def f(x, factor, y=None):
            return {"product": x * factor, "same": y, "number": 3}

        concrete = f.get_concrete_function(tf.TensorSpec([None, 2], tf.float32), 2.0)
        spec = tf.TensorSpec([None, 2], tf.float32, name="x")
        assert concrete.structured_input_signature == ((spec, 2.0, None), {})
        product = concrete.structured_outputs["product"]
        assert (product.shape.as_list(), product.dtype, product.graph) == (
            [None, 2],
            tf.float32,
            concrete.graph,
        )
        assert concrete.structured_outputs["same"] is None
        assert concrete.output_shapes == {"product": [None, 2], "same": tf.TensorShape(None), "number": []}
        assert concrete.output_dtypes == {"product": tf.float32, "same": None, "number": tf.int32}
        result = concrete(tf.ones([1, 2]), 2.0)
        assert result["product"].numpy().tolist() == [[2.0, 2.0]]
        assert result["same"] is None
        assert result["number"].numpy() == 3

    def test_a_call_that_does_not_fit_names_the_argument_and_both_specs(self):
        concrete = tf.function(lambda x: x).get_concrete_function(tf.TensorSpec([2], tf.float32))
        with pytest.raises(
            TypeError, match=r"`x` is float32\[3\], but the graph was traced for float32\[2\]"
        ):
            concrete(tf.zeros([3]))
        for kind in (TypeError, tf.errors.InvalidArgumentError):
            with pytest.raises(kind, match=r"`x` is int32\[2\], but the graph was traced for float32\[2\]"):
                concrete(tf.zeros([2], tf.int32))

    def test_function_type_has_the_types_of_arguments_and_results(self):
        class Net:
            @tf.function
            def scaled(self, x, /, by=2, *, names=None):
                return {"y": (x * by, None)}

        spec = tf.TensorSpec([None], tf.float32)
        traced = Net().scaled.get_concrete_function(spec, by=tf.constant(2.0))
        found = traced.function_type
        assert str(found) == (
            f"(x: {spec}, /, by: {tf.TensorSpec([], tf.float32)}, *, names: Literal[None]) "
            f"-> Dict[['y', Tuple[{spec}, Literal[None]]]]"
        )
        assert (found.flat_inputs, found.flat_outputs) == ([spec, tf.TensorSpec([], tf.float32)], [spec])
        assert traced.inference_fn.function_type == found
        assert repr(found).splitlines()[1] == f"  x (POSITIONAL_ONLY): {spec}"
        plain = tf.function(lambda x, y=3: x, input_signature=[spec]).function_type
        assert (str(plain), plain.output) == (f"(x: {spec}, y=3)", None)

    def test_pretty_printed_signatures(self):
        weight = tf.Variable(2.0)

        @tf.function
        def pair(x, scale=2.0, *more, **named):
            return x, {"y": [x * scale * weight, None]}

        spec = tf.TensorSpec([1], name="x")
        concrete = pair.get_concrete_function(spec, 3.0, tf.constant(1), by=(spec, "a"))
        number = "TensorSpec(shape=(), dtype=tf.int32, name=None)"
        result = "TensorSpec(shape=(1,), dtype=tf.float32, name=None)"
        assert concrete.pretty_printed_signature() == (
            "Input Parameters:\n"
            f"  x (POSITIONAL_ONLY): {spec}\n"
            "  scale (POSITIONAL_ONLY): Literal[3.0]\n"
            f"  more_0 (POSITIONAL_ONLY): {number}\n"
            f"  by (KEYWORD_ONLY): Tuple[{spec}, Literal['a']]\n"
            "Output Type:\n"
            f"  Tuple[{result}, Dict[['y', List[{result}, Literal[None]]]]]\n"
            "Captures:\n"
            f"  {id(weight)}: TensorSpec(shape=(), dtype=tf.resource, name=None)"
        )
        assert str(concrete) == f"ConcreteFunction {concrete.pretty_printed_signature()}"
        line = concrete.pretty_printed_signature(verbose=False)
        assert line.startswith(f"(x: {spec}, scale: Literal[3.0], more_0: {number}, /, *, by: ")

    def test_a_variable_that_is_an_argument_is_no_capture(self):
        counter = tf.Variable(1)
        traced = tf.function(lambda v: v.assign_add(1)).get_concrete_function(counter)
        assert traced.function_type.captures == {}

    def test_signatures_of_all_traces(self):
        same = tf.function(lambda x: x)
        first = same.get_concrete_function(tf.constant(1))
        second = same.get_concrete_function(tf.constant(1.0))
        assert same.pretty_printed_concrete_signatures() == f"{first}\n\n{second}".replace(
            "ConcreteFunction ", ""
        )
        assert len(same.pretty_printed_concrete_signatures(verbose=False).splitlines()) == 2


class TestCaptures:
    def test_tensors_by_value_variables_by_reference(self):
        tensor, variable = tf.constant(10), tf.Variable(1)
        f = tf.function(lambda x: x + tensor + variable)
        assert f(tf.constant(100)).numpy() == 111
        variable.assign(2)
        assert f(tf.constant(100)).numpy() == 112
        assert f.get_concrete_function(tf.constant(0)).variables == (variable,)

    def test_reads_and_assignments_keep_their_order(self):
        v = tf.Variable(1)

        @tf.function
        def f():
            before = v.value()
            v.assign_add(10)
            middle = v + 0
            v.assign(v * 2)
            return before, middle, v

        assert [r.numpy() for r in f()] == [1, 11, 22]
        assert [r.numpy() for r in f()] == [22, 32, 64]

    def test_a_function_within_a_function(self):
        @tf.function
        def inner(x):
            if x > 0:
                return x
            return -x

        @tf.function
        def outer(x):
            total = inner(x)
            for i in tf.range(3):
                total += inner(tf.cast(i, tf.float32) - 1)
            return total

        assert outer(tf.constant(-5.0)).numpy() == 7.0
        assert inner.experimental_get_tracing_count() == 1

    def test_an_inner_function_may_capture_outer_tensors(self):
        @tf.function
        def outer(x):
            y = x * 2

            @tf.function
            def inner(z):
                return y + z

            return inner(x) + inner(y)

        assert outer(tf.constant(1)).numpy() == 3 + 4


class TestVariablesInside:
    def test_made_on_the_first_call_only(self):
        class Layer:
            def __init__(self):
                self.v = None

            @tf.function
            def __call__(self, x):
                if self.v is None:
                    self.v = tf.Variable(tf.ones_like(x) * x)
                return self.v * x

        one, two = Layer(), Layer()
        assert one(tf.constant(3.0)).numpy() == 9.0
        assert one(tf.constant(2.0)).numpy() == 6.0
        assert two(tf.constant([2.0])).numpy().tolist() == [4.0]

    def test_made_on_every_call_is_refused(self):
        @tf.function
        def f(x):
            v = tf.Variable(1.0)
            return v * x

        with pytest.raises(ValueError, match="only supports singleton"):
            f(tf.constant(1.0))


class TestMethods:
    def test_instances_do_not_share_state_and_are_not_kept(self):
        class Counter:
            def __init__(self, start):
                self.total = tf.Variable(start)

            @tf.function
            def add(self, x, times=1):
                for _ in range(times):
                    self.total.assign_add(x)
                return self.total

        a, b = Counter(0), Counter(100)
        assert a.add(tf.constant(1), times=3).numpy() == 3
        assert b.add(tf.constant(1)).numpy() == 101
        assert a.add(tf.constant(1), times=3).numpy() == 6
        assert a.add.get_concrete_function(tf.constant(1)).graph.variables
        alive = weakref.ref(a)
        del a
        gc.collect()
        assert alive() is None

    def test_static_and_class_methods(self):
        class Tools:
            factor = 3

            @staticmethod
            @tf.function
            def double(x):
                return x * 2

            @classmethod
            def scaled(cls, x):
                return cls._scaled(x, cls.factor)

            _scaled = staticmethod(tf.function(lambda x, k: x * k))

        assert Tools.double(tf.constant(2)).numpy() == 4
        assert Tools().scaled(tf.constant(2)).numpy() == 6


class TestAutograph:
    def test_the_code_attribute_is_that_of_the_python_function(self):
        @tf.function
        def absolute(x):
            if x > 0:
                return x
            return -x

        code = tf.autograph.to_code(absolute)
        assert code == tf.autograph.to_code(absolute.python_function)
        assert code.split("\n\n\n")[1].startswith("def absolute(x):")
        assert tf.autograph.to_graph(absolute)(-3) == 3


class TestErrors:
    def test_an_error_while_tracing_shows_the_users_lines_only(self):
        def helper(x):
            if tf.reduce_sum(x) > 0:
                return tf.matmul(x, x)
            return x

        f = tf.function(lambda x: helper(x) + 1)
        with pytest.raises(ValueError) as caught:
            f(tf.ones([2]))
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert {frame.filename for frame in frames} == {__file__}
        assert frames[-1].line == "return tf.matmul(x, x)"

    def test_errors_of_the_decorator_show_the_line_of_the_user_alone(self):
        def numbers():
            yield 1

        for make in (
            lambda: tf.function(numbers),
            lambda: tf.function(jit_compile=False)(numbers),
            lambda: tf.function(max_traces="two"),
            lambda: tf.function(input_signature=3),
        ):
            with pytest.raises((TypeError, ValueError)) as caught:
                make()
            files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
            assert set(files) == {__file__}

    def test_an_error_in_the_graph_names_the_operation_and_the_users_line(self):
        @tf.function
        def f(x, i):
            return tf.gather(x, i) * 2

        with pytest.raises(tf.errors.InvalidArgumentError, match=r"is not in \[0, 3\)") as caught:
            f(tf.constant([1, 2, 3]), tf.constant(7))
        assert "gather" in str(caught.value)
        assert f"{__file__}:" in str(caught.value)

    def test_unneeded_operations_do_not_run(self):
        @tf.function
        def f(x):
            tf.gather(x, [7])
            return x

        assert f(tf.constant([1.0])).numpy().tolist() == [1.0]

    def test_wrong_calls_are_pythons_own_errors_and_name_the_function(self):
        f = tf.function(lambda x: x)
        with pytest.raises(TypeError, match=r"^<lambda>\(x\): missing a required argument: 'x'$") as caught:
            f()
        assert not any("inspect" in str(entry.path) for entry in caught.traceback)

    @pytest.mark.parametrize(
        "options",
        [{"experimental_executor": "gpu"}, {"max_traces": 0}],
    )
    def test_unsupported_options_are_refused(self, options):
        with pytest.raises(ValueError):
            tf.function(lambda x: x, **options)

    def test_generators_and_coroutines_are_refused(self):
        def generator(x):
            yield x

        async def coroutine(x):
            return x

        async def stream(x):
            yield x

        for wrong in (generator, coroutine, stream):
            with pytest.raises(StagingError, match=r"AGC190.*cannot become a graph"):
                tf.function(wrong)
        with pytest.raises(StagingError, match="AGC190") as caught:
            tf.function(functools.partial(generator))
        where = caught.value.diagnostic.where
        assert (where.line, where.function) == (generator.__code__.co_firstlineno, generator.__qualname__)

    def test_a_call_without_arguments_is_no_call_with_the_signature(self):
        f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([], tf.float32)])
        assert f.get_concrete_function() is f.get_concrete_function(tf.constant(1.0))
        with pytest.raises(TypeError, match="missing a required argument"):
            f()


class TestCallables:
    def test_partials_callable_objects_builtins_and_decorated_functions(self):
        class Absolute:
            def __call__(self, x):
                if x > 0:
                    return x
                return -x

        def plus_one(f):
            @functools.wraps(f)
            def wrapped(*args):
                return f(*args) + 1

            return wrapped

        @tf.function
        @plus_one
        def decorated(x):
            if x > 0:
                return x
            return -x

        minus = functools.partial(lambda a, b: a - b, b=tf.constant(1))
        assert tf.function(minus)(tf.constant(5)).numpy() == 4
        assert tf.function(Absolute())(tf.constant(-5)).numpy() == 5
        assert tf.function(abs)(tf.constant(-5)).numpy() == 5
        assert tf.function(tf.reduce_sum)(tf.constant([1, 2])).numpy() == 3
        assert decorated(tf.constant(-5)).numpy() == 6

    def test_dataclasses_and_namedtuples_are_nests(self):
        pair = collections.namedtuple("pair", "a b")

        @tf.function
        def doubled(t):
            while t.a < 10:
                t = pair(t.a * 2, t.b + 1)
            return t

        result = doubled(pair(tf.constant(1), tf.constant(0)))
        assert (type(result), result.a.numpy(), result.b.numpy()) == (pair, 16, 4)


def test_the_function_can_be_decorated_before_its_first_trace():
    def doubled(function):
        return lambda *args: 2 * function(*args)

    traced = tf.function(lambda x: x + 1)
    traced._decorate(doubled)
    assert traced(tf.constant(1)).numpy() == 4
    with pytest.raises(ValueError, match="cannot be decorated after they have been traced"):
        traced._decorate(doubled)
