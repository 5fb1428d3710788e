// The borders between the words, sentences and characters of a UTF-8 text, by the rules of the
// Unicode standard (UAX #29) without its tailoring for languages. The pieces between the borders
// are the whole text: white space and punctuation are pieces, too. Scripts without white space
// between words have no dictionary here: a word of Chinese, Hiragana or Thai is one character.
#pragma once
#include <functional>
#include <string_view>

namespace pushdown {

using VisitPiece = std::function<void(std::string_view)>;

void split_words(std::string_view text, const VisitPiece& visit);
void split_sentences(std::string_view text, const VisitPiece& visit);
void split_characters(std::string_view text, const VisitPiece& visit);  // grapheme clusters

}  // namespace pushdown
