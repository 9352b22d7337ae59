"""`Generator`: random numbers from a state variable, equal to TensorFlow's.

    g = Generator.from_seed(1)      g.normal([2])      g.normal([2])  → other numbers; the state has advanced

The state of Philox is three integers: the counter, its lower half first, and the key.
"""

from __future__ import annotations

import enum
import os
from typing import Any

import numpy as np

from ... import dtypes
from ...core import shapes
from ...core.conversion import convert_to_tensor
from ...core.export import export
from ...core.tensor import Tensor
from ...core.variable import Variable
from ...ir.builder import eagerly
from ...kernels.random.distributions import BLOCKS_PER_ELEMENT
from ..arrays.concat_split import concat, stack, unstack
from ..arrays.creation import zeros_like
from ..arrays.reshape import reshape
from ..arrays.shape_ops import shape as shape_of
from ..math.cast import cast
from .rng_state import generator_state
from .stateful_distributions import number_of
from .stateless import (
    stateless_random_integers,
    stateless_random_normal,
    stateless_random_truncated_normal,
    stateless_random_uniform,
)
from .stateless_distributions import binomial_variates, check_ending, full_integers

_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


@export("random.Algorithm", "random.experimental.Algorithm")
class Algorithm(enum.Enum):
    """The algorithms for random bits. ThreeFry is not implemented.

    >>> Algorithm.PHILOX.name
    'PHILOX'
    """

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


_SIZES = {Algorithm.PHILOX: 3, Algorithm.THREEFRY: 2}


def _algorithm(alg: Any) -> Algorithm:
    """Return the Algorithm of a number or name; Philox for None."""
    if alg is None:
        return Algorithm.PHILOX
    if isinstance(alg, str):
        names = {"philox": Algorithm.PHILOX, "threefry": Algorithm.THREEFRY, "auto_select": Algorithm.PHILOX}
        if alg not in names:
            raise ValueError(
                f"Argument `alg` got unsupported string value {alg}. Supported: {', '.join(names)}"
            )
        return names[alg]
    found = alg if isinstance(alg, Algorithm) else Algorithm(int(alg))
    return Algorithm.PHILOX if found is Algorithm.AUTO_SELECT else found


@export("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed: Any, alg: Any) -> Tensor:
    """Return a generator's state for a seed: an integer, or at most as many integers as the state has.

    >>> [create_rng_state(seed, "philox").numpy().tolist() for seed in (5, [1, 2])]
    [[5, 0, 0], [0, 1, 2]]
    """
    size = _SIZES[_algorithm(alg)]
    if isinstance(seed, int):
        words = [seed >> 64 * i & (1 << 64) - 1 for i in range(size)]
        return convert_to_tensor(np.array(words, np.uint64).view(np.int64))
    given = np.ravel(seed.numpy() if hasattr(seed, "numpy") else seed)
    if len(given) > size:
        raise ValueError(f"a seed for this algorithm has at most {size} numbers, not {len(given)}")
    return convert_to_tensor(np.concatenate([np.zeros(size - len(given), np.int64), given.astype(np.int64)]))


@export("random.Generator", "random.experimental.Generator")
class Generator:
    """A source of random numbers with its own state.

    Args:
        copy_from: another generator; its state and algorithm are copied.
        state: three integers; requires `alg`.
        alg: "philox" or its number.

    The usual constructors are `from_seed`, `from_state`, `from_key_counter` and `from_non_deterministic_state`.

    >>> generator = Generator.from_seed(1234)
    >>> generator.normal([2]).numpy().tolist()
    [0.9356608986854553, 1.0854305028915405]
    >>> generator.state.numpy().tolist()
    [1746, 0, 0]
    """

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            if state is not None or alg is not None:
                raise ValueError("Generator takes either `copy_from`, or `state` and `alg`")
            self._alg = copy_from._alg
            start: Any = copy_from.state.read_value()
        else:
            if state is None:
                raise ValueError("Generator needs `copy_from`, or `state` and `alg`")
            self._alg = _algorithm(alg)
            start = state.read_value() if isinstance(state, Variable) else state
        size = _SIZES[self._alg]
        value = _whole(start)
        if not shapes.compatible(shapes.as_dims(value.shape), (size,)):
            raise ValueError(f"Shapes {value.shape} and [{size}] are incompatible")
        self._state = Variable(value, dtype=dtypes.int64, trainable=False, name="StateVar")

    def __children__(self) -> dict[str, Variable]:
        """Return the state under its name in checkpoints."""
        return {"_state_var": self._state}

    @classmethod
    def from_state(cls, state: Any, alg: Any) -> Generator:
        """Return a generator with this initial state."""
        return cls(state=state, alg=alg)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """Return a generator with this seed: an integer, or up to three."""
        return cls(state=create_rng_state(seed, alg), alg=_algorithm(alg))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """Return a generator seeded with random bits of the system."""
        kind = _algorithm(alg)
        return cls(state=np.frombuffer(os.urandom(8 * _SIZES[kind]), np.int64), alg=kind)

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: Any) -> Generator:
        """Return a generator with this key and this initial counter, a vector of two integers."""
        return cls(state=_joined(key, counter), alg=alg)

    @property
    def state(self) -> Variable:
        """The variable with the state."""
        return self._state

    @property
    def algorithm(self) -> int:
        """The number of the algorithm; see `Algorithm`."""
        return int(self._alg.value)

    @property
    def key(self) -> Any:
        """The key, which draws do not change."""
        return self._state.read_value()[-1]

    def reset(self, state: Any) -> None:
        """Replace the state."""
        self._state.assign(_whole(state))

    def reset_from_seed(self, seed: Any) -> None:
        """Restart with this seed."""
        self._state.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key: Any, counter: Any) -> None:
        """Restart with this key and counter."""
        self._state.assign(_joined(key, counter))

    def skip(self, delta: Any) -> Tensor:
        """Skip `delta` numbers; return the previous state."""
        return self._skipped(cast(convert_to_tensor(delta), dtypes.int64) * BLOCKS_PER_ELEMENT)

    def _skipped(self, blocks: Any) -> Tensor:
        """Skip blocks, and return the previous state. In a replica, its key is that of the replica."""
        variable = self._state
        components = getattr(variable, "values", ()) if variable._bound is variable else ()
        state, *_ = [generator_state(one, blocks) for one in components or (variable._here,)]
        replica = getattr(variable, "replica_id", None)
        if replica is None:
            return state  # type: ignore[no-any-return]
        key = full_integers([1], concat([[cast(replica, dtypes.int64), 0], state[-1:]], 0), dtypes.int64)
        return concat([state[:-1], key], 0)  # type: ignore[no-any-return]

    def _reserved(self, shape: Any) -> Tensor:
        return self.skip(number_of(shape))

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
    ) -> Tensor:
        """Return numbers from the normal distribution."""
        kind = _fraction(dtype)
        drawn = stateless_random_normal(shape, self._reserved(shape), kind, name)
        return drawn * convert_to_tensor(stddev, kind) + convert_to_tensor(mean, kind)  # type: ignore[no-any-return]

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
    ) -> Tensor:
        """Return numbers from the normal distribution, none further than two deviations from the mean."""
        kind = _fraction(dtype)
        drawn = stateless_random_truncated_normal(shape, self._reserved(shape), kind, name)
        return drawn * convert_to_tensor(stddev, kind) + convert_to_tensor(mean, kind)  # type: ignore[no-any-return]

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Any = None
    ) -> Tensor:
        """Return numbers in [minval, maxval). Integers with both bounds None are uniform over the full range."""
        kind = dtypes.as_dtype(dtype)
        if not kind.is_integer:
            low = convert_to_tensor(minval, kind)
            high = convert_to_tensor(1 if maxval is None else maxval, kind)
            unit = stateless_random_uniform(shape, self._reserved(shape), _fraction(kind), name)
            return unit * (high - low) + low  # type: ignore[no-any-return]
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer dtype {kind!r}, minval and maxval must be both `None` or both non-`None`; "
                f"got minval={minval} and maxval={maxval}"
            )
        if maxval is None:
            return self.uniform_full_int(shape, kind, name)
        bounds = convert_to_tensor(minval, kind), convert_to_tensor(maxval, kind)
        return stateless_random_integers(shape, self._reserved(shape), *bounds, name)  # type: ignore[no-any-return]

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: Any = None) -> Tensor:
        """Return integers uniform over the full range of `dtype`."""
        return full_integers(shape, self._reserved(shape), dtype, name)  # type: ignore[no-any-return]

    def binomial(
        self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32, name: Any = None
    ) -> Tensor:
        """Return how many of `counts` trials succeed; `shape` ends with the broadcast shape of `counts` and `probs`."""
        chances = convert_to_tensor(probs)
        trials = counts if isinstance(counts, Tensor) else convert_to_tensor(counts, chances.dtype)
        check_ending(convert_to_tensor(shape, dtypes.int32), trials, chances)
        state = self._skipped(_binomial_blocks(shape, chances, trials))
        return binomial_variates(shape, state, trials, chances, dtype, name)  # type: ignore[no-any-return]

    def make_seeds(self, count: Any = 1) -> Tensor:
        """Return `count` seeds for stateless functions, the columns of a matrix."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return stack([keys, zeros_like(keys)])  # type: ignore[no-any-return]

    def split(self, count: int = 1) -> list[Generator]:
        """Return `count` generators, independent of each other and of this one."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return [Generator(state=_joined(key, [0, 0]), alg=self._alg) for key in unstack(keys, count)]


def _whole(value: Any) -> Tensor:
    """Return an int64 tensor."""
    hint = None if isinstance(value, Tensor) else dtypes.int64
    return cast(convert_to_tensor(value, hint), dtypes.int64)


def _joined(key: Any, counter: Any) -> Tensor:
    return concat([reshape(_whole(part), [-1]) for part in (counter, key)], 0)  # type: ignore[no-any-return]


def _fraction(dtype: Any) -> dtypes.DType:
    kind = dtypes.as_dtype(dtype)
    if kind not in _FLOATS:
        names = ", ".join(map(repr, _FLOATS))
        raise ValueError(f"Argument `dtype` got invalid value {kind!r}. Accepted dtypes are ({names}).")
    return kind


def _binomial_blocks(shape: Any, probs: Tensor, counts: Tensor) -> Tensor:
    """Return the number of blocks that TensorFlow reserves: per batch, 50 outputs for each sample and three more."""
    whole = probs + cast(counts, probs.dtype)
    batches = number_of(shape_of(whole))
    samples = number_of(shape) // batches
    return cast(batches * 200 * (samples + 3) // 4, dtypes.int64) * BLOCKS_PER_ELEMENT


_global: list[Generator] = []


@export("random.experimental.get_global_generator", "random.get_global_generator")
def get_global_generator() -> Generator:
    """Return the global generator, shared by all parts of a program; it is seeded with random bits of the system.

    >>> get_global_generator() is get_global_generator()
    True
    """
    if not _global:
        with eagerly():
            _global.append(Generator.from_non_deterministic_state())
    return _global[0]


@export("random.experimental.set_global_generator", "random.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Replace the generator that `get_global_generator` returns; traced functions keep theirs.

    >>> set_global_generator(Generator.from_seed(1))
    >>> get_global_generator().state.numpy().tolist()
    [1, 0, 0]
    """
    _global[:] = [generator]
