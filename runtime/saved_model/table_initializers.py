"""The programs that run while a model is loaded: those that make lookup tables and fill them, and no others.

LookupTableImportV2(table, Const, Const)     fine
WriteFile("x", …), Fill([2**40], 0)          refused: loading neither writes files nor takes memory for a few bytes
"""

from __future__ import annotations

from ..errors import UnimplementedError
from ..formats.tensorflow.graph_import import GraphFunctions
from ..formats.tensorflow.node_programs import NodeProgram

_ALLOWED = frozenset(
    """
    Const NoOp Identity PartitionedCall StatefulPartitionedCall Cast
    HashTable HashTableV2 AnonymousHashTable MutableHashTable MutableHashTableV2 AnonymousMutableHashTable
    InitializeTable InitializeTableV2 InitializeTableFromTextFile InitializeTableFromTextFileV2
    LookupTableImport LookupTableImportV2
    """.split()  # noqa: SIM905
)


def check_initializer(functions: GraphFunctions, program: NodeProgram, assets: frozenset[str]) -> None:
    """Raise UnimplementedError for a program that does more than to fill a table.

    Args:
        assets: the inputs and nodes that are paths of assets: a table is not filled from other files.
    """
    for step in program.steps:
        op = step.node.op
        if op not in _ALLOWED:
            raise UnimplementedError(f"a table of the model is filled by the operation {op}")
        if op.startswith("InitializeTableFromTextFile") and step.inputs[1][0] not in assets:
            raise UnimplementedError(
                "a table of the model is filled from a file that is no asset of the model"
            )
    for name in functions.called(program):
        check_initializer(functions, functions.program(name), frozenset())
