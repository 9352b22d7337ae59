"""Devices: names, soft placement, lists, the log of placements. Answers are those of TensorFlow 2.21 on a CPU."""

from __future__ import annotations

import threading

import agc.runtime as tf
import pytest
from agc.runtime.core import devices

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.fixture
def hard():
    tf.config.set_soft_device_placement(False)
    yield
    tf.config.set_soft_device_placement(True)


class TestNames:
    @pytest.mark.parametrize(
        ("name", "full"),
        [
            ("/gpu:0", "/device:GPU:0"),
            ("GPU:1", "/device:GPU:1"),
            ("cpu", "/device:CPU:*"),
            ("/device:CPU:*", "/device:CPU:*"),
            ("/job:localhost/replica:0/task:0/device:cpu:0", CPU),
            ("", ""),
        ],
    )
    def test_a_name_in_full(self, name, full):
        assert str(devices.parsed(name)) == full

    @pytest.mark.parametrize("name", ["xyz", "/blah:0", "/gpu:a", "/cpu:0:1", "/task:x"])
    def test_an_invalid_device_name_is_refused(self, name):
        with pytest.raises(ValueError, match="device spec: '"), tf.device(name):
            pass

    def test_other_types(self):
        with pytest.raises(ValueError, match="Expecting a string device name"), tf.device(3):
            pass
        with pytest.raises(RuntimeError, match=r"tf.device does not support functions"), tf.device(len):
            pass


class TestPlacement:
    def test_a_gpu_that_is_not_there_means_the_cpu(self):
        with tf.device("/GPU:0"):
            x = tf.constant([1.0]) + 1
        assert x.device == CPU == tf.Variable(x).device

    def test_hard_placement_refuses_a_missing_gpu(self, hard):
        assert not tf.config.get_soft_device_placement()
        refused = pytest.raises(
            tf.errors.InvalidArgumentError, match="Could not satisfy device specification"
        )
        with refused, tf.device("/GPU:0"):
            tf.constant([1.0]) + 1
        with tf.device("/CPU:0"):
            assert (tf.constant(1) + 1).numpy() == 2

    def test_another_machine(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="unknown device"), tf.device("/job:worker"):
            pass

    def test_in_a_graph_tensors_have_the_requested_device(self):
        seen = []

        @tf.function
        def f(x):
            with tf.device("GPU:0"):
                y = x + 1
                with tf.device(None):
                    z = x + 2
                with tf.device("/job:localhost"):
                    w = x + 3
            seen.extend([x.device, y.device, z.device, w.device])
            return y * z * w

        assert f(tf.constant(1)).device == CPU
        assert seen == ["", "/device:GPU:0", "", "/job:localhost/device:GPU:0"]
        graph = f.get_concrete_function(tf.constant(1)).graph
        assert [op.device for op in graph.get_operations()[:3]] == [
            "/device:GPU:0", "", "/job:localhost/device:GPU:0",
        ]  # fmt: skip
        assert graph.as_graph_def().node[1].device == "/device:GPU:0"

    def test_as_a_decorator(self):
        @tf.device("CPU:0")
        def f(x):
            return devices.wanted(), x + 1

        assert f(tf.constant(1))[0] == "/device:CPU:0"
        assert devices.wanted() == ""

    def test_a_device_block_belongs_to_its_thread(self):
        seen = []
        with tf.device("CPU:0"):
            thread = threading.Thread(target=lambda: seen.append(devices.wanted()))
            thread.start()
            thread.join()
        assert seen == [""]


class TestLists:
    def test_one_cpu_is_listed(self):
        (physical,) = tf.config.list_physical_devices()
        (logical,) = tf.config.list_logical_devices()
        assert repr(physical) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
        assert repr(logical) == "LogicalDevice(name='/device:CPU:0', device_type='CPU')"
        assert (
            tf.config.list_physical_devices("GPU")
            == tf.config.experimental.list_physical_devices("GPU")
            == []
        )
        assert tf.config.get_visible_devices() == [physical]

    def test_visible_devices(self):
        (cpu,) = tf.config.list_physical_devices()
        try:
            tf.config.set_visible_devices([], "GPU")
            assert tf.config.list_logical_devices("CPU")
            tf.config.set_visible_devices([])
            assert tf.config.list_logical_devices() == []
        finally:
            tf.config.set_visible_devices(cpu)
        with pytest.raises(ValueError, match="Unrecognized device"):
            tf.config.set_visible_devices("GPU:0")
        with pytest.raises(ValueError, match="is not a GPU"):
            tf.config.set_visible_devices([cpu], "GPU")

    def test_logical_configurations(self, monkeypatch):
        monkeypatch.setattr("agc.runtime.config.devices._configurations", {})
        (cpu,) = tf.config.list_physical_devices()
        one = tf.config.LogicalDeviceConfiguration()
        assert tf.config.get_logical_device_configuration(cpu) is None
        try:
            tf.config.set_logical_device_configuration(cpu, [one, one])
            assert [device.name for device in tf.config.list_logical_devices()] == [
                "/device:CPU:0",
                "/device:CPU:1",
            ]
            tf.config.set_soft_device_placement(False)
            with tf.device("/device:CPU:1"):
                assert float(tf.constant(1.0) + 1.0) == 2.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="device:CPU:1]"), tf.device("/CPU:2"):
                pass
        finally:
            tf.config.set_soft_device_placement(True)
            tf.config.set_logical_device_configuration(cpu, [one])
        with pytest.raises(ValueError, match="Setting memory limit"):
            tf.config.set_logical_device_configuration(cpu, [one._replace(memory_limit=10)])

    def test_settings_of_gpus(self):
        (cpu,) = tf.config.list_physical_devices()
        with pytest.raises(KeyError):
            tf.config.experimental.get_memory_growth(cpu)
        with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU"):
            tf.config.experimental.set_memory_growth(cpu, True)
        assert tf.config.experimental.get_device_details(cpu) == {}

    def test_memory_of_devices(self):
        for name in (CPU, "/device:CPU:0", "CPU:0"):
            assert tf.config.experimental.get_memory_info(name) == {"current": 0, "peak": 0}
        with pytest.raises(ValueError, match="No matching devices found for 'GPU:0'"):
            tf.config.experimental.reset_memory_stats("GPU:0")
        for name in ("CPU", "foo"):
            with pytest.raises(ValueError, match="Failed parsing device name"):
                tf.config.experimental.get_memory_info(name)

    def test_queries_about_gpus_and_builds(self):
        assert not tf.test.is_gpu_available() and not tf.test.is_built_with_cuda()
        assert tf.test.gpu_device_name() == ""
        assert tf.__version__ == tf.version.VERSION
        assert tf.__version__.startswith("2.")
        assert tf.sysconfig.get_build_info() == {
            "is_cuda_build": False, "is_rocm_build": False, "is_tensorrt_build": False,
        }  # fmt: skip


class TestLog:
    def test_eager_operations_and_graphs_are_reported(self, capfd):
        tf.debugging.set_log_device_placement(True)
        try:
            tf.constant(1.0) + 2.0
            f = tf.function(lambda x: tf.matmul(x, x))
            x = tf.constant([[1.0]])
            f(x)
            f(x)
        finally:
            tf.debugging.set_log_device_placement(False)
        tf.constant(1.0) + 2.0
        assert capfd.readouterr().err.splitlines() == [
            f"Executing op add in device {CPU}",
            f"matmul: (matmul): {CPU}",
        ]
