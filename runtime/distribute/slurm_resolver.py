"""The resolver of a job step of Slurm, which describes its tasks in environment variables.

SLURM_STEP_NODELIST=n[1-2] SLURM_STEP_TASKS_PER_NODE=2(x2) SLURM_PROCID=3
    ==>     n1:8888 n1:8889 n2:8888 n2:8889, task_type "worker", task_id 3
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from ..core.export import export
from ..train.cluster_spec import ClusterSpec
from .cluster_resolvers import ClusterResolver


@export("distribute.cluster_resolver.SlurmClusterResolver")
class SlurmClusterResolver(ClusterResolver):
    """A resolver that reads the variables of a job step of Slurm: `srun python program.py` sets them.

    Ranks follow the order in which Slurm lists the nodes; TensorFlow sorts the nodes by name.

    Args:
        jobs: a dict from the names of jobs to numbers of tasks. Default: all tasks are workers.
        port_base: the port of the first task of each node; the next tasks have the next ports.
        gpus_per_node, gpus_per_task: numbers of GPUs. Default: the number of CUDA_VISIBLE_DEVICES, divided evenly.
        tasks_per_node: the number of tasks of each node, or a dict from the nodes to numbers.
        auto_set_gpu: whether CUDA_VISIBLE_DEVICES is set to the GPUs of this task.
        rpc_layer: the protocol before addresses.

    Raises RuntimeError if a variable is missing, or `jobs` has another number of tasks than Slurm.

    >>> import os
    >>> os.environ |= {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NODELIST": "n[08-09]"}
    >>> resolver = SlurmClusterResolver(tasks_per_node=1, gpus_per_node=1, auto_set_gpu=False)
    >>> resolver.cluster_spec(), resolver.get_task_info()
    (ClusterSpec({'worker': ['n08:8888', 'n09:8888']}), ('worker', 1))
    >>> for name in ("PROCID", "STEP_NUM_TASKS", "STEP_NODELIST"):
    ...     _ = os.environ.pop(f"SLURM_{name}", None)
    """

    def __init__(
        self,
        jobs: Mapping[str, int] | None = None,
        port_base: int = 8888,
        gpus_per_node: int | None = None,
        gpus_per_task: int | None = None,
        tasks_per_node: int | Mapping[str, int] | None = None,
        auto_set_gpu: bool = True,
        rpc_layer: str | None = "grpc",
    ) -> None:
        jobs = {"worker": _number("STEP_NUM_TASKS")} if jobs is None else jobs
        nodes, rank = _tasks_by_node(tasks_per_node), _number("PROCID")
        tasks = [(job, index) for job in sorted(jobs) for index in range(jobs[job])]
        places = [(node, index) for node, count in nodes.items() for index in range(count)]
        if len(tasks) != len(places):
            raise RuntimeError(f"Requested {len(tasks)} tasks but only {len(places)} were assigned.")
        if rank >= len(tasks):
            raise RuntimeError(f"SLURM_PROCID is {rank}, but there are {len(tasks)} tasks.")
        self.rpc_layer, (self.task_type, self.task_id) = rpc_layer, tasks[rank]
        self._gpus = _gpus_per_task(gpus_per_node, gpus_per_task, max(nodes.values()))
        self._jobs: dict[str, list[str]] = {}
        for (job, _), (node, index) in zip(tasks, places, strict=True):
            self._jobs.setdefault(job, []).append(f"{node}:{port_base + index}")
        if auto_set_gpu and self._gpus:
            first = places[rank][1] * self._gpus
            os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, range(first, first + self._gpus)))

    def cluster_spec(self) -> ClusterSpec:
        """Return the addresses of all tasks."""
        return ClusterSpec(self._jobs)

    def get_task_info(self) -> tuple[str | None, int | None]:
        """Return the job of this process, and its number in the job."""
        return self.task_type, self.task_id

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> Mapping[str, int]:
        """Return the number of GPUs of a task."""
        return {"GPU": self._gpus}


def _variable(name: str) -> str:
    try:
        return os.environ[f"SLURM_{name}"]
    except KeyError:
        raise RuntimeError(
            f"SLURM_{name} not found in environment. Not running inside a SLURM step?"
        ) from None


def _number(name: str) -> int:
    text = _variable(name)
    if not text.isdecimal():
        raise ValueError(f"SLURM_{name} must be a number, not {text!r}")
    return int(text)


def _tasks_by_node(given: int | Mapping[str, int] | None) -> dict[str, int]:
    if isinstance(given, Mapping):
        return dict(given)
    nodes = _nodes(_variable("STEP_NODELIST"))
    counts = _counts(_variable("STEP_TASKS_PER_NODE")) if given is None else [given] * len(nodes)
    if not nodes or len(nodes) != len(counts):
        raise ValueError(
            f"SLURM_STEP_NODELIST has {len(nodes)} nodes, but there are {len(counts)} counts of tasks"
        )
    return dict(zip(nodes, counts, strict=True))


def _gpus_per_task(in_node: int | None, in_task: int | None, tasks: int) -> int:
    if in_node is None:
        in_node = len([gpu for gpu in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu])
    found = in_node // max(tasks, 1) if in_task is None else in_task
    if tasks * found > in_node:
        raise RuntimeError("Requested more GPUs per node than available.")
    return found


def _nodes(text: str) -> list[str]:
    """Expand a list of nodes.

    >>> _nodes("n[08-10,12],m5")
    ['n08', 'n09', 'n10', 'n12', 'm5']
    """
    parts = re.findall(r"(?:[^,\[\]]|\[[^\[\]]*\])+", text)
    if ",".join(parts) != text:
        raise ValueError(f'Invalid hostlist format "{text}"')
    return [node for part in parts for node in _expanded(part)]


def _expanded(part: str) -> list[str]:
    prefix, bracket, rest = part.partition("[")
    if not bracket:
        return [prefix]
    ranges, _, suffix = rest.partition("]")
    numbers = []
    for each in ranges.split(","):
        if not (found := re.fullmatch(r"(\d+)(?:-(\d+))?", each)):
            raise ValueError(f'Invalid hostlist format "{part}"')
        low, high = found[1], found[2] or found[1]
        numbers += [str(number).zfill(len(low)) for number in range(int(low), int(high) + 1)]
    return [prefix + number + end for number in numbers for end in _expanded(suffix)]


def _counts(text: str) -> list[int]:
    """Expand numbers of tasks.

    >>> _counts("3(x2),1")
    [3, 3, 1]
    """
    found = [re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", part) for part in text.split(",")]
    if None in found:
        raise ValueError(f'Invalid tasks-per-node list format "{text}"')
    return [int(each[1]) for each in found if each for _ in range(int(each[2] or 1))]
