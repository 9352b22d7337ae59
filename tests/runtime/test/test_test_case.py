"""`tf.test.TestCase`: assertions show the elements that differ, and sessions evaluate graphs."""

import dataclasses
import sys
import unittest

import agc.runtime as tf
import numpy as np
import pytest
from support.each_case import each_case

NAN = float("nan")


@dataclasses.dataclass
class Point:
    x: int
    note: str = dataclasses.field(compare=False)


@pytest.fixture
def case():
    return tf.test.TestCase()


ACCEPTED = [
    ("assertAllClose", [1.0, 2.0], tf.constant([1.0, 2.0 + 1e-7])),
    ("assertAllClose", {"a": tf.ones([2]), "b": [1, (2.0, 3.0)]}, {"a": [1.0, 1.0], "b": [1, (2.0, 3.0)]}),
    ("assertAllClose", tf.ragged.constant([[1.0], []]), [[1.0 + 1e-7], []]),
    ("assertAllClose", [NAN, np.inf], tf.constant([NAN, np.inf])),
    ("assertAllClose", tf.Variable([1, 2]), [1, 2]),
    ("assertAllEqual", tf.constant(["a", "b"]), ["a", b"b"]),
    ("assertAllEqual", tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]]),
    ("assertAllEqual", tf.sparse.from_dense([[0, 1]]), [[0, 1]]),
    ("assertAllEqual", tf.TensorShape([2, 3]), [2, 3]),
    ("assertAllEqual", [divmod, max], (divmod, max)),
    ("assertNotAllClose", [1.0], [2.0]),
    ("assertNotAllEqual", [1], [2]),
    ("assertAllCloseAccordingToType", tf.constant([1.0], tf.float16), tf.constant([1.0005], tf.float16)),
    ("assertAllGreater", [2, 3], 1),
    ("assertAllLessEqual", tf.constant([2, 3]), 3),
    ("assertAllInRange", [0.0, 0.5], 0.0, 1.0),
    ("assertAllInSet", tf.constant([1, 2]), {1, 2, 3}),
    ("assertDTypeEqual", tf.constant(1.0), tf.float32),
    ("assertShapeEqual", tf.zeros([2, 3]), np.zeros((2, 3))),
    ("assertNear", 1.0, 1.05, 0.1),
    ("assertArrayNear", [1.0, 2.0], [1.05, 2.0], 0.1),
    ("assertNDArrayNear", np.ones(2), np.ones(2) + 0.01, 0.1),
    ("assertStartsWith", "tensor", "ten"),
    ("assertDeviceEqual", "/cpu:0", "/device:CPU:0"),
    ("assertLen", [1, 2], 2),
    ("assertContainsSubset", {1}, {1, 2}),
    ("assertSameElements", [1, 1, 2], [2, 1]),
    ("assertSequenceAlmostEqual", [1.0], [1.0 + 1e-9]),
    ("assertAllLess", [1, 2], 3),
    ("assertAllGreaterEqual", [1, 2], 1),
    ("assertNotEmpty", [1]),
    ("assertNoCommonElements", [1], [2]),
    ("assertSequenceStartsWith", [1], [1, 2]),
    ("assertContainsInOrder", ["ab", "bc"], "abc"),
    ("assertContainsExactSubsequence", [1, 2, 3], [2, 3]),
    ("assertContainsSubsequence", [0, 1, 0, 2], [1, 2]),
    ("assertJsonEqual", '{"a": [1], "b": 2}', '{"b": 2, "a": [1]}'),
    ("assertUrlEqual", "http://a/b?x=1&y=2", "http://a/b?y=2&x=1"),
    ("assertMappingEqual", {"a": 1}, {"a": 1}),
    ("assertDictAlmostEqual", {"a": 1.0, "b": "x"}, {"a": 1.0 + 1e-9, "b": "x"}),
    ("assertDataclassEqual", Point(1, "here"), Point(1, "there")),
    ("assertCommandSucceeds", "echo done", ["^done"]),
    ("assertCommandFails", [sys.executable, "-c", "raise SystemExit('failed')"], [b"failed"]),
    ("assertEndsWith", "tensor", "or"),
    ("assertNotStartsWith", "tensor", "or"),
    ("assertNotEndsWith", "tensor", "ten"),
    ("assertItemsEqual", [1, 2, 2], [2, 1, 2]),
    ("assertIsSubclass", bool, int),
    ("assertNotIsSubclass", int, bool),
    ("assertRegexMatch", "tensor", ["^x", "s.r"]),
    ("assertTotallyOrdered", [1, 1.0], [2], [3, 3]),
    ("assertSameStructure", {"a": [1, (2, {3})]}, {"a": (1, [2, frozenset({3})])}),
]

REFUSED = [
    ("assertAllClose", ([1.0, 2.0], [1.0, 2.1]), r"Values differ.*1 of 2 elements, at \[\[1\]\]"),
    ("assertAllClose", ({"a": [1.0]}, {"a": [2.0]}), r"Values differ\['a'\]"),
    ("assertAllClose", ([1.0], [[1.0]]), "Shape mismatch"),
    ("assertAllClose", ({"a": 1}, [1]), "Can't compare dict to non-dict"),
    ("assertAllEqual", ([1, 2], tf.constant([1, 3])), "Values differ"),
    ("assertAllEqual", (tf.ragged.constant([[1]]), [[1], []]), "differ"),
    ("assertNotAllClose", ([1.0], [1.0]), "close at all elements"),
    ("assertNotAllEqual", ([1], [1]), "equal at all elements"),
    ("assertAllGreater", ([0, 5], 1), r"1 of 2 elements are not > 1: \[0\]"),
    ("assertAllInRange", ([0.0, 1.0], 0.0, 1.0, True), "not in the range"),
    ("assertAllInSet", ([4], {1}), "not in the set"),
    ("assertDTypeEqual", (tf.constant(1), tf.float32), "int32"),
    ("assertShapeEqual", (tf.zeros([2]), tf.zeros([3])), "2"),
    ("assertNear", (1.0, 2.0, 0.1), "1.0 != 2.0"),
    ("assertContainsSubsequence", ([0, 1, 0, 2], [2, 1]), "not a subsequence"),
    ("assertJsonEqual", ('{"a": 1}', '{"a": 2}'), r"first\['a'\] is 1 but second\['a'\] is 2"),
    ("assertUrlEqual", ("http://a/b?x=1", "http://a/b?x=2"), "x"),
    ("assertMappingEqual", ({"a": 1}, {"a": 2}), "'a': 1 != 2"),
    ("assertDictAlmostEqual", ({"a": 1.0}, {"a": 1.1}), "'a': 1.0 != 1.1"),
    ("assertDataclassEqual", (Point(1, ""), Point(2, "")), "field 'x'"),
    ("assertCommandSucceeds", ("exit 3",), "returned 3"),
    ("assertCommandFails", ("echo done", ["done"]), "returned 0: done"),
    ("assertEmpty", ([1],), "has length of 1"),
    ("assertBetween", (3, 1, 2), "not between"),
    ("assertAllLess", ([1, 3], 3), r"1 of 2 elements are not < 3: \[3\]"),
    ("assertAllGreaterEqual", ([0, 1], 1), r"not >= 1: \[0\]"),
    ("assertNotEmpty", ([],), "has length of 0"),
    ("assertNoCommonElements", ([1, 2], [2]), r"Common elements \{2\}"),
    ("assertSequenceStartsWith", ([2], [1, 2]), "not found at start"),
    ("assertSequenceStartsWith", ([], [1]), "not found at start"),
    ("assertContainsInOrder", (["b", "a"], "ab"), "Did not find 'a' in order in 'ab'"),
    ("assertContainsExactSubsequence", ([1, 2, 3], [1, 3]), "does not contain"),
    ("assertEndsWith", ("tensor", "ten"), "does not end with 'ten'"),
    ("assertNotStartsWith", ("tensor", "ten"), "starts with 'ten'"),
    ("assertNotEndsWith", ("tensor", "or"), "ends with 'or'"),
    ("assertItemsEqual", ([1, 1], [1]), "Element counts were not equal"),
    ("assertIsSubclass", (int, bool), "is not a subclass"),
    ("assertNotIsSubclass", (bool, int), "is a subclass"),
    ("assertRegexMatch", ("tensor", ["^x", "y"]), "Regex didn't match"),
    ("assertRegexMatch", ("tensor", "tensor"), "regexes is 'tensor', not a list of patterns"),
    ("assertSameElements", ("ab", "ba"), "compares no texts"),
    ("assertTotallyOrdered", ([1, 2], [3]), "1 != 2"),
    ("assertTotallyOrdered", ([2], [1]), "2 not less than 1"),
    ("assertSameStructure", ({"a": [1, 2]}, {"a": [1, 3]}), r"a\['a'\]\[1\] is 2 but b\['a'\]\[1\] is 3"),
    ("assertSameStructure", ([1, 2], [1]), r"a\[1\] is 2 but b\[1\] is missing"),
    ("assertSameStructure", (1, 1.0), "a is 1 but b is 1.0"),
]


@each_case(("name", "arguments"), [(row[0], row[1:]) for row in ACCEPTED])
def test_assertions_accept(case, name, arguments):
    assert getattr(case, name)(*arguments) is None


@each_case(("name", "arguments", "text"), REFUSED)
def test_assertions_fail_with_the_difference(case, name, arguments, text):
    with pytest.raises(AssertionError, match=f"(?s){text}"):
        getattr(case, name)(*arguments)


def test_expected_exceptions(case):
    with case.assertRaisesOpError("not invertible"):
        tf.linalg.inv(tf.zeros([2, 2]))
    with case.assertRaisesWithPredicateMatch(ValueError, lambda error: "x" in str(error)):
        raise ValueError("x")
    with (
        pytest.raises(AssertionError, match="ValueError not raised"),
        case.assertRaisesWithPredicateMatch(ValueError, ""),
    ):
        pass
    with case.assertRaisesIncompatibleShapesError():
        tf.constant([1, 2]) + tf.constant([1, 2, 3])
    with case.assertRaisesWithLiteralMatch(ValueError, "exact"):
        raise ValueError("exact")


def test_evaluate_returns_the_values_of_a_nest(case):
    found = case.evaluate({"a": tf.constant([1]), "b": (tf.Variable(2.0), lambda: tf.constant(3), 4)})
    assert found["a"].tolist() == [1]
    assert [float(x) for x in found["b"]] == [2.0, 3.0, 4.0]


def test_eager_code_has_no_session(case):
    with case.session() as session:
        case.assertAllEqual(case.evaluate(tf.constant([1])), [1])
        with pytest.raises(AttributeError, match=r"'run' of a session in eager code: call self\.evaluate"):
            session.run(tf.constant(1))


def test_the_session_of_a_whole_test_runs_eager_code(case):
    with case.cached_session() as session:
        assert session.run({"a": tf.constant(1), "b": [tf.Variable(2.0)]}) == {"a": 1, "b": [2.0]}
        with pytest.raises(RuntimeError, match="eager"):
            session.run(tf.constant(1), feed_dict={"x": 1})


def test_test_session_is_no_test():
    class Empty(tf.test.TestCase):
        def test_graphs_run_in_a_session(self):
            with tf.Graph().as_default(), self.test_session() as session:
                assert session.run(tf.constant(1)) == 1

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Empty).run(result)
    assert result.wasSuccessful()
    assert [reason for _, reason in result.skipped] == ["Not a test."]


def test_graphs_are_evaluated_in_a_session(case):
    with tf.Graph().as_default():
        v = tf.compat.v1.Variable(1.0)
        with case.cached_session():
            case.evaluate(tf.compat.v1.global_variables_initializer())
            case.evaluate(v.assign_add(2.0))
        with case.cached_session():
            assert case.evaluate(v) == 3.0


def test_assertions_in_a_graph_take_python_values(case):
    with tf.Graph().as_default():
        x = tf.constant([2.5, 1.0])
        with case.cached_session() as session:
            case.assertAllClose([2.5, 1.0], x)
            case.assertAllEqual([x, [2.5, 1.0]], np.array([[2.5, 1.0]] * 2))
            found = session.run(x)
            with pytest.raises(AssertionError):
                case.assertAllClose([2.5, 2.0], x)
        case.assertAllClose([2.5, 1.0], found)  # no session is needed


def test_each_test_begins_with_the_same_random_numbers():
    drawn = []

    class Draws(tf.test.TestCase):
        def test_one(self):
            drawn.append((float(tf.random.uniform([])), float(np.random.rand())))

        test_two = test_one

    unittest.defaultTestLoader.loadTestsFromTestCase(Draws).run(unittest.TestResult())
    assert len(drawn) == 2
    assert drawn[0] == drawn[1]


def test_threads_raise_their_exceptions_when_joined(case):
    done = case.checkedThread(lambda x: None, args=(1,))
    done.start()
    done.join()
    failing = case.checkedThread(lambda: 1 / 0)
    failing.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: division by zero"):
        failing.join()


def test_temporary_folders_and_output(case):
    assert case.get_temp_dir() == case.get_temp_dir()
    assert case.create_tempfile("a/b.txt", "text").read_text() == "text"
    assert case.create_tempfile(content=b"\xff").read_bytes() == b"\xff"
    assert case.create_tempdir("c").is_dir()
    assert case.create_tempdir().parent.samefile(case.get_temp_dir())
    with case.captureWritesToStream(sys.stdout) as written:
        tf.print("printed", output_stream=sys.stdout)
    assert "printed" in written.contents()


def test_decorators_of_tests():
    class Skips(tf.test.TestCase):
        @tf.test.disable_with_predicate(lambda: True, "not now")
        def test_it(self):
            raise AssertionError

    result = unittest.TestResult()
    Skips("test_it").run(result)
    assert [text for _, text in result.skipped] == ["not now"]
    assert tf.test.with_eager_op_as_function(Skips) is Skips
