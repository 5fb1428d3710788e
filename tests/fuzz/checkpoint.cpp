// A checkpoint of a small trainer, unchanged or with other metadata, and the configuration of its
// run.
#include <unistd.h>

#include <regex>

#include "base/random.h"
#include "fuzz/fuzz.h"
#include "task/dataset.h"
#include "train/problems/language_modelling.h"
#include "train/records/run_folder.h"
#include "train/trainer.h"

namespace pushdown {
namespace {

struct FuzzedRun {
  FuzzedRun() {
    std::vector<Word> words;
    for (int i = 0; i < 8; ++i) words.push_back({i % 2, 1, i / 4});
    const Alphabet alphabet({"a", "b"});
    const Json options{{"controller", {{"kind", "elman"}, {"hidden", 2}}},
                       {"stack", {{"kind", "superposition"}, {"size", 1}}}};
    problem = language_modelling(std::make_shared<LanguageModel>(alphabet, options),
                                 std::make_shared<Dataset>(alphabet, words), nullptr);
    trainer = std::make_unique<Trainer>(problem, Json{{"batch", 4}, {"epochs", 9}}, Json::object());
    trainer->run_epoch();
    state = trainer->state();
    folder = std::filesystem::temp_directory_path() /
             ("pushdown-fuzz-checkpoint-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    trainer->save(folder);
    config = read_file(folder / "config.json");
  }
  ~FuzzedRun() { std::filesystem::remove_all(folder); }

  ProblemPtr problem;
  std::unique_ptr<Trainer> trainer;
  TensorFile state;
  Path folder;
  std::string config;
};

}  // namespace

// The first byte: 0 a checkpoint file, 1 the state in it, 2 the description of the model, 3 the
// configuration.
FUZZ_TARGET(checkpoint) {
  static FuzzedRun run;
  if (bytes.empty()) return;
  const std::string text(bytes.substr(1));
  // Models with millions of parameters take time.
  if (bytes[0] % 4 >= 2 && std::regex_search(text, std::regex("[0-9]{4}"))) return;
  switch (bytes[0] % 4) {
    case 0:
      fuzz::refused([&] { run.trainer->restore(parse_safetensors(text, "file"), "file"); });
      break;
    case 1: {
      TensorFile changed = run.state;
      changed.metadata["state"] = text;
      fuzz::refused([&] { run.trainer->restore(changed, "file"); });
      break;
    }
    case 2: {
      TensorFile changed = run.state;
      changed.metadata["model"] = text;
      write_safetensors(run.folder / "checkpoints" / "best.safetensors", changed);
      fuzz::refused([&] { load_model(run.folder); });
      break;
    }
    default:
      write_file(run.folder / "config.json", text);
      fuzz::refused([&] { resume_trainer(run.folder); });
  }
}

}  // namespace pushdown
