"""Benchmarks: agc measured beside whichever peers there are, in one run, with results that must be equal.

Whose result is not equal has no figure, and the command's exit code is 1; who fails, or takes minutes, has none either.

    make bench                                          agc, and what its own interpreter has
    python -m benchmarks --peer ~/peers/bin/python      beside what that interpreter has of requirements.txt
    python -m benchmarks.compiler                       what conversion, tracing and small calls cost
    python -m benchmarks.scale                          what each stage of the compiler takes for 100,000 operations

The parent process (`__main__`, `measuring`) starts one `worker` for each of the `contestants` and asks them in turn,
`workloads` by `workloads` and round by round, so that what else the machine does falls on all. `figures` are kept as
JSON in results/, `report` prints them, `targets` says what they should be, `picture` draws them.

A figure is of calls from Python, with arguments that are there and results that are made anew. The limit in C is
called from Python as well, but takes no arguments and writes into an array that it has: no library can do that.
"""
