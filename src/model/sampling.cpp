#include "model/sampling.h"

#include <cmath>

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

// Strings that are read together. More of them would not be faster, and the memory of a
// nondeterministic stack takes much room for each.
constexpr std::int64_t kTogether = 256;

// Symbols of all strings, which take four bytes each.
void check_symbols(double count) {
  constexpr double kMost = 1e9;
  check(count <= kMost, "model.sample",
        "the strings have more than 10^9 symbols in all: draw fewer at a time, with other seeds");
}

void check_temperature(const char* where, double temperature) {
  check(temperature > 0 && std::isfinite(temperature), where,
        "the temperature must be a number above 0, got {}", temperature);
}

// B x c
Tensor ids_of(const std::vector<Word>& words, std::size_t first = 0) {
  const auto length = words[0].size() - first;
  Tensor ids = at::empty({std::ssize(words), static_cast<std::int64_t>(length)}, at::kLong);
  auto* id = ids.data_ptr<std::int64_t>();
  for (const Word& word : words)
    for (std::size_t t = first; t < word.size(); ++t) *id++ = word[t];
  return ids;
}

// logits : B x V -> B x V (float64), on the CPU
Tensor tempered(const Tensor& logits, double temperature) {
  return (logits.detach().to(at::kCPU, at::kDouble) / temperature).softmax(1).contiguous();
}

std::int64_t drawn_column(const double* shares, std::int64_t count, double point) {
  double sum = 0;
  for (std::int64_t column = 0; column < count; ++column) {
    sum += shares[column];
    if (point < sum) return column;
  }
  // The sum can end below 1.
  while (count > 1 && shares[count - 1] == 0) --count;
  return count - 1;
}

// The strings of one batch that have not ended, all of the same length.
class Batch {
 public:
  Batch(const LanguageModel& model, const SampleRequest& request,
        std::vector<SampledString*> strings, std::vector<Random> randoms)
      : model_(model),
        request_(request),
        strings_(std::move(strings)),
        randoms_(std::move(randoms)),
        words_(strings_.size(), request.prefix),
        open_(strings_.size()) {
    begin();
  }

  void draw_all() {
    const auto longest = request_.length.value_or(request_.longest);
    const StopCheck stop;
    for (auto length = std::ssize(request_.prefix); open_ > 0; ++length) {
      stop();
      if (length == longest && request_.length) break;
      draw();
      // The end of a string of the greatest length is still drawn.
      if (length == longest) {
        for (Word& word : words_) word.resize(std::min<std::size_t>(word.size(), longest));
        break;
      }
      if (open_ > 0) read();
    }
    for (std::size_t i = 0; i < strings_.size(); ++i)
      if (strings_[i] != nullptr)
        *strings_[i] = {std::move(words_[i]), request_.length.has_value()};
  }

 private:
  void begin() {
    state_ = model_.begin(std::ssize(words_), request_.length.value_or(0));
    if (!words_[0].empty()) state_ = model_.read(ids_of(words_), *state_).second;
  }
  void draw() {
    auto [logits, next] = model_.next(*state_);
    state_ = std::move(next);
    const auto symbols = static_cast<std::int64_t>(model_.alphabet().size());
    if (request_.length) logits = logits.narrow(1, 0, symbols);
    const Tensor shares = tempered(logits, request_.temperature);
    const auto columns = shares.size(1);
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      if (strings_[i] == nullptr) continue;
      const auto row = static_cast<std::int64_t>(i) * columns;
      const auto column =
          drawn_column(shares.data_ptr<double>() + row, columns, randoms_[i].uniform());
      if (column == symbols) {
        *strings_[i] = {std::move(words_[i]), true};
        strings_[i] = nullptr;
        --open_;
      } else {
        words_[i].push_back(static_cast<int>(column));
      }
    }
  }
  void read() {
    // A state cannot lose strings, so when most have ended, the others begin again together.
    if (2 * open_ <= strings_.size()) return keep_open();
    std::size_t any = 0;
    while (strings_[any] == nullptr) ++any;
    const Word& some = words_[any];
    for (std::size_t i = 0; i < strings_.size(); ++i)
      if (strings_[i] == nullptr) words_[i] = some;
    state_ = model_.read(ids_of(words_, some.size() - 1), *state_).second;
  }
  void keep_open() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < strings_.size(); ++i) {
      if (strings_[i] == nullptr) continue;
      std::swap(strings_[kept], strings_[i]);
      std::swap(randoms_[kept], randoms_[i]);
      std::swap(words_[kept++], words_[i]);
    }
    strings_.resize(kept);
    randoms_.resize(kept);
    words_.resize(kept);
    begin();
  }

  const LanguageModel& model_;
  const SampleRequest& request_;
  std::vector<SampledString*> strings_;  // null: ended
  std::vector<Random> randoms_;
  std::vector<Word> words_;
  std::size_t open_;
  std::optional<ReadingState> state_;
};

void check_request(const LanguageModel& model, const SampleRequest& request) {
  constexpr auto kWhere = "model.sample";
  const auto first = std::ssize(request.prefix);
  check_temperature(kWhere, request.temperature);
  check(model.end_symbol() || request.length, kWhere,
        "the model predicts no end of a string: give a length");
  if (request.length) {
    check(*request.length >= first, kWhere,
          "the length must be at least {}, that of the prefix, got {}", first, *request.length);
    check(model.alphabet().size() > 0 || *request.length == 0, kWhere,
          "the alphabet is empty, so there are no strings of length {}", *request.length);
    check_symbols(static_cast<double>(request.count) * static_cast<double>(*request.length));
  } else {
    check(request.longest >= first, kWhere,
          "'longest' must be at least {}, the length of the prefix, got {}", first,
          request.longest);
  }
}

}  // namespace

std::vector<SampledString> sample(const LanguageModel& model, const SampleRequest& request) {
  check_request(model, request);
  at::NoGradGuard guard;
  const auto stream = Random(request.seed, "model samples").next();
  std::vector<SampledString> all(static_cast<std::size_t>(request.count));
  double symbols = 0;
  for (std::int64_t first = 0; first < request.count; first += kTogether) {
    std::vector<SampledString*> strings;
    std::vector<Random> randoms;
    for (auto i = first; i < std::min(request.count, first + kTogether); ++i) {
      strings.push_back(&all[static_cast<std::size_t>(i)]);
      randoms.emplace_back(stream, static_cast<std::uint64_t>(i));
    }
    Batch(model, request, std::move(strings), std::move(randoms)).draw_all();
    for (auto i = first; i < std::min(request.count, first + kTogether); ++i)
      symbols += static_cast<double>(all[static_cast<std::size_t>(i)].word.size());
    check_symbols(symbols);
  }
  return all;
}

std::vector<double> next_probabilities(const LanguageModel& model, const Word& prefix,
                                       double temperature) {
  check_temperature("model.next", temperature);
  at::NoGradGuard guard;
  ReadingState state = model.begin(1, std::ssize(prefix));
  if (!prefix.empty()) state = model.read(ids_of({prefix}), state).second;
  const Tensor shares = tempered(model.next(state).first, temperature);
  return {shares.data_ptr<double>(), shares.data_ptr<double>() + shares.numel()};
}

std::vector<double> surprisals(const LanguageModel& model, const Word& word) {
  at::NoGradGuard guard;
  const Tensor scores = model.logits(ids_of({word}))[0].to(at::kCPU, at::kDouble).log_softmax(1);
  const Tensor values = scores.contiguous();
  std::vector<double> all;
  for (std::int64_t t = 0; t < values.size(0); ++t) {
    const auto outcome = t < std::ssize(word) ? word[t] : model.alphabet().size();
    all.push_back(-values.data_ptr<double>()[t * values.size(1) + outcome]);
  }
  return all;
}

}  // namespace pushdown
