"""Reads a folder with TensorBoard itself. Prints the output of read_mirror.py and the hyperparameters."""
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

events = EventAccumulator(sys.argv[1])
events.Reload()
scalars = {tag: [[e.step, e.wall_time, e.value] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}
start = metadata.parse_session_start_info_plugin_data(
    events.SummaryMetadata(metadata.SESSION_START_INFO_TAG).plugin_data.content)
options = {k: getattr(v, v.WhichOneof("kind")) for k, v in start.hparams.items()}
texts = {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode()
         for tag in events.Tags()["tensors"] if not tag.startswith("_hparams_")}
print(json.dumps({"scalars": scalars, "options": options, "texts": texts}))
