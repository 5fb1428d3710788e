#include "task/tokenizer.h"

#include <unicode/ubrk.h>
#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>
#include <unicode/utf8.h>

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.tokenizer";

void check_icu(UErrorCode status) {
  if (U_FAILURE(status)) fail_environment(kWhere, "ICU: {}", u_errorName(status));
}

// Returns whether the text is only white space and control characters.
bool is_blank(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(text.size());) {
    UChar32 c = 0;
    U8_NEXT(bytes, i, static_cast<std::int32_t>(text.size()), c);
    if (!u_isUWhiteSpace(c) && !u_iscntrl(c)) return false;
  }
  return true;
}

}  // namespace

// The pieces of a UTF-8 text between the borders that an ICU iterator finds.
class Borders {
 public:
  explicit Borders(UBreakIteratorType type) {
    UErrorCode status = U_ZERO_ERROR;
    iterator_.reset(ubrk_open(type, "", nullptr, 0, &status));
    check_icu(status);
  }

  void pieces(std::string_view text, const std::function<void(std::string_view)>& visit) {
    UErrorCode status = U_ZERO_ERROR;
    UText opened = UTEXT_INITIALIZER;
    utext_openUTF8(&opened, text.data(), static_cast<std::int64_t>(text.size()), &status);
    ubrk_setUText(iterator_.get(), &opened, &status);
    if (U_SUCCESS(status)) {
      auto begin = ubrk_first(iterator_.get());
      for (auto end = ubrk_next(iterator_.get()); end != UBRK_DONE;
           begin = end, end = ubrk_next(iterator_.get()))
        visit(text.substr(begin, end - begin));
    }
    utext_close(&opened);
    check_icu(status);
  }

 private:
  struct Close {
    void operator()(UBreakIterator* iterator) const { ubrk_close(iterator); }
  };
  std::unique_ptr<UBreakIterator, Close> iterator_;
};

struct Tokenizer::Breaks {
  std::unique_ptr<Borders> words, sentences;
  UCaseMap* case_map = nullptr;

  ~Breaks() {
    if (case_map != nullptr) ucasemap_close(case_map);
  }
};

Tokenizer::Tokenizer(const TokenizerOptions& options)
    : options_(options), breaks_(std::make_unique<Breaks>()) {
  if (options.words != WordBorders::blanks)
    breaks_->words = std::make_unique<Borders>(
        options.words == WordBorders::unicode ? UBRK_WORD : UBRK_CHARACTER);
  if (options.sentences == SentenceBorders::unicode)
    breaks_->sentences = std::make_unique<Borders>(UBRK_SENTENCE);
  if (!options.lower) return;
  UErrorCode status = U_ZERO_ERROR;
  breaks_->case_map = ucasemap_open("", 0, &status);
  check_icu(status);
}

Tokenizer::~Tokenizer() = default;

std::string Tokenizer::folded(std::string_view word) const {
  std::string result(word);
  if (breaks_->case_map == nullptr) return result;
  const auto size = static_cast<std::int32_t>(word.size());
  UErrorCode status = U_ZERO_ERROR;
  auto length =
      ucasemap_utf8ToLower(breaks_->case_map, result.data(), size, word.data(), size, &status);
  if (status == U_BUFFER_OVERFLOW_ERROR) {
    result.resize(length);
    status = U_ZERO_ERROR;
    length =
        ucasemap_utf8ToLower(breaks_->case_map, result.data(), length, word.data(), size, &status);
  }
  check_icu(status);
  result.resize(length);
  return result;
}

void Tokenizer::split(std::string_view line, const std::function<void(SentenceWords&)>& visit) {
  SentenceWords words;
  const auto take = [&](std::string_view sentence) {
    words.clear();
    const auto add = [&](std::string_view word) { words.push_back(folded(word)); };
    if (breaks_->words != nullptr)
      breaks_->words->pieces(sentence, [&](std::string_view piece) {
        if (!is_blank(piece)) add(piece);
      });
    else
      for (const auto word : words_between_blanks(sentence)) add(word);
  };
  if (breaks_->sentences == nullptr || is_blank(line)) {
    take(line);
    return visit(words);
  }
  breaks_->sentences->pieces(line, [&](std::string_view sentence) {
    take(sentence);
    if (!words.empty()) visit(words);
  });
}

}  // namespace pushdown
