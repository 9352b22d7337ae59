"""What a staged block does with state of the process happens once, and warns of that with its line."""

import os
import random
import runpy
import time
import warnings

import agc.runtime as tf
import numpy as np
import pytest
from agc.autograph import SideEffectWarning


def drawn():
    return random.random()


USES = {
    "random.random": "random.random()",
    "randint": "randint(1, 6)",
    "np.random.rand": "np.random.rand()",
    "time.time": "time.time()",
    "datetime.datetime.now": "datetime.datetime.now()",
    "open": "open(os.devnull).close()",
    "os.environ": "os.environ['AGC_TEST'] = str(time.monotonic_ns())",
    "decimal.getcontext": "decimal.getcontext().prec += 1",
    "the cache": "remembered(time.monotonic_ns())",
}
BLOCK = """
import datetime, decimal, functools, os, random, time
from random import randint
import numpy as np

@functools.lru_cache
def remembered(x):
    return x

def block(n):
    if n > 2:
        {use}
    return n
"""


def warned(function, *arguments):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", SideEffectWarning)
        function(*arguments)
    return [warning for warning in found if warning.category is SideEffectWarning]


@pytest.mark.parametrize("name", USES)
def test_a_use_in_a_block_warns(name, tmp_path):
    (tmp_path / "using.py").write_text(BLOCK.format(use=USES[name]))
    block = runpy.run_path(str(tmp_path / "using.py"))["block"]
    messages = "".join(str(one.message) for one in warned(tf.function(block), tf.constant(1)))
    assert f"`{name}` is used once" in messages
    assert "fix: " in messages
    assert "using.py:12" in messages or "using.py:11" in messages


def test_a_warning_names_the_line_of_a_function_that_the_block_calls():
    def block(n):
        while n > 0:
            n -= 1
            drawn()
        return n

    (warning,) = warned(tf.function(block), tf.constant(1))
    assert warning.lineno == drawn.__code__.co_firstlineno + 1
    assert warning.filename == __file__


def test_reads_and_uses_outside_of_blocks_do_not_warn():
    home = os.environ.get("HOME", "")

    def quiet(n):
        start = random.random() + time.time()
        if n > 2:
            home.join(os.environ.get("HOME", ""))
            np.random.default_rng(1)
        return n + int(start > 0)

    assert warned(tf.function(quiet), tf.constant(1)) == []


def test_eager_code_does_not_warn():
    def block(n):
        return random.random() if n > 2 else 0

    assert warned(block, tf.constant(3)) == []
