#include "analysis/tree_drawing.h"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "tree.text";
constexpr int kMostWords = 2000;

// Returns the code points of well-formed UTF-8; an invalid byte is returned as it is.
std::u32string code_points(std::string_view text) {
  std::u32string points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = size == 1 ? lead : lead & (0xFF >> (size + 1));
    for (std::size_t k = 1; k < size && i + k < text.size(); ++k)
      point = point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3F);
    points += point;
    i += size;
  }
  return points;
}

std::string utf8(const std::u32string& points) {
  std::string text;
  for (const char32_t c : points) {
    const auto tail = [&](int shift) { return static_cast<char>(0x80 | (c >> shift & 0x3F)); };
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += {static_cast<char>(0xC0 | c >> 6), tail(0)};
    } else if (c < 0x10000) {
      text += {static_cast<char>(0xE0 | c >> 12), tail(6), tail(0)};
    } else {
      text += {static_cast<char>(0xF0 | c >> 18), tail(12), tail(6), tail(0)};
    }
  }
  return text;
}

void put(std::u32string& row, std::size_t column, const std::u32string& text) {
  if (row.size() < column + text.size()) row.resize(column + text.size(), U' ');
  std::copy(text.begin(), text.end(), row.begin() + static_cast<std::ptrdiff_t>(column));
}

// Returns the rows to the left of the words: node(p) is the text of phrase p.
std::vector<std::u32string> rows_of(const PhraseTree& tree,
                                    const std::function<std::u32string(std::size_t)>& node) {
  check(tree.size() <= kMostWords, kWhere, "a tree of at most {} words can be drawn, got {}",
        kMostWords, tree.size());
  std::vector<std::u32string> rows(tree.size());
  const auto daughters = tree.daughters();
  std::vector<std::size_t> columns(daughters.size(), 0);
  for (std::size_t p = 0; p < daughters.size(); ++p) {
    const auto& list = daughters[p];
    const auto text = node(p);
    const std::size_t joint = columns[p] + text.size();
    put(rows[list.front().begin], columns[p], text + (list.size() > 1 ? U"┬─" : U"──"));
    for (int row = list.front().begin + 1; row < list.back().begin; ++row)
      put(rows[row], joint, U"│");
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (k > 0) put(rows[list[k].begin], joint, k + 1 < list.size() ? U"├─" : U"└─");
      if (list[k].phrase >= 0) columns[list[k].phrase] = joint + 2;
    }
  }
  return rows;
}

void make_ascii(std::u32string& row) {
  for (char32_t& c : row) {
    if (c == U'─') c = U'-';
    if (c == U'│') c = U'|';
    if (c == U'┬' || c == U'├' || c == U'└' || c == U'┤' || c == U'┘') c = U'+';
    if (c == U'●') c = U'#';
    if (c == U'○') c = U'o';
  }
}

// Extends the rows to one length, drawing their lines up to the words.
std::size_t fill(std::vector<std::u32string>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.size());
  for (auto& row : rows) row.resize(width, row.empty() ? U' ' : U'─');
  return width;
}

std::vector<std::u32string> marked_rows(const PhraseTree& tree, const PhraseTree& other) {
  auto marked = spans(other);
  std::sort(marked.begin(), marked.end());
  return rows_of(tree, [&](std::size_t p) {
    const auto& phrase = tree.phrases()[p];
    const Span span{phrase.begin, phrase.end};
    if (span.second - span.first < 2) return std::u32string();
    return std::binary_search(marked.begin(), marked.end(), span) ? std::u32string(U"●")
                                                                  : std::u32string(U"○");
  });
}

}  // namespace

std::string drawing(const PhraseTree& tree, bool ascii) {
  auto rows = rows_of(tree, [&](std::size_t p) { return code_points(tree.phrases()[p].label); });
  const bool plain = std::all_of(tree.tags().begin(), tree.tags().end(),
                                 [](const std::string& tag) { return tag.empty(); });
  if (plain) fill(rows);
  std::string text;
  for (int i = 0; i < tree.size(); ++i) {
    auto& row = rows[i];
    if (ascii) make_ascii(row);
    text += utf8(row);
    if (!tree.tags()[i].empty()) text += tree.tags()[i] + " ";
    if (plain && !row.empty()) text += ' ';
    text += tree.words()[i] + "\n";
  }
  return text;
}

std::string drawing_beside(const PhraseTree& tree, const PhraseTree& gold, bool ascii) {
  check(tree.words().size() == gold.words().size(), kWhere,
        "both trees must have the same words, got {} and {}", tree.size(), gold.size());
  auto left = marked_rows(tree, gold), right = marked_rows(gold, tree);
  fill(left);
  fill(right);
  std::size_t widest = 0;
  std::vector<std::u32string> words;
  for (const auto& word : gold.words()) {
    words.push_back(code_points(word));
    widest = std::max(widest, words.back().size());
  }
  std::string text;
  for (int i = 0; i < tree.size(); ++i) {
    std::reverse(right[i].begin(), right[i].end());
    for (char32_t& c : right[i]) c = c == U'├' ? U'┤' : c == U'└' ? U'┘' : c;
    const auto missing = words[i].size() < widest ? widest - words[i].size() : 0;
    const std::u32string before(missing / 2, U' '), behind(missing - missing / 2, U' ');
    auto row = left[i] + U' ' + before + words[i] + behind + U' ' + right[i];
    if (ascii) {
      make_ascii(left[i]);
      make_ascii(right[i]);
      row = left[i] + U' ' + before + words[i] + behind + U' ' + right[i];
    }
    row.resize(row.find_last_not_of(U' ') + 1);
    text += utf8(row) + "\n";
  }
  return text;
}

}  // namespace pushdown
