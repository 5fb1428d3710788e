// Dependency tree banks in CoNLL-U (https://universaldependencies.org/format.html): ten columns
// with tabs between them, one word a line, a blank line behind every sentence, comments in lines
// that begin with #.
//
// The words of a sentence are the syntactic words, those with a whole number. A range (1-2 don't)
// is the form in the text of the words it spans; forms() can give either. Empty nodes (8.1), which
// stand in the enhanced graph alone, are checked and left out.
#pragma once
#include <functional>
#include <istream>
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

// The value of a feature ("Number" in "Case=Nom|Number=Sing"), or an empty text.
std::string_view feature(const ConlluWord& word, std::string_view name);

// The forms of the words; with `surface` a range's form in place of those of its words.
std::vector<std::string> forms(const ConlluSentence& sentence, bool surface = false);

// One sentence after another, so that a file may be larger than memory.
class ConlluReader {
 public:
  // `file` is its name in messages.
  ConlluReader(std::istream& input, std::string file);

  // Reads the next sentence; false at the end. Lines end in \n or \r\n, a byte order mark of UTF-8
  // in front and a missing blank line at the end make no difference, more than one blank line and
  // comments anywhere neither. std::invalid_argument "[task.conllu] file:line: ..." for text that
  // is not UTF-8, NUL, another number of columns, an empty column, numbers out of order, a head
  // outside of the sentence or the word itself, a range outside of it, a sentence without words,
  // comments without a sentence.
  bool next(ConlluSentence& sentence);

  std::int64_t bytes() const { return text_.bytes(); }  // read until now

 private:
  template <class... Args>
  [[noreturn]] void stop(int line, fmt::format_string<Args...> format, Args&&... args) const;
  void read_comment(std::string_view line, ConlluSentence& sentence) const;
  void read_row(std::string_view line, ConlluSentence& sentence);
  void read_word(const std::vector<std::string_view>& columns, ConlluSentence& sentence);
  void finish(const ConlluSentence& sentence) const;

  TextLines text_;
  std::vector<int> lines_;  // of the words of the sentence
  int empty_nodes_ = 0;     // behind the last word
};

// visit(sentence) for every sentence of the files that `path` names: a file, all *.conllu below a
// folder, or a pattern (see files_named).
void visit_conllu(const std::string& path, const std::function<void(const ConlluSentence&)>& visit);

}  // namespace pushdown
