#include "task/conllu.h"

#include <charconv>
#include <fstream>
#include <optional>

#include "task/file_set.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "task.conllu";
constexpr std::size_t kColumns = 10;
constexpr const char* kNames[kColumns] = {"ID",    "FORM", "LEMMA",  "UPOS", "XPOS",
                                          "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"};

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0;;) {
    const auto end = line.find('\t', begin);
    columns.push_back(line.substr(begin, end - begin));
    if (end == line.npos) return columns;
    begin = end + 1;
  }
}

// Parses a non-negative integer without sign, and nothing else.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto* end = text.data() + text.size();
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// "3-4" or "3.1".
std::optional<std::pair<int, int>> two_numbers(std::string_view text, char between) {
  const auto place = text.find(between);
  if (place == text.npos) return std::nullopt;
  const auto first = number(text.substr(0, place)), second = number(text.substr(place + 1));
  if (!first || !second) return std::nullopt;
  return std::pair(*first, *second);
}

std::string value_of(std::string_view column) {
  return column == "_" ? std::string() : std::string(column);
}

}  // namespace

std::string_view feature(const ConlluWord& word, std::string_view name) {
  const std::string_view all = word.features;
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = std::min(all.find('|', begin), all.size());
    const auto entry = all.substr(begin, end - begin);
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
    begin = end + 1;
  }
  return {};
}

std::vector<std::string> forms(const ConlluSentence& sentence, bool surface) {
  std::vector<std::string> list;
  std::size_t range = 0;
  const int size = static_cast<int>(sentence.words.size());
  for (int i = 1; i <= size; ++i) {
    if (surface && range < sentence.ranges.size() && sentence.ranges[range].first == i) {
      list.push_back(sentence.ranges[range].form);
      i = sentence.ranges[range++].last;
    } else {
      list.push_back(sentence.words[i - 1].form);
    }
  }
  return list;
}

ConlluReader::ConlluReader(std::istream& input, std::string file)
    : text_(kWhere, input, std::move(file)) {}

template <class... Args>
void ConlluReader::stop(int line, fmt::format_string<Args...> format, Args&&... args) const {
  fail(kWhere, "{}: {}", text_.place(line), fmt::format(format, std::forward<Args>(args)...));
}

bool ConlluReader::next(ConlluSentence& sentence) {
  sentence = {};
  lines_.clear();
  empty_nodes_ = 0;
  int comment = 0, row = 0;  // the first line of each kind
  std::string line;
  while (text_.next(line)) {
    if (line.find_first_not_of(" \t") == line.npos) {
      if (row > 0 || comment > 0) break;
    } else if (line[0] == '#') {
      if (comment == 0) comment = text_.number();
      read_comment(line, sentence);
    } else {
      if (row == 0) row = text_.number();
      read_row(line, sentence);
    }
  }
  if (row == 0 && comment > 0) stop(comment, "comments without a sentence");
  if (row == 0) return false;
  if (sentence.words.empty()) stop(row, "a sentence without words");
  finish(sentence);
  return true;
}

void ConlluReader::read_comment(std::string_view line, ConlluSentence& sentence) const {
  constexpr std::string_view kKey = "sent_id";
  line.remove_prefix(1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (!line.starts_with(kKey)) return;
  line.remove_prefix(kKey.size());
  while (line.starts_with(' ')) line.remove_prefix(1);
  if (!line.starts_with('=')) return;
  line.remove_prefix(1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  sentence.id = line;
}

void ConlluReader::read_row(std::string_view line, ConlluSentence& sentence) {
  const auto columns = columns_of(line);
  if (columns.size() != kColumns)
    stop(text_.number(), "expected {} columns with tabs between them, got {}", kColumns,
         columns.size());
  for (std::size_t k = 0; k < kColumns; ++k)
    if (columns[k].empty())
      stop(text_.number(), "column {} ({}) is empty; write _ for an empty value", k + 1, kNames[k]);
  const int size = static_cast<int>(sentence.words.size());
  if (const auto range = two_numbers(columns[0], '-')) {
    const int open = sentence.ranges.empty() ? 0 : sentence.ranges.back().last;
    if (range->first != size + 1 || range->second < range->first || open > size)
      stop(text_.number(), "the range {} must begin at word {}{}", columns[0], size + 1,
           open > size ? ", which an earlier range spans" : "");
    sentence.ranges.push_back({range->first, range->second, std::string(columns[1])});
  } else if (const auto node = two_numbers(columns[0], '.')) {
    if (node->first != size || node->second != empty_nodes_ + 1)
      stop(text_.number(), "expected the empty node {}.{}, got {}", size, empty_nodes_ + 1,
           columns[0]);
    ++empty_nodes_;
  } else {
    read_word(columns, sentence);
  }
}

void ConlluReader::read_word(const std::vector<std::string_view>& columns,
                             ConlluSentence& sentence) {
  const int expected = static_cast<int>(sentence.words.size()) + 1;
  const auto id = number(columns[0]);
  if (!id) stop(text_.number(), "the number of a word must be 3, 3-4 or 3.1, got '{}'", columns[0]);
  if (*id != expected) stop(text_.number(), "expected word {}, got {}", expected, *id);
  ConlluWord word;
  word.form = columns[1];
  // The lemma of the word _ is written _.
  word.lemma = columns[1] == "_" ? std::string(columns[2]) : value_of(columns[2]);
  word.upos = value_of(columns[3]);
  word.xpos = value_of(columns[4]);
  word.features = value_of(columns[5]);
  word.relation = value_of(columns[7]);
  if (columns[6] != "_") {
    const auto head = number(columns[6]);
    if (!head)
      stop(text_.number(), "the head must be the number of a word, 0 or _, got '{}'", columns[6]);
    if (*head == *id) stop(text_.number(), "word {} is its own head", *id);
    word.head = *head;
  }
  if (sentence.words.empty()) sentence.line = text_.number();
  sentence.words.push_back(std::move(word));
  lines_.push_back(text_.number());
  empty_nodes_ = 0;
}

void ConlluReader::finish(const ConlluSentence& sentence) const {
  const int size = static_cast<int>(sentence.words.size());
  for (int i = 0; i < size; ++i)
    if (sentence.words[i].head > size)
      stop(lines_[i], "the head of word {} is {}, but the sentence has {} word{}", i + 1,
           sentence.words[i].head, size, size == 1 ? "" : "s");
  if (!sentence.ranges.empty() && sentence.ranges.back().last > size)
    stop(text_.number(), "the sentence ends at word {}, but the range {}-{} extends beyond it",
         size, sentence.ranges.back().first, sentence.ranges.back().last);
}

void visit_conllu(const std::string& path,
                  const std::function<void(const ConlluSentence&)>& visit) {
  ConlluFiles files(files_named(kWhere, path, ".conllu"));
  while (const auto sentence = files.next()) visit(*sentence);
}

std::optional<ConlluSentence> ConlluFiles::next() {
  ConlluSentence sentence;
  while (true) {
    if (reader_ && reader_->next(sentence)) return sentence;
    reader_.reset();
    if (file_ == files_.size()) return std::nullopt;
    const auto& path = files_[file_++];
    input_ = std::ifstream(path, std::ios::binary);
    if (!input_) fail_environment(kWhere, "cannot open '{}'", path.string());
    reader_.emplace(input_, path.string());
  }
}

}  // namespace pushdown
