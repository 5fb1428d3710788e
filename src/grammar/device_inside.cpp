#include "grammar/device_inside.h"

#include <cstring>

#include "base/check.h"
#include "grammar/inside.h"
#include "grammar/normal_form.h"
#include "kernel/device.h"

namespace pushdown {
namespace {

constexpr std::int64_t kMostNumbers = std::int64_t{1} << 23;  // 64 MiB of charts at a time

bool ordinary(double weight) { return weight >= 0x1p-500 && weight <= 0x1p500; }

// Returns the rules grouped by left side.
std::vector<std::vector<DeviceRule>> rules_of(const NormalForm& form) {
  std::vector<std::vector<DeviceRule>> rules(form.size);
  const auto add = [&](int left, DeviceRuleKind kind, int first, int second, double weight) {
    if (weight > 0) rules[left].push_back({kind, first, second, weight});
  };
  for (const auto& r : form.lexical) add(r.left, DeviceRuleKind::lexical, r.symbol, 0, r.weight);
  for (const auto& r : form.terminal_pairs)
    add(r.left, DeviceRuleKind::terminal_pair, r.first, r.second, r.weight);
  for (const auto& r : form.terminal_left)
    add(r.left, DeviceRuleKind::terminal_left, r.terminal, r.nonterminal, r.weight);
  for (const auto& r : form.terminal_right)
    add(r.left, DeviceRuleKind::terminal_right, r.terminal, r.nonterminal, r.weight);
  for (std::size_t p = 0; p < form.pairs.size(); ++p)
    for (const auto& [left, weight] : form.pairs[p].lefts)
      add(left, DeviceRuleKind::pair, static_cast<int>(p), 0, weight);
  return rules;
}

// Concatenated lists, with the start of each.
template <class T>
std::pair<std::vector<std::int32_t>, std::vector<T>> flat(
    const std::vector<std::vector<T>>& lists) {
  std::pair<std::vector<std::int32_t>, std::vector<T>> result;
  result.first.push_back(0);
  for (const auto& list : lists) {
    result.second.insert(result.second.end(), list.begin(), list.end());
    result.first.push_back(static_cast<std::int32_t>(result.second.size()));
  }
  return result;
}

// Returns the log weights of the strings, computed on the current device.
std::vector<double> on_device(InsideBatch& batch) {
  const auto bytes = [](std::int64_t numbers) { return numbers * sizeof(double); };
  const DeviceMemory memory(bytes(batch.numbers())), out(bytes(batch.strings()));
  DeviceMemory image(batch.image_for(nullptr).bytes().size());
  image.upload(batch.image_for(image.data()).bytes().data());
  device_inside(batch.work(image.data(), static_cast<double*>(memory.data()),
                           static_cast<double*>(out.data())),
                nullptr);
  std::vector<double> log_weights(batch.strings());
  out.download(log_weights.data());
  return log_weights;
}

}  // namespace

std::size_t DeviceImage::put(const void* table, std::size_t size) {
  const std::size_t place = (bytes_.size() + 15) / 16 * 16;
  bytes_.resize(place + size);
  replace(place, table, size);
  return place;
}

void DeviceImage::replace(std::size_t place, const void* table, std::size_t size) {
  if (size > 0) std::memcpy(bytes_.data() + place, table, size);
}

GrammarImage::GrammarImage(const Grammar& grammar, DeviceImage& image) {
  const NormalForm& form = grammar.normal_form();
  grammar_.size = form.size;
  grammar_.start = form.start;
  grammar_.pair_count = static_cast<std::int32_t>(form.pairs.size());
  grammar_.scale = chart_scale(grammar.alphabet());
  grammar_.empty_mass = form.empty_mass;
  const auto [rule_begin, rules] = flat(rules_of(form));
  std::vector<std::int32_t> pairs;
  for (const auto& pair : form.pairs) pairs.insert(pairs.end(), {pair.first, pair.second});
  std::vector<std::vector<DeviceClosure>> entries(form.size);
  for (std::size_t a = 0; a < entries.size(); ++a)
    for (const auto& entry : form.closure[a])
      if (entry.weight > 0) entries[a].push_back({entry.from, entry.weight});
  const auto [closure_begin, closure] = flat(entries);
  for (const auto& rule : rules) grammar_.logarithms |= !ordinary(rule.weight);
  for (const auto& entry : closure) grammar_.logarithms |= !ordinary(entry.weight);
  rule_begin_ = image.put(rule_begin);
  rules_ = image.put(rules);
  pairs_ = image.put(pairs);
  closure_begin_ = image.put(closure_begin);
  closure_ = image.put(closure);
  place_ = image.put(std::vector{grammar_});
}

void GrammarImage::point(DeviceImage& image, const void* first) const {
  DeviceGrammar pointing = grammar_;
  pointing.rule_begin = DeviceImage::at<std::int32_t>(first, rule_begin_);
  pointing.rules = DeviceImage::at<DeviceRule>(first, rules_);
  pointing.pairs = DeviceImage::at<std::int32_t>(first, pairs_);
  pointing.closure_begin = DeviceImage::at<std::int32_t>(first, closure_begin_);
  pointing.closure = DeviceImage::at<DeviceClosure>(first, closure_);
  image.replace(place_, &pointing, sizeof(DeviceGrammar));
}

InsideBatch::InsideBatch(const Grammar& grammar, const std::vector<Word>& words)
    : grammar_(grammar, image_), strings_(static_cast<std::int64_t>(words.size())) {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> begin{0}, place;
  for (const Word& word : words) {
    check_word("grammar.log_probability", grammar.alphabet(), word);
    symbols.insert(symbols.end(), word.begin(), word.end());
    begin.push_back(static_cast<std::int64_t>(symbols.size()));
    place.push_back(numbers_);
    numbers_ += device_inside_size(grammar_.sizes(), static_cast<std::int64_t>(word.size()));
  }
  symbols_ = image_.put(symbols);
  begin_ = image_.put(begin);
  place_ = image_.put(place);
}

const DeviceImage& InsideBatch::image_for(const void* first) {
  grammar_.point(image_, first);
  return image_;
}

DeviceInside InsideBatch::work(const void* first, double* memory, double* results) const {
  DeviceInside work;
  work.grammar = DeviceImage::at<DeviceGrammar>(first, grammar_.place());
  work.strings = strings_;
  work.symbols = DeviceImage::at<std::int32_t>(first, symbols_);
  work.begin = DeviceImage::at<std::int64_t>(first, begin_);
  work.place = DeviceImage::at<std::int64_t>(first, place_);
  work.memory = memory;
  work.log_weights = results;
  return work;
}

std::vector<double> device_log_probabilities(const Grammar& grammar,
                                             const std::vector<Word>& words) {
  std::vector<double> all;
  DeviceImage unused;
  const GrammarImage image(grammar, unused);
  for (auto next = words.begin(); next != words.end();) {
    std::vector<Word> part;
    std::int64_t numbers = 0;
    do {
      numbers += device_inside_size(image.sizes(), static_cast<std::int64_t>(next->size()));
      part.push_back(*next++);
    } while (next != words.end() && numbers < kMostNumbers);
    InsideBatch batch(grammar, part);
    const auto got = on_device(batch);
    all.insert(all.end(), got.begin(), got.end());
  }
  return all;
}

}  // namespace pushdown
