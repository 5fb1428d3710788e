// Unsupervised binary trees over sentences: from the syntactic distances between words, as in
// Merrill, Khazan, Amsel, Hao, Mendelsohn and Frank (2019), Algorithm 1, which is that of Shen,
// Lin, Huang and Courville (2018); and the baseline trees with which scores are compared.
//
//   MakeTree(X, d):  X itself when it has at most one word; else, i = argmax d, the first maximum,
//                    l = MakeTree(X[:i-1]), r = MakeTree(X[i+1:]):
//                    Tree[l, Tree[X[i], r]], without l or r where these are empty.
//
// d_t is the distance between word t and the previous word. Equal distances give right branching.
// All trees are binary, without labels and parts of speech; a tree of one word has no phrase.
#pragma once
#include <string>
#include <vector>

#include "base/random.h"
#include "task/phrase_tree.h"

namespace pushdown {

// The neighbour to which a word's number is the distance. The push strength when a word is read
// (u_t = 1) belongs to the boundary before it; the pop strength (d_t = 1) to the boundary after it.
enum class DistanceTo { previous, next };

// Takes one distance for each word. With DistanceTo::next, distances are shifted by one word, the
// last one is not used, and no split is made before the first word. Larger numbers mean greater
// distance. O(n^2) in the worst case. Throws std::invalid_argument for a wrong number of distances,
// and for NaN.
PhraseTree tree_from_distances(const std::vector<std::string>& words,
                               const std::vector<double>& distances, DistanceTo to);

PhraseTree right_branching(const std::vector<std::string>& words);
PhraseTree left_branching(const std::vector<std::string>& words);

enum class Balance {
  halves,      // half of the words each; of an odd number, the left one has one more
  full_right,  // right: the largest power of two that leaves a word (Htut et al. 2018)
};
PhraseTree balanced(const std::vector<std::string>& words, Balance balance = Balance::halves);

// Draws a uniform split point, then does the same in both parts. Merging two uniform neighbours
// until one part is left, as Htut et al. 2018 do, has the same distribution: of n - 1 boundaries in
// random order, the last one is the split point.
PhraseTree random_tree(const std::vector<std::string>& words, Random& random);

}  // namespace pushdown
