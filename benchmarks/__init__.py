"""Benchmarks: agc and the installed peers, measured in one run, with results that must be equal.

A contestant with another result has no figure, and the command's exit code is 1. One that fails, or takes minutes, has
no figure either.

    make bench                                          agc, and the libraries of its own interpreter
    python -m benchmarks --peer ~/peers/bin/python      also the libraries of that interpreter (requirements.txt)
    python -m benchmarks.compiler                       conversion, tracing and small calls
    python -m benchmarks.scale                          each stage of the compiler for 100,000 operations
    python -m benchmarks.probability                    samplers of TensorFlow Probability
    python -m benchmarks.applications                   the networks of keras.applications

The parent process (`__main__`, `measuring`) starts one `worker` for each of the `contestants` and sends them requests
in turn, for each of the `workloads` and in each round, so that other load of the machine falls on all. `figures` are
kept as JSON in results/, `report` prints them, `targets` has their bounds, `picture` draws them.

A figure is the time of calls from Python, with arguments that exist and results that are made anew. The limit in C is
called from Python as well, but takes no arguments and writes into an array of its own: no library can do that.
"""
