// Phrase structure trees over a sentence: words, their parts of speech, and phrases, each an
// interval of words with a label. Labels and parts of speech may be unknown (empty), as in trees
// that are induced without supervision. The tree is stored as a flat list of its phrases in
// preorder, so deep trees need no recursion.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pushdown {

// The words begin .. end-1, counted from 0.
using Span = std::pair<int, int>;

struct Phrase {
  int begin = 0, end = 0;
  std::string label = {};  // empty: none
};

class PhraseTree {
 public:
  // Phrases may be in any order; of two with the same words, the first is the outer one. Throws
  // std::invalid_argument if there are no words, a word is empty or contains white space, a label
  // or part of speech contains white space, a part of speech contains round brackets, `tags` is
  // neither empty nor one per word, a phrase is empty or outside the sentence, or two phrases
  // cross. `escaped`: the words are as a treebank writes them, -LRB- or 1\/2.
  PhraseTree(std::vector<std::string> words, std::vector<std::string> tags,
             std::vector<Phrase> phrases, bool escaped = false);

  int size() const { return static_cast<int>(words_.size()); }  // words
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& tags() const { return tags_; }  // one per word; empty: unknown
  bool escaped() const { return escaped_; }
  // Outer phrases before inner ones, left ones before right ones.
  const std::vector<Phrase>& phrases() const { return phrases_; }

  // The daughters of every phrase from left to right: phrases, by index, or single words.
  struct Daughter {
    int begin, end;
    int phrase;  // -1: the word `begin`
  };
  std::vector<std::vector<Daughter>> daughters() const;

 private:
  std::vector<std::string> words_, tags_;
  std::vector<Phrase> phrases_;
  bool escaped_;
};

// Returns the distinct spans of more than one word that are phrases, in the order of the phrases.
std::vector<Span> spans(const PhraseTree& tree);

enum class Branching { right, left };

// Returns a tree with at most two daughters per phrase. First, every chain of phrases over the same
// words is reduced to its outermost phrase, and phrases of one word are removed. Then a phrase A of
// daughters B C D becomes (A B (C D)) with Branching::right, (A (B C) D) with Branching::left; the
// new phrases have no label.
PhraseTree binarized(const PhraseTree& tree, Branching branching);

// Returns the tree over the words, given by index, for which `keep` is true. Phrases without any
// kept word are removed. Returns nothing if no word is kept.
std::optional<PhraseTree> restricted(const PhraseTree& tree, const std::function<bool(int)>& keep);

// Returns the parts of speech of punctuation in the Penn Treebank (including quotes and brackets,
// but not currency and number signs) and in Universal Dependencies.
const std::vector<std::string>& punctuation_tags();

}  // namespace pushdown
