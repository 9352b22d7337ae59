"""Values that are made of several tensors, and how operations and graphs treat them."""
