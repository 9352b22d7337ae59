"""Encoding of the messages in event files, which TensorBoard reads.

    Event     1 wall time   2 step   3 file version   4 graph   5 summary
    Summary   1 values: 1 tag, 8 tensor, 9 metadata (`SummaryMetadata`)

The numbers are those of TensorFlow's event.proto and summary.proto.
"""

from __future__ import annotations

from ..storage.messages import Message
from ..storage.protobuf import field, fixed64

VERSION = "brain.Event:2"
WRITER = "agc.runtime.summary"


class SummaryMetadata(Message):
    """The description of a value for TensorBoard: `plugin_data` names the plug-in, and has bytes for it.

    >>> metadata = SummaryMetadata()
    >>> metadata.plugin_data.plugin_name = "text"
    >>> metadata.SerializeToString()
    b'\\n\\x06\\n\\x04text'
    """

    FIELDS = """
        message PluginData { string plugin_name = 1; bytes content = 2; }
        PluginData plugin_data = 1; string display_name = 2; string summary_description = 3; int32 data_class = 4;
    """


def version_event(time: float) -> bytes:
    """Return the first event of a file."""
    return fixed64(1, time) + field(3, VERSION) + field(10, field(1, WRITER))


def graph_event(time: float, graph: bytes) -> bytes:
    return fixed64(1, time) + field(4, graph)


def summary_event(time: float, step: int, tag: str, tensor: bytes, metadata: bytes) -> bytes:
    """Return the event of one value at one step."""
    value = field(1, tag) + field(8, tensor) + (field(9, metadata) if metadata else b"")
    return fixed64(1, time) + (field(2, step) if step else b"") + field(5, field(1, value))


def metadata(plugin: str, content: bytes = b"", description: str | None = None) -> bytes:
    """Return the metadata of a value: its plug-in's name, and a description in Markdown."""
    data = field(1, plugin) + (field(2, content) if content else b"")
    return field(1, data) + (field(3, description) if description else b"")
