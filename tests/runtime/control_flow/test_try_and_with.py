"""`try`, `with` and the jumps through them, around and inside of staged code: Python's answers everywhere."""

import contextlib

import agc.runtime as tf
import numpy as np
import pytest
from agc import autograph
from support.versions import converted_version

# ruff: noqa: SIM108  (programs as people write them)


class Manager:
    def __init__(self, swallows=False):
        self.swallows = swallows

    def __enter__(self):
        return 2

    def __exit__(self, *error):
        return self.swallows


def jumps_through_finally(n):
    t = 0
    while n > 0:
        try:
            n -= 1
            if n == 3:
                break
            if n == 5:
                continue
            if n == 1:
                return t
        finally:
            t += 1
    return t + 100


def jumps_out_of_with(n):
    for i in range(n):
        with Manager() as k:
            if i * k > 6:
                return i
            if i == 2:
                continue
    else:
        return -1
    return -2


def return_through_a_finally_outside(n):
    t = 0
    try:
        for i in range(n):
            if i == 4:
                return t
            t += i
    finally:
        t += 1000
    return t


def else_and_finally(x):
    try:
        if x > 0:
            y = 1
        else:
            y = 2
    except ValueError:
        y = 3
    else:
        if x > 5:
            y += 10
    finally:
        z = 7
    return y + z


def returns_through_two_finallys(x):
    try:
        try:
            if x > 0:
                return 1
        finally:
            if x < -5:
                x = -5
        x = x * 2
    finally:
        pass
    return x


def jumps_in_nested_loops(n):
    t = 0
    for i in range(n):
        try:
            if i % 2:
                continue
            for j in range(i):
                try:
                    if j == 2:
                        break
                finally:
                    t += 1
            else:
                t += 50
        finally:
            t += 100
    return t


def break_out_of_two_managers(n):
    t = 0
    with Manager(True):
        while n > 0:
            n -= 1
            with contextlib.ExitStack() as st:
                st.enter_context(Manager())
                if n == 2:
                    break
            t += n
    return t, n


def return_out_of_with(x):
    with Manager(), Manager(True):
        if x > 0:
            return x
        x -= 1
    return x * 10


def endless_loop_ended_behind_finally(n):
    while True:
        try:
            n -= 2
        finally:
            if n < 0:
                n = n - 100
        if n < 0:
            break
    return n


def branch_in_a_handler(x):
    try:
        int("a")
    except ValueError as e:
        if x > 0:
            r = 1
        else:
            r = len(str(e))
    return r


def exceptions_of_python_and_of_the_graph(n):
    t = 0
    for i in range(n):
        try:
            if i == 3:
                raise ValueError(f"three {t}")
        finally:
            t += 1
        try:
            int("z")
        except ValueError:
            t += 10
    return t


def jumps_out_of_a_python_loop(x):
    for k in (1, 2, 3):
        try:
            if x == k:
                break
            if x == k * 10:
                return k
        finally:
            x += 1
    else:
        x = -x
    return x


def finally_assigns_what_is_returned(x):
    try:
        return x if x > 0 else -x
    finally:
        x = 5


PROGRAMS = [
    jumps_through_finally, jumps_out_of_with, return_through_a_finally_outside, else_and_finally,
    returns_through_two_finallys, jumps_in_nested_loops, break_out_of_two_managers, return_out_of_with,
    endless_loop_ended_behind_finally, branch_in_a_handler, exceptions_of_python_and_of_the_graph,
    jumps_out_of_a_python_loop, finally_assigns_what_is_returned,
]  # fmt: skip


def outcome(f, argument):
    try:
        return np.asarray(f(argument)).tolist()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_exit_behaves_as_in_python(program):
    own, converted = autograph.convert(program), converted_version(program)
    graphs = [tf.function(program, experimental_executor=executor) for executor in ("plan", "interpret")]
    for argument in (-7, 0, 1, 2, 3, 4, 5, 6, 7, 9, 20):
        expected = outcome(program, argument)
        assert outcome(own, argument) == outcome(converted, argument) == expected
        for graph in graphs:
            assert outcome(graph, tf.constant(argument)) == expected, argument
