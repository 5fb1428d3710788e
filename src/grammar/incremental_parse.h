// A binary tree as it is built word by word (Murty, Sharma, Andreas and Manning, "Pushdown Layers",
// EMNLP 2023). The constituents of the words so far lie on a stack. A new word attaches to a word
// j, the last one of a constituent on the stack: the word joins the constituent on top, the result
// the one below, and so on, until the constituent that ended in j is part of it,
//     ... (c_j) (c_2) (c_1)  +  w   ->   ... (c_j (c_2 (c_1 w))).
// A word that attaches to itself is a constituent of its own. Every binary tree, and every sequence
// of binary trees, has exactly one list of attachments. The depth of a word is the number of
// constituents that it has become part of; the paper calls the depths of all words the stack tape.
// Words count from 0, in messages from 1.
#pragma once
#include <utility>
#include <vector>

namespace pushdown {

// For each word the word that it attaches to.
using Attachments = std::vector<int>;

class IncrementalParse {
 public:
  int size() const { return static_cast<int>(depths_.size()); }  // words so far
  // Adds a word. Throws std::invalid_argument if it cannot attach there.
  void add(int attachment);
  // Returns what the next word may attach to, ascending: the last word of every constituent from
  // the bottom of the stack to its top, then the word itself.
  std::vector<int> choices() const;
  // Returns the attachment that makes the next word part of this number of constituents. Throws
  // std::invalid_argument if the stack has fewer.
  int attachment_of(int joined) const;
  const std::vector<int>& depths() const { return depths_; }  // of the words so far
  // Returns the constituents of more than one word, the words begin .. end-1, in the order in which
  // they were completed.
  const std::vector<std::pair<int, int>>& constituents() const { return constituents_; }

 private:
  std::vector<int> begins_;  // of the constituents on the stack
  std::vector<int> depths_;
  std::vector<std::pair<int, int>> constituents_;
};

// Returns the parse after all words. Throws std::invalid_argument as add() does.
IncrementalParse parse_of(const Attachments& attachments);
// Returns the attachments of the trees over `words` words that have these constituents of more than
// one word, which may be in any order. Throws std::invalid_argument unless the trees are binary.
Attachments attachments_of(int words, const std::vector<std::pair<int, int>>& constituents);

}  // namespace pushdown
