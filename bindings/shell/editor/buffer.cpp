#include "bindings/shell/editor/buffer.h"

#include <algorithm>
#include <cctype>

#include "bindings/shell/editor/glyph.h"

namespace pushdown {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c < 0; }
bool is_black(char c) { return std::isspace(static_cast<unsigned char>(c)) == 0; }

std::size_t word_begin(std::string_view text, std::size_t place, bool (*inside)(char)) {
  while (place > 0 && !inside(text[place - 1])) --place;
  while (place > 0 && inside(text[place - 1])) --place;
  return place;
}

}  // namespace

std::size_t word_end(std::string_view text, std::size_t place) {
  while (place < text.size() && !in_word(text[place])) ++place;
  while (place < text.size() && in_word(text[place])) ++place;
  return place;
}

std::string_view Buffer::before_cursor() const {
  const auto begin = line_begin(cursor_);
  return std::string_view(text_).substr(begin, cursor_ - begin);
}

void Buffer::move(std::size_t place) {
  cursor_ = place;
  wanted_column_ = -1;
}

bool Buffer::move_lines(int by) {
  const auto begin = line_begin(cursor_), end = line_end(cursor_);
  if (by < 0 ? begin == 0 : end == text_.size()) return false;
  if (wanted_column_ < 0) wanted_column_ = width_between(text_, begin, cursor_);
  cursor_ = by < 0 ? line_begin(begin - 1) : end + 1;
  for (int column = 0; cursor_ < text_.size() && text_[cursor_] != '\n';) {
    const auto next = character_end(text_, cursor_);
    column += width_between(text_, cursor_, next, column);
    if (column > wanted_column_) break;
    cursor_ = next;
  }
  return true;
}

void Buffer::replace(std::size_t begin, std::size_t end, std::string_view text, bool typed) {
  if (begin == end && text.empty()) return;
  const bool joins = typed && begin == end && !changes_.empty() && changes_.back().typed &&
                     changes_.back().begin + changes_.back().inserted == begin;
  if (joins)
    changes_.back().inserted += text.size();
  else
    changes_.push_back({begin, text.size(), cursor_, text_.substr(begin, end - begin), typed});
  text_.replace(begin, end - begin, text);
  move(begin + text.size());
}

void Buffer::undo() {
  if (changes_.empty()) return;
  const auto& change = changes_.back();
  text_.replace(change.begin, change.inserted, change.removed);
  move(change.cursor);
  changes_.pop_back();
}

void Buffer::clear() { *this = {}; }

std::size_t Buffer::line_begin(std::size_t place) const {
  return place == 0 ? 0 : text_.rfind('\n', place - 1) + 1;
}

std::size_t Buffer::line_end(std::size_t place) const {
  return std::min(text_.find('\n', place), text_.size());
}

std::size_t Buffer::left() const {
  auto place = line_begin(cursor_);
  if (place == cursor_) return place == 0 ? 0 : place - 1;
  for (auto next = character_end(text_, place); next < cursor_; next = character_end(text_, place))
    place = next;
  return place;
}

std::size_t Buffer::right() const {
  return cursor_ == text_.size() ? cursor_ : character_end(text_, cursor_);
}

std::size_t Buffer::word_left() const { return word_begin(text_, cursor_, in_word); }
std::size_t Buffer::word_right() const { return word_end(text_, cursor_); }
std::size_t Buffer::blank_left() const { return word_begin(text_, cursor_, is_black); }

}  // namespace pushdown
