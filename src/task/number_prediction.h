// Number prediction (Linzen, Dupoux and Goldberg 2016): from the words before a present-tense verb,
// decide whether the verb is singular or plural. An attractor is a noun between subject and verb
// whose number differs from the subject's.
//
// Examples come from the published files, "VBZ|VBP<tab>words", from the published table of
// sentences with their dependencies, and from any treebank in CoNLL-U (number_treebank.h).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace pushdown {

struct NumberExample {
  std::string prefix;       // the words before the verb, separated by one blank; at least one word
  bool plural = false;      // of the verb
  int attractors = -1;      // -1: unknown
  int intervening = -1;     // nouns between subject and verb; -1: unknown
  std::string verb, other;  // as written, and in the other number; empty: unknown

  // Returns whether all intervening nouns are attractors. Linzen et al. report accuracy by
  // attractors for only such examples.
  bool homogeneous() const { return attractors >= 0 && attractors == intervening; }
  bool both_forms() const { return !verb.empty() && !other.empty(); }
};

using NumberExamples = std::vector<NumberExample>;
// Converts a word to its form in the examples, for instance to lower case; empty: words are kept.
using Fold = std::function<std::string(std::string_view)>;

// Parses one line of the published files: "VBZ" or "VBP", a tab, words. `place` is file:line for
// messages. Throws std::invalid_argument "[task.number_examples] file:line: ..." for another label,
// no tab, no words, bytes that are not UTF-8, or NUL.
NumberExample parse_number_line(std::string_view line, const std::string& place, const Fold& fold);

// Returns the number of attractors of every example of a published file according to its name: 3
// for numpred.test.3, in which all intervening nouns are attractors.
std::optional<int> attractors_in_name(std::string_view file_name);

// Parses the examples of a published file. Lines end in \n or \r\n.
NumberExamples parse_number_lines(std::string_view text, const std::string& file,
                                  const Fold& fold = nullptr);
// Returns the examples in the format of the published files.
std::string number_lines(const NumberExamples& examples);

// Parses the examples of a published table (agr_50_mostcommon_10K.tsv): a row of names, then rows
// of values, separated by tabs; fields may be in double quotes. Words come from the column `words`:
// 'sentence', in which rare words are replaced by parts of speech, or 'orig_sentence'. Also uses
// verb_pos, verb_index (from 1) and, if present, n_intervening and n_diff_intervening. The other
// form of a verb is is/are, has/have, does/do, or follows the spelling rules if the resulting form
// occurs in some row. Throws std::invalid_argument as above, and for a missing column and invalid
// numbers.
NumberExamples parse_number_table(std::string_view text, const std::string& file,
                                  const std::string& words = "sentence",
                                  const Fold& fold = nullptr);

// Returns the format of files with this name: 'table' (.tsv), 'conllu' (.conllu, and folders) or
// 'lines', the published files.
std::string number_format(const std::string& path);

// Properties that examples must have; those without a value do not matter.
struct NumberFilter {
  std::optional<int> attractors;
  std::optional<bool> homogeneous, both_forms, plural;
};
NumberExamples examples_where(const NumberExamples& examples, const NumberFilter& filter);

struct NumberCounts {
  struct Group {
    std::int64_t examples = 0, homogeneous = 0;
  };
  std::int64_t singular = 0, plural = 0, both_forms = 0;
  std::map<int, Group> by_attractors;  // of examples whose attractors are known
};
NumberCounts count_examples(const NumberExamples& examples);

// Returns the form of the other number of is/are, has/have, does/do and their short forms, or an
// empty text. `lemma`, if known, distinguishes the meanings of 's and 've.
std::string other_number_of_auxiliary(std::string_view verb, std::string_view lemma, bool plural);
// Returns the singular of a regular plural: walks, tries, passes.
std::string regular_singular(std::string_view plural);

// Splits the examples, in random order, into parts with these shares, which are divided by their
// sum. Of n examples, part k ends at round(n (s_1 + ... + s_k)).
std::vector<NumberExamples> split_examples(NumberExamples examples,
                                           const std::vector<double>& shares, Random& random);

}  // namespace pushdown
