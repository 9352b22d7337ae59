"""The documentation site: `make docs` assembles its pages from Markdown, docstrings and programs, and builds them.

docs/*.md, README's neighbors, docstrings, fixtures/programs   ==>   build/docs/pages/*.md   ==>   build/docs/html
"""
