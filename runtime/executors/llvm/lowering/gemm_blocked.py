"""Blocked GEMM for any sizes: one function per element type, shared by all modules.

                two vectors of columns
            b   ┌──┬──┬──┐
                │▒▒│▒▒│▒▒│    a packed strip of b (gemm_packing.py)
                └──┴──┴──┘
    a  ┌─────┐  ┌──┬──┬──┐
       │░░░░░│  │██│██│██│    register tiles of c: each has a few rows,
       │░░░░░│  │██│██│██│    and reads one strip and the same rows of a
       └─────┘  └──┴──┴──┘

A tile keeps its accumulators in registers (`Tile`, gemm_packing.py). As many strips are packed as fit in the cache.
Tiles of one row of c come first, so that c is written row by row. The k dimension is blocked if strips exceed
the cache; later blocks start from the sums in c. If a is transposed, its elements of one row are far apart, so blocks
of its rows are packed for all strips. Partial tiles at the right and bottom edges are computed
in a temporary tile; rows missing from a are replaced by its last row.

    agc_product_float(run, pack, a, b, c, table)

The table (`Sizes`, gemm_kernel_ir.py) holds all sizes. `pack` packs a strip. `run` distributes parts of the product
over threads unless it is null (kernels/native_pool.h).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from .... import dtypes
from .. import opt_levels
from ..shared_code import SharedCode
from .gemm_kernel_ir import BLOCK, STRIP, product
from .gemm_packing import Tile, tile, turned

_FEW = 4
"""The largest number of tile rows that read strips of b without packing."""

_PAGE = 4096
"""The bytes of a page. If each row of a strip is in another page, its addresses take as long as packing."""


def symbol(dtype: dtypes.DType) -> str:
    """Return the symbol of the GEMM function for a dtype, and begin to compile the function."""
    return _begun("agc_product", _kind(dtype))


def packing(dtype: dtypes.DType, is_turned: bool) -> str:
    """Return the symbol of the function that packs strips of the second matrix."""
    return _begun("agc_pack_turned", dtype.size) if is_turned else _begun("agc_pack", _kind(dtype))


def length(k: int) -> int:
    """Return the rows per strip, so that all strips have about the same length."""
    return -(-k // -(-k // longest()))


def longest() -> int:
    """Return the largest number of rows per strip."""
    return STRIP // tile().across


def block(size: int, is_turned: bool) -> int:
    """Return the rows of `a` that are packed at once: of a transpose, whose columns take many cache lines each."""
    return BLOCK // (longest() * size) if is_turned else 0


def stays(m: int, row: int, is_turned: bool) -> bool:
    """Return whether strips of b, whose rows have `row` bytes, are read without packing for `m` rows of a."""
    return not is_turned and m <= _FEW * tile().down and row < _PAGE


def _kind(dtype: dtypes.DType) -> str:
    """Return the LLVM type of the elements of a dtype."""
    return {4: "float", 8: "double"}[dtype.size] if dtype.kind == "f" else f"i{8 * dtype.size}"


def _begun(name: str, kind: str | int) -> str:
    """Begin to compile a function for this machine, and return its symbol."""
    here = tile()
    _code(kind, here).begin()
    return f"{name}_{kind}_{here.across}"


_SYMBOL = re.compile(r"(agc_product|agc_pack_turned|agc_pack)_(\w+)_\d+")


def begin(symbols: Iterable[str]) -> None:
    """Begin to compile the functions that have these symbols on this machine."""
    for found in filter(None, map(_SYMBOL.fullmatch, symbols)):
        name, kind = found.groups()
        _begun(name, int(kind) if name == "agc_pack_turned" else kind)


@functools.cache
def _code(kind: str | int, tile: Tile) -> SharedCode:
    """Return the native code of the GEMM and its packing, or of the packing of a transpose."""

    names = ("agc_product", "agc_pack") if isinstance(kind, str) else ("agc_pack_turned",)
    symbols = {f"{name}_{kind}_{tile.across}": f"{name}_{kind}" for name in names}
    write = functools.partial(_text, kind, tile)
    return SharedCode(f"{names} {kind} {tile}", opt_levels.NONE, write, symbols)


def _text(kind: str | int, tile: Tile) -> str:
    if isinstance(kind, str):
        return product(kind, tile)
    return turned(f"agc_pack_turned_{kind}", kind, tile.across)
