"""Entry points from Python into compiled machine code."""
