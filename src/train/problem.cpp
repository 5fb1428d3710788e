#include "train/problem.h"

#include "base/check.h"
#include "grammar/text.h"
#include "task/dataset_text.h"
#include "task/pair_text.h"
#include "train/language_modelling.h"
#include "train/recognition.h"
#include "train/sentence_modelling.h"
#include "train/text_modelling.h"
#include "train/transduction.h"

namespace pushdown {
namespace {

// A file that cannot be parsed is an error of the environment, because a run wrote it.
auto reading(const StoredText& stored, auto parse) {
  try {
    return parse(stored.text, stored.file);
  } catch (const std::invalid_argument& error) {
    fail_environment("run_folder", "'{}' cannot be read: {}", stored.file, error.what());
  }
}

DatasetPtr strings(const StoredText& stored) {
  return reading(stored, [](const auto& text, const auto& file) {
    return std::make_shared<Dataset>(parse_dataset(text, file));
  });
}

LabelledDatasetPtr labelled_strings(const StoredText& stored) {
  return reading(stored, [](const auto& text, const auto& file) {
    return std::make_shared<LabelledDataset>(parse_labelled(text, file));
  });
}

RunningTextPtr running_text(const StoredText& stored) {
  return reading(stored, [](const auto& text, const auto& file) {
    return std::make_shared<RunningText>(parse_running_text(text, file));
  });
}

PairSourcePtr pairs(const StoredText& stored) {
  return reading(stored,
                 [](const auto& text, const auto& file) { return parse_pair_source(text, file); });
}

GrammarPtr stored_grammar(const StoredText& stored) {
  return reading(stored, [](const auto& text, const auto& file) {
    return std::make_shared<Grammar>(parse_grammar(text, file));
  });
}

}  // namespace

ProblemPtr stored_problem(const SequenceModelPtr& model, const StoredText& train,
                          const std::optional<StoredText>& valid,
                          const std::optional<StoredText>& grammar,
                          const std::vector<ObjectiveKind>& objectives) {
  const GrammarPtr language = grammar ? stored_grammar(*grammar) : nullptr;
  auto language_model = std::dynamic_pointer_cast<LanguageModel>(model);
  if (language_model != nullptr && is_running_text(train.text))
    return text_modelling(language_model, running_text(train),
                          valid ? running_text(*valid) : RunningTextPtr());
  if (language_model != nullptr && is_token_note(train.text))
    return sentence_modelling(language_model, noted_file(train.text, train.file),
                              valid ? noted_file(valid->text, valid->file) : TokenFilePtr());
  if (language_model != nullptr)
    return language_modelling(language_model, strings(train),
                              valid ? strings(*valid) : DatasetPtr(), language);
  if (auto transducer = std::dynamic_pointer_cast<Transducer>(model))
    return transduction(transducer, pairs(train), valid ? pairs(*valid) : PairSourcePtr());
  auto recognizer = std::dynamic_pointer_cast<Recognizer>(model);
  check(recognizer != nullptr, "run_folder", "no training is known for a {}", model->kind());
  return recognition(recognizer, labelled_strings(train),
                     valid ? labelled_strings(*valid) : LabelledDatasetPtr(), objectives, language);
}

}  // namespace pushdown
