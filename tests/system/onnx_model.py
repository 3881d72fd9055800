# SPDX-License-Identifier: MIT
"""Models and tensors of ONNX, as bytes of protobuf: enough to read test data and to make small models."""

import struct

import numpy

TYPES = {1: "f4", 2: "u1", 3: "i1", 4: "u2", 5: "i2", 6: "i4", 7: "i8", 9: "?", 10: "f2", 11: "f8", 12: "u4",
         13: "u8"}
NUMBERS = {numpy.dtype(name): number for number, name in TYPES.items()}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def fields(data):
    """(number, value) of each field of a message: a number, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            value = data[at:at + size]
            at += size
        yield key >> 3, value


def values(data, number):
    return [value for field, value in fields(data) if field == number]


def first(data, number, otherwise=b""):
    return next(iter(values(data, number)), otherwise)


def packed(data, number):
    """Whole numbers of a repeated field, packed or not."""
    numbers = []
    for value in values(data, number):
        at = 0
        while not isinstance(value, int) and at < len(value):
            one, at = varint(value, at)
            numbers.append(signed(one))
        if isinstance(value, int):
            numbers.append(signed(value))
    return numbers


def array(data):
    """The elements of a TensorProto; nothing for texts and other types without numbers."""
    kind = TYPES.get(first(data, 2, 0))
    if kind is None:
        return None
    shape = packed(data, 1)
    raw = values(data, 9)
    if raw:
        return numpy.frombuffer(raw[0], "<" + kind).reshape(shape)
    lists = {"f4": 4, "f8": 10}
    if kind in lists:
        joined = b"".join(values(data, lists[kind]))
        return numpy.frombuffer(joined, "<" + kind).reshape(shape)
    numbers = packed(data, 7 if kind == "i8" else 11 if kind in ("u4", "u8") else 5)
    if kind == "f2":
        return numpy.array(numbers, "u2").view("f2").reshape(shape)
    return numpy.array(numbers).astype(kind).reshape(shape)


class Port:
    """A graph's input or output."""

    def __init__(self, data):
        self.name = first(data, 1).decode()
        tensor = first(first(data, 2), 1, None)
        self.kind = None if tensor is None else TYPES.get(first(tensor, 1, 0))


class Node:
    def __init__(self, data):
        self.op = first(data, 4).decode()
        self.inputs = [name.decode() for name in values(data, 1)]


class Model:
    def __init__(self, data):
        graph = first(data, 7)
        self.nodes = [Node(node) for node in values(graph, 1)]
        self.inputs = [Port(port) for port in values(graph, 11)]
        self.outputs = [Port(port) for port in values(graph, 12)]


# Writing.

def number_bytes(value):
    value &= (1 << 64) - 1
    made = b""
    while value > 127:
        made += bytes([value & 127 | 128])
        value >>= 7
    return made + bytes([value])


def field(number, value):
    """A field: a number, a text, bytes, or a float."""
    if isinstance(value, float):
        return number_bytes(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return number_bytes(number << 3) + number_bytes(value)
    data = value.encode() if isinstance(value, str) else value
    return number_bytes(number << 3 | 2) + number_bytes(len(data)) + data


def tensor(name, elements):
    elements = numpy.asarray(elements)
    return (b"".join(field(1, size) for size in elements.shape) + field(2, NUMBERS[elements.dtype]) +
            field(8, name) + field(9, elements.tobytes()))


def listed_tensor(name, elements, kind=None):
    """The same with its elements in a list of their type. `kind`: of numbers that are the bits of one that numpy has not."""
    elements = numpy.asarray(elements)
    kind = kind or NUMBERS[elements.dtype]
    typed = {1: (4, "<f4"), 11: (10, "<f8")}
    if kind in typed:
        number, dtype = typed[kind]
        data = field(number, elements.astype(dtype).tobytes())
    else:
        bits = elements.view("u2") if elements.dtype.kind == "f" else elements
        data = field({7: 7, 12: 11, 13: 11}.get(kind, 5), b"".join(number_bytes(int(one)) for one in bits.ravel()))
    return b"".join(field(1, size) for size in elements.shape) + field(2, kind) + field(8, name) + data


def external_tensor(name, shape, location, offset, **others):
    """Of f32, in a file of its own. `others`: further entries, such as the length."""
    entries = {"location": location, "offset": str(offset), **{key: str(value) for key, value in others.items()}}
    return (b"".join(field(1, size) for size in shape) + field(2, 1) + field(8, name) +
            b"".join(field(13, field(1, key) + field(2, value)) for key, value in entries.items()) +
            field(14, 1))


def attribute(name, value):
    made = field(1, name)
    if isinstance(value, float):
        return made + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return made + field(3, value) + field(20, 2)
    if isinstance(value, str):
        return made + field(4, value) + field(20, 3)
    if isinstance(value, bytes): # a tensor
        return made + field(5, value) + field(20, 4)
    if value and isinstance(value[0], float):
        return made + b"".join(field(7, one) for one in value) + field(20, 6)
    return made + b"".join(field(8, one) for one in value) + field(20, 7)


def node(op, inputs, outputs, name="", **attributes):
    return (b"".join(field(1, one) for one in inputs) + b"".join(field(2, one) for one in outputs) +
            field(3, name) + field(4, op) +
            b"".join(field(5, attribute(key, value)) for key, value in attributes.items()))


def port(name, shape, kind=1):
    """`shape`: numbers, or names of sizes."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, sizes)))


def model(nodes, inputs, outputs, initialisers=(), opset=17, more=b""):
    """`more`: further fields of the graph."""
    graph = (b"".join(field(1, one) for one in nodes) + field(2, "graph") +
             b"".join(field(5, one) for one in initialisers) + b"".join(field(11, one) for one in inputs) +
             b"".join(field(12, one) for one in outputs) + more)
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))
