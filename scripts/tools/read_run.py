#!/usr/bin/env python3
"""Reads a run folder from Python, without Pushdown: copy what you need.

    python3 read_run.py RUN_FOLDER

Configuration and results are JSON, and metrics are JSON lines. Checkpoints are safetensors files: 8 bytes with the
length of the header, the header (JSON: name -> dtype, shape, data_offsets), and the numbers, little endian. The package
`safetensors` also reads them; this script only needs the standard library.
"""
import array
import json
import pathlib
import sys

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U8": "B", "BOOL": "B"}


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def read_metrics(path):
    """Returns the epochs of a training as a list of dicts."""
    if not path.exists():
        return []
    lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line.get("event") == "epoch"]


def read_safetensors(path):
    """Returns name -> (shape, array of all numbers, the last dimension fastest), and the metadata of the file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    notes = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        numbers = array.array(CODES[entry["dtype"]], data[first:last])
        if sys.byteorder == "big":
            numbers.byteswap()
        # With numpy: numpy.frombuffer(data[first:last], dtype).reshape(entry["shape"])
        tensors[name] = (entry["shape"], numbers)
    return tensors, notes


def main():
    if len(sys.argv) != 2 or not pathlib.Path(sys.argv[1]).is_dir():
        sys.exit("usage: read_run.py RUN_FOLDER")
    folder = pathlib.Path(sys.argv[1])
    for name in ("experiment.json", "config.json", "result.json"):
        for key, value in read_json(folder / name).items():
            print(f"{name}: {key} = {json.dumps(value, ensure_ascii=False)}")
    for epoch in read_metrics(folder / "metrics.jsonl"):
        print(f"epoch {epoch['epoch']}: cross-entropy {epoch.get('cross_entropy')}")
    for path in sorted(folder.glob("checkpoints/*.safetensors")):
        tensors, _ = read_safetensors(path)
        for name, (shape, numbers) in sorted(tensors.items()):
            size = " x ".join(map(str, shape)) or "a number"
            print(f"{path.name}: {name}: {size}, sum {sum(numbers):.9g}")


if __name__ == "__main__":
    main()
