// Datasets, texts and sources of pairs as Lua values.
#pragma once
#include "base/atomic_file.h"
#include "bindings/binder/path.h"
#include "bindings/session/inputs.h"
#include "task/dataset.h"
#include "task/labelled_dataset.h"
#include "task/number_prediction.h"
#include "task/running_text.h"
#include "task/token_file.h"
#include "task/transduction.h"

namespace pushdown {

template <>
inline constexpr auto kClassName<Dataset> = "Dataset";
template <>
inline constexpr auto kHeldBytes<Dataset> = [](const Dataset& dataset) {
  return dataset.symbol_count() * sizeof(int) + dataset.size() * (sizeof(Word) + sizeof(double));
};

template <>
inline constexpr auto kClassName<LabelledDataset> = "LabelledDataset";
template <>
inline constexpr auto kHeldBytes<LabelledDataset> = [](const LabelledDataset& dataset) {
  return dataset.symbol_count() * sizeof(int) + dataset.size() * sizeof(Word);
};

template <>
inline constexpr auto kClassName<PairSource> = "Pairs";

template <>
inline constexpr auto kClassName<RunningText> = "RunningText";
template <>
inline constexpr auto kHeldBytes<RunningText> = [](const RunningText& text) {
  return text.size() * sizeof(int) + text.alphabet().size() * 2 * sizeof(std::string);
};

template <>
inline constexpr auto kClassName<TokenFile> = "Sentences";

struct NumberData {
  NumberExamples examples;
};

template <>
inline constexpr auto kClassName<NumberData> = "NumberData";
template <>
inline constexpr auto kHeldBytes<NumberData> =
    [](const NumberData& data) { return data.examples.size() * (sizeof(NumberExample) + 100); };

// The methods that data of several classes have.
template <auto Parse>
auto load_data(lua_State* L, const PathText& path) {
  return Parse(read_input(L, "data", path), path);
}
template <class Data>
void save_data(const Data& data, const PathText& path) {
  write_file(path, to_text(data));
}
template <class Strings>
std::vector<std::string> strings_of(const Strings& set) {
  std::vector<std::string> texts;
  for (const auto& word : set.words()) texts.push_back(set.alphabet().text(word));
  return texts;
}
template <class Strings>
std::vector<std::int64_t> lengths_of(const Strings& set) {
  std::vector<std::int64_t> lengths;
  for (const auto& word : set.words()) lengths.push_back(std::ssize(word));
  return lengths;
}

// Binds labelled, labelled_dataset and load_labelled of pd.task, and the class.
void bind_labelled(Module& module);
// Binds transduction, transductions, describe_transduction and pairs of pd.task, and the class.
void bind_pairs(Module& module);
// Binds corpus, running_text and load_text of pd.task, and the class.
void bind_running_text(Module& module);
// Binds sentences and load_sentences of pd.task, and the class.
void bind_sentences(Module& module);
// Binds conllu and number_examples of pd.task, and their classes.
void bind_number(Module& module);

}  // namespace pushdown
