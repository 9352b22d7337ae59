"""Elementwise mathematics."""
