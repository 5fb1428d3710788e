#include "task/rows.h"

#include "grammar/line_reader.h"

namespace pushdown {
namespace {

constexpr std::string_view kAlphabetRow = "# alphabet";

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
  read_lines(where, text, file, [&](std::string_view line, const std::string& place) {
    ++number;
    if (number == 1) {
      check(line == format.title, where, "{}: {} begins with the line '{}', got '{}'", place,
            format.kind, format.title, line.substr(0, 60));
      return;
    }
    if (number == 2) {
      check(line.starts_with(kAlphabetRow), where, "{}: expected '{} SYMBOL ...'", place,
            kAlphabetRow);
      const auto symbols = words_between_blanks(line.substr(kAlphabetRow.size()));
      alphabet = at_line(where, place, [&] { return Alphabet({symbols.begin(), symbols.end()}); });
      return;
    }
    const auto tab = line.find('\t');
    check(tab != line.npos, where, "{}: expected {}, a tab and a string", place, format.field);
    read(place, line.substr(0, tab));
    words.push_back(at_line(where, place, [&] { return alphabet.parse(line.substr(tab + 1)); }));
  });
  check(!words.empty(), where, "{}: there are no strings", file);
  return {std::move(alphabet), std::move(words)};
}

}  // namespace pushdown
