"""Scalars of loops as Python's own numbers, which cost a tenth of NumPy's: integers, bools and float64.

    n, steps = while n, 0 …                         n_1, steps = int(n), 0
      body n, steps                                 while n_1 != 1:
        n.1 = add n, 3          : int32[]               n_1 = n_1 + 3
        steps.1 = add steps, 1  : int32[]   ==>         if n_1 > 2147483647:
                                                            n_1 = (n_1 + 2147483648 & 4294967295) - 2147483648
    return steps                                        …
                                                    return (int32_0 + steps,)

`choosing` finds the values that are numbers, and `ranges` between which they lie: an integer is wrapped only where it
may leave its dtype. `expressions` has Python's text for operations. float32 stays NumPy's: Python cannot round to it.
"""

from .unboxing_analysis import UnboxedScalars

__all__ = ["UnboxedScalars"]
