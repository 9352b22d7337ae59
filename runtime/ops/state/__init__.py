"""Variables and other side effects."""
