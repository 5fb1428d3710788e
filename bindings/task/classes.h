// Datasets as Lua values.
#pragma once
#include "bindings/binder/value.h"
#include "task/dataset.h"
#include "task/labelled_dataset.h"
#include "task/number_prediction.h"
#include "task/running_text.h"
#include "task/token_file.h"
#include "task/transduction.h"

namespace pushdown {

class Module;

template <>
struct ClassName<Dataset> {
  static constexpr const char* value = "Dataset";
  static std::size_t bytes(const Dataset& dataset) {
    return dataset.symbol_count() * sizeof(int) + dataset.size() * (sizeof(Word) + sizeof(double));
  }
};

template <>
struct ClassName<LabelledDataset> {
  static constexpr const char* value = "LabelledDataset";
  static std::size_t bytes(const LabelledDataset& dataset) {
    return dataset.symbol_count() * sizeof(int) + dataset.size() * sizeof(Word);
  }
};

template <>
struct ClassName<RunningText> {
  static constexpr const char* value = "RunningText";
  static std::size_t bytes(const RunningText& text) {
    return text.size() * sizeof(int) + text.alphabet().size() * 2 * sizeof(std::string);
  }
};

template <>
struct ClassName<TokenFile> {
  static constexpr const char* value = "Sentences";
};

template <>
struct ClassName<PairSource> {
  static constexpr const char* value = "Pairs";
};

// Examples of number prediction.
struct NumberData {
  NumberExamples examples;
};
template <>
struct ClassName<NumberData> {
  static constexpr const char* value = "NumberData";
  static std::size_t bytes(const NumberData& data) {
    return data.examples.size() * (sizeof(NumberExample) + 100);
  }
};

// The strings of a dataset as texts, and their lengths.
template <class Data>
std::vector<std::string> strings_of(const Data& dataset) {
  std::vector<std::string> texts;
  for (const auto& word : dataset.words()) texts.push_back(dataset.alphabet().text(word));
  return texts;
}
template <class Data>
std::vector<std::int64_t> lengths_of(const Data& dataset) {
  std::vector<std::int64_t> lengths;
  for (const auto& word : dataset.words())
    lengths.push_back(static_cast<std::int64_t>(word.size()));
  return lengths;
}

// Each binds the functions of one file to pd.task, with their classes.
void bind_labelled(Module& module);
void bind_running_text(Module& module);
void bind_sentences(Module& module);
void bind_pairs(Module& module);
void bind_number(Module& module);

}  // namespace pushdown
