"""Resolvers of a cluster: they say which tasks there are, and which of them is this process.

TF_CONFIG='{"cluster": {"worker": ["host0:2222", "host1:2222"]}, "task": {"type": "worker", "index": 1}}'
    ==>     cluster_spec(), task_type "worker", task_id 1
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ..core.export import export
from ..train.cluster_spec import ClusterSpec


@export("distribute.cluster_resolver.ClusterResolver")
class ClusterResolver:
    """The base class of resolvers.

    >>> issubclass(SimpleClusterResolver, ClusterResolver)
    True
    """

    task_type: str | None = None
    task_id: int | None = None
    rpc_layer: str | None = None
    environment: str | None = ""

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks. Raises NotImplementedError: subclasses define it."""
        raise NotImplementedError

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the address of a task, by default of this one; an empty string if it is not in the cluster."""
        job = self.task_type if task_type is None else task_type
        index = self.task_id if task_id is None else task_id
        spec = self.cluster_spec()
        if job not in spec.jobs or index is None:
            return ""
        return _url(spec.task_address(job, index), rpc_layer or self.rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> Mapping[str, int]:
        """Return the number of accelerators by kind: there are none."""
        return {}


@export("distribute.cluster_resolver.SimpleClusterResolver")
class SimpleClusterResolver(ClusterResolver):
    """A resolver of a cluster that the program describes.

    `task_type` and `task_id` are those of this process. `rpc_layer`, such as "grpc", begins the addresses of `master`.

    >>> spec = ClusterSpec({"worker": ["host0:2222", "host1:2222"]})
    >>> SimpleClusterResolver(spec, task_type="worker", task_id=1).master("worker", 0)
    'host0:2222'
    """

    def __init__(
        self,
        cluster_spec: ClusterSpec,
        master: str = "",
        task_type: str | None = None,
        task_id: int | None = None,
        environment: str | None = "",
        num_accelerators: Mapping[str, int] | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a `tf.train.ClusterSpec`.")
        self._spec, self._master, self._accelerators = cluster_spec, master, num_accelerators or {}
        self.task_type, self.task_id = task_type, task_id
        self.environment, self.rpc_layer = environment, rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses that the program has given."""
        return self._spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the address of the task, or without arguments that of the master, which the program has given."""
        if task_type is None or task_id is None:
            return _url(self._master, rpc_layer or self.rpc_layer)
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> Mapping[str, int]:
        """Return the numbers that the program has given."""
        return self._accelerators


@export("distribute.cluster_resolver.TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """A resolver that reads the environment variable TF_CONFIG: JSON with `cluster` and `task`.

    Args:
        task_type, task_id, rpc_layer, environment: values to use instead of those in TF_CONFIG.

    Raises ValueError for text that is not JSON.

    >>> import os
    >>> os.environ["TF_CONFIG"] = '{"cluster": {"worker": ["host0:1", "host1:1"]}, "task": {"type": "worker"}}'
    >>> TFConfigClusterResolver().master(task_id=1)
    'host1:1'
    >>> del os.environ["TF_CONFIG"]
    """

    def __init__(
        self,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
        environment: str | None = None,
    ) -> None:
        self._type, self._id, self._layer, self._environment = task_type, task_id, rpc_layer, environment

    @property
    def task_type(self) -> str | None:  # type: ignore[override]
        """The job of this process, or None."""
        return self._type if self._type is not None else _task().get("type")

    @property
    def task_id(self) -> int | None:  # type: ignore[override]
        """The number of this process in its job, or None."""
        found = self._id if self._id is not None else _task().get("index")
        return None if found is None else int(found)

    @property
    def rpc_layer(self) -> str | None:  # type: ignore[override]
        """The protocol before addresses, or None."""
        return self._layer if self._layer is not None else _settings().get("rpc_layer")

    @property
    def environment(self) -> str | None:  # type: ignore[override]
        """The environment in which the program runs, or None."""
        return self._environment if self._environment is not None else _settings().get("environment")

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of `cluster` in TF_CONFIG; none if it is missing."""
        return ClusterSpec(_settings().get("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the address of a task, by default of this one; an empty string if the cluster has one task."""
        spec = self.cluster_spec()
        is_alone = sum(map(spec.num_tasks, spec.jobs)) <= 1
        return "" if is_alone else super().master(task_type, task_id, rpc_layer)


@export("distribute.cluster_resolver.UnionResolver")
class UnionResolver(ClusterResolver):
    """A resolver that merges the clusters of others. The first one names this task, the master and accelerators.

    Args:
        args: the resolvers. Lists of tasks of one job are joined; dicts of tasks are merged by number.
        task_type, task_id, rpc_layer: values to use instead of those of the first resolver.

    Raises ValueError without resolvers, and TypeError for something else.

    >>> workers, servers = ClusterSpec({"worker": ["host0:1"]}), ClusterSpec({"ps": ["host1:1"]})
    >>> UnionResolver(SimpleClusterResolver(workers), SimpleClusterResolver(servers)).cluster_spec()
    ClusterSpec({'ps': ['host1:1'], 'worker': ['host0:1']})
    """

    def __init__(
        self,
        *args: ClusterResolver,
        task_type: str | None = None,
        task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> None:
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if wrong := [each for each in args if not isinstance(each, ClusterResolver)]:
            raise TypeError(f"All arguments must be of subclasses of `ClusterResolver`, not {wrong[0]!r}.")
        self._resolvers = args
        self.task_type = args[0].task_type if task_type is None else task_type
        self.task_id = args[0].task_id if task_id is None else task_id
        self.rpc_layer = rpc_layer or args[0].rpc_layer
        self.environment = args[0].environment

    def cluster_spec(self) -> ClusterSpec:
        """Return the merged cluster. Raises KeyError if two resolvers give addresses of one task by its number."""
        merged: dict[str, Any] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                merged[job] = _merged(job, merged[job], tasks) if job in merged else tasks
        return ClusterSpec(merged)

    def master(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None
    ) -> str:
        """Return the address of the task, or without arguments that of the master of the first resolver."""
        if task_type is None or task_id is None:
            return self._resolvers[0].master(rpc_layer=rpc_layer)
        return super().master(task_type, task_id, rpc_layer)

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> Mapping[str, int]:
        """Return the numbers of the first resolver."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)


def _merged(job: str, first: Any, second: Any) -> Any:
    """Join two lists of tasks; merge them by number if one is a dict."""
    if isinstance(first, list) and isinstance(second, list):
        return first + second
    one, other = (dict(enumerate(each)) if isinstance(each, list) else each for each in (first, second))
    if both := one.keys() & other.keys():
        raise KeyError(f"Duplicate keys detected when merging two ClusterSpecs: {job} {sorted(both)}")
    return one | other


def _url(address: str, layer: str | None) -> str:
    return f"{layer}://{address}" if layer and address else address


def _task() -> dict[str, Any]:
    found: dict[str, Any] = _settings().get("task", {})
    return found


def _settings() -> dict[str, Any]:
    text = os.environ.get("TF_CONFIG", "{}")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the environment variable TF_CONFIG is not JSON: {error}: {text!r}") from None
    if not isinstance(found, dict):
        raise ValueError(f"the environment variable TF_CONFIG must hold a JSON object, not {text!r}")
    return found
