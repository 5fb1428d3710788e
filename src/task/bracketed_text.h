// Trees in brackets, as in the Penn Treebank (.mrg):
//
//   ( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *))) (. .)) )
//
// A text may contain any number of trees, each over any number of lines. Unlabelled brackets around
// a whole tree are removed. White space is ASCII white space, lines end in \n or \r\n, and a UTF-8
// byte order mark at the start is skipped. There are no comments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "task/phrase_tree.h"

namespace pushdown {

struct BracketOptions {
  bool keep_empty_elements = false;   // words of part of speech -NONE-; otherwise they are removed,
                                      // with phrases that become empty
  bool keep_functions = false;        // NP-SBJ-1 and NP=2 are kept, otherwise they become NP
  bool keep_escapes = false;          // -LRB- is kept, otherwise it becomes ( in words; likewise
                                      // -RRB- ), \/ / and \* *; and of whole words -LCB- {, -RCB-
                                      // }, -LSB- [ and -RSB- ]
  bool skip_empty_sentences = false;  // a tree without words is skipped, otherwise an error
  bool unlabelled = false;            // ((The cat) sat): brackets without labels, bare words
};

// Returns every tree of the text in order. Throws std::invalid_argument "[tree.read] file:line:
// ..." for unmatched brackets (with the line of the bracket), a word next to brackets, a bracket
// without label or content, a tree without words, text outside brackets, bytes that are not UTF-8,
// and NUL. Throws "[tree.read] file: ..." for a text without trees.
std::vector<PhraseTree> parse_brackets(std::string_view text, const std::string& file,
                                       const BracketOptions& options = {});

// Returns the tree in one line, "(S (NP (DT The) (NN cat)) ...)". Phrases without a label are bare
// brackets, words without a part of speech are bare words. Round brackets in words are escaped, as
// are / and * after a backslash, unless the words of the tree are escaped. So parse_brackets() with
// the same options returns the same words. Round brackets in labels are escaped, too; reading does
// not decode them.
std::string bracketed(const PhraseTree& tree);

}  // namespace pushdown
