"""Graphs become machine code, by way of LLVM."""
