// The terminal symbols of a language, numbered 0 .. size-1 in a fixed order. A symbol is any
// non-empty UTF-8 text without white space, so a string of symbols can be written with spaces
// between them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/reading.h"

namespace pushdown {

// A string over an alphabet: symbol ids.
using Word = std::vector<int>;

class Alphabet {
 public:
  Alphabet() = default;
  // Throws std::invalid_argument on an empty or duplicate symbol, white space or invalid UTF-8.
  explicit Alphabet(std::vector<std::string> symbols);

  int size() const { return static_cast<int>(symbols_.size()); }
  const std::vector<std::string>& symbols() const { return symbols_; }
  const std::string& symbol(int id) const;
  std::optional<int> find(std::string_view symbol) const;
  int id(std::string_view symbol) const;  // throws on an unknown symbol, naming the nearest ones

  Word parse(std::string_view text) const;  // "( [ ] )" -> ids
  Word encode(const std::vector<std::string>& symbols) const;
  std::string text(const Word& word) const;  // ids -> "( [ ] )"

  // How texts were read as these symbols, if it is known. Equal alphabets may differ in it.
  const std::optional<Reading>& reading() const { return reading_; }
  // Throws std::invalid_argument if the symbol for unknown words is not in the alphabet.
  void set_reading(Reading reading);

  friend bool operator==(const Alphabet& a, const Alphabet& b) { return a.symbols_ == b.symbols_; }

 private:
  std::vector<std::string> symbols_;
  std::unordered_map<std::string, int> ids_;
  std::optional<Reading> reading_;
};

// Throws std::invalid_argument unless both alphabets have the same symbols in the same order, as
// the ids of symbols require. `both` names their owners: "the dataset and the grammar".
void check_same_alphabet(std::string_view where, std::string_view both, const Alphabet& a,
                         const Alphabet& b);

}  // namespace pushdown
