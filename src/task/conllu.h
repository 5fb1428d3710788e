// Dependency treebanks in CoNLL-U (https://universaldependencies.org/format.html): ten columns
// separated by tabs, one word per line, a blank line after every sentence, and comments in lines
// that begin with #.
//
// The words of a sentence are the syntactic words, those with an integer id. A range (1-2 don't)
// gives the surface form of the words it spans; forms() can return either. Empty nodes (8.1), which
// occur only in the enhanced graph, are checked and skipped.
#pragma once
#include <filesystem>
#include <fstream>
#include <functional>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "task/text_lines.h"

namespace pushdown {

struct ConlluWord {
  std::string form, lemma, upos, xpos, features, relation;  // empty: unspecified (_)
  int head = -1;                                            // from 1; 0: the root, -1: unspecified
};

struct ConlluSentence {
  std::string id;  // of the comment sent_id, or empty
  int line = 0;    // of its first word
  std::vector<ConlluWord> words;
  struct Range {
    int first, last;  // words, from 1
    std::string form;
  };
  std::vector<Range> ranges;
};

// Returns the value of a feature ("Number" in "Case=Nom|Number=Sing"), or an empty text.
std::string_view feature(const ConlluWord& word, std::string_view name);

// Returns the forms of the words. With `surface`, the form of a range replaces those of its words.
std::vector<std::string> forms(const ConlluSentence& sentence, bool surface = false);

// Reads one sentence after another, so a file may be larger than memory.
class ConlluReader {
 public:
  // `file` is its name in messages.
  ConlluReader(std::istream& input, std::string file);

  // Reads the next sentence; returns false at the end. Accepts lines that end in \n or \r\n, a
  // UTF-8 byte order mark at the start, a missing blank line at the end, more than one blank line,
  // and comments anywhere. Throws std::invalid_argument "[task.conllu] file:line: ..." for text
  // that is not UTF-8, NUL, a wrong number of columns, an empty column, ids out of order, a head
  // outside the sentence or equal to the word, a range outside the sentence, a sentence without
  // words, and comments without a sentence.
  bool next(ConlluSentence& sentence);

  std::int64_t bytes() const { return text_.bytes(); }  // read so far

 private:
  template <class... Args>
  [[noreturn]] void stop(int line, fmt::format_string<Args...> format, Args&&... args) const;
  void read_comment(std::string_view line, ConlluSentence& sentence) const;
  void read_row(std::string_view line, ConlluSentence& sentence);
  void read_word(const std::vector<std::string_view>& columns, ConlluSentence& sentence);
  void finish(const ConlluSentence& sentence) const;

  TextLines text_;
  std::vector<int> lines_;  // of the words of the sentence
  int empty_nodes_ = 0;     // after the last word
};

// Calls visit(sentence) for every sentence of the files that `path` names: a file, all *.conllu in
// a folder and its subfolders, or a pattern (see files_named).
void visit_conllu(const std::string& path, const std::function<void(const ConlluSentence&)>& visit);

// The sentences of several files, one after another.
class ConlluFiles {
 public:
  explicit ConlluFiles(std::vector<std::filesystem::path> files) : files_(std::move(files)) {}

  // Returns the next sentence; nothing at the end. Throws std::runtime_error for a file that cannot
  // be opened.
  std::optional<ConlluSentence> next();
  std::size_t files() const { return files_.size(); }

 private:
  std::vector<std::filesystem::path> files_;
  std::size_t file_ = 0;
  std::ifstream input_;
  std::optional<ConlluReader> reader_;
};

}  // namespace pushdown
