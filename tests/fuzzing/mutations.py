"""Mutations of files: bits, cuts and insertions; values of JSON documents; and checksums that fit again.

    mutated(b'{"shape": [2]}', rng)     →     b'{"shape": [-1]}'       a file that is JSON stays JSON, most of the time
    sealed(document)                    →     the document with the checksum of its new content

Every mutation is a function of the random generator, so that a seed is enough to see it again.
"""

import copy
import hashlib
import json
import struct

WORDS = [b"\xff" * 8, b"\0" * 8, *((1 << bit).to_bytes(8, "little") for bit in (63, 40, 31, 20))]
BYTES = [0, 1, 10, 13, 34, 44, 92, 127, 128, 255]
ODD = [
    None, True, -1, 0, 1, 2**31, 2**63, 2**64, -(2**63), 10**30, 1e308, float("nan"), float("inf"), "", "x", "\0", "'",
    "\ud800", "../../x", "/etc/passwd", "float32", "float64", "string", "float32[1000000]", "float32[?]", "int32[]", [],
    {}, [[]], {"a": 1}, [1, 2], [-1], [2**40], [2**20, 2**20], {"dtype": "x"}, {"list": []},
]  # fmt: skip
KEYS = [
    "x", "axis", "attrs", "shape", "elements", "regions", "callees", "class_name", "config", "__init__",
    "self",
]  # fmt: skip
DEEP = 100_000


def mutated(content, rng):
    """Return a file with one to a few things changed."""
    document = _document(content)
    if document is None or rng.random() < 0.25:
        return damaged(content, rng)
    changed = replaced(document, rng)
    if "sha256" in changed and rng.random() < 0.9:
        changed = sealed(changed)
    return _text(changed, rng)


def damaged(content, rng):
    """Return bytes of which some are changed, left out, put in or cut off."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        place = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[place] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[place] = rng.choice([*BYTES, rng.randrange(256)])
        elif kind == 2:
            del data[place : rng.choice([place + rng.randrange(1, 9), len(data)])]
        elif kind == 3:
            data[place:place] = rng.randbytes(rng.randrange(1, 9))
        elif kind == 4:
            data[place : place + 8] = rng.choice(WORDS)
        elif kind == 5:
            other = rng.randrange(len(data)) if data else 0
            data[place:place] = data[other : other + rng.randrange(1, 40)]
        elif rng.random() < 0.1:
            data[place:place] = rng.choice([b"[", b"(", b'"', b"1", b",", b"\n", b"-", b"\xff"]) * rng.choice(
                [100, DEEP]
            )
    return bytes(data)


def replaced(document, rng):
    """Return a JSON document of which some values are replaced, moved, left out or renamed."""
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        found = list(_places(document))
        if not found:
            break
        holder, key = rng.choice(found)
        old = holder[key]
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            other, name = rng.choice(found)
            holder[key] = copy.deepcopy(other[name])
        elif kind == 2 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(rng.choice(holder)))
        elif kind == 3 and type(old) in (int, float):
            holder[key] = old + rng.choice([1, -1, 100, 2**31, -(2**33)])
        elif kind == 4 and isinstance(holder, dict):
            holder[rng.choice(KEYS)] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(rng.choice(ODD))
    return document


def sealed(document):
    """Return a document of `storage.sealed` with the checksum that fits its content."""
    try:
        text = json.dumps(document.get("content"), sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError):
        return document
    return {**document, "sha256": hashlib.sha256(text.encode()).hexdigest()}


def in_safetensors(content, rng):
    """Return a file of safetensors with another header, whose length fits."""
    length = int.from_bytes(content[:8], "little")
    header, data = content[8 : 8 + length], content[8 + length :]
    if rng.random() < 0.3:
        return damaged(content, rng)
    header = mutated(header, rng) if rng.random() < 0.7 else header
    data = damaged(data, rng) if rng.random() < 0.3 else data
    return len(header).to_bytes(8, "little") + header + data


def in_records(content, rng):
    """Return a TFRecord file with other records, or lengths that lie, and the checksums of these."""
    from agc.runtime.storage.crc32c import masked_crc32c

    if rng.random() < 0.4:
        return damaged(content, rng)
    pieces = []
    at = 0
    while at < len(content):
        (length,) = struct.unpack_from("<Q", content, at)
        record = content[at + 12 : at + 12 + length]
        at += 16 + length
        if rng.random() < 0.2:
            record = damaged(record, rng)
            length = rng.choice([len(record), len(record), 0, 2**20, 2**40, 2**63, 2**64 - 1])
        head = struct.pack("<Q", length)
        pieces += [
            head,
            struct.pack("<I", masked_crc32c(head)),
            record,
            struct.pack("<I", masked_crc32c(record)),
        ]
    return b"".join(pieces)


def packed_again(unpack, pack, inner):
    """Return the mutation of a compressed file: of its bytes, or by `inner` of what it holds."""

    def changed(content, rng):
        return damaged(content, rng) if rng.random() < 0.5 else pack(inner(unpack(content), rng))

    return changed


def _document(content):
    if content[:1] not in (b"{", b"["):
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _text(document, rng):
    """Return a document as text; now and then with a key twice, or nested deeply."""
    text = json.dumps(document)
    if rng.random() < 0.02:
        place = text.find(": ")
        text = text[: place + 2] + "[" * DEEP + "]" * DEEP + text[place + 2 :]
    if rng.random() < 0.02 and text.startswith("{"):
        text = text[:-1] + ", " + text[1:]
    if rng.random() < 0.02:
        text = text.replace("1", "1" * 5000, 1)
    return text.encode("utf-8", "surrogatepass")


def _places(document):
    """Yield (holder, key) for each value inside of a document."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in items:
        yield document, key
        if isinstance(value, (dict, list)):
            yield from _places(value)
