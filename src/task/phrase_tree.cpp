#include "task/phrase_tree.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "tree";

bool has_white_space(const std::string& text) {
  return std::any_of(text.begin(), text.end(), is_white_space);
}

bool before(const Phrase& a, const Phrase& b) {
  return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
}

}  // namespace

PhraseTree::PhraseTree(std::vector<std::string> words, std::vector<std::string> tags,
                       std::vector<Phrase> phrases, bool escaped)
    : words_(std::move(words)),
      tags_(std::move(tags)),
      phrases_(std::move(phrases)),
      escaped_(escaped) {
  check(!words_.empty(), kWhere, "a tree needs at least one word");
  if (tags_.empty()) tags_.resize(words_.size());
  check(tags_.size() == words_.size(), kWhere,
        "the number of parts of speech must equal the number of words, {}, got {}", words_.size(),
        tags_.size());
  for (const auto& word : words_)
    check(!word.empty() && !has_white_space(word), kWhere,
          "a word must be a text without white space, got '{}'", word);
  for (const auto& tag : tags_)
    check(!has_white_space(tag) && tag.find_first_of("()") == tag.npos, kWhere,
          "a part of speech must be a text without white space and round brackets, got '{}'", tag);
  for (const auto& phrase : phrases_) {
    check(!has_white_space(phrase.label), kWhere,
          "a label must be a text without white space, got '{}'", phrase.label);
    check(phrase.begin >= 0 && phrase.begin < phrase.end && phrase.end <= size(), kWhere,
          "a phrase must lie in the words 1 to {}, got {} to {}", size(), phrase.begin + 1,
          phrase.end);
  }
  std::stable_sort(phrases_.begin(), phrases_.end(), before);
  std::vector<int> open;  // ends of the enclosing phrases
  for (const auto& phrase : phrases_) {
    while (!open.empty() && open.back() <= phrase.begin) open.pop_back();
    check(open.empty() || phrase.end <= open.back(), kWhere,
          "phrases must not cross, got words {} to {} and one that ends at {}", phrase.begin + 1,
          phrase.end, open.empty() ? 0 : open.back());
    open.push_back(phrase.end);
  }
}

std::vector<std::vector<PhraseTree::Daughter>> PhraseTree::daughters() const {
  std::vector<std::vector<Daughter>> lists(phrases_.size());
  std::vector<int> open;
  int next = 0;  // first word that is not in any list yet
  const auto add_words = [&](int end) {
    for (; next < end; ++next)
      if (!open.empty()) lists[open.back()].push_back({next, next + 1, -1});
  };
  const auto close_until = [&](int begin) {
    while (!open.empty() && phrases_[open.back()].end <= begin) {
      add_words(phrases_[open.back()].end);
      open.pop_back();
    }
    add_words(begin);
  };
  for (std::size_t p = 0; p < phrases_.size(); ++p) {
    close_until(phrases_[p].begin);
    if (!open.empty())
      lists[open.back()].push_back({phrases_[p].begin, phrases_[p].end, static_cast<int>(p)});
    open.push_back(static_cast<int>(p));
  }
  close_until(size());
  return lists;
}

std::vector<Span> spans(const PhraseTree& tree) {
  std::vector<Span> list;
  for (const auto& phrase : tree.phrases()) {
    const Span span{phrase.begin, phrase.end};
    // In preorder, phrases over the same words are adjacent.
    if (phrase.end - phrase.begin > 1 && (list.empty() || list.back() != span))
      list.push_back(span);
  }
  return list;
}

PhraseTree binarized(const PhraseTree& tree, Branching branching) {
  std::vector<Phrase> phrases;
  for (const auto& phrase : tree.phrases())
    if (phrase.end - phrase.begin > 1 &&
        (phrases.empty() ||
         Span{phrases.back().begin, phrases.back().end} != Span{phrase.begin, phrase.end}))
      phrases.push_back(phrase);
  const PhraseTree collapsed(tree.words(), tree.tags(), phrases);
  const auto daughters = collapsed.daughters();
  for (std::size_t p = 0; p < daughters.size(); ++p) {
    const auto& whole = collapsed.phrases()[p];
    for (std::size_t k = 1; k + 1 < daughters[p].size(); ++k)
      if (branching == Branching::right)
        phrases.push_back({daughters[p][k].begin, whole.end});
      else
        phrases.push_back({whole.begin, daughters[p][k].end});
  }
  return PhraseTree(tree.words(), tree.tags(), std::move(phrases), tree.escaped());
}

std::optional<PhraseTree> restricted(const PhraseTree& tree, const std::function<bool(int)>& keep) {
  std::vector<std::string> words, tags;
  std::vector<int> kept{0};  // number of kept words among the first i
  for (int i = 0; i < tree.size(); ++i) {
    if (keep(i)) {
      words.push_back(tree.words()[i]);
      tags.push_back(tree.tags()[i]);
    }
    kept.push_back(static_cast<int>(words.size()));
  }
  if (words.empty()) return std::nullopt;
  std::vector<Phrase> phrases;
  for (const auto& phrase : tree.phrases())
    if (kept[phrase.end] > kept[phrase.begin])
      phrases.push_back({kept[phrase.begin], kept[phrase.end], phrase.label});
  return PhraseTree(std::move(words), std::move(tags), std::move(phrases), tree.escaped());
}

const std::vector<std::string>& punctuation_tags() {
  static const std::vector<std::string> tags{",",     ".",     ":",     "``",    "''",   "\"",
                                             "-LRB-", "-RRB-", "-LCB-", "-RCB-", "PUNCT"};
  return tags;
}

}  // namespace pushdown
