"""Control flow of graphs: branches, loops, exceptions, order."""
