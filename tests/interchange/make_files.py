#!/usr/bin/env python3
"""Writes the files in files/ with the writers of NumPy, safetensors and PyTorch.

    python3 -m venv venv && venv/bin/pip install numpy safetensors torch
    venv/bin/python make_files.py

Made once with the versions in files/versions.json; tests/lua/test_interchange.lua reads them.
The networks here are written from the equations of the papers, step by step, with the names that the published
programs give their parameters; expected.json has their scores.
"""
import collections
import io
import json
import os
import pathlib
import zipfile

import numpy as np
import safetensors
import safetensors.numpy
import safetensors.torch
import torch

FILES = pathlib.Path(__file__).parent / "files"
torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
EXPECTED = {}
WORDS = [0, 1, 2, 1, 1, 0, 2, 0, 1]  # ids in the alphabet a b c
V, H = 3, 4


# ---- Arrays ----
def arrays():
    numbers = np.array([[-1.5, 0, 0.25], [3, 100, -2]])
    whole = np.array([0, 1, 100, 127])
    plain = {"float16": numbers.astype("f2"), "float32": numbers.astype("f4"), "float64": numbers,
             "big_endian": numbers.astype(">f8"), "big_endian_int": whole.astype(">i4"),
             "fortran": np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)),
             "scalar": np.array(2.5), "empty": np.zeros((0, 3)), "bool": np.array([True, False, True]),
             "largest": np.array([2**63 - 1, -2**63]),
             **{kind: whole.astype(kind) for kind in
                ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}}
    plain["uint16"] = np.array([0, 65535, 40000], "u2")
    plain["uint32"] = np.array([0, 2**32 - 1], "u4")
    plain["uint8"] = np.array([0, 255], "u1")
    np.savez(FILES / "stored.npz", **plain)
    np.savez_compressed(FILES / "compressed.npz", **plain)
    np.save(FILES / "fortran.npy", plain["fortran"])
    EXPECTED["arrays"] = {k: v.tolist() for k, v in plain.items() if k not in ("largest", "empty")}
    np.savez(FILES / "too_large.npz", n=np.array([2**63], "u8"))
    np.save(FILES / "objects.npy", np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    np.save(FILES / "records.npy", np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]))
    np.save(FILES / "complex.npy", np.array([1 + 2j]))
    halves = {"half": torch.tensor([1.5, -0.25], dtype=torch.float16),
              "bfloat": torch.tensor([1.5, -3.0], dtype=torch.bfloat16),
              "int32": torch.tensor([-7, 7], dtype=torch.int32), "byte": torch.tensor([255], dtype=torch.uint8)}
    safetensors.torch.save_file(halves, FILES / "halves.safetensors", metadata={"format": "pt"})


# ---- PyTorch's files ----
class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/pushdown_evil",)


def pytorch_files():
    base = torch.arange(12.0).reshape(3, 4)
    shared = torch.tensor([1.0, 2.0])
    state = collections.OrderedDict(
        weight=torch.nn.Parameter(base.clone()), transposed=base.t(), part=base[1:, ::2], tied=shared, again=shared,
        half=torch.tensor([0.5], dtype=torch.float16), bfloat=torch.tensor([2.5], dtype=torch.bfloat16),
        count=torch.tensor(3), flags=torch.tensor([True, False]), empty=torch.zeros(0, 2))
    checkpoint = {"epoch": 7, "model_state_dict": state, "note": "text", "loss": 0.5}
    torch.save(checkpoint, FILES / "checkpoint.pt")
    torch.save(state, FILES / "legacy.pt", _use_new_zipfile_serialization=False)
    EXPECTED["state"] = {k: v.double().tolist() for k, v in state.items() if k != "empty"}
    # State dicts in dictionaries of dictionaries.
    torch.save({"epoch": 7, "model": {"state": {"w": torch.tensor([1.0, 2.0])}},
                "ema": {"state": {"w": torch.tensor([3.0, 4.0])}}}, FILES / "nested.pt")
    torch.save(torch.nn.Linear(2, 1), FILES / "module.pt")
    torch.save({"weight": Evil()}, FILES / "evil.pt")
    torch.save({"weight": Evil()}, FILES / "evil_legacy.pt", _use_new_zipfile_serialization=False)
    # A tensor that reaches beyond its storage.
    with zipfile.ZipFile(FILES / "checkpoint.pt") as whole, zipfile.ZipFile(FILES / "short.pt", "w") as short:
        for entry in whole.infolist():
            data = whole.read(entry)
            short.writestr(entry.filename, data[:8] if entry.filename.endswith("/data/0") else data)


# ---- torch.nn.LSTM, GRU and RNN ----
def one_hot(words):
    return torch.nn.functional.one_hot(torch.tensor(words), V).double()


def scores(hiddens, layer):
    """The scores of the language model, which predicts the first symbol from the bias only."""
    rows = [layer.bias] + [layer(h) for h in hiddens[:-1]]
    return torch.stack(rows).tolist()


def pytorch_modules():
    for name, make in (("lstm", torch.nn.LSTM), ("gru", torch.nn.GRU), ("rnn", torch.nn.RNN)):
        module = make(V, H, num_layers=2)
        output = torch.nn.Linear(H, V)
        hiddens, _ = module(one_hot(WORDS).unsqueeze(1))
        safetensors.torch.save_file({**{"rnn." + k: v.contiguous() for k, v in module.state_dict().items()},
                                     **{"out." + k: v for k, v in output.state_dict().items()}},
                                    FILES / f"{name}.safetensors")
        EXPECTED[name] = scores(hiddens[:, 0], output)


# ---- Published programs: their names, and the equations of the papers ----
def linear(inputs, outputs):
    return torch.nn.Linear(inputs, outputs)


def cell_step(cell, x, state):
    h, c = cell(x.unsqueeze(0), (state[0].unsqueeze(0), state[1].unsqueeze(0)))
    return h[0], c[0]


class Superposition:
    def __init__(self, size, action, vector):
        self.cells, self.action, self.vector = [torch.zeros(size)], action, vector

    def reading(self):
        return self.cells[0]

    def update(self, h):
        push, pop, keep = torch.softmax(self.action(h), 0)
        v, old = torch.sigmoid(self.vector(h)), self.cells
        zero = torch.zeros_like(v)
        at = lambda d: v if d < 0 else old[d] if d < len(old) else zero
        self.cells = [push * at(d - 1) + pop * at(d + 1) + keep * at(d) for d in range(len(old) + 1)]


class Stratification:
    """strengths(h) returns push, pop and read."""
    def __init__(self, size, strengths, vector):
        self.sections, self.strengths, self.vector = [], strengths, vector
        self.read, self.zero = torch.tensor(1.0), torch.zeros(size)

    def reading(self):
        left, total = self.read, self.zero
        for vector, strength in reversed(self.sections):
            total = total + min(strength, max(left, torch.tensor(0.0))) * vector
            left = left - strength
        return total

    def update(self, h):
        push, left, self.read = self.strengths(h)
        kept = []
        for vector, strength in reversed(self.sections):
            kept.append((vector, max(strength - max(left, torch.tensor(0.0)), torch.tensor(0.0))))
            left = left - strength
        self.sections = kept[::-1] + [(torch.tanh(self.vector(h)), push)]


class Nondeterministic:
    """Lang's algorithm on the stack automaton, with channel 0 for weights and the others for vectors."""
    def __init__(self, Q, S, action, normalized=False, by_state=True, vector=None, bottom=None):
        self.Q, self.S, self.action, self.normalized, self.by_state = Q, S, action, normalized, by_state
        self.vector = vector
        channels = torch.ones(1) if vector is None else torch.cat([torch.ones(1), bottom])
        start = torch.zeros(Q, S, Q, S, len(channels))
        start[0, 0, 0, 0] = channels
        alpha = torch.zeros(Q, S)
        alpha[0, 0] = 1
        self.gamma = {(-1, 0): start}  # for the nodes i and j of the stack automaton
        self.alpha = {-1: alpha, 0: alpha}
        self.t = 0

    def reading(self):
        total = self.alpha[self.t].sum()
        if self.vector is not None:
            eta = sum(torch.einsum("qx,qxryc->ryc", self.alpha[i], self.gamma[i, self.t])
                      for i in range(-1, self.t))
            return (eta[..., 1:] / total).flatten()
        return (self.alpha[self.t] / total).flatten() if self.by_state else (self.alpha[self.t] / total).sum(0)

    def update(self, h):
        Q, S = self.Q, self.S
        rows = self.action(h).view(Q * S, 2 * Q * S + Q)
        rows = torch.softmax(rows, 1) if self.normalized else torch.exp(rows)
        push, replace, pop = rows.split([Q * S, Q * S, Q], 1)
        push, replace, pop = push.view(Q, S, Q, S), replace.view(Q, S, Q, S), pop.view(Q, S, Q)
        channels = torch.ones(1)
        if self.vector is not None:
            channels = torch.cat([channels, torch.sigmoid(self.vector(h))])
        self.t = t = self.t + 1
        self.gamma[t - 1, t] = push.unsqueeze(-1) * channels
        for i in range(-1, t - 1):
            self.gamma[i, t] = torch.einsum("qxszc,szry->qxryc", self.gamma[i, t - 1], replace)
        for k in range(0, t - 1):
            popped = torch.einsum("uysz,szr->uyr", self.gamma[k, t - 1][..., 0], pop)
            for i in range(-1, k):
                self.gamma[i, t] = self.gamma[i, t] + torch.einsum("qxuyc,uyr->qxryc", self.gamma[i, k], popped)
        self.alpha[t] = sum(torch.einsum("qx,qxry->ry", self.alpha[i], self.gamma[i, t][..., 0])
                            for i in range(-1, t))


def run(cell, stack, words, embed):
    """The hidden vectors of an LSTM cell that reads the symbol's vector and the stack's reading."""
    state, hiddens = (torch.zeros(H), torch.zeros(H)), []
    for word in words:
        if hiddens and stack is not None:
            stack.update(hiddens[-1])
        x = embed(word) if stack is None else torch.cat([embed(word), stack.reading()])
        state = cell_step(cell, x, state)
        hiddens.append(state[0])
    return hiddens


def lstm_cell(inputs):
    cell = torch.nn.LSTMCell(inputs, H)
    return cell, {k + "_l0": v for k, v in cell.state_dict().items()}


def save(name, tensors, rows):
    safetensors.torch.save_file({k: v.detach().contiguous().clone() for k, v in tensors.items()},
                                FILES / f"{name}.safetensors")
    EXPECTED[name] = rows


def of_layer(prefix, layer):
    return {f"{prefix}.weight": layer.weight, f"{prefix}.bias": layer.bias}


def stacks():
    """name -> reading size, and a function that makes the stack and its tensors under the programs' names."""
    def superposition():
        action, vector = linear(H, 3), linear(H, 2)
        return Superposition(2, action, vector), {**of_layer("action_layer.linear", action),
                                                  **of_layer("push_value_layer.linear", vector)}

    def stratification():
        action, vector = linear(H, 2), linear(H, 2)
        strengths = lambda h: (*torch.sigmoid(action(h)), torch.tensor(1.0))
        return Stratification(2, strengths, vector), {**of_layer("action_layer.linear", action),
                                                      **of_layer("push_value_layer.linear", vector)}

    def nondeterministic():
        action = linear(H, 4 * 10)
        return Nondeterministic(2, 2, action), of_layer("operation_layer", action)

    def vectors():
        action, vector, bottom = linear(H, 4 * 10), linear(H, 3), torch.randn(3)
        return (Nondeterministic(2, 2, action, vector=vector, bottom=torch.sigmoid(bottom)),
                {**of_layer("operation_layer", action), **of_layer("pushed_vector_layer.0", vector),
                 "bottom_vector": bottom})

    return {"superposition": (2, superposition), "stratification": (2, stratification),
            "nondeterministic": (4, nondeterministic), "vector_nondeterministic": (12, vectors)}


def nondeterministic_stack_rnn():
    """bdusell/nondeterministic-stack-rnn: one-hot symbols, an output layer on h."""
    embed = lambda word: one_hot([word])[0]
    for name, (size, make) in {"lstm_only": (0, None), **stacks()}.items():
        stack, own = make() if make else (None, {})
        cell, tensors = lstm_cell(V + size)
        output = linear(H, V)
        place = "rnn.rnn." if stack is None else "rnn.controller.rnn."
        save("nsrnn_" + name, {**{place + k: v for k, v in tensors.items()},
                               **{"rnn." + k: v for k, v in own.items()}, **of_layer("layer.linear", output)},
             scores(run(cell, stack, WORDS, embed), output))


def rau():
    """bdusell/rau: the embeddings are also the output layer, without a bias; the cell has one bias."""
    for name, (size, make) in {"lstm_only": (0, None), **stacks()}.items():
        stack, own = make() if make else (None, {})
        embeddings = torch.randn(V, H)
        cell, tensors = lstm_cell(H + size)
        tensors.pop("bias_hh_l0")
        cell.bias_hh.data.zero_()
        hiddens = run(cell, stack, WORDS, lambda word: embeddings[word])
        rows = torch.stack([torch.zeros(V)] + [embeddings @ h for h in hiddens[:-1]]).tolist()
        # Embedding | dropout | network | dropout | output, composed from the left.
        network = "first.first.second."
        place = network + ("rnn." if stack is None else "controller.rnn.")
        save("rau_" + name, {"first.first.first.first.func.embeddings": embeddings,
                             "second.func.embeddings": embeddings,
                             **{place + k: v for k, v in tensors.items()},
                             **{network + k: v for k, v in own.items()}}, rows)


def stacknn():
    """viking-sudo-rm/StackNN with its control layer, as in industrial-stacknns: words are embedded."""
    size, vision, N = 2, 4, 3
    vector, push, pop, read = linear(H, size), linear(H, 1), linear(H, vision), linear(H, vision)
    mean = lambda layer, h: (torch.softmax(layer(h), 0) * torch.arange(vision)).sum()
    strengths = lambda h: (torch.sigmoid(push(h))[0], mean(pop, h), mean(read, h))
    cell = torch.nn.LSTMCell(N + size, H)
    embedding, output = torch.randn(V, N), linear(H, V)
    hiddens = run(cell, Stratification(size, strengths, vector), WORDS, lambda word: embedding[word])
    save("stacknn", {"_embedder.token_embedder_tokens.weight": embedding,
                     **{"_rnn_cell." + k: v for k, v in cell.state_dict().items()},
                     **of_layer("_control_layer._vector_map", vector), **of_layer("_control_layer._push_map", push),
                     **of_layer("_control_layer._pop_map", pop), **of_layer("_control_layer._read_map", read),
                     **of_layer("_classifier", output)}, scores(hiddens, output))


def marnns():
    """suzgunmirac/marnns: a map of the reading is added to the old hidden vector; the output is W_y h."""
    size = 5
    for name, operations in (("stack", 2), ("baby_ntm", 5)):
        cell = torch.nn.RNNCell(V, H)
        reads, new, action, output = linear(size, H), linear(H, size), linear(H, operations), linear(H, V)
        cells, h, hiddens = torch.zeros(104, size), torch.zeros(H), []
        for x in one_hot(WORDS):
            h = cell(x.unsqueeze(0), (h + reads(cells[0])).unsqueeze(0))[0]
            hiddens.append(h)
            a, v = torch.softmax(action(h), 0), torch.sigmoid(new(h))
            zero = torch.zeros(1, size)
            if name == "stack":
                cells = a[0] * torch.cat([v[None], cells[:-1]]) + a[1] * torch.cat([cells[1:], zero])
            else:
                cells = (a[0] * cells.roll(-1, 0) + a[1] * cells.roll(1, 0) + a[2] * cells
                         + a[3] * torch.cat([zero, cells[:-1]]) + a[4] * torch.cat([cells[1:], zero]))
                cells = torch.cat([(cells[0] + v)[None], cells[1:]])
        names = {"stack": "W_sh", "baby_ntm": "W_m"}
        save("marnns_" + name, {**{f"rnn.{k}_l0": v for k, v in cell.state_dict().items()},
                                **of_layer(names[name], reads), **of_layer("W_n", new), **of_layer("W_a", action),
                                **of_layer("W_y", output)}, scores(hiddens, output))


def main():
    FILES.mkdir(exist_ok=True)
    for part in (arrays, pytorch_files, pytorch_modules, nondeterministic_stack_rnn, rau, stacknn, marnns):
        part()
    (FILES / "expected.json").write_text(json.dumps(EXPECTED))
    (FILES / "versions.json").write_text(json.dumps({
        "numpy": np.__version__, "torch": torch.__version__, "safetensors": safetensors.__version__}) + "\n")


if __name__ == "__main__":
    main()
