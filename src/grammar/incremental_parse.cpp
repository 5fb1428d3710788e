#include "grammar/incremental_parse.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "attachments";

}  // namespace

std::vector<int> IncrementalParse::choices() const {
  std::vector<int> words;
  for (std::size_t i = 1; i < begins_.size(); ++i) words.push_back(begins_[i] - 1);
  if (size() > 0) words.push_back(size() - 1);
  words.push_back(size());
  return words;
}

int IncrementalParse::attachment_of(int joined) const {
  const auto words = choices();
  check(joined >= 0 && joined < static_cast<int>(words.size()), kWhere,
        "word {} can become part of 0 to {} constituents, got {}", size() + 1, words.size() - 1,
        joined);
  return words[words.size() - 1 - joined];
}

void IncrementalParse::add(int attachment) {
  const auto words = choices();
  const auto found = std::lower_bound(words.begin(), words.end(), attachment);
  if (found == words.end() || *found != attachment) {
    std::string known;
    for (const int word : words) known += (known.empty() ? "" : ", ") + std::to_string(word + 1);
    fail(kWhere, "word {} cannot attach to word {}: expected {}, the last words of constituents",
         size() + 1, attachment + 1, known);
  }
  begins_.push_back(size());
  depths_.push_back(0);
  for (auto joined = words.end() - found - 1; joined > 0; --joined) {
    begins_.pop_back();
    for (int word = begins_.back(); word < size(); ++word) ++depths_[word];
    constituents_.emplace_back(begins_.back(), size());
  }
}

IncrementalParse parse_of(const Attachments& attachments) {
  IncrementalParse parse;
  for (const int attachment : attachments) parse.add(attachment);
  return parse;
}

Attachments attachments_of(int words, const std::vector<std::pair<int, int>>& constituents) {
  const std::set<std::pair<int, int>> expected(constituents.begin(), constituents.end());
  std::vector<int> ends(words, 0);
  for (const auto& [begin, end] : expected) {
    check(0 <= begin && begin + 1 < end && end <= words, kWhere,
          "a constituent has more than one of the words 1 to {}, got {} to {}", words, begin + 1,
          end);
    ++ends[end - 1];
  }
  IncrementalParse parse;
  Attachments attachments;
  for (int word = 0; word < words; ++word) {
    const auto most = static_cast<int>(parse.choices().size()) - 1;
    attachments.push_back(parse.attachment_of(std::min(ends[word], most)));
    parse.add(attachments.back());
  }
  const auto& found = parse.constituents();
  check(std::set(found.begin(), found.end()) == expected, kWhere,
        "the constituents over {} words are not those of binary trees: binarize the tree", words);
  return attachments;
}

}  // namespace pushdown
