"""Tables of runs, and the metrics of a training against the program."""
import importlib
import json
import sys
from datetime import datetime, timedelta, timezone

import numpy as np
import pushdown_shell as pushdown
import pytest

TRAIN = """
local options, run = pd.experiment.start { name = 'train', smoke = {}, options = { { 'epochs', 3, 'epochs' } } }
local sampler = pd.grammar.load 'marked_reversal':sampler { lengths = { 3, 9 } }
local trainer = run:trainer { model = pd.model.language_model { alphabet = sampler:grammar():alphabet(), seed = 1,
    controller = { kind = 'lstm', hidden = 4 } }, train = sampler:dataset(100, { seed = 1 }), log_every = 5, seed = 1,
  valid = sampler:dataset(30, { seed = 2 }), epochs = options.epochs, progress = false }
for _ in trainer:epochs() do end
print('history ' .. pd.json.encode(trainer:history()))
print('log_probability ' .. pd.json.encode(pd.model.load(run.folder):log_probability '0 # 0'))
run:finish { best = 1 / 3 }
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    (folder / "train.lua").write_text(TRAIN)
    finished = pushdown.run(folder / "train.lua", run_folder=folder / "runs/a run", echo=False)
    facts = dict(line.split(" ", 1) for line in finished.output.splitlines() if " " in line)
    return folder, finished.run, facts


def test_metrics(trained):
    _, run, facts = trained
    metrics = run.metrics()
    history = json.loads(facts["history"])
    assert metrics["epoch"].tolist() == [1, 2, 3] and all(metrics[name].shape == (3,) for name in metrics)
    for name in ("cross_entropy", "train_cross_entropy", "cross_entropy_difference"):
        assert metrics[name].tolist() == [epoch[name] for epoch in history]
    x, y = run.curve("cross_entropy", over="update")
    assert x.tolist() == [epoch["updates"] for epoch in history] and y.tolist() == metrics["cross_entropy"].tolist()
    assert (np.diff(metrics["elapsed"]) > 0).all()
    updates, losses = run.losses()
    assert updates.tolist() == list(range(5, 31, 5)) and len(losses) == 6
    with pytest.raises(pushdown.Error, match="no metric 'accuracy'; it has .*cross_entropy"):
        run.curve("accuracy")


def test_the_model_of_a_run(trained):
    _, run, facts = trained
    assert run.model().log_probability("0 # 0") == json.loads(facts["log_probability"])
    assert run.model("last").symbols == ["0", "1", "#"]


def test_tables(trained, monkeypatch):
    folder, run, _ = trained
    rows = pushdown.runs(folder)
    if importlib.util.find_spec("pandas"):
        assert type(rows).__name__ == "DataFrame"
        monkeypatch.setitem(sys.modules, "pandas", None)
    table = pushdown.runs(folder)
    assert isinstance(table, pushdown.Table) and len(table) == len(rows) == 1
    assert table["folder"] == list(rows["folder"]) == [run.folder]
    assert table["options.epochs"] == [3] and table["result.best"] == [1 / 3] and table["status"] == ["done"]
    assert [row["experiment"] for row in table] == ["train"]
    now = datetime.now(timezone.utc)
    for name in ("created", "started", "finished"):
        (time,) = table[name]
        assert now - timedelta(days=1) < time <= now and [time, run.record[name]] == [*rows[name]] * 2
    assert run.record["created"] <= run.record["started"] <= run.record["finished"]
    with pytest.raises(KeyError, match="nothing"):
        table["nothing"]


def test_folders_without_runs(tmp_path):
    assert len(pushdown.runs(tmp_path)) == 0
    with pytest.raises(pushdown.Error, match="there is no folder"):
        pushdown.runs(tmp_path / "nothing")
    with pytest.raises(pushdown.Error, match="there is no run in"):
        _ = pushdown.Run(tmp_path).record
    assert pushdown.Run(tmp_path).metrics() == {}
