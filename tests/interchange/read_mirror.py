"""Reads an event file of TensorBoard or an offline run of Weights & Biases without their programs, and prints the numbers
as JSON: {"scalars": {tag: [[step, time, value], ...]}, "records": count}. Wrong checksums and cut files are errors.

    read_mirror.py tensorboard|wandb FILE
"""
import json
import struct
import sys


def crc(data, polynomial):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (polynomial if value & 1 else 0)
    return value ^ 0xFFFFFFFF


def masked(data):
    value = crc(data, 0x82F63B78)
    return ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF


def event_records(data):
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert check == masked(data[at:at + 8]), f"length at byte {at}"
        body = data[at + 12:at + 12 + length]
        assert len(body) == length and struct.unpack_from("<I", data, at + 12 + length)[0] == masked(body), f"byte {at}"
        at += 16 + length
        yield body


def log_records(data):
    assert data[:7] == b":W&B" + struct.pack("<HB", 0xBEE1, 0)
    at, whole = 7, b""
    while at < len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        check, length, kind = struct.unpack_from("<IHB", data, at)
        body = data[at + 7:at + 7 + length]
        assert len(body) == length and check == crc(data[at + 6:at + 7] + body, 0xEDB88320), f"byte {at}"
        assert (kind in (1, 2)) == (whole == b""), f"order at byte {at}"
        at += 7 + length
        whole += body
        if kind in (1, 4):
            yield whole
            whole = b""
    assert whole == b""


def fields(data):
    """Returns {number: [values]} of a message: integers, and the bytes of fixed and delimited fields."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            value = data[at:at + size]
            assert len(value) == size
            at += size
        found.setdefault(key >> 3, []).append(value)
    return found


def read_tensorboard(data):
    scalars, count = {}, 0
    for record in event_records(data):
        count += 1
        event = fields(record)
        time = struct.unpack("<d", event[1][0])[0]
        for summary in event.get(5, []):
            for value in fields(summary).get(1, []):
                value = fields(value)
                if 2 in value:
                    point = [event.get(2, [0])[0], time, struct.unpack("<f", value[2][0])[0]]
                    scalars.setdefault(value[1][0].decode(), []).append(point)
    return {"scalars": scalars, "records": count}


def read_wandb(data):
    scalars, texts, count = {}, {}, 0
    for record in log_records(data):
        count += 1
        record = fields(record)
        assert record[1] == [count]
        for run in record.get(17, []):
            run = fields(run)
            texts["note"], texts["tags"] = run.get(9, [b""])[0].decode(), [tag.decode() for tag in run.get(10, [])]
            for item in fields(run[4][0]).get(1, []):
                item = fields(item)
                texts["config." + item[1][0].decode()] = item[16][0].decode()
        for history in record.get(2, []):
            items = {}
            for item in fields(history)[1]:
                item = fields(item)
                items[item[2][0].decode()] = json.loads(item[16][0])
            for name, value in items.items():
                scalars.setdefault(name, []).append([items["_step"], items["_timestamp"], value])
    return {"scalars": scalars, "records": count, "texts": texts}


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        print(json.dumps({"tensorboard": read_tensorboard, "wandb": read_wandb}[sys.argv[1]](file.read())))
