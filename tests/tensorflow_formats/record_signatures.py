"""Write the signatures of TensorFlow's operations: `python -m tensorflow_formats.record_signatures`, with TensorFlow.

op { name: "AddN"  input_arg { name: "inputs" number_attr: "N" … } … }   ==>   AddN(inputs: N*T) -> sum: T

The file has the operations of `raw_ops`, and those that only files of graphs have.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

RUNTIME = Path(__file__).parents[2] / "runtime"
TARGET = RUNTIME / "formats" / "tensorflow" / "signatures.txt"
HEAD = """\
Signatures of TensorFlow's operations; written by tests/tensorflow_formats/record_signatures.py, with TensorFlow {}.

A(x: T, ys: N*T, zs: [Ts]) -> r: int32; a: int = 3      T, N, Ts: attributes, which follow from the inputs
! before a name: the operation has side effects, or reads state
"""

ONLY_IN_FILES = """
    _Arg _Retval AnonymousIterator AnonymousIteratorV3 AnonymousMutableHashTable AnonymousSeedGenerator
    Assert AssignAddVariableOp AssignSubVariableOp AssignVariableOp AsString BatchFunction BatchMatMul BatchMatMulV2
    BatchMatMulV3 Case Const ControlTrigger DataServiceDatasetV4 DestroyResourceOp DisableCopyOnRead EmptyTensorList
    EmptyTensorMap EncodeWav Enter Exit FFTND For GatherV2 GetOptions HashTableV2 Identity IdentityN If IFFTND
    InitializeTableFromTextFileV2 InitializeTableV2 IRFFTND IsVariableInitialized LegacyParallelInterleaveDatasetV2
    LookupTableExportV2 LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2 LookupTableRemoveV2
    LookupTableSizeV2 LoopCond MakeIterator Merge MergeV2Checkpoints MutableHashTableV2 MutexV2 NextIteration NoOp
    OneShotIterator OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone ParseExampleV2
    ParseSequenceExampleV2 ParseSingleExample PartitionedCall Placeholder PlaceholderWithDefault PreventGradient
    PyFunc EagerPyFunc PyFuncStateless RaggedGather RaggedTensorFromVariant RaggedTensorToSparse
    RaggedTensorToTensor RaggedTensorToVariant RaggedRange RandomShuffle ReadVariableOp RemoteCall
    ResourceGather ResourceGatherNd ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin
    ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub
    ResourceScatterNdUpdate ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign RestoreV2 RFFTND
    SaveV2 ShardedFilename StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile
    StatelessRandomGetKeyCounter StatelessRandomGetAlg StatelessRandomUniformIntV2 StatelessRandomUniformFullIntV2
    StatelessRandomNormalV2 StatelessRandomUniformV2 StatelessTruncatedNormalV2 StaticRegexFullMatch
    StaticRegexReplace StopGradient StringFormat StringSplitV2 Switch SymbolicGradient
    TensorArrayV3 TensorArrayReadV3 TensorArrayWriteV3 TensorArrayGatherV3 TensorArrayScatterV3 TensorArraySizeV3
    TensorArrayConcatV3 TensorArraySplitV3 TensorListConcat TensorListConcatLists TensorListConcatV2
    TensorListElementShape TensorListFromTensor TensorListGather TensorListGetItem TensorListLength
    TensorListPopBack TensorListPushBack TensorListPushBackBatch TensorListReserve TensorListResize
    TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit
    TensorListStack TensorStridedSliceUpdate ToBool UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode
    UnicodeScript UnicodeTranscode UnsortedSegmentJoin VarHandleOp VarIsInitializedOp Variable VariableShape
    VariableV2 Where While XlaSharding XlaDynamicUpdateSlice _FusedConv2D _FusedMatMul
    ResourceApplyGradientDescent ResourceApplyMomentum ResourceApplyAdam ResourceApplyKerasMomentum
"""


def wanted() -> set[str]:
    """Return the names of the operations that the file has."""
    tables = [path for path in (RUNTIME / "raw_ops" / "tables").glob("*.txt") if path.name != "missing.txt"]
    found = {
        match[1]
        for path in tables
        for line in path.read_text().splitlines()
        if (match := re.match(r"(\w+)\(", line))
    }
    return found | set(ONLY_IN_FILES.split())


def type_name(number: int) -> str:
    from tensorflow import as_dtype

    return str(as_dtype(number).name)


def argument(arg: Any) -> str:
    if arg.type_list_attr:
        return f"{arg.name}: [{arg.type_list_attr}]"
    kind = arg.type_attr or type_name(arg.type)
    return f"{arg.name}: {arg.number_attr}*{kind}" if arg.number_attr else f"{arg.name}: {kind}"


def shape(value: Any) -> Any:
    return None if value.unknown_rank else [dim.size for dim in value.dim]


def default(kind: str, value: Any) -> str:
    which = value.WhichOneof("value")
    if which == "list":
        items = next(
            (field for field in ("s", "i", "f", "b", "type", "shape") if getattr(value.list, field)), ""
        )
        return json.dumps([plain(items, item) for item in getattr(value.list, items)] if items else [])
    return json.dumps(plain(which, getattr(value, which)))


def plain(which: str, value: Any) -> Any:
    match which:
        case "s":
            return value.decode("latin-1")
        case "type":
            return type_name(value)
        case "shape":
            return shape(value)
        case "f":
            return float(f"{value:.9g}")
        case "tensor" | "func":
            return None
    return value


def attribute(attr: Any) -> str:
    text = f"{attr.name}: {attr.type}"
    if attr.HasField("default_value") and attr.default_value.WhichOneof("value") not in ("tensor", "func"):
        text += f" = {default(attr.type, attr.default_value)}"
    return text


def line(op: Any) -> str:
    inputs, outputs = (", ".join(map(argument, args)) for args in (op.input_arg, op.output_arg))
    attributes = "; ".join(map(attribute, op.attr))
    text = f"{'!' if op.is_stateful else ''}{op.name}({inputs})"
    return text + (f" -> {outputs}" if outputs else "") + (f"; {attributes}" if attributes else "")


def main() -> None:
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    lines = [
        line(found)
        for name in sorted(wanted())
        if (found := op_def_registry.get(name)) is not None and not found.name.startswith("Legacy")
    ]
    TARGET.write_text("\n".join([HEAD.format(tf.__version__), *lines, ""]))


if __name__ == "__main__":
    main()
