"""Small fastText models, written in the format of `FastText::saveModel`."""

import struct


def model_bytes(words):
    """Return a classifier that gives each word its label: `words` are {word: label}.

    Each label has one dimension; a word points strongly to that of its label.
    """
    labels = sorted(set(words.values()))
    dimensions = len(labels)
    head = struct.pack("<ii", 793712314, 12)
    head += struct.pack("<12i", dimensions, 5, 1, 1, 5, 1, 3, 3, 0, 0, 0, 100)
    head += struct.pack("<d", 1e-4)
    entries = [*(("</s>", 0), *((word, 0) for word in words)), *((each, 1) for each in labels)]
    listed = struct.pack("<iiiqq", len(entries), len(words) + 1, len(labels), 1000, -1)
    for word, kind in entries:
        listed += word.encode() + b"\0" + struct.pack("<qb", 1000, kind)
    inputs = [[0.0] * dimensions]
    inputs += [
        [20.0 * (labels[at] == label) for at in range(dimensions)] for label in words.values()
    ]
    outputs = [[float(at == number) for at in range(dimensions)] for number in range(len(labels))]
    return head + listed + _matrix(inputs, dimensions) + _matrix(outputs, dimensions)


def _matrix(rows, columns):
    values = [value for row in rows for value in row]
    packed = struct.pack(f"<{len(values)}f", *values)
    return b"\0" + struct.pack("<qq", len(rows), columns) + packed
