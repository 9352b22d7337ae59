"""Fused operations, run in blocks that stay in the processor's cache, by as many threads as pay.

    s = fused x : float32[]                  for each block of x, by whatever thread is free:
      body x                                     np.multiply(x, x, out=b0)
        a = multiply x, x           ==>          np.exp(b0, out=b0)
        b = exp a                                np.add.reduce(b0, axes, None, s)
        s = reduce_sum b                     s = the sum of the blocks' sums, in their order
        yield s

`formulas` says how an operation is written over buffers, `writing` makes the function for a block, `layout` cuts
tensors of given shapes into blocks, `running` computes them, with the threads of `crew`.

Where blocks begin and end depends on the shapes alone, so results do not depend on the number of threads. Each
element is computed by the same functions of NumPy as by the interpreter; sums of floats are added up in another
order, block by block.
"""

from .fused_kernel import Fused
from .tile_codegen import FusedKernelSource, may_take, write

__all__ = ["Fused", "FusedKernelSource", "may_take", "write"]
