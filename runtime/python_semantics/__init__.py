"""Python's own things where tensors are: built-in functions, lists, iterators, numbers, `match`."""
