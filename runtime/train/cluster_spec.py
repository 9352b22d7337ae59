"""`ClusterSpec`: the network addresses of the tasks of each job.

{"worker": ["host0:2222", "host1:2222"]}     ==>     task 1 of the job "worker" is at host1:2222
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.export import export


@export("train.ClusterSpec")
class ClusterSpec:
    """The addresses of a cluster, by job and number of the task.

    Args:
        cluster: a dict from names of jobs to lists of "host:port", or to dicts from task numbers to these; or a
            `ClusterSpec`.

    Raises TypeError for something else.

    >>> spec = ClusterSpec({"worker": ["host0:2222", "host1:2222"]})
    >>> spec.num_tasks("worker"), spec.task_address("worker", 1)
    (2, 'host1:2222')
    """

    def __init__(self, cluster: Any) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if not isinstance(cluster, Mapping):
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses"
            )
        self._jobs = {job: _tasks(job, cluster[job]) for job in sorted(cluster)}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._jobs == other._jobs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()})"

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def as_dict(self) -> dict[str, Any]:
        """Return a dict from jobs to lists of addresses; to dicts where task numbers are missing."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def num_tasks(self, job_name: str) -> int:
        """Return the number of tasks of a job. Raises ValueError for an unknown job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Return the numbers of the tasks of a job. Raises ValueError for an unknown job."""
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Return the address of a task. Raises ValueError for an unknown job or task."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Return the addresses of a job by number; None where a number is missing. ValueError for an unknown job."""
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._jobs:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._jobs[name]


def _tasks(job: str, given: Any) -> dict[int, str]:
    if isinstance(given, (list, tuple)):
        return {index: str(address) for index, address in enumerate(given)}
    if isinstance(given, Mapping):
        return {int(index): str(given[index]) for index in sorted(given, key=int)}
    raise TypeError(
        f"The tasks for job {job!r} must be a list or a dictionary from integers to strings, not {given!r}."
    )
