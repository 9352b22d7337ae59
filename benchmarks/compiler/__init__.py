"""Measure small things: imports, conversion, tracing, calls, and plain Python that was converted.

    python -m benchmarks.compiler                                agc alone
    python -m benchmarks.compiler --peer ~/tf/bin/python         compared with the TensorFlow of that interpreter

The parent process (`__main__`) starts one worker for each library. The workers take turns, case by case and round by
round, so that other load of the machine slows both down. `programs` has the programs, `cases` their calls and the
expected figures; `report` prints.
"""
