"""Fourier transforms, frames and windows."""
