"""The command `agc`: show the code that a conversion generates, run converted programs, find what is wrong.

    agc convert FILE              main → convert → sources, output, color
    agc convert FOLDER -o OUT     main → convert → package
    agc run FILE ARGS...          main → run → program                   a whole program, as Python runs it
    agc run FILE::f --arg ...     main → run → call → arguments          one function, with tensors
    agc check PATH...             main → check → discovery, findings, formats
    agc explain CODE              main → explain → manual

Only `call` and `run --eager` need `agc.runtime`; they import it when they are used.
"""
