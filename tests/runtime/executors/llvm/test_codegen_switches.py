"""LLVM's switches of code generation are set while agc generates code, and only then."""

import threading

import pytest

pytest.importorskip("llvmlite")

import agc.runtime as tf
from agc.runtime.executors.llvm import (
    codegen_switches,
    llvm_engine,
    module_partition,
    opt_levels,
    runtime_library,
)
from agc.runtime.executors.llvm.codegen_switches import ALL, FEW, FEWEST, passes
from llvmlite import binding


@pytest.fixture
def set_options(monkeypatch):
    found = []
    monkeypatch.setattr(binding, "set_option", lambda _, option: found.append(option))
    return found


def test_switches_are_set_by_the_first_user_and_reset_by_the_last(set_options):
    entered, left = threading.Event(), threading.Event()

    def other():
        with passes(FEW):
            entered.set()
            left.wait(10)

    thread = threading.Thread(target=other)
    with passes(FEW):
        assert {"-disable-cgp=1", "-enable-misched=0"} <= set(set_options)
        set_options.clear()
        thread.start()
        entered.wait(10)
    assert set_options == []
    left.set()
    thread.join()
    assert {"-disable-cgp=0", "-enable-misched=1"} <= set(set_options)


def test_loops_that_are_worth_strength_reduction_have_it_next_to_others(set_options):
    with passes(FEWEST):
        assert "-disable-lsr=1" in set_options
        with passes(FEW):
            assert set_options[-1] == "-disable-lsr=0"
        assert set_options[-1] == "-disable-lsr=1"
    assert "-disable-lsr=0" in set_options[-11:]


def test_loops_with_branches_have_all_passes_next_to_others(set_options):
    with passes(FEWEST):
        set_options.clear()
        with passes(ALL):
            assert {"-disable-machine-sink=0", "-disable-lsr=0", "-enable-misched=1"} <= set(set_options)
        assert {"-disable-machine-sink=1", "-disable-lsr=1", "-enable-misched=0"} <= set(set_options)


@pytest.mark.parametrize(
    ("limit", "flag"), [(1, "-disable-machine-sink=1"), (10_000, "-disable-machine-sink=0")]
)
def test_short_loops_with_branches_keep_all_passes(set_options, monkeypatch, limit, flag):
    monkeypatch.setenv("AGC_CACHE", "0")
    monkeypatch.setattr(llvm_engine, "_SHORT", limit)
    found, emit = [], llvm_engine.emitted
    monkeypatch.setattr(llvm_engine, "emitted", lambda *given: (found.extend(set_options), emit(*given))[1])
    with passes(FEWEST):
        llvm_engine.stored("loop", opt_levels.ALL, lambda: "define void @loop() { ret void }")
    assert [each for each in found if "machine-sink" in each][-1] == flag


def test_switches_are_reset_after_an_error(set_options):
    with pytest.raises(ValueError, match="no code"), passes(FEW):
        raise ValueError("no code")
    assert "-disable-cgp=0" in set_options


def test_an_unknown_llvm_keeps_its_passes(set_options, monkeypatch):
    monkeypatch.setattr(codegen_switches, "_TESTED", binding.llvm_version_info[0] - 1)
    with passes(FEW):
        pass
    assert set_options == []


def test_a_compilation_of_several_modules_sets_the_switches_once(set_options, monkeypatch):
    monkeypatch.setenv("AGC_CACHE", "0")
    runtime_library.load()  # which another thread would compile at the same time
    set_options.clear()
    monkeypatch.setattr(module_partition.partition, "__defaults__", (1,))
    emitted = []
    emit = llvm_engine.emitted
    monkeypatch.setattr(llvm_engine, "emitted", lambda *given: (emitted.append(given), emit(*given))[1])
    program = tf.function(lambda x: [tf.cumsum(x), tf.exp(x), tf.reduce_max(x)], jit_compile=True)
    program(tf.range(5003.0))
    assert len(emitted) > 1
    assert set_options.count("-disable-cgp=1") == set_options.count("-disable-cgp=0") == 1
