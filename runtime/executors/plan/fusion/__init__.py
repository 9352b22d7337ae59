"""Fused operations, run in tiles that stay in the processor's cache, on as many threads as are worth it.

    s = fused x : float32[]                  for each tile of x, on any free thread:
      body x                                     np.multiply(x, x, out=b0)
        a = multiply x, x           ==>          np.exp(b0, out=b0)
        b = exp a                                np.add.reduce(b0, axes, None, s)
        s = reduce_sum b                     s = the sum of the tiles' sums, in their order
        yield s

`tile_codegen` generates the function for a tile, from the statements of `elementwise_templates`. `tiling` cuts
tensors of given shapes into tiles. `fused_kernel` computes them on the threads of `kernels/thread_pool`. Plans
without fused operations do not import this package.

The tiles depend on the shapes alone, so results do not depend on the number of threads. Each element is
computed by the same NumPy functions as in the interpreter. Sums of floats are added up in another order, tile
by tile.
"""

from .fused_kernel import Fused
from .tile_codegen import FusedKernelSource, write

__all__ = ["Fused", "FusedKernelSource", "write"]
