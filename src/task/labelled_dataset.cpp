#include "task/labelled_dataset.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>

#include "base/check.h"
#include "base/options.h"
#include "base/random.h"
#include "grammar/inside.h"
#include "grammar/membership.h"
#include "task/rows.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "labelled";
constexpr RowFormat kLabelledFormat{"labelled.load", "# pushdown labelled data set 1",
                                    "a labelled dataset", "1 or 0"};
constexpr RowFormat kClassified{"labelled.load", "# pushdown classified data set 1",
                                "a classified dataset", "1 or 0"};

void check_alphabet(const LabelledDataset& dataset, const Grammar& grammar) {
  check_same_alphabet(kWhere, "the dataset and the grammar", dataset.alphabet(),
                      grammar.alphabet());
}

std::string shown(const Alphabet& alphabet, const Word& word) {
  return word.empty() ? "the empty string" : fmt::format("'{}'", alphabet.text(word));
}

// Reads " 15,1f,15", or nothing.
std::vector<SymbolSet> parse_sets(const std::string& place, std::string_view text) {
  std::vector<SymbolSet> sets;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view number = text.substr(0, text.find(','));
    const char* end = number.data() + number.size();
    const auto [stop, error] = std::from_chars(number.data(), end, sets.emplace_back(), 16);
    check(error == std::errc() && stop == end, kLabelledFormat.where,
          "{}: expected a set of next symbols as a hexadecimal number, got '{}'", place, number);
    text.remove_prefix(number.size());
  }
  return sets;
}

}  // namespace

LabelledDataset::LabelledDataset(Alphabet alphabet, std::vector<Word> words,
                                 std::vector<bool> labels, std::vector<std::int64_t> dead_ends,
                                 LabelMeaning meaning)
    : alphabet_(std::move(alphabet)),
      words_(std::move(words)),
      labels_(std::move(labels)),
      dead_ends_(std::move(dead_ends)),
      meaning_(meaning) {
  check(!words_.empty(), kWhere, "a labelled dataset needs at least one string");
  check(labels_.size() == words_.size(), kWhere,
        "the number of labels must equal the number of strings, {}, got {}", words_.size(),
        labels_.size());
  std::map<Word, std::size_t> first;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    check_word(kWhere, alphabet_, words_[i]);
    if (meaning == LabelMeaning::observed_class) continue;
    const auto found = first.emplace(words_[i], i).first->second;
    check(labels_[found] == labels_[i], kWhere,
          "{} is labelled both valid and invalid (strings {} and {})", shown(alphabet_, words_[i]),
          found + 1, i + 1);
  }
  if (dead_ends_.empty()) return;
  check(dead_ends_.size() == words_.size(), kWhere,
        "the number of dead ends must equal the number of strings, {}, got {}", words_.size(),
        dead_ends_.size());
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto length = labels_[i] ? 0 : static_cast<std::int64_t>(words_[i].size());
    check(dead_ends_[i] >= 0 && dead_ends_[i] <= length, kWhere,
          "the dead end of {} (string {}) must be 0 to {}, got {}", shown(alphabet_, words_[i]),
          i + 1, length, dead_ends_[i]);
  }
}

LabelledDataset LabelledDataset::with_next_symbols(NextSymbols sets) const {
  check(sets.size() == words_.size(), kWhere,
        "there must be next symbols for each of the {} strings, got {}", size(), sets.size());
  const int end = alphabet_.size();
  check(end < 64, kWhere, "sets of next symbols need an alphabet of at most 63 symbols, got {}",
        end);
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const auto& word = words_[i];
    const auto expected = labels_[i] ? word.size() + 1 : 0;
    check(sets[i].size() == expected, kWhere,
          "{} (string {}) needs {} sets of next symbols, one after each prefix, got {}",
          shown(alphabet_, word), i + 1, expected, sets[i].size());
    for (std::size_t t = 0; t < expected; ++t) {
      const int next = t < word.size() ? word[t] : end;
      check((sets[i][t] >> next & 1) != 0 && (sets[i][t] >> end) <= 1, kWhere,
            "the next symbols after {} symbols of {} (string {}) must contain {}", t,
            shown(alphabet_, word), i + 1,
            next < end ? "'" + alphabet_.symbols()[next] + "'" : "the end");
    }
  }
  LabelledDataset result = *this;
  result.next_symbols_ = std::make_shared<const NextSymbols>(std::move(sets));
  return result;
}

std::int64_t LabelledDataset::positives() const {
  return std::count(labels_.begin(), labels_.end(), true);
}

std::int64_t LabelledDataset::symbol_count() const {
  std::int64_t count = 0;
  for (const auto& word : words_) count += static_cast<std::int64_t>(word.size());
  return count;
}

std::int64_t LabelledDataset::shortest() const {
  std::size_t length = words_[0].size();
  for (const auto& word : words_) length = std::min(length, word.size());
  return static_cast<std::int64_t>(length);
}

std::int64_t LabelledDataset::longest() const {
  std::size_t length = 0;
  for (const auto& word : words_) length = std::max(length, word.size());
  return static_cast<std::int64_t>(length);
}

LabelledDataset LabelledDataset::subset(const std::vector<std::int64_t>& indices) const {
  std::vector<Word> words;
  std::vector<bool> labels;
  std::vector<std::int64_t> dead_ends;
  for (const auto i : indices) {
    check(i >= 0 && i < size(), kWhere, "strings are numbered 0 to {}, got {}", size() - 1, i);
    words.push_back(words_[i]);
    labels.push_back(labels_[i]);
    if (!dead_ends_.empty()) dead_ends.push_back(dead_ends_[i]);
  }
  LabelledDataset result(alphabet_, std::move(words), std::move(labels), std::move(dead_ends),
                         meaning_);
  if (next_symbols_ == nullptr) return result;
  NextSymbols sets;
  for (const auto i : indices) sets.push_back((*next_symbols_)[i]);
  result.next_symbols_ = std::make_shared<const NextSymbols>(std::move(sets));
  return result;
}

std::vector<std::int64_t> LabelledDataset::of_length(std::int64_t shortest,
                                                     std::int64_t longest) const {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < size(); ++i) {
    const auto length = static_cast<std::int64_t>(words_[i].size());
    if (shortest <= length && length <= longest) indices.push_back(i);
  }
  return indices;
}

std::vector<LabelledDataset> split(const LabelledDataset& dataset,
                                   const std::vector<double>& shares, std::uint64_t seed) {
  check(!shares.empty(), kWhere, "split needs at least one share");
  for (const double share : shares)
    check(share > 0 && share <= 1e18, kWhere, "the shares of a split must be above 0, got {}",
          share);
  const double whole = std::accumulate(shares.begin(), shares.end(), 0.0);
  Random random(seed, "split");
  std::vector<std::vector<std::int64_t>> parts(shares.size());
  for (const bool label : {true, false}) {
    std::map<Word, std::vector<std::int64_t>> equal;
    for (std::int64_t i = 0; i < dataset.size(); ++i)
      if (dataset.labels()[i] == label) equal[dataset.words()[i]].push_back(i);
    std::vector<const std::vector<std::int64_t>*> groups;
    for (const auto& [word, group] : equal) groups.push_back(&group);
    random.shuffle(groups);
    const auto count = static_cast<double>(label ? dataset.positives() : dataset.negatives());
    double target = 0;
    std::size_t next = 0;
    std::int64_t placed = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
      target += shares[p] / whole * count;
      const bool last = p + 1 == parts.size();
      while (next < groups.size() && (last || placed < std::llround(target))) {
        parts[p].insert(parts[p].end(), groups[next]->begin(), groups[next]->end());
        placed += static_cast<std::int64_t>(groups[next++]->size());
      }
    }
  }
  std::vector<LabelledDataset> sets;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    check(!parts[p].empty(), kWhere, "part {} of the split would have no strings", p + 1);
    std::sort(parts[p].begin(), parts[p].end());
    sets.push_back(dataset.subset(parts[p]));
  }
  return sets;
}

std::vector<StepTargets> step_targets(const Grammar& grammar, const std::vector<Word>& words) {
  Membership membership(grammar);
  std::vector<StepTargets> targets;
  for (const auto& word : words) {
    membership.clear();
    StepTargets of_word;
    bool viable = membership.viable();
    of_word.viable.push_back(viable);
    of_word.member.push_back(membership.accepts());
    for (const int symbol : word) {
      // After a prefix that is not viable, no longer prefix is viable; the rest need not be read.
      if (viable) membership.push(symbol);
      viable = viable && membership.viable();
      of_word.viable.push_back(viable);
      of_word.member.push_back(viable && membership.accepts());
    }
    targets.push_back(std::move(of_word));
  }
  return targets;
}

LabelledDataset with_dead_ends(const LabelledDataset& dataset, const Grammar& grammar) {
  check_alphabet(dataset, grammar);
  std::vector<std::int64_t> dead_ends;
  const auto targets = step_targets(grammar, dataset.words());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& viable = targets[i].viable;
    const auto first = std::find(viable.begin(), viable.end(), 0) - viable.begin();
    dead_ends.push_back(first < std::ssize(viable) ? first : 0);
    check(!dataset.labels()[i] || dead_ends.back() == 0, kWhere,
          "{} is labelled valid, but by the grammar it is hopeless after {} symbols",
          shown(dataset.alphabet(), dataset.words()[i]), dead_ends.back());
  }
  LabelledDataset result(dataset.alphabet(), dataset.words(), dataset.labels(),
                         std::move(dead_ends), dataset.meaning());
  return dataset.next_symbols() == nullptr ? result
                                           : result.with_next_symbols(*dataset.next_symbols());
}

LabelledDataset with_next_symbols(const LabelledDataset& dataset, const Grammar& grammar) {
  check_alphabet(dataset, grammar);
  std::vector<Word> valid;
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    if (dataset.labels()[i]) valid.push_back(dataset.words()[i]);
  auto found = next_symbols(grammar, valid);
  NextSymbols sets(dataset.words().size());
  auto from = found.begin();
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    if (dataset.labels()[i]) sets[i] = std::move(*from++);
  return dataset.with_next_symbols(std::move(sets));
}

std::vector<std::int64_t> wrong_labels(const LabelledDataset& dataset, const Grammar& grammar) {
  check_alphabet(dataset, grammar);
  Membership membership(grammar);
  std::vector<std::int64_t> wrong;
  for (std::int64_t i = 0; i < dataset.size(); ++i)
    if (membership.contains(dataset.words()[i]) != dataset.labels()[i]) wrong.push_back(i);
  return wrong;
}

std::string to_text(const LabelledDataset& dataset) {
  const bool classes = dataset.meaning() == LabelMeaning::observed_class;
  auto text = rows_head(classes ? kClassified : kLabelledFormat, dataset.alphabet());
  for (std::int64_t i = 0; i < dataset.size(); ++i) {
    text += dataset.labels()[i] ? "1" : "0";
    if (!dataset.dead_ends().empty() && dataset.dead_ends()[i] > 0)
      text += fmt::format(":{}", dataset.dead_ends()[i]);
    if (dataset.next_symbols() != nullptr && dataset.labels()[i])
      text += fmt::format(" {:x}", fmt::join((*dataset.next_symbols())[i], ","));
    text.append(1, '\t').append(dataset.alphabet().text(dataset.words()[i])).append(1, '\n');
  }
  return text;
}

LabelledDataset parse_labelled(std::string_view text, std::string_view file) {
  std::vector<bool> labels;
  std::vector<std::int64_t> dead_ends;
  NextSymbols sets;
  const bool classes = text.starts_with(kClassified.title);
  auto [alphabet, words] = parse_rows(
      classes ? kClassified : kLabelledFormat, text, file,
      [&](const std::string& place, std::string_view whole) {
        const std::string_view field = whole.substr(0, whole.find(' '));
        sets.push_back(parse_sets(place, whole.substr(field.size())));
        const std::string_view label = field.substr(0, field.find(':'));
        check(label == "1" || label == "0", kLabelledFormat.where,
              "{}: expected the label 1 (valid) or 0 (invalid), got '{}'", place, label);
        labels.push_back(label == "1");
        dead_ends.push_back(0);
        if (label.size() == field.size()) return;
        const char* end = field.data() + field.size();
        const auto [stop, error] =
            std::from_chars(field.data() + label.size() + 1, end, dead_ends.back());
        check(label == "0" && error == std::errc() && stop == end && dead_ends.back() > 0,
              kLabelledFormat.where,
              "{}: expected 0:t, where an invalid string is hopeless after t symbols, got '{}'",
              place, field);
      });
  // Lines 1 and 2 are the header: string i is in line i + 3.
  std::map<Word, std::size_t> first;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto found = classes ? i : first.emplace(words[i], i).first->second;
    check(labels[found] == labels[i], kLabelledFormat.where,
          "{}:{}: {} is labelled {} here but {} in line {}", file, i + 3, shown(alphabet, words[i]),
          labels[i] ? 1 : 0, labels[found] ? 1 : 0, found + 3);
    check(dead_ends[i] <= static_cast<std::int64_t>(words[i].size()), kLabelledFormat.where,
          "{}:{}: {} cannot be hopeless after {} symbols", file, i + 3, shown(alphabet, words[i]),
          dead_ends[i]);
  }
  // If every dead end is 0, none was written.
  if (std::count(dead_ends.begin(), dead_ends.end(), 0) == std::ssize(dead_ends)) dead_ends.clear();
  LabelledDataset result(std::move(alphabet), std::move(words), std::move(labels),
                         std::move(dead_ends),
                         classes ? LabelMeaning::observed_class : LabelMeaning::membership);
  const bool known =
      std::any_of(sets.begin(), sets.end(), [](const auto& of) { return !of.empty(); });
  return known ? result.with_next_symbols(std::move(sets)) : result;
}

}  // namespace pushdown
