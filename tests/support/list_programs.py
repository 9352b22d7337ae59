"""Programs whose lists are read under several names: what one of them writes the others must not see."""

from __future__ import annotations

import agc.runtime as tf


def array(size: object) -> tf.TensorArray:
    return tf.TensorArray(tf.int32, size, element_shape=[])


def changed_at_places(n: tf.Tensor) -> object:
    found = [n, n + 1, n + 2]
    for i in tf.range(n):
        found[i % 2] = found[-1] + i
        found[-2] = found[0] * 2
    return tf.stack(found)


def taken_from_places(n: tf.Tensor) -> object:
    found, total = [n * 1, n * 2, n * 3, n * 4, n * 5, n * 6, n * 7], n * 0
    for i in tf.range(n):
        total = total * 3 + found.pop(i)
        total = total * 3 + found.pop(-2)
    return total, tf.stack(found)


def begun_twice(n: tf.Tensor) -> object:
    one = other = array(4)
    for i in tf.range(n):
        one, other = one.write(i, i), other.write(i, -i)
    return one.stack(), other.stack()


def begun_again(n: tf.Tensor) -> object:
    """Read the initial list of a loop after the loop, and begin the next loop with it."""
    start = array(4).write(0, n)
    now = start
    for i in tf.range(n):
        now = now.write(i, i + 1)
    for i in tf.range(n):
        start = start.write(3 - i, start.read(0) + i)
    return now.stack(), start.stack()


def begun_in_each_round(n: tf.Tensor) -> object:
    start, total = array(4).write(0, n), n * 0
    for i in tf.range(n):
        now = start
        for j in tf.range(i + 1):
            now = now.write(j, now.read(0) + i + j)
        total = total * 7 + now.read(0) - now.read(i)
    return start.stack(), total


def begun_in_a_branch(n: tf.Tensor) -> object:
    now = start = array(4).write(0, n)
    if n > 1:
        for i in tf.range(n):
            now = now.write(i, i + 5)
    return now.stack(), start.stack()


def from_a_branch(n: tf.Tensor) -> object:
    a, b = array(2).write(0, n), array(2)
    either = a if n > 2 else b
    return either.write(0, 7).stack(), a.stack(), b.stack()


def behind_a_branch(n: tf.Tensor) -> object:
    a, b = array(2).write(0, n), array(2)
    either = a if n > 2 else b
    return a.write(0, 7).stack(), b.write(0, 8).stack(), either.stack()


def from_branches_in_a_loop(n: tf.Tensor) -> object:
    a, b, c = array(3).write(0, n), array(3).write(1, n * 2), array(3)
    for i in tf.range(n):
        c = a if i % 2 == 0 else b.write(2, i)
        a = c.write(1, i + 1) if i > 1 else a
    return a.stack(), b.stack(), c.stack()


def grown_in_branches(n: tf.Tensor) -> object:
    found, others = [n, n + 1], [n * 2]
    for i in tf.range(n + 2):
        if i % 2 == 0:
            found.append(i)
            others.append(found[-2] + i)
        else:
            others[-1] = found.pop()
            found[0] += len(others)
    return tf.stack(found), tf.stack(others)


def begun_anew(n: tf.Tensor) -> object:
    """Begin each iteration but the first with a list that is read after the loop."""
    start, now, total = array(2).write(0, n), array(2), n * 0
    for i in tf.range(n):
        now = now.write(1, i + 5)
        total = total * 10 + now.read(1)
        now = start
    return start.stack(), total


def given_on(n: tf.Tensor) -> object:
    """The list of a round becomes a state of its own, while the round changes it."""
    now, before = array(2), array(2)
    for i in tf.range(n):
        before = now if i % 2 == 0 else before
        now = now.write(i % 2, i)
    return now.stack(), before.stack()


PROGRAMS = {
    changed_at_places: 5,
    taken_from_places: 9,
    begun_twice: 0,
    begun_again: 1,
    begun_in_each_round: 1,
    begun_in_a_branch: 1,
    from_a_branch: 1,
    behind_a_branch: 1,
    from_branches_in_a_loop: 2,
    grown_in_branches: 8,
    begun_anew: 1,
    given_on: 0,
}
"""The programs, and how many of their writes are in place in plans."""
