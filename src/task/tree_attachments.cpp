#include "task/tree_attachments.h"

#include "grammar/sampler.h"

namespace pushdown {

Attachments attachments_of(const PhraseTree& tree, Branching branching) {
  return attachments_of(tree.size(), spans(binarized(tree, branching)));
}

PhraseTree tree_of(const std::vector<std::string>& words, const Attachments& attachments) {
  std::vector<Phrase> phrases;
  const IncrementalParse parse = parse_of(attachments);
  for (const auto& [begin, end] : parse.constituents()) phrases.push_back({begin, end});
  return PhraseTree(words, {}, std::move(phrases));
}

std::pair<Word, Attachments> attached_yield(const Grammar& grammar,
                                            const std::vector<int>& derivation,
                                            Branching branching) {
  Word word = yield_of(grammar, derivation);
  if (word.empty()) return {word, {}};
  // An entry of the stack is a symbol, or the end of the phrase that began at a word.
  struct Entry {
    Symbol symbol;
    int begin = -1;
  };
  std::vector<Phrase> phrases;
  std::vector<Entry> stack{{{false, grammar.start()}}};
  auto rule = derivation.begin();
  int words = 0;
  while (!stack.empty()) {
    const Entry entry = stack.back();
    stack.pop_back();
    if (entry.begin >= 0) {
      if (words > entry.begin) phrases.push_back({entry.begin, words});
    } else if (entry.symbol.terminal) {
      ++words;
    } else {
      stack.push_back({{}, words});
      const auto& right = grammar.rules()[*rule++].right;
      for (auto symbol = right.rbegin(); symbol != right.rend(); ++symbol)
        stack.push_back({*symbol});
    }
  }
  const std::vector<std::string> names(word.size(), "w");
  return {word, attachments_of(PhraseTree(names, {}, std::move(phrases)), branching)};
}

}  // namespace pushdown
