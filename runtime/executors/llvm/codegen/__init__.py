"""LLVM IR emission: scalars, memory, threads, the lazy values of a region and the registry of lowering rules."""
