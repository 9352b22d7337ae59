"""Compile one function in a loop over arrays, for tests and benchmarks."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from agc.runtime.executors.llvm.libm import FUNCTIONS
from llvmlite import ir

REALS = {"float32": ir.FloatType(), "float64": ir.DoubleType()}


def loop(name: str, dtype: str) -> ir.Module:
    """Return a module with the function `run(result, *operands, count)`."""
    module = ir.Module(name)
    real, index = REALS[dtype], ir.IntType(64)
    inner = FUNCTIONS[name].declare(module, real)
    pointers = [real.as_pointer()] * (1 + len(inner.args))
    run = ir.Function(module, ir.FunctionType(ir.VoidType(), [*pointers, index]), "run")
    for pointer in run.args[:-1]:
        pointer.add_attribute("noalias")
    entry, body, done = (run.append_basic_block(title) for title in ("entry", "body", "done"))
    builder = ir.IRBuilder(entry)
    builder.cbranch(builder.icmp_signed("<", index(0), run.args[-1]), body, done)
    builder.position_at_end(body)
    position = builder.phi(index)
    result, *operands = [builder.gep(pointer, [position]) for pointer in run.args[:-1]]
    builder.store(builder.call(inner, [builder.load(operand) for operand in operands]), result)
    following = builder.add(position, index(1))
    position.add_incoming(index(0), entry)
    position.add_incoming(following, body)
    builder.cbranch(builder.icmp_signed("<", following, run.args[-1]), body, done)
    ir.IRBuilder(done).ret_void()
    return module


def optimized(module: ir.Module) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    """Optimize the module for this machine, with loop vectorization."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )
    module.triple, module.data_layout = target.triple, str(machine.target_data)
    parsed = llvm.parse_assembly(str(module))
    tuning = llvm.create_pipeline_tuning_options(speed_level=3)
    tuning.loop_vectorization = tuning.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(parsed, builder)
    after = llvm.create_new_module_pass_manager()
    after.add_always_inliner_pass()  # inline the callees of vectorized loops
    after.run(parsed, builder)
    return parsed, machine


@functools.cache
def as_ufunc(name: str, dtype: str) -> Callable[..., np.ndarray[Any, Any]]:
    """Return the function on arrays of one shape.

    >>> import numpy as np
    >>> as_ufunc("exp", "float64")(np.array([0.0, 1.0, -np.inf]))
    array([1.        , 2.71828183, 0.        ])
    """
    parsed, machine = optimized(loop(name, dtype))
    engine = llvm.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    arity = FUNCTIONS[name].arity
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * (arity + 1), ctypes.c_int64)
    run = prototype(engine.get_function_address("run"))

    def ufunc(
        *operands: np.ndarray[Any, Any], out: np.ndarray[Any, Any] | None = None
    ) -> np.ndarray[Any, Any]:
        arrays = [np.ascontiguousarray(operand, dtype) for operand in operands]
        result = np.empty_like(arrays[0]) if out is None else out
        run(result.ctypes.data, *(array.ctypes.data for array in arrays), result.size)
        return result

    vars(ufunc)["engine"] = engine  # keeps the machine code alive
    return ufunc
