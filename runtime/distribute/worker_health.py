"""The state of the other workers, by JAX's coordination service: lost, ended, or waiting in another collective.

worker 1 is killed     ==>     "worker 1 (host:port) has ended or cannot be reached"

A thread in each process calls the service once a second. The service returns the processes that send heartbeats.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .. import errors

ENDED = "agc/ended"
FIRST = "agc/first"
WAITING = "agc/waiting"
FOREVER = 1 << 40  # milliseconds; the caller watches
EVERY = 1.0
SLOW = 5.0
"""The seconds after which a worker publishes the collective in which it waits."""


class WorkerHealth:
    """The workers with these addresses, as this process sees them."""

    def __init__(self, client: Any, addresses: Sequence[str], rank: int) -> None:
        self._client = client
        self._addresses = addresses
        self._rank = rank
        self._live = set(range(len(addresses)))
        self._has_left = False
        self._counts: Counter[str] = Counter()
        self._published: str | None = None
        self._disagreement: tuple[float, str] | None = None
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._follow, name="worker health", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        everyone = list(range(len(self._addresses)))
        while not self._has_left:
            try:
                live = set(self._client.get_live_nodes(everyone))
                if self._has(ENDED):
                    live.discard(0)
            except Exception:  # the service is in worker 0
                live = {self._rank}
            with self._changed:
                self._live = live
                self._changed.notify_all()
            time.sleep(EVERY)

    def _has(self, key: str) -> bool:
        try:
            self._client.key_value_try_get(key)
        except Exception:
            return False
        return True

    @property
    def lost(self) -> list[int]:
        """The workers that have ended or cannot be reached."""
        return sorted(set(range(len(self._addresses))) - self._live - {self._rank})

    def described(self, workers: Sequence[int]) -> str:
        """Return the names of workers with their addresses."""
        return ", ".join(f"worker {one} ({self._addresses[one]})" for one in workers)

    def missing(self) -> str:
        """Return the reason for which a collective waits."""
        if not self.lost:
            return "all workers live, but not all of them run it"
        return f"{self.described(self.lost)} {'has' if len(self.lost) == 1 else 'have'} ended or cannot be reached"

    def await_lost(self, limit: float) -> str:
        """Return the reason for which a collective waits; a lost worker is known when its heartbeats are missing."""
        with self._changed:
            self._changed.wait_for(lambda: self.lost, limit)
        return self.missing()

    def check(self, what: str, waited: float) -> None:
        """Raise UnavailableError if a worker is lost, FailedPreconditionError if others run other ones."""
        if self.lost:
            raise errors.UnavailableError(f"{self.missing()}: worker {self._rank} waits for it in {what}")
        if waited > SLOW:
            self._compare(what)

    def _compare(self, what: str) -> None:
        if self._published != what:
            self._publish(what)
        found = dict(self._client.key_value_dir_get(WAITING))
        texts = [found.get(f"{WAITING}/{one}", "") for one in range(len(self._addresses))]
        if not all(texts) or len(set(texts)) == 1:
            self._disagreement = None
            return
        seen = "; ".join(f"worker {one} waits in {text}" for one, text in enumerate(texts))
        if self._disagreement is None or self._disagreement[1] != seen:
            self._disagreement = time.monotonic(), seen
        elif time.monotonic() - self._disagreement[0] > SLOW:
            raise errors.FailedPreconditionError(
                f"the workers run different collectives: {seen}. All must run the same ones, in the same order"
            )

    def _publish(self, what: str) -> None:
        self._published = what
        self._client.key_value_set(f"{WAITING}/{self._rank}", what, allow_overwrite=True)

    def clear(self) -> None:
        """Take back what this worker has published: its collective is done."""
        if self._published:
            self._publish("")
        self._disagreement = None

    def announce(self, topic: str, text: str) -> None:
        """Publish the next text about a topic."""
        self._client.key_value_set(self._next(topic), text, allow_overwrite=True)

    def awaited(self, topic: str) -> str:
        """Return the next text about a topic, once worker 0 has published it."""
        text: str = self._client.blocking_key_value_get(self._next(topic), FOREVER)
        return text

    def _next(self, topic: str) -> str:
        self._counts[topic] += 1
        return f"agc/{topic}/{self._counts[topic]}"

    def agree(self, count: int, what: str) -> None:
        """Compare a collective that this worker has not run before with that of worker 0, by their texts.

        Raises FailedPreconditionError if they differ.
        """
        if self._rank == 0:
            self._client.key_value_set(f"{FIRST}/{count}", what, allow_overwrite=True)
            return
        first = self._client.blocking_key_value_get(f"{FIRST}/{count}", FOREVER)
        if first != what:
            raise errors.FailedPreconditionError(
                f"the workers run different collectives: worker 0 runs {first}; worker {self._rank} runs {what}. All "
                "must run the same ones, in the same order, with the same shapes"
            )

    def leave(self) -> None:
        """Before the process ends: let worker 0, which runs the service, end after the others."""
        if self._rank == 0 and not self._has_left:
            self._client.key_value_set(ENDED, "", allow_overwrite=True)
            with self._changed:
                self._changed.wait_for(lambda: not self._live - {0}, FAILING if is_failing() else None)
        self._has_left = True

    def join(self) -> None:
        """Wait for the thread, after the client has been closed: it must not outlive the interpreter."""
        self._thread.join(FAILING)


FAILING = 3.0
"""The seconds that worker 0 waits for the others after an exception."""


def is_failing() -> bool:
    """Return whether an exception has ended the program."""
    return getattr(sys, "last_exc", None) is not None or getattr(sys, "last_value", None) is not None
