// Languages, oracles and options for the tests of labelled strings.
#pragma once
#include <set>

#include "grammar/text.h"
#include "task/labelled_sampling.h"

namespace pushdown::testing_support {

inline Grammar grammar_of(const char* text) { return Grammar(parse_grammar(text)); }
inline Grammar an_bn() { return grammar_of("S -> 'a' S 'b' [.9] | 'a' 'b' [.1]"); }
inline Grammar marked() { return grammar_of("S -> 'a' S 'a' [.45] | 'b' S 'b' [.45] | 'c' [.1]"); }
inline Grammar dyck2() {
  return grammar_of("S -> '(' S ')' [.25] | '[' S ']' [.25] | S S [.25] | [.25]");
}

// Membership by definition, without the grammar.
inline bool is_an_bn(const Word& word) {
  const std::size_t n = word.size() / 2;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] != (i < n ? 0 : 1)) return false;
  return word.size() % 2 == 0 && n > 0;
}
inline bool is_marked(const Word& word) {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != word[word.size() - 1 - i]) return false;
    if ((word[i] == 2) != (i == word.size() / 2)) return false;
  }
  return word.size() % 2 == 1;
}
inline bool is_balanced(const Word& word) {  // symbols ( ) [ ]
  Word open;
  for (const int s : word) {
    if (s % 2 == 0) {
      open.push_back(s);
    } else {
      if (open.empty() || open.back() != s - 1) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

inline std::string problem(const auto& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}
inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

inline std::set<Word> set_of(const LabelledDataset& data) {
  return {data.words().begin(), data.words().end()};
}

inline LabelledOptions wanted(std::int64_t positives, std::int64_t negatives, int shortest,
                              int longest) {
  LabelledOptions options;
  options.positives = positives;
  options.negatives = negatives;
  options.shortest = shortest;
  options.longest = longest;
  options.seed = 1;
  return options;
}

}  // namespace pushdown::testing_support
