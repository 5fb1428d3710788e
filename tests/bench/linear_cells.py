"""The cells of linear_cells.lua as loops over the steps in PyTorch, with one head: the least processor
time of one update of a language model with Adam. Maps of the input are made for all steps at once.

    python tests/bench/linear_cells.py
"""

import time

import torch
from torch import nn
from torch.nn import functional as f

BATCH, LENGTH, SYMBOLS = 16, 63, 4


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


def milliseconds(cell, hidden):
    torch.manual_seed(1)
    model, output = cell(SYMBOLS, hidden), nn.Linear(hidden, SYMBOLS)
    optimizer = torch.optim.Adam([*model.parameters(), *output.parameters()], lr=0.001)
    words = torch.randint(SYMBOLS, (BATCH, LENGTH))
    inputs, best = f.one_hot(words, SYMBOLS).float(), float("inf")
    for _ in range(8):
        start = time.process_time()
        optimizer.zero_grad()
        scores = output(f.pad(model(inputs), (0, 0, 1, 0)))[:, :-1]
        f.cross_entropy(scores.flatten(0, 1), words.flatten()).backward()
        optimizer.step()
        best = min(best, 1000 * (time.process_time() - start))
    return best


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, loops over the steps")
    for size in (32, 64):
        for kind in (DeltaNet, Selective, ScalarLstm, MatrixLstm):
            print(f"cell={kind.__name__} hidden={size} ms={milliseconds(kind, size):.1f}", flush=True)
