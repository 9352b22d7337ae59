"""Collective operations: all processes of a strategy run them together, in the same order.

A process alone gets its own values back.
"""
