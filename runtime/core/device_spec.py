"""`tf.DeviceSpec`: the parts of a device's name.

>>> DeviceSpec(job="worker", task=1, device_type="CPU", device_index=0).to_string()
'/job:worker/task:1/device:CPU:0'
"""

from __future__ import annotations

from typing import Any

from .devices import DeviceName, parsed
from .export import export


@export("DeviceSpec")
class DeviceSpec:
    """The name of a device in parts, each of which may be None. Specs with equal parts are equal.

    >>> DeviceSpec(job="worker", task=1, device_type="CPU", device_index=0).to_string()
    '/job:worker/task:1/device:CPU:0'
    >>> DeviceSpec.from_string("/job:worker/task:1").task
    1
    """

    __slots__ = ("_name",)

    def __init__(
        self,
        job: str | None = None,
        replica: int | str | None = None,
        task: int | str | None = None,
        device_type: str | None = None,
        device_index: int | str | None = None,
    ) -> None:
        numbers = (None if part is None else int(part) for part in (replica, task, device_index))
        replica, task, index = numbers
        kind = None if device_type is None else str(device_type).upper()
        self._name = DeviceName(None if job is None else str(job), replica, task, kind, index)

    @property
    def job(self) -> str | None:
        """The name of the job, such as "worker"; None if it is not given."""
        return self._name.job

    @property
    def replica(self) -> int | None:
        """The number of the replica, or None."""
        return self._name.replica

    @property
    def task(self) -> int | None:
        """The number of the task, or None."""
        return self._name.task

    @property
    def device_type(self) -> str | None:
        """The kind of device in capital letters, such as "CPU", or None."""
        return self._name.kind

    @property
    def device_index(self) -> int | None:
        """The number of the device, or None."""
        return self._name.number

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """Return the spec of a device's name. Raises ValueError for a name that is not one."""
        return cls._of(parsed(spec))

    @classmethod
    def _of(cls, name: DeviceName) -> DeviceSpec:
        return cls(*name)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Return the spec of a device's name, as `from_string` does."""
        return self.from_string(spec)

    def to_string(self) -> str:
        """Return the name of the device, without the parts that are None."""
        return str(self._name)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """Return a spec with the parts of `dev`; the parts that it lacks are those of this spec."""
        return self._of(dev._name.within(self._name))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """Return a spec with some parts replaced, by the names of the constructor's parameters."""
        names = ("job", "replica", "task", "device_type", "device_index")
        return type(self)(**{name: getattr(self, name) for name in names} | kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._name == other._name

    def __hash__(self) -> int:
        return hash(self._name)

    def __str__(self) -> str:
        return self.to_string()

    def __repr__(self) -> str:
        return f"<DeviceSpec({self.to_string()!r})>"
