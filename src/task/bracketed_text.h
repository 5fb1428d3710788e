// Trees in brackets, as the Penn Treebank writes them (.mrg):
//
//   ( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *))) (. .)) )
//
// A text holds any number of trees, over as many lines as they like. Brackets without a label
// around a whole tree are left out. White space is what ASCII knows, lines end in \n or \r\n, a
// byte order mark of UTF-8 in front is left out. There are no comments.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "task/phrase_tree.h"

namespace pushdown {

struct BracketOptions {
  bool keep_empty_elements = false;   // words of part of speech -NONE-; else they go, and phrases
                                      // that hold nothing else with them
  bool keep_functions = false;        // NP-SBJ-1 and NP=2 stay as they are, else they become NP
  bool keep_escapes = false;          // -LRB- stays, else it becomes ( in words; likewise -RRB- ),
                                      // \/ / and \* *; and of whole words -LCB- {, -RCB- },
                                      // -LSB- [ and -RSB- ]
  bool skip_empty_sentences = false;  // a tree without words is left out, else refused
  bool unlabelled = false;            // ((The cat) sat): brackets without labels, bare words
};

// Every tree of the text in order. Throws std::invalid_argument "[tree.read] file:line: ..." for
// brackets that do not match (the line is that of the bracket), a word beside brackets, a bracket
// without label or content, a tree without words, text outside of brackets, bytes that are not
// UTF-8, NUL; and "[tree.read] file: ..." for a text without trees.
std::vector<PhraseTree> parse_brackets(std::string_view text, const std::string& file,
                                       const BracketOptions& options = {});

// One line, "(S (NP (DT The) (NN cat)) ...)". Phrases without label are bare brackets, words
// without part of speech are bare. Round brackets within words are escaped, and / and * behind a
// backslash, so that parse_brackets() gives the same words back.
std::string bracketed(const PhraseTree& tree);

}  // namespace pushdown
