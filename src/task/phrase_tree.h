// Phrase structure trees over a sentence: words, their parts of speech, and phrases, each an
// interval of words with a label. Labels and parts of speech may be unknown (empty), as in trees
// that are induced without supervision. The tree is kept flat, as the list of its phrases in
// preorder, so that trees of any depth cost no recursion.
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
  // Phrases in any order; of two with the same words the one named first is the outer one.
  // std::invalid_argument without words, when a word is empty or holds white space, when a label or
  // part of speech holds white space or round brackets, when `tags` is neither empty nor one for
  // each word, when a phrase is empty or outside of the sentence, and when two phrases cross.
  PhraseTree(std::vector<std::string> words, std::vector<std::string> tags,
             std::vector<Phrase> phrases);

  int size() const { return static_cast<int>(words_.size()); }  // words
  const std::vector<std::string>& words() const { return words_; }
  const std::vector<std::string>& tags() const { return tags_; }  // as many; empty texts: unknown
  // Outer phrases before inner ones, left ones before right ones.
  const std::vector<Phrase>& phrases() const { return phrases_; }

  // The daughters of every phrase from left to right: phrases, by number, or single words.
  struct Daughter {
    int begin, end;
    int phrase;  // -1: the word `begin`
  };
  std::vector<std::vector<Daughter>> daughters() const;

 private:
  std::vector<std::string> words_, tags_;
  std::vector<Phrase> phrases_;
};

// Every span of more than one word that is a phrase, once, in the order of the phrases.
std::vector<Span> spans(const PhraseTree& tree);

enum class Branching { right, left };

// At most two daughters a phrase. First every chain of phrases over the same words becomes its
// outermost phrase, and phrases of one word go. Then a phrase A of daughters B C D becomes
// (A B (C D)) with Branching::right, (A (B C) D) with Branching::left; the new phrases have no
// label.
PhraseTree binarized(const PhraseTree& tree, Branching branching);

// The tree over the words that `keep` is true of, by their number; phrases that lose all their
// words go with them. Nothing when no word is kept.
std::optional<PhraseTree> restricted(const PhraseTree& tree, const std::function<bool(int)>& keep);

// Parts of speech of punctuation in the Penn Treebank (quotes and brackets among them, currency and
// number signs not), and that of Universal Dependencies.
const std::vector<std::string>& punctuation_tags();

}  // namespace pushdown
