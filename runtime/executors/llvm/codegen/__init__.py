"""Writing LLVM's code: numbers, memory, threads, the values of a region, and the table of what can be written."""
