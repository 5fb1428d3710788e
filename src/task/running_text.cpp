#include "task/running_text.h"

#include <cmath>

#include "base/check.h"
#include "base/utf8.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "text";
constexpr std::string_view kLoad = "text.load";
constexpr std::string_view kTitle = "# pushdown running text 1";
constexpr std::string_view kAlphabetLine = "# alphabet";

// Removes and returns the first line.
std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

}  // namespace

RunningText::RunningText(Alphabet vocabulary, Word words)
    : vocabulary_(std::move(vocabulary)), words_(std::move(words)) {
  check(!words_.empty(), kWhere, "a running text needs at least one word");
  for (std::size_t i = 0; i < words_.size(); ++i)
    check(words_[i] >= 0 && words_[i] < vocabulary_.size(), kWhere,
          "word ids are 0 to {}, got {} in place {}", vocabulary_.size() - 1, words_[i], i + 1);
  if (!vocabulary_.reading())
    vocabulary_.set_reading(
        {WordBorders::blanks, false, vocabulary_.find(kUnknownWord) ? kUnknownWord : ""});
}

std::int64_t RunningText::count(std::string_view word) const {
  return std::count(words_.begin(), words_.end(), vocabulary_.id(word));
}

std::string to_text(const RunningText& text) {
  auto result = fmt::format("{}\n{}", kTitle, kAlphabetLine);
  for (const auto& symbol : text.alphabet().symbols()) result.append(1, ' ').append(symbol);
  result += '\n';
  const int line_end = text.alphabet().find(kLineEnd).value_or(-1);
  bool open = false;
  for (const int id : text.words()) {
    if (open) result += ' ';
    result += text.alphabet().symbol(id);
    open = id != line_end;
    if (!open) result += '\n';
  }
  if (open) result += '\n';
  return result;
}

bool is_running_text(std::string_view text) { return take_line(text) == kTitle; }

RunningText parse_running_text(std::string_view text, std::string_view file) {
  const auto title = take_line(text), symbols = take_line(text);
  check(title == kTitle, kLoad, "{}:1: a running text begins with the line '{}', got '{}'", file,
        kTitle, title.substr(0, 60));
  check(symbols.starts_with(kAlphabetLine), kLoad, "{}:2: expected '{} WORD ...'", file,
        kAlphabetLine);
  try {
    const auto words_of_it = words_between_blanks(symbols.substr(kAlphabetLine.size()));
    Alphabet vocabulary({words_of_it.begin(), words_of_it.end()});
    Word words = vocabulary.parse(text);
    return RunningText(std::move(vocabulary), std::move(words));
  } catch (const std::invalid_argument& error) {
    fail(kLoad, "{}: {}", file, error.what());
  }
}

double unigram_perplexity(const RunningText& train, const RunningText& text) {
  check(train.alphabet() == text.alphabet(), "text.unigram_perplexity",
        "the two texts have different vocabularies, of {} and {} words", train.alphabet().size(),
        text.alphabet().size());
  std::vector<double> counts(train.alphabet().size(), 1.0);
  for (const int id : train.words()) ++counts[id];
  const double total = static_cast<double>(train.size() + train.alphabet().size());
  double sum = 0;
  for (const int id : text.words()) sum -= std::log(counts[id] / total);
  return std::exp(sum / static_cast<double>(text.size()));
}

TextPieces::TextPieces(RunningTextPtr text, std::int64_t streams, std::int64_t length)
    : text_(std::move(text)), length_(length) {
  check(streams >= 1, kWhere, "the number of streams must be at least 1, got {}", streams);
  check(length >= 1, kWhere, "the number of words of a piece must be at least 1, got {}", length);
  streams_ = std::min(streams, text_->size());
  shortest_ = text_->size() / streams_;
  longest_ = (text_->size() + streams_ - 1) / streams_;
}

std::int64_t TextPieces::word_count(std::int64_t piece) const {
  const auto first = piece * length_, end = std::min(first + length_, longest_);
  const auto absent =
      end == longest_ && longest_ > shortest_ ? streams_ - text_->size() % streams_ : 0;
  return streams_ * (end - first) - absent;
}

Tensor TextPieces::cut(std::int64_t piece, std::int64_t absent) const {
  check(piece >= 0 && piece < count(), kWhere, "the pieces are 0 to {}, got {}", count() - 1,
        piece);
  const auto first = piece * length_, size = std::min(length_, longest_ - first);
  Tensor cut = at::full({streams_, size}, absent, at::kLong);  // B x c
  auto* out = cut.data_ptr<std::int64_t>();
  const auto longer = text_->size() % streams_;  // number of streams with an additional word
  for (std::int64_t b = 0; b < streams_; ++b) {
    const auto start = b * shortest_ + std::min(b, longer);
    const auto end = std::min(first + size, shortest_ + (b < longer ? 1 : 0));
    std::copy(text_->words().begin() + start + first, text_->words().begin() + start + end,
              out + b * size);
  }
  return cut;
}

}  // namespace pushdown
