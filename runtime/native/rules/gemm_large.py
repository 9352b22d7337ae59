"""Products of matrices of any sizes: one function for each kind of numbers, which all programs share.

                64 bytes of columns
            b   ┌──┬──┬──┐
                │▒▒│▒▒│▒▒│    a strip of b, packed (gemm_strips.py)
                └──┴──┴──┘
    a  ┌─────┐  ┌──┬──┬──┐
       │░░░░░│  │██│██│██│    tiles of c, below each other: they have 4 rows,
       │░░░░░│  │██│██│██│    and read the strip and 4 rows of a
       └─────┘  └──┴──┴──┘

A tile keeps its sums in eight registers. Strips that would be too long for the cache are cut: then the tiles go on with
the sums that stand in c. A tile of which c has only a part, at the right edge or at the bottom, is computed beside it;
rows of a that are not there are read as the last one.

    agc_product_float(run, pack, a, b, c, table)

The table (`Sizes`, gemm_code.py) has all sizes. `pack` packs a strip, and `run` gives parts of the product to
threads, where it is not null (pool.py).
"""

from __future__ import annotations

import functools
import threading

from ... import dtypes
from .. import engine, levels
from .gemm_code import LONGEST, product
from .gemm_strips import turned

_LONGEST_IF_TURNED = 256
"""The most rows of a strip, instead of LONGEST, where each needs another line of the cache for the
numbers of a, which stand below each other."""

FEW = 12
"""In a matrix of fewer rows strips are read where they stand: few tiles read each."""

_loading = threading.Lock()


def symbol(dtype: dtypes.DType) -> str:
    """What compiled code calls the function for a dtype, which is there from now on."""
    kind = _kind(dtype)
    return _known(f"agc_product_{kind}", kind)


def packing(dtype: dtypes.DType, is_turned: bool) -> str:
    """What compiled code calls the function that packs strips of a second matrix."""
    if is_turned:
        return _known(f"agc_pack_turned_{dtype.size}", dtype.size)
    kind = _kind(dtype)
    return _known(f"agc_pack_{kind}", kind)


def length(k: int, is_turned: bool) -> int:
    """Rows of a strip: as many as the others have, about."""
    return -(-k // -(-k // longest(is_turned)))


def longest(is_turned: bool) -> int:
    """The most rows of a strip."""
    return _LONGEST_IF_TURNED if is_turned else LONGEST


def _kind(dtype: dtypes.DType) -> str:
    """The numbers of a dtype in LLVM's language."""
    return {4: "float", 8: "double"}[dtype.size] if dtype.kind == "f" else f"i{8 * dtype.size}"


def _known(name: str, kind: str | int) -> str:
    """The name of a function, which is found by it from now on."""
    with _loading:
        engine.known_as(name, _code(kind).function(name))
    return name


@functools.cache
def _code(kind: str | int) -> engine.Code:
    """The product of a kind of numbers and what packs its strips; or what turns numbers of so many bytes."""
    text = turned(f"agc_pack_turned_{kind}", kind) if isinstance(kind, int) else product(kind)
    return engine.Code(engine.assembled(text, levels.NONE))
