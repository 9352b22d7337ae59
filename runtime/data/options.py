"""`Options`: settings of a pipeline. They are stored and merged, without effect in this runtime."""

from __future__ import annotations

import enum
from typing import Any


class _Group:
    """Named options, None until they are set; unknown names are refused."""

    __slots__ = ("__dict__", "_is_frozen")
    _names: tuple[str, ...] = ()
    _groups: dict[str, type[_Group]] = {}  # never changed

    def __init__(self) -> None:
        object.__setattr__(self, "_is_frozen", False)
        for name, kind in self._groups.items():
            object.__setattr__(self, name, kind())

    def __getattr__(self, name: str) -> Any:
        if name in self._names:
            return None
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_frozen:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                "`tf.data.Dataset.with_options(options)` to set or update dataset options."
            )
        if name not in self._names and name not in self._groups:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def _update(self, other: _Group) -> None:
        for name in self._names:
            if (value := vars(other).get(name)) is not None:
                object.__setattr__(self, name, value)
        for name in self._groups:
            getattr(self, name)._update(getattr(other, name))

    def freeze(self) -> None:
        """Refuse changes from now on: a dataset has these options."""
        object.__setattr__(self, "_is_frozen", True)
        for name in self._groups:
            getattr(self, name).freeze()


class AutoShardPolicy(enum.IntEnum):
    """The way in which a dataset is split among workers.

    >>> options = Options()
    >>> options.experimental_distribute.auto_shard_policy = AutoShardPolicy.DATA
    """

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """The handling of state outside of a dataset when the dataset is serialized.

    >>> options = Options()
    >>> options.experimental_external_state_policy = ExternalStatePolicy.FAIL
    """

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """The algorithm that tunes buffers and parallelism.

    >>> options = Options()
    >>> options.autotune.autotune_algorithm = AutotuneAlgorithm.HILL_CLIMB
    """

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutotuneOptions(_Group):
    """Options of the tuning of buffers and parallelism.

    >>> options = Options()
    >>> options.autotune.enabled = False
    """

    _names = (
        "enabled",
        "cpu_budget",
        "ram_budget",
        "autotune_algorithm",
        "initial_parallelism",
        "min_parallelism",
    )


class ThreadingOptions(_Group):
    """The maximum numbers of threads.

    >>> options = Options()
    >>> options.threading.private_threadpool_size = 2
    """

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class DistributeOptions(_Group):
    """The distribution of datasets to workers.

    >>> Options().experimental_distribute.auto_shard_policy.name
    'AUTO'
    """

    _names = ("auto_shard_policy", "num_devices")
    auto_shard_policy = AutoShardPolicy.AUTO


class OptimizationOptions(_Group):
    """The allowed rewrites of a pipeline.

    >>> options = Options()
    >>> options.experimental_optimization.map_fusion = True
    """

    _names = (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
        "noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
    )  # fmt: skip


class ServiceOptions(_Group):
    """Options of the tf.data service.

    >>> ServiceOptions().pinned is None
    True
    """

    _names = ("pinned",)


class Options(_Group):
    """Options for `Dataset.with_options`.

    >>> options = Options()
    >>> options.deterministic = True
    >>> options.merge(Options()).deterministic
    True
    """

    _names = (
        "dataset_name", "deterministic", "experimental_deterministic", "experimental_external_state_policy",
        "experimental_slack", "experimental_symbolic_checkpoint", "experimental_warm_start", "framework_type",
    )  # fmt: skip
    _groups = {  # never changed
        "autotune": AutotuneOptions, "threading": ThreadingOptions,
        "experimental_distribute": DistributeOptions, "experimental_optimization": OptimizationOptions,
        "experimental_service": ServiceOptions,
    }  # fmt: skip

    @property
    def experimental_threading(self) -> ThreadingOptions:
        """The older name of `threading`."""
        threading: ThreadingOptions = vars(self)["threading"]
        return threading

    def merge(self, options: Options) -> Options:
        """Return the merged options; `options` has precedence."""
        merged = Options()
        merged._update(self)
        merged._update(options)
        return merged
