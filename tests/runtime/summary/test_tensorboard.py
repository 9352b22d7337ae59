"""The real TensorBoard shows graphs and times: its server is started, and its HTTP interface is read."""

import json
import threading
import time
import urllib.request

import agc.runtime as tf
import pytest
from google.protobuf import text_format
from tensorboard import program
from tensorboard.compat.proto import config_pb2, graph_pb2

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def settled(x, w):
    while tf.reduce_max(x) > 0.5:
        x = tf.tanh(x @ w) * 0.5
    return x


def doubled(x):
    return x + x


@pytest.fixture(scope="module")
def get(tmp_path_factory):
    """Write four runs, start TensorBoard on them, and return a function that reads an address."""
    logdir = tmp_path_factory.mktemp("logs")
    write(logdir)
    board = program.TensorBoard()
    board.configure(argv=[None, "--logdir", str(logdir), "--port", "0", "--load_fast", "false"])
    server = board._make_server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def read(address):
        with urllib.request.urlopen(f"{server.get_url()}data/{address}", timeout=120) as answer:
            return answer.read().decode()

    end = time.monotonic() + 120
    while len(json.loads(read("runs"))) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    yield read
    server.shutdown()
    server.server_close()
    thread.join()


def write(logdir):
    def writer(run):
        return tf.summary.create_file_writer(str(logdir / run)).as_default()

    with writer("graph"):
        concrete = tf.function(settled).get_concrete_function(X, X)
        tf.summary.graph(concrete.graph)
        tf.summary.scalar("loss", 0.5, step=1)
    with writer("traced"):
        tf.summary.trace_on()
        tf.function(settled)(X, X)
        tf.summary.trace_export("one", step=0)
    with writer("two"):
        tf.summary.trace_on()
        tf.function(settled)(X, X)
        tf.function(doubled)(X)
        tf.summary.trace_export("both", step=0)
    with writer("profiled"):
        tf.summary.trace_on(profiler=True, profiler_outdir=logdir / "profiled")
        tf.function(settled)(X, X)
        tf.summary.trace_export("timed", step=0)


def graph_of(get, run, tag=None):
    text = get(f"plugin/graphs/graph?run={run}&conceptual=false" + (f"&tag={tag}" if tag else ""))
    return text_format.Parse(text, graph_pb2.GraphDef())


def test_runs_offer_graphs_and_times(get):
    info = json.loads(get("plugin/graphs/info"))
    assert info["graph"]["run_graph"] and not info["traced"]["run_graph"]
    assert info["traced"]["tags"]["one"]["op_graph"] and not info["traced"]["tags"]["one"]["profile"]
    assert info["profiled"]["tags"]["timed"]["op_graph"] and info["profiled"]["tags"]["timed"]["profile"]


@pytest.mark.parametrize(("run", "tag"), [("graph", None), ("traced", "one"), ("profiled", "timed")])
def test_regions_are_nested_and_edges_lead_to_nodes(get, run, tag):
    nodes = {node.name: node for node in graph_of(get, run, tag).node}
    (loop,) = [node.name for node in nodes.values() if node.op == "while"]
    (matmul,) = [node for node in nodes.values() if node.op == "matmul"]
    assert matmul.name.startswith(f"{loop}/body/")
    assert all(source.partition(":")[0] in nodes for node in nodes.values() for source in node.input)


def test_nodes_have_shapes_dtypes_and_lines(get):
    (matmul,) = [node for node in graph_of(get, "graph").node if node.op == "matmul"]
    (shape,) = matmul.attr["_output_shapes"].list.shape
    assert [dim.size for dim in shape.dim] == [2, 2]
    assert matmul.attr["dtype"].type == 1
    line = settled.__code__.co_firstlineno + 2
    assert matmul.attr["line"].s.decode().endswith(f"test_tensorboard.py:{line}, in settled")


def test_graphs_of_several_functions_are_shown_next_to_each_other(get):
    names = {node.name.partition("/")[0] for node in graph_of(get, "two", "both").node}
    assert names == {"graph_1", "graph_2"}


def test_nodes_of_a_profiled_run_have_times(get):
    text = get("plugin/graphs/run_metadata?run=profiled&tag=timed")
    (device,) = text_format.Parse(text, config_pb2.RunMetadata()).step_stats.dev_stats
    known = {node.name for node in graph_of(get, "profiled", "timed").node}
    assert device.node_stats and all(each.node_name in known for each in device.node_stats)
    assert all(each.all_end_rel_micros > 0 for each in device.node_stats)
    assert any(each.node_name.endswith("matmul") for each in device.node_stats)


def test_scalars_are_shown_next_to_graphs(get):
    assert list(json.loads(get("plugin/scalars/tags"))["graph"]) == ["loss"]
