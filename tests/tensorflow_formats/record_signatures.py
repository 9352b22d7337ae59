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
    AllCandidateSampler AnonymousIterator AnonymousIteratorV3 AnonymousMutableHashTable AnonymousSeedGenerator
    AsString Assert AssignAddVariableOp AssignSubVariableOp AssignVariableOp AvgPool3DGrad BandedTriangularSolve
    BatchFunction BatchMatMul BatchMatMulV2 BatchMatMulV3 BroadcastGradientArgs CTCBeamSearchDecoder
    CTCGreedyDecoder CTCLoss CTCLossV2 Case Const ControlTrigger DataServiceDatasetV4 DecodeCompressed DenseBincount
    DestroyResourceOp DisableCopyOnRead EagerPyFunc EditDistance EmptyTensorList EmptyTensorMap EncodeWav Enter Exit
    FFTND FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel
    FakeQuantWithMinMaxVarsPerChannelGradient For GatherV2 GetOptions HashTableV2 IFFTND IRFFTND Identity IdentityN
    If InitializeTableFromTextFileV2 InitializeTableV2 IsVariableInitialized LogUniformCandidateSampler
    LookupTableExportV2 LookupTableFindV2 LookupTableImportV2 LookupTableInsertV2 LookupTableRemoveV2
    LookupTableSizeV2 LoopCond MakeIterator MatrixSetDiagV3 MaxPool3DGrad MaxPool3DGradGrad MaxPoolGradGrad Merge
    MergeV2Checkpoints MirrorPadGrad Multinomial MutableHashTableV2 MutexV2 NextIteration NoOp OneShotIterator
    OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone ParseExampleV2 ParseSequenceExampleV2
    ParseSingleExample PartitionedCall Placeholder PlaceholderWithDefault PreventGradient PyFunc PyFuncStateless
    RFFTND RaggedGather RaggedRange RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor
    RaggedTensorToVariant RandomIndexShuffle RandomShuffle ReadVariableOp RemoteCall ResourceApplyAdam
    ResourceApplyGradientDescent ResourceApplyKerasMomentum ResourceApplyMomentum ResourceGather ResourceGatherNd
    ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin ResourceScatterMul
    ResourceScatterNdAdd ResourceScatterNdMax ResourceScatterNdMin ResourceScatterNdSub ResourceScatterNdUpdate
    ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign RestoreV2 SaveV2 ScaleAndTranslate
    ScaleAndTranslateGrad SetSize ShardedFilename SparseToSparseSetOperation StatefulPartitionedCall StatelessCase
    StatelessIf StatelessMultinomial StatelessParameterizedTruncatedNormal StatelessRandomBinomial
    StatelessRandomGammaV2 StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomNormalV2
    StatelessRandomPoisson StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2 StatelessRandomUniformV2
    StatelessTruncatedNormalV2 StatelessWhile StaticRegexFullMatch StaticRegexReplace StopGradient StringFormat
    StringNGrams StringSplit StringSplitV2 Switch SymbolicGradient TensorArrayConcatV3 TensorArrayGatherV3
    TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3 TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3
    TensorListConcat TensorListConcatLists TensorListConcatV2 TensorListElementShape TensorListFromTensor
    TensorListGather TensorListGetItem TensorListLength TensorListPopBack TensorListPushBack TensorListPushBackBatch
    TensorListReserve TensorListResize TensorListScatter TensorListScatterIntoExistingList TensorListScatterV2
    TensorListSetItem TensorListSplit TensorListStack TensorStridedSliceUpdate ToBool TridiagonalSolve UnicodeDecode
    UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode UniformCandidateSampler
    UnsortedSegmentJoin VarHandleOp VarIsInitializedOp Variable VariableShape VariableV2 Where While
    XlaDynamicUpdateSlice XlaSharding _Arg _FusedConv2D _FusedMatMul _Retval
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

    lines = [line(found) for name in sorted(wanted()) if (found := op_def_registry.get(name)) is not None]
    TARGET.write_text("\n".join([HEAD.format(tf.__version__), *lines, ""]))


if __name__ == "__main__":
    main()
