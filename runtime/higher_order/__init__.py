"""Higher-order functions over the rows of tensors: `map_fn`, `scan`, `vectorized_map`."""
