"""Products of matrices of any sizes: one function for each kind of numbers, which all programs share.

                two vectors of columns
            b   ┌──┬──┬──┐
                │▒▒│▒▒│▒▒│    a strip of b, packed (gemm_packing.py)
                └──┴──┴──┘
    a  ┌─────┐  ┌──┬──┬──┐
       │░░░░░│  │██│██│██│    tiles of c: they have some rows,
       │░░░░░│  │██│██│██│    and read a strip and as many rows of a
       └─────┘  └──┴──┴──┘

A tile keeps its sums in registers (`Tile`, gemm_packing.py). As many strips are packed as the cache has room for; then
tiles beside each other come first, for c is written row by row. Strips that would be too long for the cache are cut:
then the tiles go on with the sums that stand in c. A tile of which c has only a part, at the right edge or at the
bottom, is computed beside it; rows of a that are not there are read as the last one.

    agc_product_float(run, pack, a, b, c, table)

The table (`Sizes`, gemm_kernel_ir.py) has all sizes. `pack` packs a strip, and `run` gives parts of the product to
threads, where it is not null (thread_pool_ir.py).
"""

from __future__ import annotations

import functools
import threading

from .... import dtypes
from .. import llvm_engine, opt_levels
from .gemm_kernel_ir import STRIP, product
from .gemm_packing import Tile, tile, turned

_FEW = 4
"""Strips that no more tiles read are read where they stand."""

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
    """The most rows of a strip: half as many where each needs another line of the cache for the numbers of a, which
    stand below each other."""
    most = STRIP // tile().across
    return most // 2 if is_turned else most


def stays(m: int, is_turned: bool) -> bool:
    """Whether the strips for so many rows of a are read where they stand."""
    return not is_turned and m <= _FEW * tile().down


def _kind(dtype: dtypes.DType) -> str:
    """The numbers of a dtype in LLVM's language."""
    return {4: "float", 8: "double"}[dtype.size] if dtype.kind == "f" else f"i{8 * dtype.size}"


def _known(name: str, kind: str | int) -> str:
    """The name of a function, which is found by it from now on."""
    with _loading:
        llvm_engine.known_as(name, _code(kind, tile()).function(name))
    return name


@functools.cache
def _code(kind: str | int, tile: Tile) -> llvm_engine.Code:
    """The product of a kind of numbers and what packs its strips; or what turns numbers of so many bytes."""
    return llvm_engine.Code(llvm_engine.assembled(_text(kind, tile), opt_levels.NONE))


def _text(kind: str | int, tile: Tile) -> str:
    if isinstance(kind, str):
        return product(kind, tile)
    return turned(f"agc_pack_turned_{kind}", kind, tile.across)
