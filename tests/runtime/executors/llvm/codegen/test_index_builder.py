"""Index arithmetic is emitted once, in the outermost loop that it depends on."""

import numpy as np
import pytest

pytest.importorskip("llvmlite")

from agc.runtime import constant, dtypes, function, gather, reverse
from agc.runtime.executors.llvm.codegen.affine import Affine
from agc.runtime.executors.llvm.codegen.function_builder import Emitter
from agc.runtime.executors.llvm.codegen.llvm_types import integer, pointer
from agc.runtime.executors.llvm.unit_text import UnitText
from llvmlite import ir


def emitter():
    module = ir.Module()
    module.text = UnitText(module, None)
    kernel = ir.Function(module, ir.FunctionType(integer(32), [pointer()]), "kernel")
    return Emitter(module, kernel), kernel.args[0]


def opcodes(block):
    return [each.opname for each in block.instructions]


def test_sums_of_products_are_expanded():
    e, _ = emitter()
    with e.nest([5, 7]) as (i, j):
        x = e.plus(e.times(e.plus(e.times(i, 7), j), 3), e.word(2))
        assert isinstance(x, Affine)
        assert x.terms == ((i, 21), (j, 3))
        assert x.offset == 2
        assert e.minus(x, e.times(i, 21)) == e.plus(e.times(j, 3), e.word(2))
        assert e.minus(x, x).constant == 0


def test_quotients_of_known_ranges_need_no_division():
    e, _ = emitter()
    with e.nest([5, 7]) as (i, j):
        flat = e.plus(e.times(i, 7), j)
        assert e.over(flat, 7) == (i, j)
        quotient, remainder = e.over(e.plus(e.times(i, 14), j), 7)
        assert quotient == e.times(i, 2)
        assert remainder is j
        block = e.b.block
        quotient, remainder = e.over(flat, 5)  # j exceeds the divisor
        assert opcodes(block)[-2:] == ["udiv", "urem"]
        assert remainder.below == 5
        assert e.over(flat, 5) == (quotient, remainder)
        assert opcodes(block).count("udiv") == 1


def test_addresses_are_computed_in_the_loops_that_they_depend_on():
    e, x = emitter()
    with e.nest([5, 7]) as (i, j):
        inner = e.b.block
        for offset in (0, 1, 2, 1):
            e.load(dtypes.float32, x, e.plus(e.plus(e.times(i, 100), e.times(j, 3)), e.word(offset)))
    assert opcodes(i.parent) == ["phi", "mul", "getelementptr", "br"]
    addresses = [each for each in inner.instructions if each.opname == "getelementptr"]
    assert len(addresses) == 3
    assert all(each.inbounds for each in addresses)


def test_addresses_before_the_first_element_are_not_in_bounds():
    e, x = emitter()
    with e.nest([5]) as (i,):
        e.load(dtypes.float32, x, e.minus(e.word(4), i))
        addresses = [each for each in e.b.block.instructions if each.opname == "getelementptr"]
    assert addresses
    assert not any(each.inbounds for each in addresses)


def test_a_value_of_an_inner_block_stays_there():
    e, x = emitter()
    with e.nest([5, 7]) as (i, j):
        number = e.b.zext(e.load(dtypes.int32, x, j), integer(64))
        e.load(dtypes.float32, x, e.plus(e.times(number, 9), i))
        assert opcodes(e.b.block).count("mul") == 1


@pytest.mark.parametrize("shape", [(4, 6), (3, 1, 5)])
def test_native_code_agrees(shape):
    def f(x, i):
        return reverse(gather(x, i), [1]) * 2.0 + gather(x, i)

    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    arguments = constant(x), constant([2, 0, 1, 2])
    np.testing.assert_array_equal(
        function(f, jit_compile=True)(*arguments), function(f, jit_compile=False)(*arguments)
    )
