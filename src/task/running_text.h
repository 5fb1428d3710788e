// A running text: words of a vocabulary in one long row, without beginning and end, where the end
// of a line is a word of its own. Language models read it in several streams side by side, in
// pieces, with the state carried on from piece to piece.
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
  // std::invalid_argument when there are no words or an id is outside the vocabulary.
  RunningText(Alphabet vocabulary, Word words);

  const Alphabet& alphabet() const { return vocabulary_; }
  const Word& words() const { return words_; }
  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  std::int64_t count(std::string_view word) const;  // of a word of the vocabulary

 private:
  Alphabet vocabulary_;
  Word words_;
};
using RunningTextPtr = std::shared_ptr<const RunningText>;

// The text form, in which reading the result gives the same text:
//   # pushdown running text 1
//   # alphabet <unk> <eos> the of ...
//   but the <unk> is open <eos>
// Symbols are separated by blanks and line ends, which mean nothing more; one is written behind
// every <eos>. Errors (std::invalid_argument) of parse_running_text read "[text.load] file: ...".
std::string to_text(const RunningText& text);
RunningText parse_running_text(std::string_view text, std::string_view file);
// Whether a file with these first bytes has this form.
bool is_running_text(std::string_view text);

// exp(- sum_t log p(w_t) / n) of the text's n words under the frequencies of words in `train`, one
// added to each: p(w) = (count(w) + 1) / (|train| + V). The vocabularies must be the same.
double unigram_perplexity(const RunningText& train, const RunningText& text);

// A text of T words cut into B = min(streams, T) streams of ceil(T / B) words, those behind the
// first (T mod B) of them of one less: stream b holds the words behind those of stream b - 1. The
// streams are cut into pieces of `length` words, the last one of what is left. Every word is in
// exactly one piece.
class TextPieces {
 public:
  static constexpr std::int64_t kAbsent = -100;

  // std::invalid_argument unless both numbers are at least 1.
  TextPieces(RunningTextPtr text, std::int64_t streams, std::int64_t length);

  std::int64_t streams() const { return streams_; }
  std::int64_t count() const { return (longest_ + length_ - 1) / length_; }
  // The words of piece 0 .. count()-1, B x c (int64), on the CPU. In the last column of the last
  // piece the shorter streams have no word; there stands the id 0.
  Tensor words(std::int64_t piece) const { return cut(piece, 0); }
  // The same with kAbsent there: what is to be predicted.
  Tensor targets(std::int64_t piece) const { return cut(piece, kAbsent); }
  std::int64_t word_count(std::int64_t piece) const;

 private:
  Tensor cut(std::int64_t piece, std::int64_t absent) const;

  RunningTextPtr text_;
  std::int64_t streams_, length_, shortest_, longest_;
};

}  // namespace pushdown
