"""The runs below a folder, and scripts that make them."""
from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._objects import Model, Path, floats, load
from ._program import Program, shared, start
from ._values import Error, absolute, path_text, visible, word


@dataclass
class Table:
    """Rows with named columns, where there is no pandas. A value that a row does not have is None."""

    columns: list[str]
    rows: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self.columns:
            raise KeyError(column)
        return [row.get(column) for row in self.rows]


class Run:
    """The run in a folder. Its files are read when they are asked for, so a run that goes on shows its newest state."""

    def __init__(self, folder: Path, program: Program = shared) -> None:
        self.folder, self._program = os.path.realpath(path_text(folder, "folder")), program

    def __repr__(self) -> str:
        return f"Run({self.folder!r})"

    @property
    def record(self) -> dict[str, Any]:
        """All that the record of the run has: status, options, result, seed, seconds, started (in UTC), ..."""
        for row in _rows(self.folder, self._program):
            if row["folder"] == self.folder:
                return row
        raise Error(f"there is no run in '{self.folder}'")

    @property
    def options(self) -> dict[str, Any]:
        """The options of the script."""
        return dict(self.record.get("options", {}))

    @property
    def result(self) -> dict[str, Any]:
        """The numbers of result.json; empty if the run is not finished."""
        return dict(self.record.get("result", {}))

    def model(self, which: str = "best", device: str | None = None) -> Model:
        """Returns the model of the run's checkpoint; see load()."""
        return load(self.folder, which, device, self._program)

    def metrics(self) -> dict[str, NDArray[np.float64]]:
        """Returns the numbers of every epoch by name, each an array with one number for each epoch.

        Also `epoch`, `update` (updates so far) and `elapsed` (seconds of training and validation so far). A number
        that an epoch has not measured is NaN. Empty if no epoch is finished.
        """
        found = self._program.request("runs.history", {"folder": self.folder})
        if found is None:
            return {}
        names = {name: found[name] for name in ("epoch", "update", "elapsed")}
        return {name: floats(values) for name, values in {**names, **found["metrics"]}.items()}

    def curve(self, metric: str, over: str = "epoch") -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns x and y of a metric over 'epoch', 'update' or 'elapsed', without epochs that have not measured it."""
        metrics = self.metrics()
        for name in (over, metric):
            if name not in metrics:
                raise Error(f"the run has no metric '{name}'; it has {', '.join(sorted(metrics)) or 'none'}")
        measured = ~np.isnan(metrics[metric])
        return metrics[over][measured], metrics[metric][measured]

    def losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns the updates that were logged (log_every) and the loss of each."""
        found = self._program.request("runs.history", {"folder": self.folder}) or {}
        losses = found.get("losses") or {"update": [], "loss": []}
        return floats(losses["update"]), floats(losses["loss"])


def _rows(folder: Path, program: Program) -> list[dict[str, Any]]:
    found = program.request("runs.find", {"folder": absolute(folder, "folder")})
    for reason in found["refused"]:
        print(f"pushdown_shell.runs: {visible(reason)}", file=sys.stderr)
    rows: list[dict[str, Any]] = found["runs"]
    for row in rows:
        for name in ("created", "started", "finished"):
            if name in row:
                row[name] = datetime.fromtimestamp(row[name], timezone.utc)
    return rows


def runs(folder: Path = "runs", program: Program = shared) -> Any:
    """Returns the runs in and below a folder, the oldest first: a pandas.DataFrame, or a Table without pandas.

    The columns are those of the record (folder, status, seed, seconds, ...), options.NAME and result.NAME. The times
    created, started and finished are in UTC.
    """
    rows = []
    for row in _rows(folder, program):
        flat = {name: value for name, value in row.items() if name not in ("options", "result")}
        for part in ("options", "result"):
            flat.update({f"{part}.{name}": value for name, value in (row.get(part) or {}).items()})
        rows.append(flat)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    try:
        pandas: Any = importlib.import_module("pandas")
    except ImportError:
        return Table(columns, rows)
    return pandas.DataFrame(rows, columns=columns)


@dataclass
class Finished:
    """A script that has ended: what it printed and the runs that it began or resumed, its own first."""

    output: str = field(repr=False)
    runs: list[Run]

    @property
    def run(self) -> Run:
        """The run of the script itself. Raises Error if it has none."""
        if not self.runs:
            raise Error("the script has made no run")
        return self.runs[0]


def _words(options: Mapping[str, Any]) -> Iterator[str]:
    """The options of a script as it reads them: --learning-rate=0.1, --no-name for False, a,b for a list.

    A list that has a text with a comma, or only an empty one, is written in JSON.
    """
    for name, value in options.items():
        dashed = name.replace("_", "-")
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, bool):
            yield f"--{dashed}" if value else f"--no-{dashed}"
        elif isinstance(value, (list, tuple, range)):
            items = [_option_text(item, f"{name}[{i}]") for i, item in enumerate(value)]
            is_plain = "," not in "".join(items) and items != [""] and not ",".join(items).startswith("[")
            yield f"--{dashed}=" + (",".join(items) if is_plain else json.dumps(items, ensure_ascii=False))
        elif value is not None:
            yield f"--{dashed}={_option_text(value, name)}"


def _option_text(value: Any, where: str) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if not isinstance(value, (str, int, float)):
        raise Error(f"{where}: expected a text or a number, got {value!r}")
    return word(str(value).lower() if isinstance(value, bool) else str(value), where)


def run(script: Path, *words: str, echo: bool = True, program: Program = shared, **options: Any) -> Finished:
    """Runs a script in a program of its own and waits for its end. Prints its output line by line if `echo`.

    Ctrl-C interrupts the script, which keeps its checkpoints. Raises Error if the script fails.
    """
    lines: list[str] = []
    file = path_text(script, "script")
    # Such a name could be that of an option or of a command.
    ambiguous = file.startswith("-") or not os.path.dirname(file) and "." not in file
    arguments = [*(word(text, f"words[{i}]") for i, text in enumerate(words)), *_words(options)]
    with tempfile.NamedTemporaryFile() as folders:
        process = start([*program.options, *["--"] * ambiguous, file, *arguments], stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, variables={"PUSHDOWN_RUN_LIST": folders.name})
        assert process.stdout
        with process:
            try:
                for line in process.stdout:
                    lines.append(line.decode("utf-8", "replace"))
                    if echo:
                        sys.stdout.write(lines[-1])
                        sys.stdout.flush()
            except BaseException:
                process.send_signal(signal.SIGINT)
                try:
                    process.communicate()
                except BaseException:  # another Ctrl-C
                    process.kill()
                    raise
                raise
        made = [os.fsdecode(name) for name in folders.read().split(b"\0") if name]
    if process.returncode != 0:
        said = "".join(lines[-20:]).strip()
        raise Error(f"{file} has ended with status {process.returncode}" + (f":\n{said}" if said else ""))
    return Finished("".join(lines), [Run(folder, program) for folder in dict.fromkeys(made)])
