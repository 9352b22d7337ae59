"""The shortest way of a call: a built-in function from the caller to machine code, and no Python between them."""

from __future__ import annotations

import copy
import gc
import inspect
import sys
import threading
import traceback
import weakref
from typing import Any

import agc.runtime as tf
import numpy as np
import pytest
from agc.runtime.executors.llvm import tiering
from agc.runtime.executors.llvm.call import native_call
from agc.runtime.tracing import fast_paths
from support.compiled_at_once import compile_at_once
from support.shortest_calls import compiled, frames, goes_shortest, needs_extension

pytestmark = needs_extension

ONE, TWO = tf.constant(1.0), tf.constant(2.0)


class TestWhatNeedsNoPython:
    def test_tensors_are_passed_without_python(self) -> None:
        f = compiled(lambda x, y: x + 10.0 * y, ONE, TWO)
        result, seen = frames(f, TWO, ONE)
        assert (float(result), seen) == (12.0, [])

    def test_a_call_without_arguments(self) -> None:
        v = tf.Variable(3.0)
        f = compiled(lambda: v * 2.0)
        result, seen = frames(f)
        assert (float(result), seen) == (6.0, [])

    @pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float64", "complex64"])
    @pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 1, 2)], ids=str)
    def test_every_dtype_and_shape(self, dtype: str, shape: tuple[int, ...]) -> None:
        x = tf.constant(np.ones(shape, dtype))
        f = compiled(lambda x: tf.stack([x, x]), x)
        result, seen = frames(f, x)
        assert not seen
        assert (result.dtype, tuple(result.shape)) == (tf.as_dtype(dtype), (2, *shape))
        np.testing.assert_array_equal(result.numpy(), np.ones((2, *shape), dtype))

    def test_nests_of_results(self) -> None:
        f = compiled(lambda x: {"sum": (x + 1.0, [x, None]), "pair": {"x": x * 2.0}, "none": ()}, ONE)
        result, seen = frames(f, TWO)
        assert not seen
        sums, rest = result["sum"]
        assert list(result) == ["sum", "pair", "none"]
        assert [float(x) for x in (sums, rest[0], result["pair"]["x"])] == [3.0, 2.0, 4.0]
        assert (rest[1], result["none"], type(rest)) == (None, (), list)

    def test_a_tensor_returned_twice(self) -> None:
        f = compiled(lambda x: (y := x + 1.0, y), ONE)
        (a, b), seen = frames(f, TWO)
        assert not seen
        assert [float(a), float(b)] == [3.0, 3.0]

    def test_traced_numbers_and_objects_are_accepted(self) -> None:
        f = tf.function(lambda x, n, how, thing: x * n, jit_compile=True)
        thing = object()
        for n in (2, 3, 2, 3):
            assert float(f(TWO, n, "how", thing)) == 2 * n
        for n in (2, 3):
            result, seen = frames(f, TWO, n, "how", thing)
            assert (float(result), seen) == (2 * n, [])

    def test_several_kinds_of_calls(self) -> None:
        f = tf.function(lambda x: x + x, jit_compile=True)
        kinds = [tf.ones([n]) for n in range(fast_paths.MOST)]
        for x in kinds * 2:
            f(x)
        for x in kinds:
            result, seen = frames(f, x)
            assert (len(result), seen) == (len(x), [])

    def test_more_signatures_than_the_table_holds(self) -> None:
        f = tf.function(lambda x: x + x, jit_compile=True)
        kinds = [tf.ones([n]) for n in range(3 * fast_paths.MOST)]
        for _ in range(3):
            assert [len(f(x)) for x in kinds] == [len(x) for x in kinds]

    def test_unknown_sizes(self) -> None:
        f = tf.function(lambda x: tf.reduce_sum(x), input_signature=[tf.TensorSpec([None])], jit_compile=True)
        for x in (tf.ones([2]), tf.ones([3])):
            f(x), f(x)
        assert float(f(tf.ones([5]))) == 5.0
        assert [float(f(tf.ones([n]))) for n in (2, 3, 5)] == [2.0, 3.0, 5.0]


class TestVariables:
    def test_variables_are_read_and_assigned(self) -> None:
        v, w = tf.Variable(1.0), tf.Variable([1.0, 2.0])

        def step(x: Any) -> Any:
            v.assign_add(x)
            w.assign(w * v)
            return v + 0.0

        f = compiled(step, ONE)
        v.assign(1.0), w.assign([1.0, 2.0])
        result, seen = frames(f, TWO)
        assert (float(result), seen) == (3.0, [])
        assert (float(v), w.numpy().tolist()) == (3.0, [3.0, 6.0])

    def test_earlier_reads_of_a_variable_keep_their_value(self) -> None:
        v = tf.Variable(tf.zeros([2000]))

        def step(x: Any) -> Any:
            v.assign_add(x)
            return v + 0.0

        x = tf.ones([2000])
        f = compiled(step, x)
        seen = [(f(x), v.value()) for _ in range(5)]
        assert [float(result[7]) for result, _ in seen] == [3.0, 4.0, 5.0, 6.0, 7.0]
        assert [float(value[7]) for _, value in seen] == [3.0, 4.0, 5.0, 6.0, 7.0]

    @pytest.mark.parametrize("jit_compile", [True, False])
    def test_a_failing_graph_assigns_earlier_variables_once(self, jit_compile: bool) -> None:
        v = tf.Variable(1)

        def step(x: Any) -> Any:
            v.assign_add(1)
            return v // x

        f = tf.function(step, jit_compile=jit_compile)
        assert [int(f(tf.constant(1))) for _ in range(3)] == [2, 3, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
            f(tf.constant(0))
        assert int(v) == 5

    def test_a_shape_that_changed(self) -> None:
        v = tf.Variable([1.0], shape=[None])
        f = compiled(lambda x: v * x, TWO)
        v.assign([1.0, 2.0, 3.0])
        assert f(TWO).numpy().tolist() == [2.0, 4.0, 6.0]
        assert f(TWO).numpy().tolist() == [2.0, 4.0, 6.0]


class TestMethods:
    def test_methods_of_two_instances(self) -> None:
        class Model(tf.Module):
            def __init__(self, w: float) -> None:
                self.w = tf.Variable(w)

            @tf.function(jit_compile=True)
            def scaled(self, x: Any) -> Any:
                return self.w * x

        models = [Model(2.0), Model(3.0)]
        for model in models * 2:
            model.scaled(TWO)
        for model, wanted in zip(models, (4.0, 6.0), strict=True):
            result, seen = frames(Model.__dict__["scaled"], model, TWO)
            assert (float(result), seen) == (wanted, [])
            assert float(model.scaled(TWO)) == wanted
            assert goes_shortest(model.scaled, TWO)

    def test_an_instance_at_the_address_of_a_freed_one(self) -> None:
        class Box:
            def __init__(self, content: float) -> None:
                self.content = content

            @tf.function(jit_compile=True)
            def get(self, x: Any) -> Any:
                return self.content + x

        for content in range(12):  # sooner or later one is put where one of those before was
            box = Box(content)
            for _ in range(3):
                assert float(box.get(ONE)) == content + 1


def test_automatic_compilation_uses_the_fast_call(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_at_once(monkeypatch)
    x = tf.ones([100])
    f = tf.function(lambda x: tf.reduce_sum(tf.exp(x) * x + x))
    wanted = float(tf.function(f.python_function, jit_compile=True)(x))
    for _ in range(3 * tiering.TRIALS):
        assert float(f(x)) == pytest.approx(wanted)
    (concrete,) = f._list_all_concrete_functions()
    chosen = concrete.runner.__self__.chosen_for([x.numpy()])
    assert chosen is not None
    assert goes_shortest(f, x) == isinstance(chosen, native_call.extension().Kernel)


class TestWhatGoesTheLongerWay:
    """With the same results, and the same errors, as if there were no other."""

    def test_wrong_arguments(self) -> None:
        f = compiled(lambda x: x, ONE)
        for args, kwargs in (((), {}), ((ONE, ONE), {}), ((ONE,), {"y": ONE})):
            with pytest.raises(TypeError) as caught:
                f(*args, **kwargs)
            files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
            assert not any("tracing" in file for file in files)

    def test_other_arguments(self) -> None:
        f = compiled(lambda x: x + x, ONE)
        for other in (tf.constant(1), tf.constant([1.0]), np.float32(1), 1.0, 1, tf.Variable(1.0)):
            for _ in range(3):
                assert np.all(f(other).numpy() == 2)
        assert goes_shortest(f, ONE)

    def test_strided_arrays_are_accepted(self) -> None:
        x = tf.constant(np.arange(4.0).reshape(2, 2))
        turned = tf.Tensor.__subclasses__()[0](x.numpy().T)
        f = compiled(lambda x: x + 1.0, x)
        assert goes_shortest(f, x)
        assert not goes_shortest(f, turned)
        np.testing.assert_array_equal(f(turned).numpy(), x.numpy().T + 1)

    def test_a_tape_sees_the_call(self) -> None:
        f = compiled(lambda x: x * x, ONE)
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert float(tape.gradient(y, x)) == 6.0
        assert goes_shortest(f, x)

    def test_a_call_within_a_graph_becomes_part_of_it(self) -> None:
        f = compiled(lambda x: x * x, ONE)
        outer = tf.function(lambda x: f(x) + 1.0)
        assert float(outer(TWO)) == 5.0
        operations = outer.get_concrete_function(TWO).graph.get_operations()
        assert [operation.type for operation in operations] == ["call", "add"]
        assert goes_shortest(f, TWO)

    def test_functions_that_run_eagerly(self) -> None:
        calls = []
        f = compiled(lambda x: calls.append(type(x).__name__) or x + 1.0, ONE)
        tf.config.run_functions_eagerly(True)
        try:
            assert float(f(TWO)) == 3.0
        finally:
            tf.config.run_functions_eagerly(False)
        assert calls[-1] == "EagerTensor"
        assert goes_shortest(f, TWO)

    def test_a_tape_in_another_thread(self) -> None:
        f = compiled(lambda x: x * x, ONE)
        begun, done = threading.Event(), threading.Event()

        def other() -> None:
            with tf.GradientTape():
                begun.set()
                done.wait()

        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        result, seen = frames(f, TWO)
        done.set(), thread.join()
        assert (float(result), bool(seen)) == (4.0, True)
        assert goes_shortest(f, TWO)

    def test_a_thread_that_ends_inside_a_tape(self) -> None:
        f = compiled(lambda x: x * x, ONE)
        thread = threading.Thread(target=lambda: tf.GradientTape().__enter__())
        thread.start(), thread.join()
        assert goes_shortest(f, TWO)

    def test_a_profile_sees_the_call(self) -> None:
        x = tf.ones([100])
        f = compiled(lambda x: tf.exp(x) * x, x)
        with tf.profiler.Profiling() as profiling:
            f(x)
        assert "fused exp+multiply" in [row.name for row in profiling.report.rows]
        assert goes_shortest(f, x)


class TestErrors:
    def test_a_failed_check_names_the_users_line(self) -> None:
        f = compiled(lambda a, b: a // b, tf.constant(7), tf.constant(2))
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"division by zero(.|\n)*test_fast_path"
        ) as e:
            f(tf.constant(7), tf.constant(0))
        names = [frame.name for frame in traceback.extract_tb(e.value.__traceback__)]
        assert names == ["test_a_failed_check_names_the_users_line"]
        assert int(f(tf.constant(9), tf.constant(2))) == 4

    def test_errors_leak_no_references(self) -> None:
        x, zero = tf.constant(7), tf.constant(0)
        f = compiled(lambda a, b: (a // b, a), x, x)
        things = [x, zero, x._array, zero._array, None, type(x), f]
        f(x, x)

        def count() -> list[int]:
            return [sys.getrefcount(thing) for thing in things[:4]]

        gc.collect()  # what tracing and compiling have left
        before = count()
        for _ in range(100):
            f(x, x)
            with pytest.raises(tf.errors.InvalidArgumentError):
                f(x, zero)
        gc.collect()
        assert count() == before


class TestTheFunctionAsAnObject:
    def test_the_function_is_freed_with_its_last_reference(self) -> None:
        f = compiled(lambda x: x + 1.0, ONE)
        alive = weakref.ref(f)
        gc.disable()
        try:
            del f
            assert alive() is None
        finally:
            gc.enable()

    def test_the_bound_call_may_outlive_the_function(self) -> None:
        call = compiled(lambda x: x + x, ONE).__call__
        assert [float(call(x)) for x in (ONE, tf.constant(5.0))] == [2.0, 10.0]
        assert call(tf.constant([1])).numpy().tolist() == [2]
        assert inspect.signature(call) == inspect.signature(
            tf.function(abs).__call__
        )  # as before it was compiled

    def test_signature_and_docstring_are_those_of_the_users_function(self) -> None:
        def total(x: Any, y: int = 3) -> Any:
            """The sum."""
            return x + y

        f = compiled(total, ONE)
        assert (str(inspect.signature(f)), inspect.getdoc(f)) == (str(inspect.signature(total)), "The sum.")
        assert callable(f)

    def test_a_copy_has_a_call_of_its_own(self) -> None:
        f = compiled(lambda x: x + 1.0, ONE)
        other = copy.copy(f)
        assert other.experimental_get_tracing_count() == 0
        assert float(other(ONE)) == 2.0

    def test_a_subclass_with_a_call_of_its_own(self) -> None:
        class Counting(tf.types.experimental.PolymorphicFunction):
            count = 0

            def __call__(self, *args: Any) -> Any:
                self.count += 1
                return super().__call__(*args)

        made = compiled(lambda x: x + 1.0, ONE)
        counting = Counting(made.python_function, "counted", made._calls.options)
        assert [float(counting(ONE)) for _ in range(3)] == [2.0] * 3
        assert counting.count == 3


def test_referenced_results_are_not_overwritten() -> None:
    x = tf.ones([2000])
    f = compiled(lambda x: x * 2.0, x)
    first = f(x)
    others = [f(first) for _ in range(3)]
    assert float(first[0]) == 2.0
    assert [float(each[9]) for each in others] == [4.0] * 3


def test_threads_call_at_the_same_time() -> None:
    from concurrent.futures import ThreadPoolExecutor

    f = compiled(lambda x: (x + 1.0, x), tf.zeros([5]))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: float(f(tf.fill([5], float(i)))[0][4]), range(200)))
    assert found == [i + 1.0 for i in range(200)]
