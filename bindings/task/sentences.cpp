// pd.task: corpora of sentences.
#include "task/sentences.h"
#include "base/check.h"
#include "base/utf8.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/session/live.h"
#include "bindings/task/classes.h"

namespace pushdown {
namespace task_sentences {

constexpr auto kWhere = "task.sentences";

using Shared = std::shared_ptr<TokenFile>;

Shared shared(const TokenFilePtr& file) { return std::const_pointer_cast<TokenFile>(file); }

const std::vector<OptionSpec>& options() {
  static const std::vector<OptionSpec> specs{
      text_option("words", "blanks",
                  "definition of a word: text between white space, a word of the Unicode standard, "
                  "or every character",
                  {"blanks", "unicode", "characters"}),
      text_option(
          "sentences", "lines",
          "definition of a sentence: a line, or a sentence of the Unicode standard within a line",
          {"lines", "unicode"}),
      boolean_option("lower", false, "converts all words to lower case"),
      integer_option("vocabulary", 10000,
                     "number of words of the vocabulary, which consists of <unk> and the most "
                     "frequent words of the training part; 0: all",
                     0),
      integer_option("minimum_count", 1,
                     "words that occur less often in the training part become <unk>", 1),
      integer_option(
          "longest", 0,
          "maximum number of words of a sentence; longer sentences are left out; 0: no limit", 0),
      list_option("shares", Json::array(),
                  "shares of training and test, or training, validation and test; {1}: all is for "
                  "training; if empty, 0.9 and 0.1"),
      integer_option("seed", 0, "random seed of the assignment of sentences to parts", 0)};
  return specs;
}

struct PreparedSentences {
  std::string folder;
  std::shared_ptr<Alphabet> alphabet;
  bool progress = true;
  Json core;
  using Self = PreparedSentences;
  static OptionRows rows() {
    return declare<Self>({{"folder", &Self::folder, "folder for the files", required},
                          {"alphabet", &Self::alphabet, "a vocabulary to use instead of a new one"},
                          {"progress", &Self::progress, "shows progress on stderr"}})
        .resolved(&Self::core, options());
  }
};

// {train=, test=} and so on.
Results sentences(lua_State* L, const PathText& path, const PreparedSentences& given) {
  check_path(kWhere, "folder", given.folder);
  const Json& resolved = given.core;
  SentenceOptions options;
  if (given.alphabet) options.alphabet = *given.alphabet;
  options.tokenizer.words = word_borders(resolved["words"].get<std::string>());
  options.tokenizer.sentences =
      resolved["sentences"] == "lines" ? SentenceBorders::lines : SentenceBorders::unicode;
  options.tokenizer.lower = resolved["lower"];
  options.vocabulary = resolved["vocabulary"];
  options.minimum_count = resolved["minimum_count"];
  options.longest = resolved["longest"];
  options.seed = resolved["seed"].get<std::uint64_t>();
  for (const auto& share : resolved["shares"]) {
    check(share.is_number(), kWhere, "shares must be numbers, got {}", share.dump());
    options.shares.push_back(share.get<double>());
  }
  note_input_files(L, "data", sentence_files(path));
  LiveView& view = LiveView::of_process();
  const LiveScope scope(given.progress, false);
  view.plan(1);
  const auto interrupted = interrupt_check(L);
  const auto parts =
      prepare_sentences(path, given.folder, options, [&](std::int64_t done, std::int64_t total) {
        if (view.due())
          view.change("preparing sentences", [&](LiveRow& row) {
            row.part =
                static_cast<double>(done) / static_cast<double>(std::max<std::int64_t>(total, 1));
          });
        return !interrupted();
      });
  if (!parts) {
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  lua_createtable(L, 0, static_cast<int>(parts->size()));
  const int table = lua_gettop(L);
  for (const auto& [name, file] : *parts) {
    Value<Shared>::push(L, shared(file));
    lua_setfield(L, table, name.c_str());
  }
  return {1};
}

Shared load(lua_State* L, const PathText& path) {
  note_input_files(L, "data", {path});
  return std::make_shared<TokenFile>(path);
}

std::string sentence(const TokenFile& file, std::int64_t number) {
  check(number >= 1 && number <= file.size(), "sentences.sentence",
        "the sentences are 1 to {}, got {}", file.size(), number);
  const auto words = file.sentence(number - 1);
  return file.alphabet().text(Word(words.begin(), words.end()));
}

std::string lower(const std::string& text) {
  TokenizerOptions options;
  options.lower = true;
  static const Tokenizer tokenizer(options);
  return tokenizer.folded(text);
}

struct WordsOptions {
  std::string words = "blanks";
  bool lower = false;
  using Self = WordsOptions;
  static OptionRows rows() {
    return declare<Self>({{"words", &Self::words,
                           "definition of a word: text between white space, a word of the Unicode "
                           "standard, or every "
                           "character",
                           OneOf{{"blanks", "unicode", "characters"}}},
                          {"lower", &Self::lower, "converts all words to lower case"}});
  }
};

SentenceWords words_of(const std::string& text, const WordsOptions& options) {
  const auto invalid = find_invalid_utf8(text);
  check(!invalid, "task.words", "expected UTF-8 text, byte {} is 0x{:02x}", invalid.value_or(0) + 1,
        static_cast<unsigned char>(text[invalid.value_or(0)]));
  SentenceWords found;
  Tokenizer({word_borders(options.words), SentenceBorders::lines, options.lower})
      .split(text, [&](SentenceWords& words) { found = std::move(words); });
  return found;
}

std::string line_of(const TokenFile& file) {
  return fmt::format(
      "Sentences: {} of {} to {} words, {} words in all, {:.1f} % of them unknown, vocabulary of "
      "{}",
      file.size(), file.shortest(), file.longest(), file.word_count(),
      100.0 * static_cast<double>(file.unknown_count()) /
          static_cast<double>(std::max<std::int64_t>(file.word_count(), 1)),
      file.alphabet().size());
}

}  // namespace task_sentences

void bind_sentences(Module& module) {
  using namespace task_sentences;
  module
      .def<&sentences>(
          "sentences(path, {options}) -> table  Writes the parts train and test, or train, valid "
          "and test, of a corpus to files of numbers in `folder`, and returns them. The corpus is "
          "a text file, a folder of text files or a treebank (.conllu, .mrg). It may be larger "
          "than memory.")
      .def<&lower>(
          "lower(text) -> string  Returns the text in lower case, as the Unicode standard defines "
          "it.")
      .def<&words_of>(
          "words(text, {options}) -> table  Returns the words of a text, as pd.task.sentences "
          "reads them.")
      .def<&load>(
          "load_sentences(path) -> Sentences  Opens a file that pd.task.sentences wrote and "
          "returns its sentences.");
  Class<TokenFile>(module, "Sentences of a corpus in a file, for language models.")
      .def<&TokenFile::size>("sentences:size() -> integer  Returns the number of sentences.")
      .def<&TokenFile::word_count>(
          "sentences:word_count() -> integer  Returns the total number of words.")
      .def<&TokenFile::unknown_count>(
          "sentences:unknown_count() -> integer  Returns the number of words that are <unk>.")
      .def<&TokenFile::alphabet>("sentences:alphabet() -> Alphabet  Returns the vocabulary.")
      .def<&sentence>(
          "sentences:sentence(number) -> string  Returns a sentence with blanks between words.")
      .def<[](const TokenFile& file) { return file.path().string(); }>(
          "sentences:path() -> string  Returns the path of the file.")
      .def<&line_of>("tostring(sentences) -> string  Returns one line about the sentences.");
}

}  // namespace pushdown
