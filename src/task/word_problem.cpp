// The word problem of a finite group: the source is a string of elements, and symbol t of the
// target is the product of the first t of them (Barrington 1989; as a task for networks: Liu et al.
// 2023, Merrill, Petty and Sabharwal 2024, Grazzi et al. 2025). Keeping track of products in a
// group that is not solvable, such as A5 and S5, is complete for NC1.
//
// Groups: s2 .. s6, the permutations of so many numbers; a3 .. a6, the even ones among them; z2 ..
// z1000, the numbers below n with addition. A permutation is written as the places to which it
// takes 1, 2, 3, ..: 231 takes 1 to 2. Products apply the permutations from left to right.
#include <algorithm>
#include <map>
#include <numeric>

#include "base/check.h"
#include "task/transduction.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.word_problem";

using Permutation = std::vector<int>;

Permutation cycle_of(int points, int first, int count) {
  Permutation cycle(points);
  std::iota(cycle.begin(), cycle.end(), 0);
  for (int i = 0; i < count; ++i) cycle[first + i] = first + (i + 1) % count;
  return cycle;
}

// A permutation group, or the cyclic group with one permutation, a cycle, for each number.
class Group {
 public:
  Group(const std::string& name, const std::string& letters) {
    const std::string number = name.size() > 1 ? name.substr(1) : "";
    const bool whole = !number.empty() && number.size() <= 4 && number.front() != '0' &&
                       number.find_first_not_of("0123456789") == std::string::npos;
    const int n = whole ? std::stoi(number) : 0;
    const char kind = name.empty() ? ' ' : name.front();
    const bool symmetric = kind == 's' && n >= 2 && n <= 6;
    check(symmetric || (kind == 'a' && n >= 3 && n <= 6) || (kind == 'z' && n >= 2 && n <= 1000),
          kWhere, "option 'group' must be s2 to s6, a3 to a6 or z2 to z1000, got '{}'", name);
    check(letters != "swaps" || symmetric, kWhere,
          "letters 'swaps' are transpositions of a symmetric group, s2 to s6, got the group '{}'",
          name);
    if (kind == 'z') {
      for (int i = 0; i < n; ++i) names_.push_back(std::to_string(i));
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) products_.push_back((i + j) % n);
      add_letters(letters, {1});
      return;
    }
    std::vector<Permutation> elements;
    Permutation next = cycle_of(n, 0, 1);
    do {
      if (symmetric || is_even(next)) elements.push_back(next);
    } while (std::next_permutation(next.begin(), next.end()));
    std::map<Permutation, int> ids;
    for (std::size_t i = 0; i < elements.size(); ++i) ids[elements[i]] = static_cast<int>(i);
    for (const Permutation& one : elements) {
      std::string text;
      for (const int place : one) text += std::to_string(place + 1);
      names_.push_back(text);
      for (const Permutation& other : elements) {
        Permutation product(one);
        for (int& place : product) place = other[place];
        products_.push_back(ids.at(product));
      }
    }
    std::vector<int> chosen;
    if (letters == "swaps") {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        int moved = 0;
        for (int k = 0; k < n; ++k) moved += elements[i][k] != k;
        if (moved == 2) chosen.push_back(static_cast<int>(i));
      }
    } else {
      // (1 2) and (1 .. n); or (1 2 3) and the longest cycle that is even: (1 .. n) or (2 .. n).
      chosen.push_back(ids.at(cycle_of(n, 0, symmetric ? 2 : 3)));
      const int shift = symmetric || n % 2 == 1 ? 0 : 1;
      const int longest = ids.at(cycle_of(n, shift, n - shift));
      if (longest != chosen.front()) chosen.push_back(longest);
    }
    add_letters(letters, chosen);
  }

  Alphabet elements() const { return Alphabet(names_); }
  Alphabet letters() const {
    std::vector<std::string> symbols;
    for (const int letter : letters_) symbols.push_back(names_[letter]);
    return Alphabet(std::move(symbols));
  }
  int element(int letter) const { return letters_[letter]; }
  int product(int a, int b) const { return products_[a * names_.size() + b]; }

 private:
  static bool is_even(const Permutation& one) {
    int inversions = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) inversions += one[j] > one[i];
    return inversions % 2 == 0;
  }
  // The identity, element 0, is always a letter.
  void add_letters(const std::string& letters, const std::vector<int>& chosen) {
    letters_.resize(letters == "all" ? names_.size() : 1);
    std::iota(letters_.begin(), letters_.end(), 0);
    if (letters != "all") letters_.insert(letters_.end(), chosen.begin(), chosen.end());
  }

  std::vector<std::string> names_;
  std::vector<int> products_;  // of a and b at a * size + b
  std::vector<int> letters_;   // by symbol of the source: its element
};

PairGenerator generator_of(const Json& options) {
  const Group group(options["group"], options["letters"]);
  const Alphabet letters = group.letters();
  const auto draw = [group, size = letters.size(), last = options["answers"] == "last"](
                        int length, Random& random) {
    Pair pair;
    int product = 0;
    for (int t = 0; t < length; ++t) {
      pair.source.push_back(static_cast<int>(random.below(size)));
      product = group.product(product, group.element(pair.source.back()));
      if (!last || t + 1 == length) pair.target.push_back(product);
    }
    return pair;
  };
  return {letters, group.elements(), draw};
}

}  // namespace

PairKind word_problem_pairs() {
  return generated_pairs(
      "word_problem", "the product of a group's elements after each of them: 213 231 for 213 321",
      {text_option("group", "s3", "s2 to s6, a3 to a6, or z2 to z1000"),
       text_option("letters", "all",
                   "the elements that occur in sources: all; the identity and one or two "
                   "generators; or the identity and the transpositions",
                   {"all", "generators", "swaps"}),
       text_option("answers", "each", "the product after each symbol, or the last product",
                   {"each", "last"}),
       list_option("lengths", Json::array({1, 40}),
                   "{lowest, highest} length of the source, drawn uniformly"),
       one_length_option()},
      generator_of);
}

}  // namespace pushdown
