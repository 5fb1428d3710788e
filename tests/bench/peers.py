"""One measurement for `bench peers`: training updates of a language model in PyTorch.

The networks are those of peers_bench.cpp, with as many parameters: an embedding of the size of the
hidden vector, the recurrent or attention layers, and an output layer. The first symbol is predicted
from a zero vector (LSTM) or from a begin symbol (transformer).
"""

import math
import sys
import time

import torch
from torch import nn


class Lstm(nn.Module):
    def __init__(self, hidden, layers, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.cells = nn.LSTM(hidden, hidden, layers, batch_first=True)
        self.output = nn.Linear(hidden, vocabulary)

    def forward(self, words):
        hiddens = self.cells(self.embedding(words[:, :-1]))[0]
        return self.output(nn.functional.pad(hiddens, (0, 0, 1, 0)))


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
        read = nn.functional.pad(words[:, :-1], (1, 0), value=self.output.out_features)
        x = self.embedding(read) * math.sqrt(self.places.shape[1]) + self.places
        for layer in self.layers:
            x = layer(x, src_mask=self.mask, is_causal=True)
        return self.output(self.norm(x))


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
        loss = nn.functional.cross_entropy(scores, words.flatten(), reduction="sum") / batch
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


main()
