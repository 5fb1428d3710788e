#include "train/trainer.h"

namespace pushdown {

std::vector<OptionSpec> trainer_options(const std::vector<OptionSpec>& of_problem) {
  std::vector<OptionSpec> all{integer_option("batch", 10,
                                             "number of strings of equal length in a batch; for a "
                                             "running text, number of parallel streams",
                                             1),
                              text_option("average", "strings",
                                          "what counts equally in an epoch: all strings, all "
                                          "symbols, or all batches, the last ones of a few strings "
                                          "as much as full ones, as in some published protocols; a "
                                          "transducer's batch is then the mean over its symbols",
                                          {"strings", "symbols", "batches"})};
  all.insert(all.end(), of_problem.begin(), of_problem.end());
  all.insert(
      all.end(),
      {integer_option("epochs", 200, "maximum number of epochs", 1),
       integer_option("accumulate", 1,
                      "number of batches per update, which are treated as one batch", 1),
       table_option("optimizer", Json{{"kind", "adam"}}, "optimizer: kind and its options")
           .holding(&options_by_kind<&optimizer_kinds>),
       number_option("clip_norm", 5.0,
                     "maximum gradient norm: longer gradients are scaled to it; 0: no limit", 0),
       number_option("clip_value", nullptr,
                     "maximum absolute value of gradient entries; larger ones are clipped", 0),
       table_option("annealing", Json{{"kind", "none"}},
                    "learning rate schedule by updates and epochs: kind and its options")
           .holding(&options_by_kind<&annealing_kinds>),
       table_option("noise", nullptr,
                    "options of adaptive noise on weights of three and four dimensions during "
                    "gradient computations; absent: no noise")
           .holding([] {
             return std::vector<KindOptions>{{"", AdaptiveNoise::options()}};
           })});
  all.insert(all.end(), schedule_options().begin(), schedule_options().end());
  all.insert(
      all.end(),
      {integer_option("seed", 0, "random seed of the order of the batches", 0),
       text_option("run_folder", nullptr, "folder for metrics and checkpoints"),
       boolean_option("overwrite", false, "overwrite another run in run_folder"),
       integer_option("checkpoint_every", 0,
                      "number of updates between checkpoints within an epoch; 0: only by time", 0),
       number_option("checkpoint_seconds", 60.0,
                     "seconds between checkpoints within an epoch; 0: never", 0),
       integer_option("log_every", 0,
                      "number of updates between lines in metrics.jsonl; 0: no lines for updates",
                      0),
       number_option("max_seconds", nullptr,
                     "time limit in seconds for each process, checked before every update", 0)});
  return all;
}

}  // namespace pushdown
