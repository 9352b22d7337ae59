"""All operations on all dtypes and on odd values, in every executor: `python -m operation_sweep` in `tests`.

cases.py     calls: the examples of the manuals with other dtypes, values and shapes
judging.py   when two outcomes are the same
running.py   one call, or many in one graph, in each executor
__main__.py  child processes, in which a segfault or an endless loop is a failure that is counted
"""
