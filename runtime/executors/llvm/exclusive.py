"""Copy the arrays of variables that native code overwrites, unless the variables alone hold them.

    w = tf.Variable(…)
    step()                 overwrites the array of `w`
    kept = w.value()
    step()                 `kept` has this array, so a copy is overwritten, and becomes the array of `w`

Native code runs without the GIL. So while other threads could read a variable, a copy is overwritten as well.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Mapping
from typing import Any

from ...ops.state import own_arrays


def copied_if_shared(given: list[Any], numbers: Mapping[int, int], is_copy: bool) -> dict[int, Any]:
    """Replace arrays in `given` that others may read by copies. Return the original ones.

    `numbers` are the indices of arguments and, for each, the index in `given` of the variable's array. `is_copy`
    says whether the caller has another list with the same arrays.
    """
    if not numbers:
        return {}
    found = {}
    is_alone = own_arrays.is_alone()
    # The variable, the lists, and the argument of `getrefcount` refer to an array.
    most = 3 + is_copy
    for argument, number in numbers.items():
        if (
            not is_alone
            or sys.getrefcount(given[number]) > most
            or weakref.getweakrefcount(given[number])
            or not (given[number].flags.owndata and given[number].flags.writeable)
        ):
            found[argument] = given[number]
            given[number] = given[number].copy()
    return found
