"""Random numbers. Those of stateless operations are the same in TensorFlow, which uses the same algorithm."""

from __future__ import annotations

from typing import Any

from ..body import Body
from ..nodes import NodeResult
from ..rule_registry import CHANGED_NUMBERS, RefusedByRuleError, direct, refuse, writes
from .shapes import cast, scalar

direct("random_index_shuffle=RandomIndexShuffle")

refuse(
    "stream_state stream_after stream_after_drawing",
    "the state of a random stream; compilers make it, no program has it",
)

CHANGED_NUMBERS |= {
    "random_uniform", "random_normal", "random_truncated_normal", "random_integers", "random_shuffle",
    "random_categorical", "uniform_candidates", "log_uniform_candidates", "weighted_candidates",
}  # fmt: skip


PHILOX = 1
"""TensorFlow's number of the algorithm."""


def _is_state(seed: NodeResult) -> bool:
    """Return whether a seed is the state of a generator: a counter of two numbers, and a key."""
    return seed.shape == (3,)


def _seeded(
    to: Body, node: str, shape: NodeResult, seed: NodeResult, *bounds: NodeResult, **attributes: Any
) -> Any:
    """Add the operation for a seed, or its second version for a state."""
    if not _is_state(seed):
        return to.add(node, shape, seed, *bounds, **attributes)
    parts = to.Bitcast(seed, type="uint64")
    counter, key = to.Slice(parts, [0], [2]), to.Slice(parts, [2], [1])
    return to.add(f"{node}V2", shape, key, counter, PHILOX, *bounds, **attributes)


@writes("stateless_random_uniform")
def _(to: Body, shape: NodeResult, seed: NodeResult, dtype: Any) -> Any:
    return _seeded(to, "StatelessRandomUniform", shape, seed, dtype=dtype)


@writes("stateless_random_normal")
def _(to: Body, shape: NodeResult, seed: NodeResult, dtype: Any) -> Any:
    return _seeded(to, "StatelessRandomNormal", shape, seed, dtype=dtype)


@writes("stateless_random_truncated_normal")
def _(to: Body, shape: NodeResult, seed: NodeResult, dtype: Any) -> Any:
    return _seeded(to, "StatelessTruncatedNormal", shape, seed, dtype=dtype)


@writes("stateless_random_integers")
def _(to: Body, shape: NodeResult, seed: NodeResult, minval: NodeResult, maxval: NodeResult) -> Any:
    return _seeded(to, "StatelessRandomUniformInt", shape, seed, minval, maxval)


@writes("full_integers")
def _(to: Body, shape: NodeResult, seed: NodeResult, dtype: Any) -> Any:
    return _seeded(to, "StatelessRandomUniformFullInt", shape, seed, dtype=dtype)


@writes("gamma_variates")
def _(to: Body, shape: NodeResult, seed: NodeResult, alpha: NodeResult) -> Any:
    return to.StatelessRandomGammaV2(shape, _two(seed), alpha)


def _two(seed: NodeResult) -> NodeResult:
    if _is_state(seed):
        raise RefusedByRuleError("TensorFlow draws from this distribution by a seed only, not by a generator")
    return seed


@writes("poisson_variates")
def _(to: Body, shape: NodeResult, seed: NodeResult, lam: NodeResult, dtype: Any) -> Any:
    return to.StatelessRandomPoisson(shape, _two(seed), lam, dtype=dtype)


@writes("binomial_variates")
def _(
    to: Body, shape: NodeResult, seed: NodeResult, counts: NodeResult, probs: NodeResult, dtype: Any
) -> Any:
    kind = (
        "float64"
        if "float64" in (counts.dtype, probs.dtype)
        else "float32"
        if counts.kind != "f"
        else counts.dtype
    )
    return to.StatelessRandomBinomial(
        shape, _two(seed), cast(to, counts, kind), cast(to, probs, kind), dtype=dtype
    )


@writes("bounded_normals")
def _(to: Body, shape: NodeResult, seed: NodeResult, *parameters: NodeResult) -> Any:
    return to.StatelessParameterizedTruncatedNormal(shape, _two(seed), *parameters)


@writes("seeded_categorical")
def _(to: Body, logits: NodeResult, num_samples: NodeResult, seed: NodeResult, dtype: Any) -> Any:
    return to.StatelessMultinomial(logits, scalar(to, num_samples), _two(seed), output_dtype=dtype)


def _drawn(node: str) -> Any:
    def rule(to: Body, shape: NodeResult, dtype: Any, seed: int, seed2: int, stream: int) -> Any:
        return to.add(node, shape, dtype=dtype, seed=seed, seed2=seed2)

    return rule


_DRAWN = {
    "random_uniform": "RandomUniform",
    "random_normal": "RandomStandardNormal",
    "random_truncated_normal": "TruncatedNormal",
}
for _name, _node in _DRAWN.items():
    writes(_name)(_drawn(_node))


@writes("random_integers")
def _(
    to: Body, shape: NodeResult, minval: NodeResult, maxval: NodeResult, seed: int, seed2: int, stream: int
) -> Any:
    return to.RandomUniformInt(shape, minval, maxval, seed=seed, seed2=seed2)


@writes("random_shuffle")
def _(to: Body, value: NodeResult, seed: int, seed2: int, stream: int) -> Any:
    return to.RandomShuffle(value, seed=seed, seed2=seed2)


@writes("random_categorical")
def _(
    to: Body, logits: NodeResult, num_samples: NodeResult, dtype: Any, seed: int, seed2: int, stream: int
) -> Any:
    count = scalar(to, num_samples)
    return to.Multinomial(logits, count, seed=seed, seed2=seed2, output_dtype=dtype)


@writes("all_candidates")
def _(to: Body, true_classes: NodeResult, num_true: int, num_sampled: int) -> Any:
    return to.AllCandidateSampler(
        cast(to, true_classes, "int64"), num_true=num_true, num_sampled=num_sampled, unique=True
    )


@writes("uniform_candidates")
def _(to: Body, true_classes: NodeResult, stream: int, **settings: Any) -> Any:
    return to.UniformCandidateSampler(cast(to, true_classes, "int64"), **settings)


@writes("log_uniform_candidates")
def _(to: Body, true_classes: NodeResult, stream: int, **settings: Any) -> Any:
    return to.LogUniformCandidateSampler(cast(to, true_classes, "int64"), **settings)


refuse("weighted_candidates", "TensorFlow takes the weights as an attribute, not as a tensor")
refuse("seeded_shuffle", "TensorFlow composes it of other operations, with other random numbers")
