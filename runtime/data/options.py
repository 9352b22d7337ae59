"""`Options`: what a program says about how a pipeline is to run. It is kept and merged; this runtime needs no hints."""

from __future__ import annotations

import enum
from typing import Any


class _Group:
    """Options with names, None until they are set; a name that there is not is refused."""

    _names: tuple[str, ...] = ()
    _groups: dict[str, type[_Group]] = {}  # never changed

    def __init__(self) -> None:
        for name in self._names:
            object.__setattr__(self, name, None)
        for name, kind in self._groups.items():
            object.__setattr__(self, name, kind())

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._names and name not in self._groups:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def _update(self, other: _Group) -> None:
        for name in self._names:
            if (value := getattr(other, name)) is not None:
                object.__setattr__(self, name, value)
        for name in self._groups:
            getattr(self, name)._update(getattr(other, name))


class AutoShardPolicy(enum.IntEnum):
    """How a dataset is split among workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class ExternalStatePolicy(enum.Enum):
    """What is done about state outside of a dataset when it is written down."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class AutotuneAlgorithm(enum.Enum):
    """How buffers and parallelism are tuned."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class AutotuneOptions(_Group):
    """How buffers and parallelism are tuned."""

    _names = (
        "enabled",
        "cpu_budget",
        "ram_budget",
        "autotune_algorithm",
        "initial_parallelism",
        "min_parallelism",
    )


class ThreadingOptions(_Group):
    """How many threads there may be."""

    _names = ("max_intra_op_parallelism", "private_threadpool_size")


class DistributeOptions(_Group):
    """How datasets are split among workers."""

    _names = ("auto_shard_policy", "num_devices")


class OptimizationOptions(_Group):
    """Which rewrites a pipeline may undergo."""

    _names = (
        "apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
        "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
        "noop_elimination", "parallel_batch", "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
    )  # fmt: skip


class ServiceOptions(_Group):
    """About a service that runs pipelines elsewhere."""

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
        """Both together; `options` wins where both say something."""
        merged = Options()
        merged._update(self)
        merged._update(options)
        return merged
