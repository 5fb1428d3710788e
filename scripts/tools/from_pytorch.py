#!/usr/bin/env python3
"""Converts the tensors of a PyTorch file (.pt, .pth, .th) to a safetensors file, without PyTorch.

    python3 from_pytorch.py CHECKPOINT [-o FILE.safetensors] [--key model_state_dict]

A PyTorch file is a pickle: a program that Python runs to build its content. This script runs no harmful part of it. It
can build dictionaries, numbers, texts and tensors, and stops at the name of any other function or class. It reads the
format of PyTorch 1.6 and newer (a zip archive) and the older one (pickles one after the other). If the tensors are in a
dictionary inside the file, at any depth, the script finds it if it is the only one; otherwise --key names it. The
script only needs the standard library.
"""
import argparse
import collections
import io
import json
import os
import pathlib
import pickle
import struct
import sys
import tempfile
import zipfile
import zlib

# Storage class of PyTorch -> (name in safetensors, bytes of a number).
STORAGES = {"DoubleStorage": ("F64", 8), "FloatStorage": ("F32", 4), "HalfStorage": ("F16", 2),
            "BFloat16Storage": ("BF16", 2), "LongStorage": ("I64", 8), "IntStorage": ("I32", 4),
            "ShortStorage": ("I16", 2), "CharStorage": ("I8", 1), "ByteStorage": ("U8", 1), "BoolStorage": ("BOOL", 1)}
LEGACY_MAGIC = 0x1950a86a20f9469cfc6c
MOST_DIMENSIONS = 64


class Unreadable(Exception):
    pass


class Storage:
    """The numbers of one or more tensors."""

    def __init__(self, kind, size, load=None):
        self.kind, self.size, self.load, self.data = kind, size, load, None

    def bytes(self):
        if self.data is None:
            self.data = self.load()
        return self.data


class Tensor:
    """A view of a storage: element (i, j, ..) is number offset + i stride[0] + j stride[1] + .. of it."""

    def __init__(self, storage, offset, shape, stride):
        whole = all(type(n) is int and n >= 0 for n in (offset, *shape, *stride))
        if not isinstance(storage, Storage) or not whole or len(shape) != len(stride) or len(shape) > MOST_DIMENSIONS:
            raise Unreadable("a tensor is not described by a storage, an offset, a shape and strides")
        self.storage, self.offset, self.shape, self.stride = storage, offset, shape, stride

    def count(self):
        count = 1
        for size in self.shape:
            count *= size
        return count

    def contiguous(self, name):
        """Returns the numbers row by row."""
        _, width = self.storage.kind
        data, count = self.storage.bytes(), self.count()
        if count == 0:
            return b""
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.stride))
        if (last + 1) * width > len(data):
            raise Unreadable(f"tensor '{name}' reaches beyond its storage: number {last} of {len(data) // width}")
        if count > len(data) // width:
            raise Unreadable(f"tensor '{name}' repeats numbers of its storage")
        expected, rows = 1, True
        for size, stride in zip(reversed(self.shape), reversed(self.stride)):
            rows, expected = rows and (size == 1 or stride == expected), expected * size
        if rows:
            return data[self.offset * width:(self.offset + count) * width]
        places = [self.offset]
        for size, stride in zip(self.shape, self.stride):
            places = [place + i * stride for place in places for i in range(size)]
        return b"".join(data[place * width:(place + 1) * width] for place in places)


def rebuild_tensor(storage, offset, shape, stride, *_):
    return Tensor(storage, offset, tuple(shape), tuple(stride))


def rebuild_parameter(tensor, *_):
    return tensor


KNOWN = {("collections", "OrderedDict"): collections.OrderedDict,
         ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
         ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
         ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
         ("torch", "Size"): tuple,
         **{("torch", name): kind for name, kind in STORAGES.items()}}


class Unpickler(pickle.Unpickler):
    """Builds only the objects of a state dict."""

    def __init__(self, file, storage_of):
        super().__init__(file, encoding="utf-8")
        self.storage_of = storage_of

    def find_class(self, module, name):
        if (module, name) in KNOWN:
            return KNOWN[module, name]
        raise Unreadable(f"it holds {module}.{name}, which is not part of a state dict; "
                         "save model.state_dict() in PyTorch and convert that file")

    def persistent_load(self, key):
        if not isinstance(key, tuple) or len(key) < 5 or key[0] != "storage" or key[1] not in STORAGES.values():
            raise Unreadable("it refers to something that is not a storage of a known type")
        return self.storage_of(key)


def read_archive(path):
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        programs = [name for name in names if name.endswith("/data.pkl")]
        if len(programs) != 1:
            raise Unreadable("it is a zip archive, but not a PyTorch file (it has no data.pkl)")
        top = programs[0][:-len("data.pkl")]
        order = top + "byteorder"
        if order in names and archive.read(order) != b"little":
            raise Unreadable("its numbers are not little-endian")
        storages = {}

        def storage_of(key):
            _, kind, number, _, size = key[:5]
            entry = f"{top}data/{number}"
            if entry not in names:
                raise Unreadable(f"storage {number} is missing")
            if archive.getinfo(entry).file_size != size * kind[1]:
                raise Unreadable(f"storage {number} does not have {size} numbers of {kind[1]} bytes")
            return storages.setdefault(number, Storage(kind, size, lambda: archive.read(entry)))

        content = Unpickler(io.BytesIO(archive.read(programs[0])), storage_of).load()
        for storage in storages.values():
            storage.bytes()
        return content


def read_legacy(path):
    storages = {}

    def storage_of(key):
        _, kind, number, _, size = key[:5]
        storage = storages.setdefault(number, Storage(kind, size))
        if len(key) > 5 and key[5] is not None:
            raise Unreadable("a storage is a view of another one, which only very old files have")
        return storage

    with open(path, "rb") as file:
        load = lambda: Unpickler(file, storage_of).load()
        if load() != LEGACY_MAGIC:
            raise Unreadable("it is a pickle, but not a PyTorch file")
        load()  # the version of the protocol
        if not load().get("little_endian", True):
            raise Unreadable("its numbers are not little-endian")
        content, order = load(), load()
        if sorted(order) != sorted(storages):
            raise Unreadable("its list of storages does not match its tensors")
        for number in order:
            storage = storages[number]
            length = file.read(8)
            if len(length) < 8 or struct.unpack("<q", length)[0] != storage.size:
                raise Unreadable(f"storage {number} does not have {storage.size} numbers")
            wanted = storage.size * storage.kind[1]
            storage.data = file.read(wanted)
            if len(storage.data) != wanted:
                raise Unreadable(f"storage {number} ends after {len(storage.data)} of {wanted} bytes")
        return content


def tensors_in(value):
    """Returns whether the value is a dictionary with tensors among its own values."""
    return isinstance(value, dict) and any(isinstance(entry, Tensor) for entry in value.values())


def dictionaries(content):
    """Returns {key: dictionary} of the dictionaries with tensors, with keys such as 'ema.model'; '' is the whole."""
    found, waiting, seen = {}, [("", content)], set()
    while waiting:
        key, value = waiting.pop()
        if not isinstance(value, dict) or id(value) in seen:
            continue
        seen.add(id(value))
        if tensors_in(value):
            found[key] = value
        else:
            waiting += [(f"{key}.{name}" if key else str(name), inner) for name, inner in value.items()]
    return found


def state_dict(content, key):
    if key is not None:
        for part in key.split("."):
            if not isinstance(content, dict) or part not in content:
                raise Unreadable(f"there is no '{part}' of --key {key} in it")
            content = content[part]
    found = dictionaries(content)
    if not found:
        raise Unreadable("it has no named tensors")
    if len(found) > 1:
        names = ", ".join(sorted(found))
        raise Unreadable(f"it has several dictionaries with tensors; choose one with --key: {names}")
    chosen, = found.values()
    return {str(name): value for name, value in chosen.items() if isinstance(value, Tensor)}


def safetensors(tensors):
    parts, header, at = [], {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in sorted(tensors.items(), key=lambda entry: -entry[1].storage.kind[1]):
        if name == "__metadata__":
            raise Unreadable("a tensor is called __metadata__, which safetensors reserves")
        data = tensor.contiguous(name)
        header[name] = {"dtype": tensor.storage.kind[0], "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        parts.append(data)
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def convert(path, key=None):
    """Returns the bytes of a safetensors file with the tensors of a PyTorch file."""
    try:
        content = read_archive(path) if zipfile.is_zipfile(path) else read_legacy(path)
        return safetensors(state_dict(content, key))
    except (pickle.UnpicklingError, zipfile.BadZipFile, EOFError, AttributeError, IndexError, KeyError, TypeError,
            ValueError, UnicodeDecodeError, struct.error, NotImplementedError, MemoryError, OverflowError,
            RecursionError, zlib.error) as error:
        raise Unreadable(f"it is damaged or not a PyTorch file ({type(error).__name__}: {error})") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="default: the same name with .safetensors")
    parser.add_argument("--key", help="the dictionary with the tensors, such as model_state_dict or ema.model")
    given = parser.parse_args()
    output = given.output or given.checkpoint.with_suffix(".safetensors")
    try:
        data = convert(given.checkpoint, given.key)
        # The file gets its final name only when it is complete.
        with tempfile.NamedTemporaryFile(dir=output.parent, delete=False) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o644)
        os.replace(file.name, output)
    except (Unreadable, OSError) as error:
        sys.exit(f"from_pytorch.py: '{given.checkpoint}': {error}")
    print(output)


if __name__ == "__main__":
    main()
