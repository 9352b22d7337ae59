"""Threads that compile or compute, and never call functions of the program."""

from __future__ import annotations

import threading


class InnerThread(threading.Thread):
    """A thread that runs no code of the program: while it runs, variables may be overwritten in place."""
