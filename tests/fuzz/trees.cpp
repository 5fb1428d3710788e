#include <algorithm>

#include "fuzz/fuzz.h"
#include "task/bracketed_text.h"

namespace pushdown {

FUZZ_TARGET(trees) {
  if (bytes.empty()) return;
  const auto flags = static_cast<unsigned char>(bytes.front());
  BracketOptions options;
  options.keep_empty_elements = flags & 1;
  options.keep_functions = flags & 2;
  options.skip_empty_sentences = flags & 4;
  options.unlabelled = flags & 8;
  options.keep_escapes = flags & 16;
  fuzz::refused([&] {
    for (const PhraseTree& tree : parse_brackets(bytes.substr(1), "file", options)) {
      for (const auto branching : {Branching::right, Branching::left}) {
        const PhraseTree binary = binarized(tree, branching);
        fuzz::require(spans(binary).size() <= tree.words().size(), "too many spans");
        for (const auto& daughters : binary.daughters())
          fuzz::require(daughters.size() <= 2, "more than two daughters");
      }
      restricted(tree, [](int word) { return word % 2 == 0; });
      if (options.keep_escapes) continue;
      // Functions of labels have been cut off, so remaining ones belong to the label.
      BracketOptions again;
      again.keep_functions = again.keep_empty_elements = true;
      // A tree with only words looks like one with labels.
      if (std::any_of(tree.tags().begin(), tree.tags().end(),
                      [](const auto& tag) { return tag.empty(); }))
        continue;
      const auto back = parse_brackets("(" + bracketed(tree) + ")", "file", again);
      fuzz::require(
          back.size() == 1 && back[0].words() == tree.words() && back[0].tags() == tree.tags(),
          "read back differently: " + bracketed(tree));
    }
  });
}

}  // namespace pushdown
