"""Python semantics over tensors: built-in functions, lists, iterators, numbers, `match`."""
