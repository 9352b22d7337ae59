"""Resolvers of a cluster: TF_CONFIG and clusters of the program, with TensorFlow's answers."""

import json

import agc.runtime as tf
import pytest

resolvers = tf.distribute.cluster_resolver
CLUSTER = {"chief": ["a:1"], "worker": ["b:2", "c:3"]}


@pytest.fixture
def configured(monkeypatch):
    """Set TF_CONFIG."""
    return lambda settings: monkeypatch.setenv("TF_CONFIG", json.dumps(settings))


def test_tf_config_names_the_task(configured):
    configured({"cluster": CLUSTER, "task": {"type": "worker", "index": 1}, "rpc_layer": "grpc"})
    found = resolvers.TFConfigClusterResolver()
    assert (found.task_type, found.task_id, found.rpc_layer, found.environment) == ("worker", 1, "grpc", None)
    assert found.cluster_spec().as_dict() == CLUSTER
    assert (found.master(), found.master("worker", 0)) == ("grpc://c:3", "grpc://b:2")
    assert dict(found.num_accelerators()) == {}
    assert resolvers.TFConfigClusterResolver(task_id=0).master() == "grpc://b:2"


def test_without_tf_config_there_is_no_cluster(configured):
    configured({})
    found = resolvers.TFConfigClusterResolver()
    assert (found.task_type, found.task_id, found.master()) == (None, None, "")
    assert not found.cluster_spec()
    assert tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync == 1


@pytest.mark.parametrize(
    ("text", "message"), [("{", "TF_CONFIG is no JSON"), ("[]", "must hold a JSON object")]
)
def test_other_texts_are_refused(monkeypatch, text, message):
    monkeypatch.setenv("TF_CONFIG", text)
    with pytest.raises(ValueError, match=message):
        resolvers.TFConfigClusterResolver().cluster_spec()


def test_clusters_of_the_program():
    spec = tf.train.ClusterSpec({"worker": {1: "b:2", 3: "c:3"}})
    assert spec.as_dict() == {"worker": {1: "b:2", 3: "c:3"}}
    assert (spec.jobs, spec.num_tasks("worker"), spec.task_indices("worker")) == (["worker"], 2, [1, 3])
    assert spec.job_tasks("worker") == [None, "b:2", None, "c:3"]
    assert spec == tf.train.ClusterSpec(spec)
    assert repr(spec) == "ClusterSpec({'worker': {1: 'b:2', 3: 'c:3'}})"
    found = resolvers.SimpleClusterResolver(spec, task_type="worker", task_id=3, rpc_layer="grpc")
    assert (found.master(), found.master("worker", 1)) == ("", "grpc://b:2")


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda spec: spec.job_tasks("ps"), ValueError, "No such job in cluster: 'ps'"),
        (lambda spec: spec.task_address("worker", 5), ValueError, "No task with index 5 in job 'worker'"),
        (lambda spec: tf.train.ClusterSpec({"w": 3}), TypeError, "must be a list or a dictionary"),
        (lambda spec: tf.train.ClusterSpec(3), TypeError, "`cluster` must be a dictionary"),
        (lambda spec: resolvers.SimpleClusterResolver({}), TypeError, "must be a `tf.train.ClusterSpec`"),
    ],
)
def test_wrong_clusters_are_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call(tf.train.ClusterSpec({"worker": ["a:1"]}))


def test_a_task_outside_of_the_cluster_is_refused(configured):
    configured({"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "ps", "index": 0}})
    with pytest.raises(ValueError, match=r"type 'ps' with index 0, is not a chief or worker"):
        tf.distribute.MultiWorkerMirroredStrategy()


def test_an_evaluator_is_alone(configured):
    configured({"cluster": {"worker": ["a:1", "b:2"]}, "task": {"type": "evaluator", "index": 0}})
    assert tf.distribute.experimental.MultiWorkerMirroredStrategy().num_replicas_in_sync == 1
