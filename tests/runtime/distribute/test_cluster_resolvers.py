"""Resolvers of a cluster: TF_CONFIG and clusters of the program, with TensorFlow's answers."""

import json
import os

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
    ("text", "message"), [("{", "TF_CONFIG is not JSON"), ("[]", "must hold a JSON object")]
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
    named = resolvers.SimpleClusterResolver(spec, master="a:1", rpc_layer="grpc")
    assert (named.master(), named.master(rpc_layer="other")) == ("grpc://a:1", "other://a:1")


def simple(cluster, **settings):
    return resolvers.SimpleClusterResolver(tf.train.ClusterSpec(cluster), **settings)


def test_a_union_joins_lists_and_merges_numbered_tasks():
    settings = {"task_type": "worker", "task_id": 1, "rpc_layer": "grpc", "master": "m", "environment": "e"}
    first = simple({"worker": ["a:1", "b:2"]}, **settings, num_accelerators={"GPU": 2})
    union = resolvers.UnionResolver(first, simple({"worker": ["c:1"], "ps": ["p:1"]}))
    assert union.cluster_spec().as_dict() == {"ps": ["p:1"], "worker": ["a:1", "b:2", "c:1"]}
    assert (union.task_type, union.task_id, union.rpc_layer, union.environment) == ("worker", 1, "grpc", "e")
    assert (union.master(), union.master("worker", 2)) == ("grpc://m", "grpc://c:1")
    assert union.num_accelerators() == {"GPU": 2}
    numbered = resolvers.UnionResolver(first, simple({"worker": {5: "d:1"}}), task_type="ps", task_id=0)
    assert numbered.cluster_spec().as_dict() == {"worker": {0: "a:1", 1: "b:2", 5: "d:1"}}
    assert (numbered.task_type, numbered.task_id) == ("ps", 0)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: resolvers.UnionResolver(), ValueError, "At least one ClusterResolver"),
        (lambda: resolvers.UnionResolver(3), TypeError, "must be of subclasses of `ClusterResolver`"),
        (
            lambda: resolvers.UnionResolver(
                simple({"worker": ["a:1", "b:2"]}), simple({"worker": {1: "d:1"}})
            ).cluster_spec(),
            KeyError,
            r"Duplicate keys detected .*worker \[1\]",
        ),
    ],
)
def test_wrong_unions_are_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


@pytest.fixture
def step(monkeypatch):
    """Set the variables of a job step of Slurm with five tasks; this process is the fourth."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")

    def set_variables(**changed):
        variables = {
            "PROCID": "3",
            "STEP_NUM_TASKS": "5",
            "STEP_NODELIST": "n[09-10],m5",
            "STEP_TASKS_PER_NODE": "2(x2),1",
        }
        for name, text in (variables | changed).items():
            monkeypatch.setenv(f"SLURM_{name}", text)

    return set_variables


def test_slurm_numbers_the_tasks_in_the_order_of_its_nodes(step):
    step()
    found = resolvers.SlurmClusterResolver()
    assert found.cluster_spec().as_dict() == {
        "worker": ["n09:8888", "n09:8889", "n10:8888", "n10:8889", "m5:8888"]
    }
    assert (found.task_type, found.task_id, found.master()) == ("worker", 3, "grpc://n10:8889")
    assert found.num_accelerators() == {"GPU": 0}


def test_slurm_divides_tasks_by_job_and_gpus_by_task(step):
    step()
    found = resolvers.SlurmClusterResolver({"worker": 4, "chief": 1}, port_base=1, gpus_per_node=4)
    assert found.cluster_spec().as_dict() == {
        "chief": ["n09:1"],
        "worker": ["n09:2", "n10:1", "n10:2", "m5:1"],
    }
    assert (found.get_task_info(), found.num_accelerators()) == (("worker", 2), {"GPU": 2})
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "2,3"
    found = resolvers.SlurmClusterResolver(tasks_per_node={"a": 2, "b": 3}, gpus_per_node=0)
    assert found.master() == "grpc://b:8889"


@pytest.mark.parametrize(
    ("nodes", "expanded"),
    [
        ("n[1-2],m5,o[3-4,6]", ["n1", "n2", "m5", "o3", "o4", "o6"]),
        ("rack[0-1]node[08-09]", ["rack0node08", "rack0node09", "rack1node08", "rack1node09"]),
    ],
)
def test_slurm_abbreviates_names_of_nodes(step, nodes, expanded):
    step(PROCID="0", STEP_NODELIST=nodes, STEP_NUM_TASKS=str(len(expanded)))
    found = resolvers.SlurmClusterResolver(tasks_per_node=1).cluster_spec()
    assert found.job_tasks("worker") == [f"{node}:8888" for node in expanded]


@pytest.mark.parametrize(
    ("changed", "settings", "kind", "message"),
    [
        ({}, {"jobs": {"worker": 3}}, RuntimeError, "Requested 3 tasks but only 5 were assigned"),
        ({}, {"gpus_per_node": 2, "gpus_per_task": 2}, RuntimeError, "more GPUs per node than available"),
        ({"PROCID": "5"}, {}, RuntimeError, "SLURM_PROCID is 5, but there are 5 tasks"),
        ({"PROCID": "one"}, {}, ValueError, "SLURM_PROCID must be a number, not 'one'"),
        ({"STEP_NODELIST": "n[1-"}, {}, ValueError, "Invalid hostlist format"),
        ({"STEP_NODELIST": "n[1-b]"}, {}, ValueError, "Invalid hostlist format"),
        ({"STEP_NODELIST": "a,,b"}, {}, ValueError, "Invalid hostlist format"),
        ({"STEP_NODELIST": "a"}, {}, ValueError, "has 1 nodes, but there are 3 counts"),
        ({"STEP_TASKS_PER_NODE": "2(x"}, {}, ValueError, "Invalid tasks-per-node list format"),
    ],
)
def test_wrong_steps_of_slurm_are_refused(step, changed, settings, kind, message):
    step(**changed)
    with pytest.raises(kind, match=message):
        resolvers.SlurmClusterResolver(**settings)


def test_outside_of_slurm_its_resolver_is_refused(monkeypatch):
    monkeypatch.delenv("SLURM_PROCID", raising=False)
    monkeypatch.setenv("SLURM_STEP_NUM_TASKS", "1")
    with pytest.raises(RuntimeError, match=r"SLURM_\w+ not found in environment"):
        resolvers.SlurmClusterResolver()


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
