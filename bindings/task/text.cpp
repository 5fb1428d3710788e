// pd.task: running texts, and corpora of words.
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/task/classes.h"
#include "task/corpus.h"

namespace pushdown {
namespace task_text {

CorpusFile file_at(lua_State* L, const Path& path) {
  return {read_input(L, "data", path), path.string()};
}

struct TextOptions : CorpusOptions {
  std::optional<std::array<double, 3>> shares;
  using Self = TextOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"vocabulary", &Self::vocabulary,
          "number of the most frequent words to keep, <unk> and <eos> included; 0: all",
          at_least(0)},
         {"empty_lines",
          &Self::empty_lines,
          "empty lines are an error, sentences without words, or left out",
          {{"refuse", EmptyLines::refuse},
           {"count", EmptyLines::count},
           {"skip", EmptyLines::skip}}},
         {"shares", &Self::shares,
          "{training, validation, test} shares of one file; 0.8, 0.1 and 0.1 if absent"}});
  }
};

// {train=, valid=, test=}
Results corpus(lua_State* L, const PathText& path, const TextOptions& given) {
  Corpus made;
  if (std::filesystem::is_directory(path)) {
    check(!given.shares, "task.corpus", "shares split one file, but '{}' is a folder", path);
    const auto files = corpus_files(path);
    made = make_corpus({file_at(L, files[0]), file_at(L, files[1]), file_at(L, files[2])}, given);
  } else {
    made = split_corpus(file_at(L, path), given.shares.value_or(std::array{0.8, 0.1, 0.1}), given);
  }
  lua_createtable(L, 0, 3);
  const int table = lua_gettop(L);
  const std::pair<const char*, RunningTextPtr> named[]{
      {"train", made.train}, {"valid", made.valid}, {"test", made.test}};
  for (const auto& [name, text] : named) {
    Value<RunningText>::push(L, *text);
    lua_setfield(L, table, name);
  }
  return {1};
}

struct OwnWords {
  GivenAlphabet alphabet;
  Tokens words;
  static OptionRows rows() {
    return declare<OwnWords>({{"alphabet", &OwnWords::alphabet, "the vocabulary", required},
                              {"words", &OwnWords::words, "the words in order", required}});
  }
};

RunningText own_words(const OwnWords& own) {
  Alphabet alphabet = alphabet_of(own.alphabet);
  Word ids = to_word(alphabet, own.words);
  return RunningText(std::move(alphabet), std::move(ids));
}

std::string words_of(const RunningText& text, std::optional<std::int64_t> first,
                     std::optional<std::int64_t> last) {
  const auto begin = first.value_or(1), end = last.value_or(text.size());
  check(begin >= 1 && end <= text.size(), "text.words", "the words are 1 to {}, got {} to {}",
        text.size(), begin, end);
  if (begin > end) return "";
  return text.alphabet().text(Word(text.words().begin() + begin - 1, text.words().begin() + end));
}

std::string line_of(const RunningText& text) {
  return fmt::format("RunningText: {} words, vocabulary of {}", text.size(),
                     text.alphabet().size());
}

}  // namespace task_text

void bind_running_text(Module& module) {
  using namespace task_text;
  module
      .def<&corpus>(
          "corpus(path, {options}) -> table  Returns the texts train, valid and test from a folder "
          "in the format of the Penn Treebank, or from one file that is split.")
      .def<&own_words>("running_text{options} -> RunningText  Returns a text of given words.")
      .def<&load_data<&parse_running_text>>(
          "load_text(path) -> RunningText  Returns the text in a file that text:save wrote.");
  Class<RunningText>(module, "One long sequence of words, for language models.")
      .def<&RunningText::size>("text:size() -> integer  Returns the number of words.")
      .def<&RunningText::alphabet>("text:alphabet() -> Alphabet  Returns the vocabulary.")
      .def<[](const RunningText& text, const std::string& word) { return text.count(word); }>(
          "text:count(word) -> integer  Returns how often a word of the vocabulary occurs.")
      .def<&words_of>(
          "text:words(first=1, last=size) -> string  Returns these words with blanks between them.")
      .def<[](const RunningText& text, const RunningText& train) {
        return unigram_perplexity(train, text);
      }>("text:unigram_perplexity(train) -> number  Returns the perplexity of the words under "
         "their frequencies in the text `train`, with 1 added to each count.")
      .def<&save_data<RunningText>>("text:save(path)  Writes a text file that load_text reads.")
      .def<&line_of>("tostring(text) -> string  Returns one line about the text.");
}

}  // namespace pushdown
