"""Conversion of live functions to converted code."""
