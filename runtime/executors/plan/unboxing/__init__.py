"""Unboxing: scalars of loops as Python numbers, which cost a tenth of NumPy scalars.

    n, steps = while n, 0 …                         n_1, steps = int(n), 0
      body n, steps                                 while n_1 != 1:
        n.1 = add n, 3          : int32[]               n_1 = n_1 + 3
        steps.1 = add steps, 1  : int32[]   ==>         if n_1 > 2147483647:
                                                            n_1 = (n_1 + 2147483648 & 4294967295) - 2147483648
    return steps                                        …
                                                    return (int32_0 + steps,)

Numbers are integers, bools and float64. float32 remains a NumPy scalar, since Python cannot round to it.
`unboxing_analysis` finds the values that are numbers. `range_analysis` computes their ranges: an integer is
wrapped only if it can overflow its dtype. `scalar_expressions` has Python expressions for operations.
"""

from .unboxing_analysis import UnboxedScalars

__all__ = ["UnboxedScalars"]
