"""The file formats of other systems: what all exporters share, and one package for each format.

    program.py    the program to be written: a graph, with names for its inputs and outputs
    refusals.py   the error that lists each operation that a format cannot express
    missing.py    the error for a library of a format that is not installed

A package imports its format's library when it is used.
"""
