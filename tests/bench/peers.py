"""Training updates of language models in PyTorch: one measurement for `bench peers`, or with the argument
`cells` those beside `bench cells`, loops over the steps with one head.

The networks are those of peers_bench.cpp, with as many parameters: an embedding of the size of the
hidden vector, the recurrent or attention layers, and an output layer. The first symbol is predicted
from a zero vector (LSTM) or from a begin symbol (transformer). Maps of the input of a cell are made for
all steps at once.
"""

import math
import sys
import time

import torch
from torch import nn
from torch.nn import functional as f


class Lstm(nn.Module):
    def __init__(self, hidden, layers, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.cells = nn.LSTM(hidden, hidden, layers, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)

    def forward(self, words):
        hiddens = self.cells(self.embedding(words[:, :-1]))[0]
        return self.output(f.pad(hiddens, (0, 0, 1, 0)))


class Transformer(nn.Module):
    def __init__(self, hidden, layers, vocabulary, length):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary + 1, hidden)
        self.layers = nn.ModuleList()
        for _ in range(layers):
            layer = nn.TransformerEncoderLayer(
                hidden, 4, 2 * hidden, dropout=0, batch_first=True, norm_first=True
            )
            layer.self_attn = nn.MultiheadAttention(hidden, 4, bias=False, batch_first=True)
            self.layers.append(layer)
        self.norm = nn.LayerNorm(hidden)
        self.output = nn.Linear(hidden, vocabulary)
        rates = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, hidden, 2) / hidden)
        places = torch.stack([rates.sin(), rates.cos()], 2).flatten(1)
        self.register_buffer("places", places)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(length))

    def forward(self, words):
        read = f.pad(words[:, :-1], (1, 0), value=self.output.out_features)
        x = self.embedding(read) * math.sqrt(self.places.shape[1]) + self.places
        for layer in self.layers:
            x = layer(x, src_mask=self.mask, is_causal=True)
        return self.output(self.norm(x))


def parts(x, *sizes):
    return x.split(sizes, -1)


class DeltaNet(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.maps = nn.Linear(inputs, 3 * hidden + 1, bias=False)
        self.gain = nn.Parameter(torch.ones(hidden))
        self.output = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x):
        h = self.hidden
        q, k, v, rate = parts(self.maps(x), h, h, h, 1)
        q, k, v = f.normalize(f.silu(q), dim=-1), f.normalize(f.silu(k), dim=-1), f.silu(v)
        rate, memory, reads = rate.sigmoid(), x.new_zeros(x.shape[0], h, h), []
        for t in range(x.shape[1]):
            key = k[:, t]
            error = rate[:, t] * (v[:, t] - (memory @ key[:, :, None])[:, :, 0])
            memory = memory + error[:, :, None] * key[:, None]
            reads.append((memory @ q[:, t, :, None])[:, :, 0])
        return self.output(f.rms_norm(torch.stack(reads, 1), (h,), self.gain))


class Selective(nn.Module):
    def __init__(self, inputs, hidden, states=16):
        super().__init__()
        self.hidden, self.states, self.rank = hidden, states, (hidden + 15) // 16
        self.maps = nn.Linear(inputs, 2 * hidden, bias=False)
        self.chosen = nn.Linear(hidden, self.rank + 2 * states, bias=False)
        self.step = nn.Linear(self.rank, hidden)
        self.log_rate = nn.Parameter(torch.arange(1.0, states + 1).log().repeat(hidden, 1))
        self.skip = nn.Parameter(torch.ones(hidden))
        self.output = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x):
        u, z = f.silu(self.maps(x)).chunk(2, -1)
        step, write, read = parts(self.chosen(u), self.rank, self.states, self.states)
        step, rate = f.softplus(self.step(step)), -self.log_rate.exp()
        state, reads = x.new_zeros(x.shape[0], self.hidden, self.states), []
        for t in range(x.shape[1]):
            decay = (step[:, t, :, None] * rate).exp()
            state = decay * state + (step[:, t] * u[:, t])[:, :, None] * write[:, t, None]
            reads.append((state @ read[:, t, :, None])[:, :, 0])
        return self.output((torch.stack(reads, 1) + self.skip * u) * z)


class ScalarLstm(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.maps = nn.Linear(inputs, 4 * hidden)
        self.recurrent = nn.Linear(hidden, 4 * hidden, bias=False)

    def forward(self, x):
        maps, zero = self.maps(x), x.new_zeros(x.shape[0], self.hidden)
        h, c, n, m, hiddens = zero, zero, zero, zero, []
        for t in range(x.shape[1]):
            z, i, forget, o = (maps[:, t] + self.recurrent(h)).chunk(4, -1)
            kept = f.logsigmoid(forget) + m
            m = torch.maximum(kept, i)
            i, forget = (i - m).exp(), (kept - m).exp()
            c, n = forget * c + i * z.tanh(), forget * n + i
            h = o.sigmoid() * c / n
            hiddens.append(h)
        return torch.stack(hiddens, 1)


class MatrixLstm(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.maps = nn.Linear(inputs, 4 * hidden + 2)

    def forward(self, x):
        h = self.hidden
        q, k, v, o, i, forget = parts(self.maps(x), h, h, h, h, 1, 1)
        k, log_forget = k / h**0.5, f.logsigmoid(forget)
        memory, n = x.new_zeros(x.shape[0], h, h), x.new_zeros(x.shape[0], h)
        m, reads = x.new_zeros(x.shape[0], 1), []
        for t in range(x.shape[1]):
            kept = log_forget[:, t] + m
            m = torch.maximum(kept, i[:, t])
            write, keep = (i[:, t] - m).exp(), (kept - m).exp()
            key = write * k[:, t]
            memory = keep[:, :, None] * memory + v[:, t, :, None] * key[:, None]
            n = keep * n + key
            bound = torch.maximum((n * q[:, t]).sum(-1, keepdim=True).abs(), (-m).exp())
            reads.append((memory @ q[:, t, :, None])[:, :, 0] / bound)
        return o.sigmoid() * torch.stack(reads, 1)


def milliseconds(cell, hidden, batch=16, length=63, symbols=4):
    torch.manual_seed(1)
    model, output = cell(symbols, hidden), nn.Linear(hidden, symbols)
    optimizer = torch.optim.Adam([*model.parameters(), *output.parameters()], lr=0.001)
    words = torch.randint(symbols, (batch, length))
    inputs, best = f.one_hot(words, symbols).float(), float("inf")
    for _ in range(8):
        start = time.process_time()
        optimizer.zero_grad()
        scores = output(f.pad(model(inputs), (0, 0, 1, 0)))[:, :-1]
        f.cross_entropy(scores.flatten(0, 1), words.flatten()).backward()
        optimizer.step()
        best = min(best, 1000 * (time.process_time() - start))
    return best


def compare_cells():
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, loops over the steps")
    for size in (32, 64):
        for kind in (DeltaNet, Selective, ScalarLstm, MatrixLstm):
            print(f"cell={kind.__name__} hidden={size} ms={milliseconds(kind, size):.1f}", flush=True)


def megabytes(field):
    with open("/proc/self/status", encoding="utf-8") as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024 / 1e6
    return 0


def main():
    kind, *numbers, seconds = sys.argv[1:]
    hidden, layers, batch, vocabulary, length, threads, most = map(int, numbers)
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    before = megabytes("VmRSS")
    if kind == "lstm":
        model = Lstm(hidden, layers, vocabulary)
    else:
        model = Transformer(hidden, layers, vocabulary, length)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    clock = time.process_time if threads == 1 else time.perf_counter

    def update():
        words = torch.randint(vocabulary, (batch, length))
        start = clock()
        optimizer.zero_grad()
        scores = model(words).flatten(0, 1)
        loss = f.cross_entropy(scores, words.flatten(), reduction="sum") / batch
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        return clock() - start

    update()
    times = []
    end = time.perf_counter() + float(seconds)
    while len(times) < most and (len(times) < 2 or time.perf_counter() < end):
        times.append(update())
    parameters = sum(p.numel() for p in model.parameters())
    peak = max(0.0, megabytes("VmHWM") - before)
    print(f"peer ms={1e3 * min(times):.4f} peak_mb={peak:.1f} parameters={parameters}")


if sys.argv[1:] == ["cells"]:
    compare_cells()
else:
    main()
