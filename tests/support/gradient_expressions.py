"""Expressions whose derivatives are compared: with TensorFlow's in `differential`, with differences in the suite.

An expression is the text of a result of tensors `a`, `b`, `c` …, which is differentiated with respect to them: the sum
of its elements, with weights, and then the sum of these derivatives, with weights, once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_IMAGE, _SEQUENCE, _VOLUME = (2, 6, 6, 4), (2, 7, 4), (1, 4, 4, 4, 2)
_SQUARE, _TALL, _WIDE, _PAIR = (3, 3), (4, 3), (3, 4), [(3, 4), (3, 4)]

EXPRESSIONS: dict[str, list[tuple[int, ...]]] = {
    # Convolution and pooling
    **{
        f"tf.nn.conv2d(a, b, strides={strides}, padding={padding!r}, dilations={dilations})": [_IMAGE, (3, 2, 4, 3)]
        for strides in (1, 2, [2, 1]) for dilations in (1, 2) for padding in ("SAME", "VALID")
        if strides == 1 or dilations == 1
    },
    "tf.nn.conv2d(a, b, 1, [[0, 0], [1, 2], [0, 1], [0, 0]])": [_IMAGE, (3, 2, 4, 3)],
    "tf.nn.conv2d(a, b, 1, 'SAME')": [_IMAGE, (3, 3, 2, 4)],
    "tf.nn.conv1d(a, b, 2, 'SAME')": [_SEQUENCE, (3, 4, 2)],
    "tf.nn.conv1d(a, b, 1, 'VALID', dilations=2)": [_SEQUENCE, (3, 4, 2)],
    "tf.nn.conv3d(a, b, [1, 1, 1, 1, 1], 'SAME')": [_VOLUME, (2, 2, 2, 2, 3)],
    "tf.nn.conv3d(a, b, [1, 2, 1, 2, 1], 'VALID')": [_VOLUME, (2, 2, 2, 2, 3)],
    "tf.nn.conv2d_transpose(a, b, [2, 12, 12, 3], 2, 'SAME')": [_IMAGE, (3, 3, 3, 4)],
    "tf.nn.conv1d_transpose(a, b, [2, 14, 3], 2, 'SAME')": [_SEQUENCE, (3, 3, 4)],
    "tf.nn.conv3d_transpose(a, b, [1, 8, 8, 8, 3], 2, 'SAME')": [_VOLUME, (2, 2, 2, 3, 2)],
    "tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], 'SAME')": [_IMAGE, (3, 3, 4, 2)],
    "tf.nn.depthwise_conv2d(a, b, [1, 2, 2, 1], 'VALID')": [_IMAGE, (3, 3, 4, 2)],
    "tf.nn.depthwise_conv2d(a, b, [1, 1, 1, 1], 'SAME', dilations=[2, 2])": [_IMAGE, (3, 3, 4, 2)],
    "tf.nn.separable_conv2d(a, b, c, [1, 1, 1, 1], 'SAME')": [_IMAGE, (3, 3, 4, 2), (1, 1, 8, 3)],
    "tf.nn.atrous_conv2d(a, b, 2, 'SAME')": [_IMAGE, (3, 3, 4, 2)],
    "tf.nn.dilation2d(a, b, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])": [_IMAGE, (2, 2, 4)],
    "tf.nn.erosion2d(a, b, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])": [_IMAGE, (2, 2, 4)],
    **{
        f"tf.nn.{kind}_pool2d(a, {size}, {strides}, {padding!r})": [_IMAGE]
        for kind in ("max", "avg") for size, strides in ((2, 2), (3, 1), (3, 2)) for padding in ("SAME", "VALID")
    },
    "tf.nn.max_pool1d(a, 3, 2, 'SAME')": [_SEQUENCE], "tf.nn.avg_pool1d(a, 3, 2, 'SAME')": [_SEQUENCE],
    "tf.nn.max_pool3d(a, 2, 2, 'SAME')": [_VOLUME], "tf.nn.avg_pool3d(a, 2, 2, 'VALID')": [_VOLUME],
    "tf.nn.max_pool_with_argmax(a, 2, 2, 'SAME')[0]": [_IMAGE],
    "tf.nn.max_pool2d(tf.round(a) + 0 * a, 2, 2, 'SAME')": [_IMAGE],
    "tf.nn.pool(a, [2, 2], 'AVG', padding='SAME')": [_IMAGE],
    "tf.nn.space_to_depth(a, 2)": [_IMAGE], "tf.nn.depth_to_space(a, 2)": [_IMAGE],
    "tf.space_to_batch(a, [2, 2], [[0, 0], [1, 1]])": [_IMAGE],
    "tf.batch_to_space(a, [2, 1], [[0, 0], [0, 1]])": [_IMAGE],
    "tf.image.resize(a, [4, 9])": [_IMAGE], "tf.image.resize(a, [4, 9], method='nearest')": [_IMAGE],
    "tf.image.resize(a, [4, 9], method='bicubic')": [_IMAGE],
    "tf.image.resize(a, [9, 4], method='area')": [_IMAGE],
    "tf.image.resize(a, [9, 4], method='lanczos3', antialias=True)": [_IMAGE],
    "tf.image.crop_and_resize(a, [[0.1, 0.2, 0.7, 0.9]], [1], [3, 3])": [_IMAGE],
    "tf.image.extract_patches(a, [1, 2, 2, 1], [1, 1, 2, 1], [1, 1, 1, 1], 'VALID')": [_IMAGE],
    "tf.image.ssim(tf.sigmoid(a), tf.sigmoid(b), 1.0, filter_size=3)": [(1, 6, 6, 1)] * 2,
    "tf.image.sobel_edges(a)": [_IMAGE], "tf.image.total_variation(a)": [_IMAGE],
    # Normalization and losses
    "tf.nn.local_response_normalization(a, 2, 1.0, 0.5)": [_IMAGE],
    "tf.nn.batch_normalization(a, b, tf.exp(c), d, e, 1e-3)": [_IMAGE, (4,), (4,), (4,), (4,)],
    "tf.nn.moments(a, [0, 2])": [_IMAGE], "tf.nn.l2_normalize(a, [1])": [_TALL],
    "tf.nn.weighted_moments(a, [0], tf.exp(b))": [_TALL, _TALL],
    "tf.nn.normalize_moments(tf.constant(5.0, tf.float64), a, tf.exp(b), None)": [(3,), (3,)],
    "tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(a), b)": _PAIR,
    "tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 3], a)": [_WIDE],
    "tf.nn.sigmoid_cross_entropy_with_logits(a, b)": _PAIR,
    "tf.nn.weighted_cross_entropy_with_logits(tf.sigmoid(a), b, tf.exp(c))": [_WIDE, _WIDE, ()],
    "tf.nn.log_poisson_loss(tf.exp(a), b, True)": _PAIR,
    "tf.nn.ctc_loss([[1, 2, 0], [3, 3, 1]], a, [2, 3], [7, 6], blank_index=0)": [(7, 2, 4)],
    "tf.nn.ctc_loss([[1, 2, 0], [3, 3, 1]], a, [2, 3], [7, 6], False, blank_index=-1)": [(2, 7, 5)],
    "tf.nn.nce_loss(a, b, [[1], [2], [0]], c, 2, 5, sampled_values=([4, 3], [[.5], [.4], [.3]], [.2, .1]))":
        [(5, 4), (5,), (3, 4)],
    "tf.nn.dropout(a, 0.4, seed=3) * 0": [_WIDE],
    "tf.nn.embedding_lookup(a, [[1, 0], [2, 1]])": [_TALL],
    "tf.nn.embedding_lookup(a, [1, 0, 2], max_norm=0.8)": [_TALL],
    "tf.nn.bias_add(a, b, data_format='NC..')": [(2, 3, 4), (3,)], "tf.nn.l2_loss(a)": [_TALL],
    "tf.nn.isotonic_regression(a)[0]": [_WIDE],
    # Linear algebra
    **{
        f"tf.linalg.{name}": [_SQUARE]
        for name in ("det(a)", "slogdet(a)", "inv(a)", "inv(a, adjoint=True)", "expm(a)", "pinv(a)",
                     "cholesky(a @ tf.linalg.adjoint(a) + tf.eye(3, dtype=a.dtype))",
                     "logdet(a @ tf.linalg.adjoint(a) + tf.eye(3, dtype=a.dtype))",
                     "sqrtm(a @ tf.linalg.adjoint(a) + tf.eye(3, dtype=a.dtype))",
                     "eigvals(a + 3 * tf.linalg.diag(tf.constant([1, 2, 3], a.dtype)))",
                     "eigvalsh(a + tf.linalg.adjoint(a))", "svd(a, compute_uv=False)", "norm(a)", "norm(a, ord=1)",
                     "norm(a, ord=np.inf)", "norm(a, ord=2, axis=[0, 1])", "trace(a)", "diag_part(a)", "diag(a)",
                     "set_diag(a, a[0])", "band_part(a, 1, 0)",
                     "tensor_diag_part(a)", "global_norm([a, a[0]])", "diag_part(a, k=(-1, 1))", "l2_normalize(a, 1)")
    },
    "tf.abs(tf.linalg.qr(a)[0]) + tf.abs(tf.linalg.qr(a)[1])": [_SQUARE],
    "tf.abs(tf.linalg.qr(a)[0][:, 0]) + tf.reduce_sum(tf.abs(tf.linalg.qr(a)[1]))": [_TALL],
    "tf.abs(tf.linalg.qr(a, full_matrices=True)[1])": [_WIDE],
    "tf.reduce_sum(tf.abs(tf.linalg.svd(a, full_matrices=True)[1])**2, 0)[:3]": [_TALL],
    "[tf.abs(x)**2 for x in tf.linalg.svd(a)]": [_TALL],
    "[tf.abs(x)**2 for x in tf.linalg.svd(a, full_matrices=True)]": [_TALL],
    "[tf.abs(x)**2 for x in tf.linalg.svd(a, full_matrices=True)] ": [_WIDE],
    "[tf.abs(x)**2 for x in tf.linalg.eigh(a + tf.linalg.adjoint(a))]": [_SQUARE],
    "[tf.abs(x)**2 for x in tf.linalg.eig(a + 3 * tf.linalg.diag(tf.constant([1, 2, 3], a.dtype)))]": [_SQUARE],
    "tf.linalg.solve(a, b)": [_SQUARE, (3, 2)], "tf.linalg.solve(a, b, adjoint=True)": [_SQUARE, (3, 2)],
    "tf.linalg.lstsq(a, b)": [_TALL, (4, 2)], "tf.linalg.lstsq(a, b, l2_regularizer=0.3)": [_TALL, (4, 2)],
    "tf.linalg.lstsq(a, b) ": [_WIDE, (3, 2)], "tf.linalg.lstsq(a, b, fast=False)": [_TALL, (4, 2)],
    "tf.linalg.cholesky_solve(tf.linalg.band_part(a, -1, 0), b)": [_SQUARE, (3, 2)],
    "tf.linalg.triangular_solve(a, b)": [_SQUARE, (3, 2)],
    "tf.linalg.triangular_solve(a, b, lower=False, adjoint=True)": [_SQUARE, (3, 2)],
    "tf.linalg.tridiagonal_solve(a + 3, b)": [(3, 4), (4, 2)],
    "tf.linalg.tridiagonal_matmul((a[0], a[1], a[2]), b, 'sequence')": [(3, 4), (4, 2)],
    "tf.linalg.banded_triangular_solve(a + 3, b)": [(2, 4), (4, 2)],
    "tf.linalg.matvec(a, b, adjoint_a=True)": [_TALL, (4,)], "tf.linalg.matmul(a, b)": [(2, 3, 2), (2, 4)],
    "tf.linalg.einsum('bij,kj,l->bikl', a, b, c)": [(2, 3, 4), (2, 4), (2,)],
    "tf.einsum('ij,ij->', a, b)": _PAIR, "tf.einsum('ii->i', a)": [_SQUARE],
    "tf.einsum('...i,...j->...ij', a, b)": _PAIR,
    "tf.tensordot(a, b, [[0], [1]])": [_TALL, (2, 4)],
    # Complex numbers
    "tf.abs(tf.complex(a, b))": _PAIR, "tf.math.angle(tf.complex(a, b))": _PAIR,
    "tf.math.conj(tf.complex(a, b)) * tf.complex(b, a)": _PAIR, "tf.exp(tf.complex(a, b))": _PAIR,
    "tf.math.real(tf.complex(a, b) ** 2)": _PAIR, "tf.sqrt(tf.complex(a, b)) / tf.complex(b, a)": _PAIR,
    **{f"tf.signal.{name}(tf.complex(a, b))": [_SQUARE, _SQUARE] for name in ("fft", "ifft", "fft2d", "ifft2d")},
    "tf.signal.rfft(a)": [_WIDE], "tf.signal.rfft(a, [6])": [_WIDE], "tf.signal.rfft2d(a)": [_WIDE],
    "tf.signal.irfft(tf.complex(a, b))": _PAIR, "tf.signal.irfft2d(tf.complex(a, b))": _PAIR,
    "tf.signal.dct(a)": [_WIDE], "tf.signal.idct(a, norm='ortho')": [_WIDE], "tf.signal.stft(a, 4, 2)": [(10,)],
    "tf.signal.frame(a, 3, 2)": [(8,)], "tf.signal.overlap_and_add(a, 2)": [_TALL],
    # Choosing, sorting, scanning
    "tf.where(a > 0, a * b, a / b)": _PAIR, "tf.where(a > 0, tf.sqrt(tf.where(a > 0, a, 1.0)), 0.0)": [_WIDE],
    "tf.sort(a, direction='DESCENDING')": [_WIDE], "tf.math.top_k(a, 2)[0]": [_WIDE],
    "tf.gather(a, tf.argsort(a, axis=-1), batch_dims=1)": [_WIDE], "tf.gather(a, [2, 0, 2], axis=1)": [_WIDE],
    "tf.gather_nd(a, [[0, 1], [2, 2], [0, 1]])": [_WIDE], "tf.boolean_mask(a, [True, False, True])": [_WIDE],
    "tf.cumsum(a, 1, exclusive=True, reverse=True)": [_WIDE], "tf.math.cumprod(a, 1, True)": [_WIDE],
    "tf.math.cumulative_logsumexp(a, 1, reverse=True)": [_WIDE], "tf.reduce_logsumexp(a, 0)": [_WIDE],
    "tf.reduce_max(tf.round(a) + 0 * a, 1)": [_WIDE], "tf.reduce_min(a * 0, 0)": [_WIDE],
    "tf.maximum(a, tf.identity(a))": [_WIDE], "tf.clip_by_value(a, -0.5, 0.5)": [_WIDE],
    "tf.clip_by_norm(a, 0.7, [1])": [_WIDE], "tf.clip_by_global_norm([a, b], 0.7)[0]": _PAIR,
    "tf.reduce_prod(a, 1)": [_WIDE], "tf.reduce_prod(tf.nn.relu(a), 1)": [_WIDE], "tf.math.reduce_std(a, 0)": [_WIDE],
    "tf.scatter_nd([[1], [0], [1]], a, [4, 4])": [_WIDE],
    "tf.tensor_scatter_nd_update(a, [[1], [0]], b)": [_WIDE, (2, 4)],
    "tf.tensor_scatter_nd_add(a, [[1], [1]], b)": [_WIDE, (2, 4)],
    "tf.tensor_scatter_nd_sub(a, [[1], [1]], b)": [_WIDE, (2, 4)],
    "tf.tensor_scatter_nd_max(a, [[1], [0]], b)": [_WIDE, (2, 4)],
    "tf.tensor_scatter_nd_min(a, [[1], [0]], b)": [_WIDE, (2, 4)],
    **{
        f"tf.math.{kind}_{name}(a, [0, 0, 1, 1]{more})": [(4, 2)]
        for kind, more in (("segment", ""), ("unsorted_segment", ", 2"))
        for name in ("sum", "mean", "prod", "max", "min")
    },
    "tf.math.unsorted_segment_sqrt_n(a, [0, 2, 2, 0], 3)": [(4, 2)],
    "tf.dynamic_stitch([[0, 2], [1]], [a, b])": [(2, 3), (1, 3)],
    "tf.dynamic_partition(a, [0, 1, 0], 2)": [_WIDE], "tf.sequence_mask([1, 3, 2], 4, a.dtype) * a": [_WIDE],
    "tf.reverse_sequence(a, [2, 4, 1], 1)": [_WIDE], "tf.pad(a, [[1, 2], [0, 1]], 'REFLECT')": [_WIDE],
    "tf.pad(a, [[1, 1], [2, 0]], 'SYMMETRIC')": [_WIDE], "tf.tile(a, [2, 1])": [_WIDE], "tf.roll(a, 1, 1)": [_WIDE],
    "tf.repeat(a, [1, 0, 2], 0)": [_WIDE], "tf.transpose(a)[::2, 1:]": [_WIDE], "tf.meshgrid(a, b)": [(2,), (3,)],
    "tf.strided_slice(a, [0, 3], [3, 0], [2, -1])": [_WIDE], "a[..., tf.newaxis, 1:, None]": [_WIDE],
    "tf.slice(a, [1, 0], [2, 3])": [_WIDE], "tf.split(a, [1, 3], 1)": [_WIDE], "tf.unstack(a, axis=1)": [_WIDE],
    "tf.stack([a, b], 1)": _PAIR, "tf.concat([a, b], 1)": _PAIR, "tf.broadcast_to(a, [2, 3, 4])": [(3, 1)],
    "tf.linspace(a, b, 4)": [(3,), (3,)], "tf.searchsorted(a, b)": [(3,), (3,)],
    "tf.histogram_fixed_width(a, [0., 1.])": [(3,)],
    "tf.map_fn(lambda x: x * x, a)": [_WIDE], "tf.scan(lambda s, x: s * x, a)": [_WIDE],
    "tf.foldl(lambda s, x: s * x + b, a)": [_WIDE, (4,)], "tf.vectorized_map(lambda x: x * x, a)": [_WIDE],
    "tf.sparse.sparse_dense_matmul(tf.sparse.from_dense([[0., 2., 0.], [1., 0., 3.]]), a)": [_WIDE],
    "tf.sparse.to_dense(tf.SparseTensor([[0, 1], [2, 0]], a, [3, 3]))": [(2,)],
    "tf.sparse.reduce_sum(tf.SparseTensor([[0, 1], [2, 0]], a, [3, 3]), 1)": [(2,)],
    "tf.RaggedTensor.from_row_lengths(a, [1, 2]).to_tensor()": [(3,)],
    "tf.reduce_sum(tf.RaggedTensor.from_row_lengths(a, [1, 2]) * 2.0, 1)": [(3,)],
    # Special functions, where they are smooth
    **{
        f"tf.math.{name}(tf.exp(a))": [_WIDE]
        for name in ("lgamma", "digamma", "erf", "erfc", "bessel_i0e", "bessel_i1e", "special.bessel_j0",
                     "special.bessel_j1", "special.bessel_k0", "special.bessel_k1e", "special.bessel_y1",
                     "special.dawsn", "special.expint", "special.fresnel_cos", "special.spence", "softplus",
                     "log_sigmoid")
    },
    "tf.math.igamma(tf.exp(a), tf.exp(b))": _PAIR, "tf.math.igammac(tf.exp(a), tf.exp(b))": _PAIR,
    "tf.math.betainc(tf.exp(a), tf.exp(b), tf.sigmoid(c))": [_WIDE, _WIDE, _WIDE],
    "tf.math.polygamma(2.0 + 0 * a, tf.exp(a))": [_WIDE], "tf.math.zeta(2.0 + tf.exp(a), tf.exp(b))": _PAIR,
    "tf.math.lbeta(tf.exp(a))": [_WIDE], "tf.math.erfcinv(tf.sigmoid(a))": [_WIDE],
    "tf.math.ndtri(tf.sigmoid(a))": [_WIDE], "tf.linalg.cross(a, a[::-1])": [_SQUARE],
    "tf.math.erfinv(tf.tanh(a))": [_WIDE],
    "tf.pow(tf.exp(a), b)": _PAIR, "tf.math.atan2(a, b)": _PAIR, "tf.math.floormod(a, b)": _PAIR,
    "tf.math.nextafter(a, b)": _PAIR, "tf.math.accumulate_n([a, b])": _PAIR, "tf.add_n([a, b, a])": _PAIR,
}  # fmt: skip
"""Texts of results of `a`, `b`, `c` …, with their shapes."""

ALSO_COMPLEX = ("tf.linalg.", "[tf.abs(x)", "tf.abs(tf.linalg", "tf.einsum", "tf.tensordot")
"""How expressions begin that are differentiated at complex numbers as well."""

SINGLE = (
    "tf.image.crop", "tf.image.resize", "tf.image.ssim", "tf.nn.local", "tf.nn.ctc_loss",
    "tf.sparse.sparse_dense_matmul", "tf.nn.embedding_lookup(a, [1, 0, 2]",
)  # fmt: skip
"""How expressions begin that TensorFlow computes with float32, in parts at least."""


def dtypes(text: str) -> tuple[str, ...]:
    """What an expression is differentiated at."""
    if "float32" in text or text.startswith(SINGLE):
        return ("float32",)
    return (
        ("float64", "complex128") if text.startswith(ALSO_COMPLEX) and "cross" not in text else ("float64",)
    )


def inputs(text: str, dtype: str) -> list[Any]:
    """Arrays for an expression."""
    return [numbers(shape, dtype, seed) for seed, shape in enumerate(EXPRESSIONS[text])]


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    r = np.random.RandomState(seed)
    found = r.uniform(-1.5, 1.5, shape)
    return (found + 1j * r.uniform(-1.0, 1.0, shape) if dtype.startswith("complex") else found).astype(dtype)


def written(text: str, library: Any) -> Callable[..., Any]:
    """A function of `a`, `b`, `c` … from the text of its result."""
    code = compile(text, text, "eval")
    return lambda *x: eval(code, {"tf": library, "np": np, **dict(zip("abcdef", x, strict=False))})


def derivatives(lib: Any, f: Callable[..., Any], arrays: list[Any], order: int, squared: bool) -> list[Any]:
    """The gradients of the weighted sum of what `f` gives; of order 2, those of the weighted sum of these."""
    sources = [lib.constant(array) for array in arrays]
    if order == 1:
        return slopes(lib, f, sources, squared)
    with lib.GradientTape() as tape:
        tape.watch(sources)
        first = slopes(lib, f, sources, squared)
        total = weighted(lib, first, False)
    return gradient(lib, tape, total, sources)


def slopes(lib: Any, f: Callable[..., Any], sources: list[Any], squared: bool) -> list[Any]:
    with lib.GradientTape() as tape:
        tape.watch(sources)
        total = weighted(lib, f(*sources), squared)
    return gradient(lib, tape, total, sources)


def gradient(lib: Any, tape: Any, total: Any, sources: list[Any]) -> list[Any]:
    found = tape.gradient(total, sources)
    return ["None" if grad is None else lib.convert_to_tensor(grad) for grad in found]


def weighted(lib: Any, results: Any, squared: bool) -> Any:
    """A number made of all fractions among the results; of phases and signs nothing is seen when it is `squared`."""
    total = lib.constant(0.0, lib.float64)
    for y in lib.nest.flatten(results):
        if not hasattr(y, "dtype") or not (y.dtype.is_floating or y.dtype.is_complex):
            continue
        y = lib.convert_to_tensor(y)
        parts = [lib.math.real(y), lib.math.imag(y)] if y.dtype.is_complex else [y]
        if squared:
            parts = [sum(part * part for part in parts)]
        for number, part in enumerate(parts):
            part = lib.cast(part, lib.float64)
            weights = np.cos(np.arange(np.prod(part.shape)) * 1.3 + 1.0 + number).reshape(part.shape)
            total += lib.reduce_sum(part * weights)
    return total
