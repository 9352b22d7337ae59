"""Lines of user code in LLVM IR: debug locations that LLVM's passes keep, for the text of native code.

    %y = fmul float %x, %x        ==>    %y = fmul float %x, %x, !dbg !7
                                         !7 = !DILocation(line: 3, …)        the third origin

The line of a location is the number of an origin, counted from one; 0 is code without one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ...ir.graph import Operation
from ...ir.source_location import Origin
from .codegen.llvm_types import integer, ir

_LOCATION = re.compile(r"^!(\d+) = !DILocation\(line: (\d+)", re.MULTILINE)
_MARK = re.compile(r",? !dbg !(\d+)")
_METADATA = re.compile(r"^(!\d+ = (distinct )?!DI.*|!llvm\.(dbg\.cu|module\.flags) = .*)\n?", re.MULTILINE)


class LineInfo:
    """The debug locations of a module; `operations` has the instructions with their operations, by `id`."""

    def __init__(self, module: Any, operations: Mapping[int, tuple[Any, Operation]]) -> None:
        self.origins: dict[Origin, int] = {}
        self._module, self._operations = module, operations
        self._file = module.add_debug_info("DIFile", {"filename": "agc", "directory": ""})
        unit = {"language": ir().DIToken("DW_LANG_Python"), "file": self._file, "isOptimized": True,
                "emissionKind": ir().DIToken("LineTablesOnly")}  # fmt: skip
        self._unit = module.add_debug_info("DICompileUnit", unit, is_distinct=True)
        module.add_named_metadata("llvm.dbg.cu", self._unit)
        word = integer(32)
        flag = module.add_metadata([word(2), "Debug Info Version", word(3)])
        module.add_named_metadata("llvm.module.flags", flag)
        for function in module.functions:
            if function.blocks and function.module is module:  # formulas belong to all modules
                self._attach(function)

    def _attach(self, function: Any) -> None:
        """Give each instruction of a function a location; the verifier demands one of calls."""
        kind = self._module.add_debug_info("DISubroutineType", {"types": self._module.add_metadata([])})
        program = {"name": function.name, "file": self._file, "type": kind, "unit": self._unit, "line": 1,
                   "isDefinition": True}  # fmt: skip
        scope = self._module.add_debug_info("DISubprogram", program, is_distinct=True)
        function.set_metadata("dbg", scope)
        for block in function.blocks:
            for instruction in block.instructions:
                place = {"line": self._line_of(instruction), "scope": scope}
                instruction.set_metadata("dbg", self._module.add_debug_info("DILocation", place))

    def _line_of(self, instruction: Any) -> int:
        _, operation = self._operations.get(id(instruction), (None, None))
        if operation is None or operation.origin is None:
            return 0
        return self.origins.setdefault(operation.origin, len(self.origins) + 1)

    def split(self, text: str) -> tuple[str, list[Origin | None]]:
        """Return the optimized text of the module without locations, and the origin of each line."""
        lines = {mark: int(line) for mark, line in _LOCATION.findall(text)}
        origins = [None, *self.origins]
        found: list[Origin | None] = []
        plain: list[str] = []
        for line in _METADATA.sub("", text).rstrip().splitlines():
            mark = _MARK.search(line)
            found.append(origins[lines.get(mark[1], 0)] if mark else None)
            plain.append(_MARK.sub("", line))
        return "\n".join(plain), found
