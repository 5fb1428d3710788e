// pd.task: running texts, and corpora of words.
#include <filesystem>

#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/alphabet.h"
#include "bindings/bind.h"
#include "bindings/inputs.h"
#include "bindings/options.h"
#include "bindings/running_text.h"
#include "task/corpus.h"

namespace pushdown {
namespace {

CorpusFile file_at(lua_State* L, const Path& path) {
  return {read_input(L, "data", path), path.string()};
}

EmptyLines empty_lines_of(const std::string& name) {
  if (name == "refuse") return EmptyLines::refuse;
  if (name == "count") return EmptyLines::count;
  check(name == "skip", "task.corpus",
        "empty_lines must be one of 'refuse', 'count' and 'skip', got '{}'", name);
  return EmptyLines::skip;
}

// {train=, valid=, test=}
Results corpus(lua_State* L, const std::string& path, OptionTable options) {
  constexpr auto kTaskTextPlace = "task.corpus";
  CorpusOptions given;
  given.vocabulary = options.take<std::int64_t>("vocabulary").value_or(0);
  given.empty_lines = empty_lines_of(options.take<std::string>("empty_lines").value_or("refuse"));
  const auto shares = options.take<std::vector<double>>("shares");
  options.finish(kTaskTextPlace, {"vocabulary", "empty_lines", "shares"});
  check(!shares || shares->size() == 3, kTaskTextPlace,
        "shares must be {{training, validation, test}}, got {} numbers",
        shares ? shares->size() : 0);
  Corpus made;
  if (std::filesystem::is_directory(path)) {
    check(!shares, kTaskTextPlace, "shares split one file, but '{}' is a folder", path);
    const auto files = corpus_files(path);
    made = make_corpus({file_at(L, files[0]), file_at(L, files[1]), file_at(L, files[2])}, given);
  } else {
    std::array<double, 3> parts{0.8, 0.1, 0.1};
    if (shares) std::copy(shares->begin(), shares->end(), parts.begin());
    made = split_corpus(file_at(L, path), parts, given);
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

RunningText own_words(OptionTable options) {
  const auto given =
      options.require<std::variant<std::shared_ptr<Alphabet>, std::vector<std::string>>>(
          "alphabet");
  const auto words = options.require<Tokens>("words");
  options.finish("task.running_text", {"alphabet", "words"});
  const auto* shared = std::get_if<std::shared_ptr<Alphabet>>(&given);
  Alphabet alphabet = shared ? **shared : Alphabet(std::get<std::vector<std::string>>(given));
  Word ids = to_word(alphabet, words);
  return RunningText(std::move(alphabet), std::move(ids));
}

RunningText load_text(lua_State* L, const std::string& path) {
  return parse_running_text(read_input(L, "data", path), path);
}

void save_text(const RunningText& text, const std::string& path) {
  write_file(path, to_text(text));
}

std::string text_words_of(const RunningText& text, std::optional<std::int64_t> first,
                          std::optional<std::int64_t> last) {
  const auto begin = first.value_or(1), end = last.value_or(text.size());
  check(begin >= 1 && end <= text.size(), "text.words", "the words are 1 to {}, got {} to {}",
        text.size(), begin, end);
  if (begin > end) return "";
  return text.alphabet().text(Word(text.words().begin() + begin - 1, text.words().begin() + end));
}

std::string text_line_of(const RunningText& text) {
  return fmt::format("RunningText: {} words, vocabulary of {}", text.size(),
                     text.alphabet().size());
}

}  // namespace

void bind_running_text(Module& module) {
  module
      .def<&corpus>("corpus",
                    "corpus(path, {vocabulary=, empty_lines=, shares=}) -> table  The texts train, "
                    "valid and test of a folder in the format of the Penn Treebank, or of one file "
                    "that is split.")
      .def<&own_words>("running_text",
                       "running_text{alphabet=, words=} -> RunningText  Your own words in one row.")
      .def<&load_text>("load_text", "load_text(path) -> RunningText  Reads what text:save wrote.");
  Class<RunningText>(module, "Words in one long row, for language models.")
      .def<&RunningText::size>("size", "text:size() -> integer  The number of words.")
      .def<[](const RunningText& text) { return text.alphabet(); }>(
          "alphabet", "text:alphabet() -> Alphabet  The vocabulary.")
      .def<[](const RunningText& text, const std::string& word) { return text.count(word); }>(
          "count", "text:count(word) -> integer  How often a word of the vocabulary occurs.")
      .def<&text_words_of>(
          "words", "text:words(first=1, last=size) -> string  These words, blanks between them.")
      .def<[](const RunningText& text, const RunningText& train) {
        return unigram_perplexity(train, text);
      }>("unigram_perplexity",
         "text:unigram_perplexity(train) -> number  The perplexity under the frequencies of words "
         "in the text `train`, one added to each.")
      .def<&save_text>("save", "text:save(path)  Writes a text file that load_text reads.")
      .def<&text_line_of>("__tostring", "tostring(text) -> string  One line about the text.");
}

}  // namespace pushdown
