// The files of one training run:
//   config.json                      everything needed to repeat the run: model, trainer and data
//                                    with all defaults, seed, version, git state, command line
//   data/train.txt, data/valid.txt   the strings in the format of task/dataset_text.h, those of the
//                                    validation set with their log-probabilities if known
//   data/train-1.txt, valid-1.txt    those of the first stage of a training in stages, and so on;
//                                    the files without a number are those of the last stage
//   data/grammar.txt                 the language's grammar, if used to evaluate epochs
//   metrics.jsonl                    one JSON object per line: every epoch, updates on request
//   checkpoints/last.safetensors     everything that resuming needs, in one file
//   checkpoints/best.safetensors     the weights of the best epoch under their own names
//   checkpoints/initial.safetensors  the checkpoint before the first update, from which the run can
//                                    be repeated even if the model had been changed before
//   definitions/REGISTRY.KIND.lua    the scripts that defined parts of what is trained
//   log.txt, curves.svg              written by the shell
// Every file is replaced as a whole, so that a run killed at any moment can be resumed.
#pragma once
#include <memory>

#include "base/atomic_file.h"
#include "train/problems/problem.h"
#include "train/records/model_file.h"
#include "train/records/safetensors.h"

namespace pushdown {

class RunFolder {
 public:
  // Opens a folder for the run that `config` describes (config["run"] is its identity) and writes
  // the configuration and the data. Throws std::invalid_argument for a folder that contains another
  // run, or files but no run, unless `overwrite` is set. In that case the files of the other run,
  // as listed in its configuration, are removed, and nothing else. metrics.jsonl becomes one line
  // for each epoch of `history`, together with the existing lines of single updates that belong to
  // these epochs, or to updates up to `updates`. Throws std::runtime_error if another process uses
  // the folder, or if there is a link in the place of a file or folder of the run. If one process
  // has several RunFolders for the same folder, only the latest writes; the others throw
  // std::runtime_error.
  RunFolder(const Path& folder, const Json& config, const Problem& problem, bool overwrite,
            const std::vector<EpochMetrics>& history = {}, std::int64_t updates = 0);

  const Path& path() const { return folder_; }
  // Returns whether other processes are kept out. Some file systems have no locks.
  bool locked() const { return !lock_.powerless(); }
  void append(const Json& metrics);
  void write_last(const TensorFile& checkpoint) const;
  void write_best(const TensorFile& weights) const;
  void write_initial(const TensorFile& checkpoint) const;

 private:
  void check_owned() const;

  Path folder_;
  ProcessLock lock_;
  LineFile metrics_;
};

// The content of a run folder. A missing or damaged file throws std::runtime_error that names the
// file and the problem.
struct StoredRun {
  Json config;
  TensorFile checkpoint;  // last.safetensors
  ProblemPtr problem;     // with a new model
  ProcessLock lock;       // keeps other processes out of the folder
};
// With a `model`, the problem has that one. Throws std::invalid_argument if it is described
// otherwise than the model of the run; only the seed may differ, since the checkpoint has all
// parameters.
StoredRun read_run(const Path& folder, const TrainingKinds& kinds = {},
                   SequenceModelPtr model = nullptr);
// Returns whether the folder contains a run that read_run can read: a configuration and a
// checkpoint.
bool contains_run(const Path& folder);

// Returns {train, valid, earlier_stages, grammar}: the data in a configuration, with the checksums
// of their files. earlier_stages is a list of {train, valid}.
Json describe_data(const Problem& problem);

}  // namespace pushdown
