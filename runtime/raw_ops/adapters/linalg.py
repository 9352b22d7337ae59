"""Adapters of decompositions, whose vectors are optional results."""

from __future__ import annotations

from typing import Any

import agc.runtime as tf

from .arrays import bounds, static


def eigh(input: Any, compute_v: bool) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors of self-adjoint matrices; no vectors unless `compute_v`."""
    if compute_v:
        return tuple(tf.linalg.eigh(input))  # type: ignore[return-value]
    values = tf.linalg.eigvalsh(input)
    return values, tf.zeros([0], values.dtype)


def eig(input: Any, dtype: Any, compute_v: bool) -> tuple[Any, Any]:
    """Return eigenvalues and eigenvectors; no vectors unless `compute_v`."""
    if compute_v:
        values, vectors = tf.linalg.eig(input)
        return tf.cast(values, dtype), tf.cast(vectors, dtype)
    return tf.cast(tf.linalg.eigvals(input), dtype), tf.zeros([0], dtype)


def svd(input: Any, compute_uv: bool, full_matrices: bool) -> tuple[Any, Any, Any]:
    """Return singular values, and the left and right singular vectors; no vectors unless `compute_uv`."""
    if compute_uv:
        return tuple(tf.linalg.svd(input, full_matrices))
    values = tf.linalg.svd(input, compute_uv=False)
    none = tf.zeros([0], tf.convert_to_tensor(input).dtype)
    return values, none, none


def matrix_diag(diagonal: Any, k: Any, rows: Any, columns: Any, padding: Any, align: str) -> Any:
    """Return matrices with these diagonals."""
    return tf.linalg.diag(
        diagonal,
        k=bounds(k),
        num_rows=static(rows),
        num_cols=static(columns),
        padding_value=padding,
        align=align,
    )
