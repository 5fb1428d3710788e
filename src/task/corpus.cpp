#include "task/corpus.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "grammar/line_reader.h"
#include "task/word_counts.h"

namespace pushdown {
namespace {

constexpr std::string_view kWhere = "task.corpus";

using Line = std::vector<std::string_view>;

std::vector<Line> lines_of(const CorpusFile& part, EmptyLines empty_lines) {
  const std::string_view text = part.text;
  check(!text.starts_with("\xFF\xFE") && !text.starts_with("\xFE\xFF"), kWhere,
        "{}: the text must be UTF-8, but it begins with the byte order mark of UTF-16", part.file);
  std::vector<Line> lines;
  read_lines(kWhere, text, part.file, [&](std::string_view line, const std::string& origin) {
    const auto zero = line.find('\0');
    check(zero == line.npos, kWhere, "{}: byte {} is NUL; the text must be UTF-8", origin,
          zero + 1);
    check(line.find('\r') == line.npos, kWhere,
          "{}: a carriage return within the line; lines must end in \\n or \\r\\n", origin);
    Line words = words_between_blanks(line);
    if (words.empty()) {
      check(empty_lines != EmptyLines::refuse, kWhere,
            "{}: the line is empty; empty_lines = 'count' reads it as a single {}, 'skip' skips it",
            origin, kLineEnd);
      if (empty_lines == EmptyLines::skip) return;
    }
    for (const auto word : words)
      check(word != kLineEnd, kWhere,
            "{}: the word {} is reserved for line ends and must not occur", origin, kLineEnd);
    lines.push_back(std::move(words));
  });
  check(!lines.empty(), kWhere, "{}: the text contains no words", part.file);
  return lines;
}

Alphabet vocabulary_of(const std::vector<Line>& lines, std::int64_t limit) {
  WordCounts counts;
  for (const auto& line : lines)
    for (const auto word : line) counts.add(word);
  return counts.vocabulary(kWhere, {kUnknownWord, kLineEnd}, limit);
}

RunningTextPtr text_of(const std::vector<Line>& lines, const Alphabet& vocabulary) {
  const int unknown = vocabulary.id(kUnknownWord), end = vocabulary.id(kLineEnd);
  Word words;
  for (const auto& line : lines) {
    for (const auto word : line) words.push_back(vocabulary.find(word).value_or(unknown));
    words.push_back(end);
  }
  return std::make_shared<RunningText>(vocabulary, std::move(words));
}

Corpus corpus_of(const std::array<std::vector<Line>, 3>& parts, const CorpusOptions& options) {
  const Alphabet vocabulary = vocabulary_of(parts[0], options.vocabulary);
  return {text_of(parts[0], vocabulary), text_of(parts[1], vocabulary),
          text_of(parts[2], vocabulary)};
}

}  // namespace

Corpus make_corpus(const std::array<CorpusFile, 3>& parts, const CorpusOptions& options) {
  std::array<std::vector<Line>, 3> lines;
  for (std::size_t i = 0; i < parts.size(); ++i) lines[i] = lines_of(parts[i], options.empty_lines);
  return corpus_of(lines, options);
}

Corpus split_corpus(const CorpusFile& whole, const std::array<double, 3>& shares,
                    const CorpusOptions& options) {
  double sum = 0;
  for (const double share : shares) {
    check(std::isfinite(share) && share > 0, kWhere,
          "the shares of training, validation and test must be above 0, got {}", share);
    sum += share;
  }
  const auto lines = lines_of(whole, options.empty_lines);
  const auto place = [&](double share) {
    return lines.begin() + std::lround(static_cast<double>(lines.size()) * share / sum);
  };
  const auto first = place(shares[0]), second = place(shares[0] + shares[1]);
  check(first > lines.begin() && second > first && lines.end() > second, kWhere,
        "{}: {} line{} cannot be split by the shares {}, {} and {} into three nonempty parts",
        whole.file, lines.size(), lines.size() == 1 ? "" : "s", shares[0], shares[1], shares[2]);
  return corpus_of({std::vector<Line>(lines.begin(), first), std::vector<Line>(first, second),
                    std::vector<Line>(second, lines.end())},
                   options);
}

std::array<std::filesystem::path, 3> corpus_files(const std::filesystem::path& folder) {
  constexpr std::array<const char*, 3> kParts{"train", "valid", "test"};
  std::string missing;
  for (const char* prefix : {"ptb.", ""}) {
    std::array<std::filesystem::path, 3> files;
    bool some = false, all = true;
    std::string here;
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      files[i] = folder / fmt::format("{}{}.txt", prefix, kParts[i]);
      const bool there = std::filesystem::is_regular_file(files[i]);
      some = some || there;
      all = all && there;
      if (!there) here += fmt::format("{}'{}'", here.empty() ? "" : ", ", files[i].string());
    }
    if (all) return files;
    if (some && missing.empty()) missing = here;
  }
  fail_environment(kWhere,
                   "'{}' must contain ptb.train.txt, ptb.valid.txt and ptb.test.txt, or train.txt, "
                   "valid.txt and test.txt{}{}",
                   folder.string(), missing.empty() ? "" : "; missing: ", missing);
}

}  // namespace pushdown
