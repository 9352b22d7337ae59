"""The state of the other workers, by the key-value store of JAX's coordination service.

worker 1 is killed     ==>     "worker 1 (host:port) has ended or cannot be reached"

A thread in each process counts up a number of its own in the store, twice a second, and reads those of the others. A
worker whose number stays the same is lost. Time is counted in rounds of this thread, so that a machine that sleeps
loses no worker.
"""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .. import errors
from .service_relay import ServiceRelay

ALIVE = "agc/alive"
WAITING = "agc/waiting"
FIRST = "agc/first"
REFUSED = "agc/refused"
ENDED = "ended"

EVERY = 0.5
"""The seconds of a round."""

SILENT = 30.0
"""The seconds after which a silent worker is lost, unless AGC_WORKER_SILENCE has another number."""

SUSPECTED = 5
"""The rounds after which a silent worker is lost, if a collective operation has failed or is late."""

SLOW = 5.0
"""The seconds after which a worker publishes the collective operation in which it waits."""

FAILING = 10.0
"""The seconds that worker 0 waits at most for the others after an exception: they find out, and end as well."""

FOREVER = 1 << 40  # milliseconds; the caller watches


def silence_limit() -> int:
    """Return the number of rounds after which a silent worker is lost.

    Raises ValueError if AGC_WORKER_SILENCE is not a number of seconds from 1 on.
    """
    text = os.environ.get("AGC_WORKER_SILENCE") or str(SILENT)
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 1.0 <= seconds < math.inf:
        raise ValueError(f"AGC_WORKER_SILENCE is a number of seconds, at least 1, not {text!r}")
    return math.ceil(seconds / EVERY)


class WorkerHealth:
    """The workers with these addresses, as this process sees them; `limit` is the number of silent rounds.

    `client` reads and writes the store in worker 0, through `relay` if this is another worker.
    """

    def __init__(
        self, client: Any, addresses: Sequence[str], rank: int, limit: int, relay: ServiceRelay | None = None
    ) -> None:
        self._client = client
        self._relay = relay
        self._addresses = addresses
        self._rank = rank
        self._limit = limit
        self._others = [worker for worker in range(len(addresses)) if worker != rank]
        self._rounds = 0
        self._checks = 0  # since the last round: none ends while the store is silent
        self._texts: dict[int, str | None] = {}
        self._silent: Counter[int] = Counter()  # rounds since the last sign of life
        self._is_leaving = False
        self._has_told_end = False
        self._has_left = False
        self._slow = self._published = ""  # the collective in which this worker waits
        self._disagreement: tuple[int, str] | None = None  # the round of its first sight
        self.refusal = ""  # the message of a worker that has found different collectives
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._follow, name="worker health", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        while not self._has_left:
            self._run_round()
            with self._changed:
                self._changed.wait_for(lambda: self._has_left, EVERY)

    def _run_round(self) -> None:
        """Give a sign of life, and look for those of the others."""
        text = ENDED if self._is_leaving else str(self._rounds)
        try:
            self._set(f"{ALIVE}/{self._rank}", text)
            found = dict(self._client.key_value_dir_get(ALIVE))
            self._compare(self._slow)
            self.refusal = next((text for _, text in self._client.key_value_dir_get(REFUSED)), "")
        except Exception:  # of any class: worker 0, which has the store, may be gone
            found = {}
        with self._changed:
            self._rounds += 1
            self._checks = 0
            self._has_told_end |= text == ENDED
            for worker in self._others:
                seen = found.get(f"{ALIVE}/{worker}")
                self._silent[worker] = self._silent[worker] + 1 if seen == self._texts.get(worker) else 0
                self._texts[worker] = seen
            self._changed.notify_all()

    def _set(self, key: str, text: str) -> None:
        self._client.key_value_set(key, text, allow_overwrite=True)

    def _compare(self, what: str) -> None:
        """Publish the collective in which this worker waits, and note whether the others wait in another one."""
        if self._published != what:
            self._set(f"{WAITING}/{self._rank}", what)
            self._published = what
        if not what:
            self._disagreement = None
            return
        found = dict(self._client.key_value_dir_get(WAITING))
        texts = [found.get(f"{WAITING}/{one}", "") for one in range(len(self._addresses))]
        if not all(texts) or len(set(texts)) == 1:
            self._disagreement = None
            return
        seen = "; ".join(f"worker {one} waits in {text}" for one, text in enumerate(texts))
        if self._disagreement is None or self._disagreement[1] != seen:
            self._disagreement = self._rounds, seen

    def watch_store(self) -> None:
        """Count a check, which a waiting thread makes once a round."""
        self._checks += 1

    @property
    def has_lost_store(self) -> bool:
        """True if worker 0, which has the store, is lost: calls of the client would wait for ever."""
        return self._relay is not None and (self._relay.has_ended or self._checks >= self._limit)

    def lost(self, limit: int | None = None) -> list[int]:
        """Return the workers that have ended, or have been silent for as many rounds as the limit."""
        if self.has_lost_store:
            return [0]
        rounds = self._limit if limit is None else min(limit, self._limit)
        return [one for one in self._others if self._texts.get(one) == ENDED or self._silent[one] >= rounds]

    def _told(self, lost: Sequence[int]) -> str:
        if not lost:
            return "all workers live, but not all of them run it"
        lost = [
            one for one in lost if self._texts.get(one) != ENDED
        ] or lost  # the others have told their reason
        named = ", ".join(f"worker {one} ({self._addresses[one]})" for one in lost)
        return f"{named} {'has' if len(lost) == 1 else 'have'} ended or cannot be reached"

    def suspects(self) -> str:
        """Return the reason for which a collective operation failed or is late; this takes some rounds."""
        with self._changed:
            end = self._rounds + SUSPECTED + 1
            self._changed.wait_for(lambda: self._rounds >= end or self.has_lost_store, 4 * EVERY * SUSPECTED)
            return self._told(self.lost(SUSPECTED))

    def check(self, what: str, waited: float) -> None:
        """Raise UnavailableError if a worker is lost, FailedPreconditionError if others run other ones."""
        self.watch_store()
        if self.refusal:
            raise errors.FailedPreconditionError(self.refusal)
        if self.lost():
            raise errors.UnavailableError(f"{self.suspects()}: worker {self._rank} waits for it in {what}")
        if waited > SLOW:
            self._slow = what
        found = self._disagreement
        if found is not None and (self._rounds - found[0]) * EVERY > SLOW:
            raise errors.FailedPreconditionError(
                f"the workers run different collectives: {found[1]}. All must run the same ones, in the same order"
            )

    def clear(self) -> None:
        """Take back what this worker has published: its collective operation is done."""
        self._slow = ""

    def agree(self, count: int, what: str, line: str) -> None:
        """Compare a collective that this worker has not run before with that of worker 0, by their texts.

        Raises FailedPreconditionError, in all workers, if they differ. `line` is the place of the call in the program.
        """
        if self._rank == 0:
            self._set(f"{FIRST}/{count}", f"{what}\n{line}")
            return
        first, _, place = self._client.blocking_key_value_get(f"{FIRST}/{count}", FOREVER).partition("\n")
        if first != what:
            message = (
                f"the workers run different collectives: worker 0 runs {first}, called at {place}; worker {self._rank} "
                f"runs {what}, called at {line}. All must run the same ones, in the same order, with the same shapes"
            )
            self._set(f"{REFUSED}/{self._rank}", message)
            raise errors.FailedPreconditionError(message)

    def leave(self) -> None:
        """Announce the end of this process. Worker 0, which has the store, waits until the others have ended."""
        self._is_leaving = True
        with self._changed:
            self._changed.wait_for(lambda: self._has_told_end)
            if self._rank == 0:
                limit = FAILING if is_failing() else None
                self._changed.wait_for(lambda: self.lost(2 * SUSPECTED) == self._others, limit)
            self._has_left = True
            self._changed.notify_all()
        self._thread.join(SLOW)
        ended = [one for one in self._others if self._texts.get(one) == ENDED]
        if self._rank == 0 and ended:
            self._client.get_live_nodes([0, *ended])  # returns when they have left the service


def is_failing() -> bool:
    """Return whether an exception has ended the program."""
    return getattr(sys, "last_exc", None) is not None or getattr(sys, "last_value", None) is not None
