"""Entry points from Python into compiled native code."""
