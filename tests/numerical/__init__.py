"""Numerical programs as people write them, each with inputs: all ways of running a graph must give the same.

    Program(text, make, calls)      make() gives a function, with variables of its own if it has any

`judging` runs them; what an executor was made for plays no part here.
"""
