// The files of one training run:
//   config.json                      everything needed to make the run again: model, trainer and
//                                    data with all defaults, seed, version, git state, command line
//   data/train.txt, data/valid.txt   the strings as task/dataset_text.h writes them, those of the
//                                    validation with their log-probabilities where known
//   data/grammar.txt                 the language's grammar, where epochs are measured by it
//   metrics.jsonl                    one JSON object a line: every epoch, updates on request
//   checkpoints/last.safetensors     everything that resuming needs, in one file
//   checkpoints/best.safetensors     the weights of the best epoch under their own names
//   checkpoints/initial.safetensors  the checkpoint before the first update: the run can be made
//                                    again from it, whatever had been done to the model
//   definitions/REGISTRY.KIND.lua    the scripts that defined parts of what is trained
//   log.txt, curves.svg              written by the shell
// Every file is replaced as a whole, so that a kill at any moment leaves a folder that resumes.
#pragma once
#include <memory>

#include "base/atomic_file.h"
#include "train/model_file.h"
#include "train/problem.h"
#include "train/safetensors.h"

namespace pushdown {

class RunFolder {
 public:
  // Opens a folder for the run that `config` describes (config["run"] is its identity) and writes
  // the configuration and the data. A folder that holds another run, or files but no run, is a
  // std::invalid_argument unless `overwrite`; the files of that run, as its configuration names
  // them, are then removed, and nothing else ever is. metrics.jsonl becomes one line for each epoch
  // of `history`, with those lines of single updates that were there and belong to them, or to
  // updates up to `updates`. A folder in which another process is at work is a std::runtime_error,
  // as is a link in the place of a file or folder of the run. Of several RunFolders of one folder
  // in this process the latest writes; the others throw std::runtime_error instead.
  RunFolder(const Path& folder, const Json& config, const Problem& problem, bool overwrite,
            const std::vector<EpochMetrics>& history = {}, std::int64_t updates = 0);

  const Path& path() const { return folder_; }
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

// What a run folder says about itself. Missing or damaged files are std::runtime_errors that name
// the file and what is wrong.
struct StoredRun {
  Json config;
  TensorFile checkpoint;  // last.safetensors
  ProblemPtr problem;     // with a new model
  ProcessLock lock;       // keeps other processes out of the folder
};
StoredRun read_run(const Path& folder, const TrainingKinds& kinds = {});

// {train, valid}: the data sets in a configuration, with the checksums of their files.
Json describe_data(const Problem& problem);

}  // namespace pushdown
