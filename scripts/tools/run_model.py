#!/usr/bin/env python3
"""Runs an exported LSTM language model with NumPy, without a stack or with one of four stacks: copy what you need.

    python3 run_model.py FOLDER a b a     # the log-probability of the string, in nats
"""
import itertools, json, pathlib, sys
import numpy as np

def read_safetensors(path):  # the length of the header, the header in JSON, the numbers
    data, kinds = path.read_bytes(), {"F32": "<f4", "F64": "<f8"}
    at = 8 + int.from_bytes(data[:8], "little")
    entries = ((n, e, *e["data_offsets"]) for n, e in json.loads(data[8:at]).items() if n != "__metadata__")
    return {n: np.frombuffer(data[at + i:at + j], kinds[e["dtype"]]).reshape(e["shape"]) for n, e, i, j in entries}

def sigmoid(x): return 1 / (1 + np.exp(-x))
def softmax(x): return np.exp(x - np.logaddexp.reduce(x, -1, keepdims=True))
def layer(p, name, h): return p[f"stack.{name}_weight"] @ h + p[f"stack.{name}_bias"]

# A stack is a generator of readings, which receives the hidden vector of each step.
def none(p, o): yield from (np.zeros(0) for _ in itertools.count())

def superposition(p, o):
    cells = np.zeros((1, o["size"]))
    while True:
        h = yield cells[0]
        (push, pop, no_op), row = softmax(layer(p, "action", h)), np.zeros_like(cells[:1])
        cells = np.vstack([sigmoid(layer(p, "vector", h)), cells, row, row])
        cells = push * cells[:-2] + no_op * cells[1:-1] + pop * cells[2:]

def stratification(p, o):
    kinds = {"fixed": lambda name, h: 1, "sigmoid": lambda name, h: sigmoid(layer(p, name, h)),
             "expectation": lambda name, h: softmax(layer(p, name, h)) @ np.arange(o["max_strength"] + 1)}
    vectors, s, read = np.zeros((0, o["size"])), np.zeros(0), 1
    while True:
        above = s[::-1].cumsum()[::-1] - s
        h = yield np.minimum(s, np.maximum(read - above, 0)) @ vectors
        push, pop, read = (kinds[o[name]](name, h) for name in ("push", "pop", "read"))
        s = np.append(np.maximum(s - np.maximum(pop - above, 0), 0), push)
        vectors = np.vstack([vectors, np.tanh(layer(p, "vector", h))])

def nondeterministic(p, o):  # g[i, t]: weights of nodes i to t of the stack automaton, then these times the vectors
    Q, S, N, t, first, vectors = o["states"], o["symbols"], o["states"] * o["symbols"], 0, -1, "size" in o
    bottom = {"zero": 0, "one": 1, "learned": sigmoid(p.get("stack.bottom_vector", 0.))}[o.get("bottom_vector", "zero")]
    with_vector = lambda v: np.append(1, v * np.ones(o["size"])) if vectors else np.ones(1)
    alpha = dict.fromkeys((-1, 0), np.eye(1, N).reshape(Q, S))
    g = {(-1, 0): np.multiply.outer(np.multiply.outer(alpha[0], alpha[0]), with_vector(bottom))}
    while True:
        top = sum(np.tensordot(alpha[i], g[i, t], 2) for i in range(first, t))[..., 1:] if vectors else alpha[t]
        h = yield (top.sum(0) if o.get("reading") == "symbol" else top).flatten() / alpha[t].sum()
        t, first, w = t + 1, -1 if o["bottom"] == "reexposed" else 0, layer(p, "action", h).reshape(N, -1)
        w = softmax(w) if o["normalized"] else np.exp(w)
        push, swap, pop = (part.reshape(Q, S, Q, -1) for part in np.split(w, [N, 2 * N], 1))
        g[t - 1, t] = np.multiply.outer(push, with_vector(sigmoid(layer(p, "vector", h)) if vectors else 0))
        for i in range(first, t - 1): g[i, t] = np.einsum("qxszc,szry->qxryc", g[i, t - 1], swap)
        for i, k in ((i, k) for k in range(first + 1, t - 1) for i in range(first, k)):
            g[i, t] += np.einsum("qxuyc,uysz,szr->qxryc", g[i, k], g[k, t - 1][..., 0], pop[..., 0])
        alpha[t] = sum(np.tensordot(alpha[i], g[i, t][..., 0], 2) for i in range(first, t))

def log_probability(folder, symbols):
    about, p = json.loads((folder / "model.json").read_text()), read_safetensors(folder / "model.safetensors")
    o, names, inputs = about["options"], about["alphabet"], p.get("embedding.weight", np.eye(len(about["alphabet"])))
    stack = globals()[o["stack"]["kind"].replace("vector_", "")](p, o["stack"])
    reading, scores, total, start = next(stack), p["output.bias"], 0., np.zeros(o["controller"]["hidden"])
    W, b, U, d = (p[f"controller.{name}_l0"] for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh"))
    h, c = (p.get(f"initial.{k}", start) for k in range(2))
    words = [names.index(s) if s in names else sys.exit(f"'{s}' is not in the alphabet {names}") for s in symbols]
    for word in words + [len(inputs)] * o["end_symbol"]:
        total += np.log(softmax(scores)[word])
        i, f, new, out = np.split(W @ np.append(inputs[word % len(inputs)], reading) + b + U @ h + d, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(new); h = sigmoid(out) * np.tanh(c)
        reading, scores = stack.send(h), p["output.weight"] @ h + p["output.bias"]
    return total

if __name__ == "__main__": print(log_probability(pathlib.Path(sys.argv[1]), sys.argv[2:]) if sys.argv[1:] else __doc__)
