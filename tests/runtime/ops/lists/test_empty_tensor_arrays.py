"""`stack`, `concat` and `gather` of no elements: what is known of the shape of an element decides, as in TensorFlow.

Graphs refuse a shape that nothing tells, and never guess one. Eager code stacks elements of unknown shape as numbers.
"""

from __future__ import annotations

from typing import Any

import agc.runtime as tf
import pytest

EXECUTORS = pytest.mark.parametrize("executor", ["interpret", "plan", "native"])
METHODS = ["stack", "concat", "gather"]

GRAPHS: dict[tuple[int | None, ...] | None, tuple[Any, Any]] = {
    (): ((0,), (0,)),
    (2,): ((0, 2), (0,)),
    (2, 3): ((0, 2, 3), (0, 3)),
    (None,): (None, (0,)),
    (None, 3): (None, (0, 3)),
    (2, None): (None, None),
    None: (None, None),
}
"""By the shape of an element: the shapes that graphs give for rows and for parts one after the other; None: refused."""

SHAPES = pytest.mark.parametrize("element", GRAPHS)


def wanted(element: Any, method: str) -> Any:
    return GRAPHS[element][method == "concat"]


def joined(array: Any, method: str) -> Any:
    return array.gather(tf.constant([], tf.int32)) if method == "gather" else getattr(array, method)()


REFUSED_BY_COMPILER = "not compiled"


def outcome(run: Any) -> Any:
    """The shape of the result; None where it is refused, by the operation or by the compiler before it runs."""
    try:
        found = run()
    except tf.errors.InvalidArgumentError as error:
        if "AGC220" in str(error):
            return REFUSED_BY_COMPILER
        assert "element shape" in str(error)
        return None
    assert found.dtype is tf.float32
    return tuple(found.shape)


@EXECUTORS
@SHAPES
def test_graphs_join_no_elements(executor: str, element: Any) -> None:
    for size in (0, tf.constant(0)):
        for method in METHODS:

            @tf.function(experimental_executor=executor)
            def empty(n: Any, method: str = method) -> Any:
                return joined(tf.TensorArray(tf.float32, size=n, element_shape=element), method)

            found = outcome(lambda: empty(size))  # noqa: B023
            assert found == wanted(element, method) or (executor == "native" and found == REFUSED_BY_COMPILER)
            if executor == "native" and method == "stack" and wanted(element, method):
                assert found == wanted(element, method)


@EXECUTORS
@pytest.mark.parametrize("is_list", [False, True])
def test_graphs_infer_the_element_shape_of_a_loop_without_iterations(executor: str, is_list: bool) -> None:
    """Infer the shapes that the loop writes as far as the shapes of the inputs are static."""
    for columns, shapes in ((3, ((0, 3), (0,))), (None, GRAPHS[(None,)])):
        for method in METHODS[: 2 if is_list else 3]:

            @tf.function(
                input_signature=[tf.TensorSpec([None, columns], tf.float32)], experimental_executor=executor
            )
            def rows(x: Any, method: str = method) -> Any:
                if is_list:
                    found = []
                    for row in x:
                        found.append(row * 2.0)
                    return tf.stack(found) if method == "stack" else tf.concat(found, 0)
                array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
                for i in tf.range(tf.shape(x)[0]):
                    array = array.write(i, x[i] * 2.0)
                return joined(array, method)

            found = outcome(lambda: rows(tf.zeros([0, 3])))
            if executor != "native":
                assert found == shapes[method == "concat"]
            elif method == "concat":
                assert found in ((0,), REFUSED_BY_COMPILER)
            else:  # native code is compiled for the shapes of the inputs, which may be unknown in the graph
                assert found == (0, 3)


@EXECUTORS
def test_graphs_infer_the_element_shape_of_writes_in_a_branch(executor: str) -> None:
    @tf.function(experimental_executor=executor)
    def rows(n: Any, most: Any) -> Any:
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(n):
            if i >= most:
                break
            array = array.write(i, tf.ones([3, 2]))
        assert array.element_shape == array.read(0).shape == [3, 2]
        return array.stack()

    for most in (0, 4):
        assert rows(tf.constant(9), tf.constant(most)).shape == [most, 3, 2]


@SHAPES
def test_eager_arrays_join_no_elements(element: Any) -> None:
    array = tf.TensorArray(tf.float32, size=0, element_shape=element)
    for method in ("stack", "gather"):
        assert tuple(joined(array, method).shape) == (wanted(element, method) or (0,))
    assert outcome(array.concat) == wanted(element, "concat")


@EXECUTORS
@SHAPES
def test_choosing_none_of_some_elements(executor: str, element: Any) -> None:
    """None of the elements were ever written, and none is chosen."""

    @tf.function(experimental_executor=executor)
    def none(n: Any) -> Any:
        return joined(tf.TensorArray(tf.float32, size=n, element_shape=element), "gather")

    found = outcome(lambda: none(tf.constant(2)))
    assert found == wanted(element, "gather") or (executor == "native" and found == REFUSED_BY_COMPILER)
