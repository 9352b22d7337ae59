"""Every function of the namespaces on every dtype and on awkward values.

The values are NaN, infinities, zeros of both signs, numbers at the ends, texts; as a vector, a scalar, two rows beside
a vector, an array of rank 3, nothing at all. Functions with an `axis` are called along one as well.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import agc.runtime as ours
import numpy as np

from .judging import Comparison, outcome, verdict
from .places import found

NAMESPACES = (
    "tf", "tf.math", "tf.math.special", "tf.linalg", "tf.nn", "tf.bitwise", "tf.signal", "tf.strings", "tf.image",
    "tf.sets", "tf.ragged",
)  # fmt: skip
DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "complex64", "complex128", "bool", "string",
)  # fmt: skip

VALUES: dict[str, list[Any]] = {
    "float": [np.nan, 0.5, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 2.5, -3.5, 40.0, 1e-3],
    "int": [0, 1, -1, 2, 5, -7, 100, 3],
    "uint": [0, 1, 2, 5, 7, 100, 200, 3],
    "complex": [0, 1, -1, 1j, 2 + 1j, -0.5 - 2j],
    "bool": [True, False, True],
    "string": ["", "a", "bc", " D1 e", "3.5", "ä"],
}

MORE: dict[str, tuple[Any, ...]] = {
    "tensordot": (1,), "band_part": (0, -1), "top_k": (2,), "cast": ("float32",), "saturate_cast": ("uint8",),
    "bitcast": ("uint8",), "matrix_power": (2,), "expand_dims": (0,), "repeat": (2,), "roll": (1, 0), "reverse": ([0],),
    "frame": (3, 2), "overlap_and_add": (2,), "stft": (4, 2), "substr": (0, 1), "regex_replace": ("[a-z]", "X"),
    "regex_full_match": ("[a-z]+",), "to_hash_bucket": (7,), "to_hash_bucket_fast": (7,), "ngrams": (2,),
    "to_hash_bucket_strong": (7, [1, 2]), "adjust_brightness": (0.25,), "adjust_contrast": (1.5,), "adjust_hue": (0.1,),
    "adjust_saturation": (1.5,), "adjust_gamma": (0.7,), "central_crop": (0.5,), "bessel": (), "one_hot": (4,),
    "unicode_decode": ("UTF-8",), "unicode_split": ("UTF-8",), "unicode_transcode": ("UTF-8", "UTF-16-BE"),
    "unicode_decode_with_offsets": ("UTF-8",), "unicode_split_with_offsets": ("UTF-8",), "in_top_k": (1,),
    "clip_by_value": (0, 1), "clip_by_norm": (1.0,), "polygamma": (), "percentile": (), "resize": ([3, 2],),
    "bincount": (), "histogram_fixed_width": ([0, 4],), "histogram_fixed_width_bins": ([0, 4],),
    "broadcast_to": ([3, 2],),
}  # fmt: skip
"""Arguments beyond the tensors, by the function's name."""

LEFT_OUT = {
    "einsum", "add_n", "eye", "constant", "convert_to_tensor", "print", "py_function", "numpy_function",
    "function", "range", "linspace", "zeros", "ones", "fill", "Variable", "cond", "case", "switch_case",
    "while_loop", "map_fn", "vectorized_map", "foldl", "foldr", "scan", "custom_gradient", "recompute_grad",
    "grad_pass_through", "device", "Assert", "group", "control_dependencies", "name_scope", "init_scope",
    "register_tensor_conversion_function", "timestamp", "get_logger", "as_dtype", "gradients", "hessians",
    "meshgrid", "random_index_shuffle", "complex", "fractional_max_pool", "fractional_avg_pool", "experimental",
    "parallel_stack", "strided_slice", "slice", "tuple", "uniform_candidate_sampler",
    "log_uniform_candidate_sampler", "all_candidate_sampler", "dropout", "matvec",
    "fixed_unigram_candidate_sampler", "learned_unigram_candidate_sampler", "hamming_window", "hann_window",
    "get_static_value", "get_current_name_scope", "is_symbolic_tensor", "inside_function", "pack_sequence_as",
    "type_spec_from_value", "is_tensor", "executing_eagerly", "no_op", "numpy", "image_summary", "map_structure",
    "nce_loss", "sampled_softmax_loss", "broadcast_static_shape", "inverse_stft_window_fn", "pool", "fftnd",
    "ifftnd", "rfftnd", "irfftnd", "compute_accidental_hits", "sufficient_statistics", "assert_rank",
    "linear_to_mel_weight_matrix", "tile", "pad", "unsorted_segment_sum",
}  # fmt: skip
"""Functions whose arguments are no tensors of the sweep; that take functions; or that are random."""

RANDOM = ("random_", "stateless_", "shuffle")
UP_TO_SIGN = {"qr", "svd", "eigh", "eig", "self_adjoint_eig"}


def compare(tf: Any, part: str = "") -> Iterator[Comparison]:
    """Every function of the namespaces on every dtype."""
    for path, mine, theirs in functions(tf):
        if part not in path:
            continue
        name = path.rpartition(".")[2]
        for what, arrays, more, options in calls(path, mine):
            first = outcome(lambda f=mine, a=arrays, m=more, o=options: f(*map(ours.constant, a), *m, **o))
            second = outcome(lambda f=theirs, a=arrays, m=more, o=options: f(*map(tf.constant, a), *m, **o))
            result = verdict(first, second, name in UP_TO_SIGN)
            yield Comparison(f"{path} {what}", result, first, second)


def functions(tf: Any) -> Iterator[tuple[str, Callable[..., Any], Callable[..., Any]]]:
    """The functions to be swept, each once."""
    seen: set[int] = set()
    for space in NAMESPACES:
        module = _optional(ours, space)
        for name in getattr(module, "__all__", ()):
            theirs = _optional(tf, f"{space}.{name}")
            if name in LEFT_OUT or name.startswith(RANDOM) or theirs is None:
                continue
            mine = getattr(module, name)
            if callable(mine) and not isinstance(mine, type) and id(mine) not in seen:
                seen.add(id(mine))
                yield f"{space}.{name}", mine, theirs


def _optional(tf: Any, path: str) -> Any:
    try:
        return found(tf, path)
    except AttributeError:
        return None


def calls(path: str, function: Any) -> Iterator[tuple[str, list[Any], tuple[Any, ...], dict[str, Any]]]:
    """A text for the call, the arrays, the further arguments and the options."""
    space, _, name = path.rpartition(".")
    more = MORE.get(name, ())
    parameters = inspect.signature(function).parameters
    count = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters.values())
    if not 0 < count - len(more) <= 3:
        return
    along = (
        [{}, {"axis": 0}, {"axis": -1}]
        if parameters.get("axis") and parameters["axis"].default is None
        else [{}]
    )
    for dtype in DTYPES:
        for kind, arrays in inputs(space, dtype, count - len(more)):
            for options in along:
                text = "".join(f" {key}={value}" for key, value in options.items())
                yield f"{dtype} {kind}{text}", arrays, more, options


def inputs(space: str, dtype: str, count: int) -> Iterator[tuple[str, list[Any]]]:
    """Arrays for a function of so many tensors."""
    if space == "tf.linalg":
        matrix = array([[4, 1], [1, 3]], dtype)
        yield "matrix", [matrix] * count
        yield "batch", [np.stack([matrix, matrix])] * count
        yield "no matrix", [matrix[:0, :0]] * count
        return
    values = array(VALUES.get(dtype) or VALUES[dtype.rstrip("0123456789")], dtype)
    if space == "tf.image":
        image = np.resize(np.abs(values) if dtype not in ("string", "bool") else values, (4, 4, 3))
        yield "image", [np.nan_to_num(image, posinf=1) if image.dtype.kind == "f" else image] * count
        yield "no image", [image[:0]] * count
        return
    rolled = [np.roll(values, shift) for shift in range(1, count)]
    yield "vector", [values, *rolled]
    yield "scalar", [values[1].astype(values.dtype) if dtype != "string" else np.array("a", object)] * count
    yield "rows", [np.stack([values, values[::-1]]), *rolled]
    yield "cube", [np.resize(values, (2, 2, 3)), *(np.resize(other, (2, 1, 3)) for other in rolled)]
    yield "nothing", [values[:0]] * count
    yield "no rows", [np.resize(values, (3, 2))[:0]] * count


def array(values: Any, dtype: str) -> Any:
    """An array of a dtype by its name; of bytes in objects for strings."""
    if dtype == "string":
        return np.array(np.array(values).astype(str), object)
    return np.array(values).astype(dtype)
