"""What small things cost: imports, conversion, tracing, calls, and plain Python that was converted.

    python -m benchmarks.compiler                                agc alone
    python -m benchmarks.compiler --peer ~/tf/bin/python         beside TensorFlow, as that interpreter has it

The parent process (`__main__`) starts one worker for each library and asks them in turn, case by case and
round by round, so that what else the machine does falls on both. `programs` has what is run, `cases` how it
is called and what its figures should be, `report` prints.
"""
