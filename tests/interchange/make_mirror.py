"""Makes files/mirror.tfevents with TensorBoard's own writer, and files/mirror.json with the length and the SHA-256 of an
offline run by the writer of Weights & Biases. tests/lua/test_mirror.lua writes the same events.

Needs tensorboard, and wandb 0.19 (later versions have no writer in Python). Made with tensorboard 2.21.0 and
wandb 0.19.11.
"""
import hashlib
import json
import os
import tempfile

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "files")
started = 1700000000.0


def make_tensorboard(path):
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
    from tensorboard.plugins.hparams import metadata as hparams_metadata
    from tensorboard.plugins.text import metadata as text_metadata
    from tensorboard.summary.writer.record_writer import RecordWriter
    from tensorboard.util import tensor_util

    def text(tag, value):
        metadata = text_metadata.create_summary_metadata(display_name="", description="")
        metadata.data_class = summary_pb2.DATA_CLASS_TENSOR
        tensor = tensor_util.make_tensor_proto([value.encode()])
        return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])

    def scalars(values):
        return summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag=t, simple_value=v) for t, v in values])

    def hparams(tag, data):
        metadata = hparams_metadata.create_summary_metadata(data)
        # Maps have no defined order.
        content = plugin_data_pb2.HParamsPluginData.FromString(metadata.plugin_data.content)
        metadata.plugin_data.content = content.SerializeToString(deterministic=True)
        return summary_pb2.Summary(value=[
            summary_pb2.Summary.Value(tag=tag, metadata=metadata, tensor=hparams_metadata.NULL_TENSOR)])

    start_info = plugin_data_pb2.SessionStartInfo(group_name="g/a", start_time_secs=started)
    start_info.hparams["layers"].number_value = 0
    start_info.hparams["model"].string_value = "größe"
    start_info.hparams["rate"].number_value = 0.125
    start_info.hparams["safe"].bool_value = False
    start_info.hparams["stack"].bool_value = True
    start = hparams(hparams_metadata.SESSION_START_INFO_TAG,
                    plugin_data_pb2.HParamsPluginData(session_start_info=start_info))
    end_info = plugin_data_pb2.SessionEndInfo(status=api_pb2.STATUS_SUCCESS, end_time_secs=started + 3)
    end = hparams(hparams_metadata.SESSION_END_INFO_TAG, plugin_data_pb2.HParamsPluginData(session_end_info=end_info))
    events = [
        event_pb2.Event(wall_time=started, file_version="brain.Event:2"),
        event_pb2.Event(wall_time=started, step=1, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START)),
        event_pb2.Event(wall_time=started, step=0, summary=start),
        event_pb2.Event(wall_time=started, step=0, summary=text("command", "    pushdown train.lua")),
        event_pb2.Event(wall_time=started + 1, step=1, summary=scalars([("accuracy", 0.0), ("loss", 1.5)])),
        event_pb2.Event(wall_time=started + 2.5, step=300, summary=scalars([("accuracy", 0.25), ("loss", -1e-3)])),
        event_pb2.Event(wall_time=started + 3, step=300, summary=scalars([("result/test", 0.5)])),
        event_pb2.Event(wall_time=started + 3, step=0, summary=end),
    ]
    with open(path, "wb") as file:
        writer = RecordWriter(file)
        for event in events:
            writer.write(event.SerializeToString())
        writer.flush()


def make_wandb():
    import wandb
    from wandb.proto import wandb_internal_pb2 as internal
    from wandb.sdk.internal.datastore import DataStore

    wandb._set_internal_process()
    number = 0
    path = os.path.join(tempfile.mkdtemp(), "run.wandb")
    store = DataStore()
    store.open_for_write(path)

    def write(**fields):
        nonlocal number
        number += 1
        store.write(internal.Record(num=number, **fields))

    def history(step, values):
        write(history=internal.HistoryRecord(step=internal.HistoryStep(num=step), item=[
            internal.HistoryItem(nested_key=[k], value_json=v) for k, v in values]))
        summary(values)

    def summary(values):
        write(summary=internal.SummaryRecord(update=[
            internal.SummaryItem(nested_key=[k], value_json=v) for k, v in values]))

    run = internal.RunRecord(run_id="cdd44c97", project="pushdown", run_group="g", job_type="demo", display_name="g/a",
                             notes="x" * 70000, tags=["one", "two"], host="vm")
    run.start_time.seconds = int(started)
    for key, value in [("layers", "0"), ("model", '"größe"'), ("rate", "0.125"), ("safe", "false"), ("stack", "true")]:
        run.config.update.add(key=key, value_json=value)
    version = internal.VersionInfo(producer="pushdown")
    write(header=internal.HeaderRecord(version_info=version))
    write(run=run)
    for epoch in range(1, 201):  # beyond the borders of blocks
        history(epoch, [("accuracy", "0.25"), ("loss", '"NaN"' if epoch == 7 else "-0.5"), ("_runtime", str(epoch)),
                        ("_step", str(epoch)), ("_timestamp", str(int(started) + epoch))])
    summary([("test", "0.5")])
    write(exit=internal.RunExitRecord(exit_code=0, runtime=201))
    store.close()
    with open(path, "rb") as file:
        return file.read()


if __name__ == "__main__":
    import sys

    if "tensorboard" in sys.argv:
        make_tensorboard(os.path.join(here, "mirror.tfevents"))
    if "wandb" in sys.argv:
        made = make_wandb()
        with open(os.path.join(here, "mirror.json"), "w") as file:
            json.dump({"bytes": len(made), "sha256": hashlib.sha256(made).hexdigest()}, file)
            file.write("\n")
