#!/usr/bin/env python3
"""Runs an exported recurrent language model with NumPy: copy what you need. A model that it cannot run is refused.

    python3 run_model.py FOLDER a b a     # the log-probability of the string, in nats
"""
import itertools, json, pathlib, sys
import numpy as np

READS = {  # of each kind the options that this program reads; with =, the only values that it reads
    "language_model": "controller stack embedding kernels noise noise_mean dropout end_symbol dtype device seed "
                      "architecture=recurrent coupling=input carry_forward=none initial_state=zero|learned "
                      "output=hidden|hidden_and_reading",
    "elman": "hidden layers activation=tanh|sigmoid|scaled_tanh|relu", "gru": "hidden layers",
    "lstm": "hidden layers activation=tanh|sigmoid|scaled_tanh|relu", "lstm_peephole": "hidden layers", "none": "",
    "superposition": "size stacks=1 joint_actions bias vector=sigmoid|linear|exp no_op depth temperature",
    "stratification": "size memories=1 pop_bias push=sigmoid|expectation|fixed pop=sigmoid|expectation|fixed "
                      "read=expectation|fixed max_strength",
    "nondeterministic": "states symbols reading=symbol|state_symbol bottom=original|reexposed window normalized "
                        "initialization fast",
    "vector_nondeterministic": "states symbols bottom=original|reexposed window size normalized initialization bias "
                               "bottom_vector=learned|zero|one vector=sigmoid|linear|exp fast"}

def check(kind, options):
    if kind not in READS: sys.exit(f"run_model.py does not read the kind '{kind}', only {', '.join(READS)}")
    reads = {name: values.split("|") for name, _, values in (word.partition("=") for word in READS[kind].split())}
    for name, value in options.items():
        if name != "kind" and (name not in reads or reads[name] != [""] and str(value) not in reads[name]):
            sys.exit(f"run_model.py does not read the option '{name}' = {value} of {kind}")
        if isinstance(value, dict): check(value["kind"], value)

def read_safetensors(path):  # the length of the header, the header in JSON, the numbers
    data, kinds = path.read_bytes(), {"F32": "<f4", "F64": "<f8"}
    at = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:at])
    metadata, entries = header.pop("__metadata__"), ((n, e, *e["data_offsets"]) for n, e in header.items())
    numbers = {n: (np.frombuffer(data[at + i:at + j], kinds[e["dtype"]]), e["shape"]) for n, e, i, j in entries}
    return metadata, {n: values.reshape(shape) for n, (values, shape) in numbers.items()}

def sigmoid(x): return 1 / (1 + np.exp(-x))
def softmax(x): return np.exp(x - np.logaddexp.reduce(x, -1, keepdims=True))
def layer(p, name, h): return p[f"stack.{name}_weight"] @ h + p.get(f"stack.{name}_bias", 0)
ACTIVATIONS = {"tanh": np.tanh, "sigmoid": sigmoid, "linear": lambda x: x, "exp": np.exp,
               "scaled_tanh": lambda x: 1.7519 * np.tanh(x * 2 / 3), "relu": lambda x: np.maximum(x, 0)}

# A cell returns the next vectors of the state of layer k, the hidden vector first. `x`: what the layer reads.
def gates(p, k, of, v): return p[f"controller.weight_{of}_l{k}"] @ v + p[f"controller.bias_{of}_l{k}"]
def elman(p, k, act, x, h): return [act(gates(p, k, "ih", x) + gates(p, k, "hh", h))]

def gru(p, k, act, x, h):
    (r, z, n), (from_r, from_z, from_n) = np.split(gates(p, k, "ih", x), 3), np.split(gates(p, k, "hh", h), 3)
    new = np.tanh(n + sigmoid(r + from_r) * from_n)
    return [new + sigmoid(z + from_z) * (h - new)]

def lstm(p, k, act, x, h, c):
    i, f, new, out = np.split(gates(p, k, "ih", x) + gates(p, k, "hh", h), 4)
    to_i, to_f, to_out = p.get(f"controller.peephole_l{k}", (0, 0, 0))
    c = sigmoid(f + to_f * c) * c + sigmoid(i + to_i * c) * act(new)
    return [sigmoid(out + to_out * c) * act(c), c]

# A stack is a generator of readings, which receives the hidden vector of each step.
def none(p, o): yield from (np.zeros(0) for _ in itertools.count())

def superposition(p, o):
    cells = np.zeros((1, o["size"]))
    while True:
        h = yield cells[0]
        (push, pop, *no_op), row = softmax(layer(p, "action", h) / o["temperature"]), np.zeros_like(cells[:1])
        cells = np.vstack([ACTIVATIONS[o["vector"]](layer(p, "vector", h)), cells, row, row])
        cells = (push * cells[:-2] + sum(no_op) * cells[1:-1] + pop * cells[2:])[:o["depth"] or None]

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
        t, w = t + 1, layer(p, "action", h).reshape(N, -1)
        first = max(-1 if o["bottom"] == "reexposed" else 0, t - o["window"] if o["window"] else -1)
        w = softmax(w) if o["normalized"] else np.exp(w)
        push, swap, pop = (part.reshape(Q, S, Q, -1) for part in np.split(w, [N, 2 * N], 1))
        v = ACTIVATIONS[o["vector"]](layer(p, "vector", h)) if vectors else 0
        g[t - 1, t] = np.multiply.outer(push, with_vector(v))
        for i in range(first, t - 1): g[i, t] = np.einsum("qxszc,szry->qxryc", g[i, t - 1], swap)
        for i, k in ((i, k) for k in range(first + 1, t - 1) for i in range(first, k)):
            g[i, t] += np.einsum("qxuyc,uysz,szr->qxryc", g[i, k], g[k, t - 1][..., 0], pop[..., 0])
        alpha[t] = sum(np.tensordot(alpha[i], g[i, t][..., 0], 2) for i in range(first, t))

def log_probability(folder, symbols):
    metadata, p = read_safetensors(folder / "model.safetensors")
    about, written = json.loads(metadata["model"]), json.loads((folder / "model.json").read_text())
    if written != {**about, "format": metadata["format"]}:
        sys.exit("model.json and model.safetensors describe different models: export the model again")
    check(about["kind"], about["options"])
    o, names, inputs = about["options"], about["alphabet"], p.get("embedding.weight", np.eye(len(about["alphabet"])))
    cell = globals()[o["controller"]["kind"].replace("_peephole", "")]
    stack = globals()[o["stack"]["kind"].replace("vector_", "")](p, o["stack"])
    act, size = ACTIVATIONS[o["controller"].get("activation", "tanh")], 2 if cell is lstm else 1  # size: of a state
    state = [[p.get(f"initial.{size * k + i}", np.zeros(o["controller"]["hidden"])) for i in range(size)]
             for k in range(o["controller"]["layers"])]
    def scores_of(h, reading):
        read = np.append(h, reading) if o.get("output") == "hidden_and_reading" else h
        return p["output.weight"] @ read + p["output.bias"]
    reading, total = next(stack), 0.
    scores = scores_of(np.zeros(o["controller"]["hidden"]), reading)
    words = [names.index(s) if s in names else sys.exit(f"'{s}' is not in the alphabet {names}") for s in symbols]
    for word in words + [len(inputs)] * o["end_symbol"]:
        total += np.log(softmax(scores)[word])
        x = np.append(inputs[word % len(inputs)], reading)
        for k, old in enumerate(state): state[k] = cell(p, k, act, x, *old); x = state[k][0]
        reading = stack.send(x)
        scores = scores_of(x, reading)
    return total

if __name__ == "__main__": print(log_probability(pathlib.Path(sys.argv[1]), sys.argv[2:]) if sys.argv[1:] else __doc__)
