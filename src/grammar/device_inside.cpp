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

// Runs the batch on the current device; it computes `results` numbers.
template <class Batch, class Launch>
std::vector<double> on_device(Batch& batch, std::int64_t results, const Launch& launch) {
  const auto bytes = [](std::int64_t numbers) { return numbers * sizeof(double); };
  const DeviceMemory memory(bytes(batch.numbers())), out(bytes(results));
  DeviceMemory image(batch.image_for(nullptr).bytes().size());
  image.upload(batch.image_for(image.data()).bytes().data());
  launch(batch.work(image.data(), static_cast<double*>(memory.data()),
                    static_cast<double*>(out.data())));
  std::vector<double> numbers(results);
  out.download(numbers.data());
  return numbers;
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

DeviceGrammars::DeviceGrammars(const std::vector<Grammar>& grammars, DeviceImage& image) {
  for (const Grammar& grammar : grammars) {
    const NormalForm& form = grammar.normal_form();
    DeviceGrammar flat_form{};
    flat_form.size = form.size;
    flat_form.start = form.start;
    flat_form.pair_count = static_cast<std::int32_t>(form.pairs.size());
    flat_form.scale = chart_scale(grammar.alphabet());
    flat_form.empty_mass = form.empty_mass;
    const auto [rule_begin, rules] = flat(rules_of(form));
    std::vector<std::int32_t> pairs;
    for (const auto& pair : form.pairs) pairs.insert(pairs.end(), {pair.first, pair.second});
    std::vector<std::vector<DeviceClosure>> entries(form.size);
    for (std::size_t a = 0; a < entries.size(); ++a)
      for (const auto& entry : form.closure[a])
        if (entry.weight > 0) entries[a].push_back({entry.from, entry.weight});
    const auto [closure_begin, closure] = flat(entries);
    for (const auto& rule : rules) flat_form.logarithms |= !ordinary(rule.weight);
    for (const auto& entry : closure) flat_form.logarithms |= !ordinary(entry.weight);
    grammars_.push_back(flat_form);
    places_.push_back({image.put(rule_begin), image.put(rules), image.put(pairs),
                       image.put(closure_begin), image.put(closure)});
  }
  place_ = image.put(grammars_);
}

void DeviceGrammars::point(DeviceImage& image, const void* first) const {
  auto pointing = grammars_;
  for (std::size_t k = 0; k < pointing.size(); ++k) {
    const Places& places = places_[k];
    pointing[k].rule_begin = DeviceImage::at<std::int32_t>(first, places.rule_begin);
    pointing[k].rules = DeviceImage::at<DeviceRule>(first, places.rules);
    pointing[k].pairs = DeviceImage::at<std::int32_t>(first, places.pairs);
    pointing[k].closure_begin = DeviceImage::at<std::int32_t>(first, places.closure_begin);
    pointing[k].closure = DeviceImage::at<DeviceClosure>(first, places.closure);
  }
  image.replace(place_, pointing.data(), pointing.size() * sizeof(DeviceGrammar));
}

InsideBatch::InsideBatch(const Grammar& grammar, const std::vector<Word>& words)
    : grammars_({grammar}, image_), strings_(static_cast<std::int64_t>(words.size())) {
  std::vector<std::int32_t> symbols;
  std::vector<std::int64_t> begin{0}, place;
  for (const Word& word : words) {
    check_word("grammar.log_probability", grammar.alphabet(), word);
    symbols.insert(symbols.end(), word.begin(), word.end());
    begin.push_back(static_cast<std::int64_t>(symbols.size()));
    place.push_back(numbers_);
    numbers_ += device_inside_size(grammars_[0], static_cast<std::int64_t>(word.size()));
  }
  symbols_ = image_.put(symbols);
  begin_ = image_.put(begin);
  place_ = image_.put(place);
}

const DeviceImage& InsideBatch::image_for(const void* first) {
  grammars_.point(image_, first);
  return image_;
}

DeviceInside InsideBatch::work(const void* first, double* memory, double* results) const {
  DeviceInside work;
  work.grammars = DeviceImage::at<DeviceGrammar>(first, grammars_.place());
  work.strings = strings_;
  work.symbols = DeviceImage::at<std::int32_t>(first, symbols_);
  work.begin = DeviceImage::at<std::int64_t>(first, begin_);
  work.place = DeviceImage::at<std::int64_t>(first, place_);
  work.memory = memory;
  work.log_weights = results;
  return work;
}

LengthBatch::LengthBatch(const std::vector<Grammar>& grammars, int max_length)
    : grammars_(grammars, image_), max_length_(max_length) {
  check(max_length >= 0, "grammar.length_table", "a length must be at least 0, got {}", max_length);
  std::vector<std::int64_t> place, result_place;
  for (std::size_t k = 0; k < grammars_.size(); ++k) {
    place.push_back(numbers_);
    result_place.push_back(results_);
    numbers_ += device_length_size(grammars_[k], max_length);
    results_ += result_size(k);
  }
  place_ = image_.put(place);
  result_place_ = image_.put(result_place);
}

const DeviceImage& LengthBatch::image_for(const void* first) {
  grammars_.point(image_, first);
  return image_;
}

DeviceLengths LengthBatch::work(const void* first, double* memory, double* results) const {
  DeviceLengths work;
  work.grammars = DeviceImage::at<DeviceGrammar>(first, grammars_.place());
  work.count = static_cast<std::int64_t>(grammars_.size());
  work.max_length = max_length_;
  work.place = DeviceImage::at<std::int64_t>(first, place_);
  work.memory = memory;
  work.result_place = DeviceImage::at<std::int64_t>(first, result_place_);
  work.log_masses = results;
  return work;
}

std::vector<double> device_log_probabilities(const Grammar& grammar,
                                             const std::vector<Word>& words) {
  std::vector<double> all;
  DeviceImage unused;
  const DeviceGrammars sizes({grammar}, unused);
  for (auto next = words.begin(); next != words.end();) {
    std::vector<Word> part;
    std::int64_t numbers = 0;
    do {
      numbers += device_inside_size(sizes[0], static_cast<std::int64_t>(next->size()));
      part.push_back(*next++);
    } while (next != words.end() && numbers < kMostNumbers);
    InsideBatch batch(grammar, part);
    const auto got = on_device(batch, static_cast<std::int64_t>(part.size()),
                               [](const DeviceInside& work) { device_inside(work, nullptr); });
    all.insert(all.end(), got.begin(), got.end());
  }
  return all;
}

std::vector<std::vector<double>> device_length_masses(const std::vector<Grammar>& grammars,
                                                      int max_length) {
  LengthBatch batch(grammars, max_length);
  if (grammars.empty()) return {};
  const auto got = on_device(batch, batch.results(),
                             [](const DeviceLengths& work) { device_lengths(work, nullptr); });
  std::vector<std::vector<double>> all;
  auto next = got.begin();
  for (std::size_t k = 0; k < grammars.size(); ++k) {
    all.emplace_back(next, next + batch.result_size(k));
    next += batch.result_size(k);
  }
  return all;
}

}  // namespace pushdown
