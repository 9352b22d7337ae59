"""What operations say to wrong arguments: the class of the error, the operation, the argument, and the user's line.

Every operation is called as in the examples of its manual with one argument changed, at once and in graphs. It takes
that, or it refuses it in the terms of the call. The tables list the operations that take every dtype, or every shape,
or every number; an operation that is declared with an example is tested without another line here.
"""

from __future__ import annotations

import functools
import re
import traceback
from collections.abc import Callable, Mapping
from typing import Any

import agc.runtime as tf
import pytest
from agc.runtime import errors
from agc.runtime.ops.framework.op import REGISTRY, Op
from agc.runtime.ops.framework.op_families import Elementwise
from support.each_case import each_case
from support.operation_examples import NAMES, calls
from support.wrong_calls import Wrong, wrong_calls

CALLS_OF_USERS = {"assert", "print", "raise", "numpy_function", "py_function", "stateless_numpy_function"}
"""What these operations say is what the user's program gave them to say."""

CLASSES = {
    ValueError, TypeError, errors.InvalidArgumentError, errors.UnimplementedError, errors.OutOfRangeError,
    errors.FailedPreconditionError, errors.NotFoundError, errors.ResourceExhaustedError,
}  # fmt: skip


TAKES_EVERY = {
    "dtype": {
        "argsort", "const", "count_nonzero", "depth_to_space", "ensure_shape", "expand_dims", "fingerprint", "getitem",
        "identity", "matrix_transpose", "optimization_barrier", "placeholder_with_default", "random_shuffle", "rank",
        "serialize_tensor",
        "shape", "size", "sort", "space_to_depth", "split", "squeeze", "stop_gradient", "string_format",
        "true_indices", "unique", "unique_with_counts", "unstack", "zeros_like",
    },
    "shape": {
        "all_reduce", "as_string", "bitcast", "broadcast_from", "cast", "check_numerics", "const", "decode_base64",
        "decode_compressed", "decode_raw",
        "elu", "encode_base64", "equal_or_false", "expand_dims", "identity", "leaky_relu", "matching_files", "meshgrid",
        "not_equal_or_true", "ones_like", "optimization_barrier", "random_shuffle", "rank", "reduce_all", "reduce_any",
        "reduce_euclidean_norm", "reduce_to",
        "reduce_logsumexp", "reduce_prod", "relu", "relu6", "saturate_cast", "selu",
        "serialize_tensor", "shape", "size", "softsign", "stop_gradient", "string_format", "string_length",
        "string_lower", "string_strip", "string_to_number", "string_upper", "to_hash_bucket", "to_hash_bucket_fast",
        "to_hash_bucket_strong", "true_indices", "unicode_transcode", "zeros_like",
    },
    "range": {
        "_clip", "add_n", "betainc", "check_keys", "complex", "const", "coordinate_order", "cross", "ctc_collapse",
        "ctc_unique_labels", "det", "distinct_coordinates", "draw_bounding_boxes", "eig", "eigh", "elu",
        "equal_or_false", "expm", "identity", "igamma", "igamma_slope", "igammac", "in_top_k", "inverse_permutation",
        "matmul", "matrix_transpose", "matvec", "nextafter", "not_equal_or_true", "optimization_barrier",
        "polygamma", "pooled_violators",
        "pseudo_inverse", "qr", "rank", "relu", "relu6", "replace_masked", "seeded_shuffle", "selu",
        "serialize_tensor", "slogdet", "softmax_cross_entropy", "softsign", "stop_gradient",
        "svd", "tridiagonal_solution", "where", "zeta",
    },
}  # fmt: skip
"""What only looks at dtypes or shapes, moves elements of any kind, or computes with every number.

Operations on each element (`Elementwise`) compute with every number but 0, and on one tensor in every shape.
"""

REFERRING = [name for name in NAMES if {"Ref", "Array"} & set(REGISTRY[name].rule.__annotations__.values())]
WITHOUT_ARGUMENTS = {
    "array_new", "array_of_parts", "array_of_rows", "array_one", "blank", "list_new", "placeholder",
}  # fmt: skip
"""These make something, of tensors that have been converted already."""
TESTED = [name for name in NAMES if name not in {*REFERRING, *CALLS_OF_USERS, *WITHOUT_ARGUMENTS}]


def refusal(call: Callable[[], Any]) -> Exception | None:
    try:
        call()
    except Exception as error:
        return error
    return None


def check(error: Exception, op: Op, wrong: Wrong) -> None:
    """The error is of a class that is meant for users, and says what was called with what."""
    assert type(error) in CLASSES, f"{type(error)}: {error}"
    assert re.search(rf"\b{op.name}\b", str(error)), f"the operation is not named: {error}"
    parameters = "|".join(op.parameters)
    assert re.search(rf"\b({parameters})\b", str(error)), f"no argument is named: {error}"


def check_line(error: Exception) -> None:
    """The user's line is in the traceback, or the message says it when the graph fails later."""
    frames = traceback.extract_tb(error.__traceback__)
    called = [frame.lineno for frame in frames if frame.filename == __file__ and frame.name == "program"]
    said = re.search(rf"at {re.escape(__file__)}:(\d+), in program", str(error))
    assert called or said, f"no line: {error}"


def in_graph(op: Op, arguments: Mapping[str, Any], executor: str) -> None:
    """Make the same call in a function whose tensors have no static shapes."""
    tensors = {name: value for name, value in arguments.items() if name in op.input_names}
    others = {name: value for name, value in arguments.items() if name not in tensors}

    def program(tensors: Any) -> Any:
        return op(**tensors, **others)

    signature = tf.nest.map_structure(lambda tensor: tf.TensorSpec(None, tensor.dtype), tensors)
    run = tf.function(program, input_signature=[signature], autograph=False, experimental_executor=executor)
    run(tensors)


@functools.cache
def wrongs(name: str) -> list[Wrong]:
    """Wrong calls of an operation, made of those in its examples."""
    return [wrong for call in calls(name)[:2] for wrong in wrong_calls(call.op, call.arrays, call.attrs)]


@functools.cache
def refused(name: str) -> list[tuple[Wrong, Exception]]:
    """The wrong calls that an operation refuses at once, and how."""
    op = REGISTRY[name]
    found = [(wrong, refusal(lambda wrong=wrong: op(**wrong.arguments))) for wrong in wrongs(name)]
    return [(wrong, error.with_traceback(None)) for wrong, error in found if error is not None]


def by_family(name: str, kind: str) -> bool:
    """Whether the operation computes on each element alone, and what is changed does not matter to it."""
    op = REGISTRY[name]
    return isinstance(op, Elementwise) and (kind == "range" or (kind == "shape" and len(op.input_names) == 1))


@each_case("name", TESTED)
def test_a_wrong_call_is_refused_with_operation_and_argument(name: str) -> None:
    assert calls(name), f"no example calls {name} with tensors alone"
    kinds = set()
    for wrong, error in refused(name):
        check(error, REGISTRY[name], wrong)
        kinds.add(wrong.kind)
    for kind in ("dtype", "shape", "range"):
        possible = any(wrong.kind == kind for wrong in wrongs(name))
        if possible and not by_family(name, kind):
            assert (kind in kinds) != (name in TAKES_EVERY[kind]), (
                f"{name} refuses {sorted(kinds)}; tell in TAKES_EVERY[{kind!r}] whether it takes every {kind}"
            )


@each_case("name", REFERRING)
def test_wrong_resource_arguments_are_refused(name: str) -> None:
    op = REGISTRY[name]
    with pytest.raises(TypeError, match=rf"{name}, argument `\w+`: expected a (variable|TensorArray), got 3"):
        op(*[3] * len(op.parameters))


def test_the_number_and_the_names_of_arguments() -> None:
    with pytest.raises(TypeError, match=r"gather\(\) missing .*argument:? 'indices'"):
        tf.gather([1])
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        tf.add(1, 2, where=3)
    with pytest.raises(TypeError, match=r"sqrt\(\) takes 2 arguments but 3 were given"):
        tf.sqrt(1.0, None, 2)


def test_an_index_that_is_out_of_range() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 1 is not in \[0, 1\)"):
        tf.gather(tf.constant([1.0]), [1])


@each_case("executor", ["plan", "interpret"])
@each_case("name", TESTED)
def test_a_graph_refuses_wrong_calls_like_eager_code_with_the_line(name: str, executor: str) -> None:
    op = REGISTRY[name]
    first = {wrong.kind: wrong for wrong, _ in reversed(refused(name)) if wrong.parameter in op.input_names}
    for wrong in first.values():
        error = refusal(lambda wrong=wrong: in_graph(op, wrong.arguments, executor))
        assert error is not None, f"only refused at once: {wrong}"
        check(error, op, wrong)
        check_line(error)
