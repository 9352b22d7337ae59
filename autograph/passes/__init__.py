"""The passes of the converter: each rewrites one construct of the syntax tree; `pipeline.py` has their order."""
