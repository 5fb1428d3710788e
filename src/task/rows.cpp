#include "task/rows.h"

#include "base/check.h"
#include "base/stopping.h"

namespace pushdown {
namespace {

constexpr std::string_view kAlphabetRow = "# alphabet";

std::vector<std::string> words_of_row(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// Adds the place to errors of `read`.
auto at_line(std::string_view where, const std::string& place, auto read) {
  try {
    return read();
  } catch (const std::invalid_argument& error) {
    fail(where, "{}: {}", place, error.what());
  }
}

}  // namespace

std::string rows_head(const RowFormat& format, const Alphabet& alphabet) {
  auto text = fmt::format("{}\n{}", format.title, kAlphabetRow);
  for (const auto& symbol : alphabet.symbols()) text.append(1, ' ').append(symbol);
  return text.append(1, '\n');
}

std::pair<Alphabet, std::vector<Word>> parse_rows(const RowFormat& format, std::string_view text,
                                                  std::string_view file, const ReadField& read) {
  const auto where = format.where;
  Alphabet alphabet;
  std::vector<Word> words;
  int number = 0;
  const StopCheck stop;
  for (std::size_t begin = 0; begin < text.size();) {
    stop();
    const auto end = std::min(text.find('\n', begin), text.size());
    auto line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto place = fmt::format("{}:{}", file, ++number);
    if (number == 1) {
      check(line == format.title, where, "{}: {} begins with the line '{}', got '{}'", place,
            format.kind, format.title, line.substr(0, 60));
      continue;
    }
    if (number == 2) {
      check(line.starts_with(kAlphabetRow), where, "{}: expected '{} SYMBOL ...'", place,
            kAlphabetRow);
      alphabet = at_line(where, place,
                         [&] { return Alphabet(words_of_row(line.substr(kAlphabetRow.size()))); });
      continue;
    }
    const auto tab = line.find('\t');
    check(tab != line.npos, where, "{}: expected {}, a tab and a string", place, format.field);
    read(place, line.substr(0, tab));
    words.push_back(at_line(where, place, [&] { return alphabet.parse(line.substr(tab + 1)); }));
  }
  check(!words.empty(), where, "{}: there are no strings", file);
  return {std::move(alphabet), std::move(words)};
}

}  // namespace pushdown
