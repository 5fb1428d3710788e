// A running text: one long sequence of words of a vocabulary, in which the end of a line is a word.
// Language models read it in several parallel streams, cut into pieces; the state is carried over
// from piece to piece.
//
// Dimension letters: B streams, c words of a piece.
#pragma once
#include <cstdint>
#include <memory>

#include "grammar/alphabet.h"
#include "tensor/torch.h"

namespace pushdown {

inline constexpr const char* kUnknownWord = "<unk>";
inline constexpr const char* kLineEnd = "<eos>";

class RunningText {
 public:
  // Throws std::invalid_argument if there are no words or an id is outside the vocabulary.
  RunningText(Alphabet vocabulary, Word words);

  const Alphabet& alphabet() const { return vocabulary_; }
  const Word& words() const { return words_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t count(std::string_view word) const;  // occurrences of a word of the vocabulary

 private:
  Alphabet vocabulary_;
  Word words_;
};
using RunningTextPtr = std::shared_ptr<const RunningText>;

// The text form, which parses to the same text:
//   # pushdown running text 1
//   # alphabet <unk> <eos> the of ...
//   but the <unk> is open <eos>
// Symbols are separated by blanks and line ends, which have no other meaning; a line end follows
// every <eos>. Errors (std::invalid_argument) of parse_running_text read "[text.load] file: ...".
std::string to_text(const RunningText& text);
RunningText parse_running_text(std::string_view text, std::string_view file);
// Returns whether a file that starts with these bytes has this form.
bool is_running_text(std::string_view text);

// Returns exp(- sum_t log p(w_t) / n) over the n words of `text`, with the word frequencies of
// `train` smoothed by one: p(w) = (count(w) + 1) / (|train| + V). The vocabularies must be the
// same.
double unigram_perplexity(const RunningText& train, const RunningText& text);

// A text of T words cut into B = min(streams, T) contiguous streams. The first (T mod B) streams
// have ceil(T / B) words, the others one word less; if T mod B = 0, all have T / B. Stream b
// continues the text after stream b - 1. The streams are cut into pieces of `length` words; the
// last piece takes the rest. Every word is in exactly one piece.
class TextPieces {
 public:
  static constexpr std::int64_t kAbsent = -100;

  // Throws std::invalid_argument unless both numbers are at least 1.
  TextPieces(RunningTextPtr text, std::int64_t streams, std::int64_t length);

  std::int64_t streams() const { return streams_; }
  std::int64_t count() const { return (longest_ + length_ - 1) / length_; }
  // Returns the words of piece 0 .. count()-1, B x c (int64), on the CPU. In the last column of the
  // last piece, the shorter streams have no word and contain the id 0.
  Tensor words(std::int64_t piece) const { return cut(piece, 0); }
  // Returns the prediction targets: the same words, with kAbsent in these places.
  Tensor targets(std::int64_t piece) const { return cut(piece, kAbsent); }
  std::int64_t word_count(std::int64_t piece) const;

 private:
  Tensor cut(std::int64_t piece, std::int64_t absent) const;

  RunningTextPtr text_;
  std::int64_t streams_, length_, shortest_, longest_;
};

}  // namespace pushdown
