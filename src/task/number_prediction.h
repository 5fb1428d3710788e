// Number prediction (Linzen, Dupoux and Goldberg 2016): from the words in front of a present verb
// tell whether the verb is singular or plural. An attractor is a noun between subject and verb
// whose number is not the subject's.
//
// Examples come from the published files, "VBZ|VBP<tab>words", from the published table of
// sentences with their dependencies, and from any tree bank in CoNLL-U (number_treebank.h).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace pushdown {

struct NumberExample {
  std::string prefix;       // the words before the verb, a blank between two; at least one
  bool plural = false;      // of the verb
  int attractors = -1;      // -1: unknown
  int intervening = -1;     // nouns between subject and verb; -1: unknown
  std::string verb, other;  // as it stands, and in the other number; empty: unknown

  // All nouns between are attractors. Linzen et al. report accuracy by attractors for such alone.
  bool homogeneous() const { return attractors >= 0 && attractors == intervening; }
};

using NumberExamples = std::vector<NumberExample>;
// The form a word gets in the examples, lower case for instance; empty: that of the source.
using Fold = std::function<std::string(std::string_view)>;

// One line of the published files, "VBZ" or "VBP", a tab, words. `place` is file:line for messages.
// std::invalid_argument "[task.number_examples] file:line: ..." for another label, no tab, no
// words, bytes that are not UTF-8, NUL.
NumberExample parse_number_line(std::string_view line, const std::string& place, const Fold& fold);

// The attractors of every example of a published file by its name: 3 for numpred.test.3, in which
// all nouns between are attractors.
std::optional<int> attractors_in_name(std::string_view file_name);

// The examples of a published file. Lines end in \n or \r\n.
NumberExamples parse_number_lines(std::string_view text, const std::string& file,
                                  const Fold& fold = nullptr);
// As it is written there.
std::string number_lines(const NumberExamples& examples);

// The examples of a published table (agr_50_mostcommon_10K.tsv): a row of names, then values, with
// tabs between them; fields may be in double quotes. Words are those of the column `words`:
// 'sentence', in which rare words are parts of speech, or 'orig_sentence'; used are also verb_pos,
// verb_index (from 1), and, where they are, n_intervening and n_diff_intervening. The other form of
// a verb is is/are, has/have, does/do, or by the rules of spelling when some row has it.
// std::invalid_argument as above, and for a missing column and numbers that do not fit.
NumberExamples parse_number_table(std::string_view text, const std::string& file,
                                  const std::string& words = "sentence",
                                  const Fold& fold = nullptr);

// is/are, has/have, does/do and their short forms: the form of the other number, or an empty text.
// `lemma` tells 's and 've apart where it is known.
std::string other_number_of_auxiliary(std::string_view verb, std::string_view lemma, bool plural);
// The singular of a regular plural: walks, tries, passes.
std::string regular_singular(std::string_view plural);

// Parts with these shares of the examples, in random order; shares are divided by their sum. Of n
// examples the part k ends at round(n (s_1 + ... + s_k)).
std::vector<NumberExamples> split_examples(NumberExamples examples,
                                           const std::vector<double>& shares, Random& random);

}  // namespace pushdown
