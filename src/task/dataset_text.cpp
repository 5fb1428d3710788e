#include "task/dataset_text.h"

#include <charconv>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "dataset.load";
constexpr std::string_view kTitle = "# pushdown data set 1";
constexpr std::string_view kAlphabet = "# alphabet";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Errors of `read` with the place in front.
auto at_line(const std::string& place, auto read) {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    fail(kWhere, "{}: {}", place, error.what());
  }
}

double parse_number(const std::string& place, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(error == std::errc() && end == text.data() + text.size(), kWhere,
        "{}: expected a logarithm or -, got '{}'", place, text);
  return value;
}

}  // namespace

std::string to_text(const Dataset& dataset) {
  std::string text = fmt::format("{}\n{}", kTitle, kAlphabet);
  for (const auto& symbol : dataset.alphabet().symbols()) text.append(1, ' ').append(symbol);
  text += '\n';
  for (std::size_t i = 0; i < dataset.words().size(); ++i) {
    text += dataset.has_log_probabilities() ? fmt::format("{}", dataset.log_probabilities()[i])
                                            : std::string("-");
    text.append(1, '\t').append(dataset.alphabet().text(dataset.words()[i])).append(1, '\n');
  }
  return text;
}

Dataset parse_dataset(std::string_view text, std::string_view file) {
  Alphabet alphabet;
  std::vector<Word> words;
  std::vector<double> log_probabilities;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto place = fmt::format("{}:{}", file, ++number);
    if (number == 1) {
      check(line == kTitle, kWhere, "{}: a data set begins with the line '{}'", place, kTitle);
      continue;
    }
    if (number == 2) {
      check(line.starts_with(kAlphabet), kWhere, "{}: expected '{} SYMBOL ...'", place, kAlphabet);
      alphabet = at_line(place, [&] { return Alphabet(split(line.substr(kAlphabet.size()))); });
      continue;
    }
    const auto tab = line.find('\t');
    check(tab != line.npos, kWhere, "{}: expected a logarithm, a tab and a string", place);
    if (const auto field = line.substr(0, tab); field != "-")
      log_probabilities.push_back(parse_number(place, field));
    words.push_back(at_line(place, [&] { return alphabet.parse(line.substr(tab + 1)); }));
    check(log_probabilities.empty() || log_probabilities.size() == words.size(), kWhere,
          "{}: some strings have a log-probability and some have none", place);
  }
  check(!words.empty(), kWhere, "{}: there are no strings", file);
  if (log_probabilities.empty()) return Dataset(std::move(alphabet), std::move(words));
  return Dataset(std::move(alphabet), std::move(words), std::move(log_probabilities));
}

}  // namespace pushdown
