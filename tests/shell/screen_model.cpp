#include "shell/screen_model.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>

namespace pushdown {

std::size_t ScreenModel::top() const {
  const auto height = static_cast<std::size_t>(rows_);
  return lines_.size() > height ? lines_.size() - height : 0;
}

void ScreenModel::feed() {
  if (++row_ == lines_.size()) lines_.emplace_back();
}

void ScreenModel::erase(Line& line, int from) {
  if (static_cast<std::size_t>(from) >= line.cells.size()) return;
  line.cells.resize(static_cast<std::size_t>(from));
  if (!line.cells.empty() && line.cells.back().width == 2) line.cells.back() = {};
  line.wraps = false;
}

void ScreenModel::put(std::string_view character, int width) {
  if (width == 0) {
    auto& cells = lines_[row_].cells;
    auto at = static_cast<std::size_t>(full_ ? columns_ : column_);
    while (at > 0 && at <= cells.size() && cells[at - 1].width == 0) --at;
    if (at > 0 && at <= cells.size()) cells[at - 1].text += character;
    return;
  }
  if (full_ || column_ + width > columns_) {
    lines_[row_].wraps = true;
    ++wraps_;
    feed();
    column_ = 0;
    full_ = false;
  }
  auto& cells = lines_[row_].cells;
  const auto at = static_cast<std::size_t>(column_), wide = static_cast<std::size_t>(width);
  if (cells.size() < at + wide) cells.resize(at + wide);
  if (cells[at].width == 0) cells[at - 1] = {};
  if (at + wide < cells.size() && cells[at + wide].width == 0) cells[at + wide] = {};
  cells[at] = {std::string(character), width};
  if (width == 2) cells[at + 1] = {"", 0};
  column_ += width;
  full_ = column_ == columns_;
  if (full_) column_ = columns_ - 1;
}

void ScreenModel::control(const std::string& parameters, char last) {
  const int given = std::atoi(parameters.c_str()), count = std::max(given, 1);
  const auto up = std::min(static_cast<std::size_t>(count), row_ - top());
  switch (last) {
    case 'A': row_ -= up; break;
    case 'B': row_ = std::min(row_ + static_cast<std::size_t>(count), lines_.size() - 1); break;
    case 'C': column_ = std::min(column_ + count, columns_ - 1); break;
    case 'D': column_ = std::max(column_ - count, 0); break;
    case 'H': row_ = top(), column_ = 0; break;
    case 'K': erase(lines_[row_], column_); return;
    case 'J':
      if (given == 2) {
        for (auto i = top(); i < lines_.size(); ++i) lines_[i] = {};
        return;
      }
      erase(lines_[row_], column_);
      for (auto i = row_ + 1; i < lines_.size(); ++i) lines_[i] = {};
      return;
    case 'm': return;
    case 'h':
    case 'l':
      if (parameters == "?2004") return;
      [[fallthrough]];
    default:
      if (unknown_.empty()) unknown_ = "\\033[" + parameters + last;
  }
  full_ = false;
}

void ScreenModel::write(std::string_view more) {
  const std::string text = rest_ + std::string(more);
  rest_.clear();
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '\033') {
      const auto end = text.find_first_not_of("[?;0123456789", i + 1);
      if (end == text.npos) {
        rest_ = text.substr(i);
        return;
      }
      control(text.substr(std::min(i + 2, end), end - std::min(i + 2, end)), text[end]);
      i = end + 1;
    } else if (c == '\r') {
      column_ = 0, full_ = false, ++i;
    } else if (c == '\n') {
      feed();
      full_ = false, ++i;
    } else if (c >= 0 && c < ' ') {
      if (unknown_.empty() && c != '\a') unknown_ = "control character " + std::to_string(c);
      ++i;
    } else {
      utf8proc_int32_t point = 0;
      const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(&text[i]),
                                         static_cast<utf8proc_ssize_t>(text.size() - i), &point);
      if (size <= 0 && text.size() - i < 4) {
        rest_ = text.substr(i);
        return;
      }
      const auto bytes = static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 1));
      if (size <= 0 && unknown_.empty()) unknown_ = "not UTF-8";
      put(std::string_view(text).substr(i, bytes), size > 0 ? utf8proc_charwidth(point) : 1);
      i += bytes;
    }
  }
}

void ScreenModel::resize(int columns, int rows) {
  std::vector<Line> before;
  before.swap(lines_);
  const auto cursor_row = row_;
  const auto cursor_column = static_cast<std::size_t>(column_) + (full_ ? 1 : 0);
  columns_ = columns;
  rows_ = rows;
  lines_.resize(1);
  std::size_t new_row = 0;
  int new_column = 0;
  row_ = 0, column_ = 0, full_ = false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& cells = before[i].cells;
    for (std::size_t k = 0; k <= cells.size() || k <= cursor_column; ++k) {
      if (i == cursor_row && k == cursor_column) {
        new_row = row_, new_column = column_;
        if (full_ && k < cells.size()) ++new_row, new_column = 0;
      }
      if (k < cells.size() && cells[k].width > 0)
        put(cells[k].text, std::min(cells[k].width, columns));
      else if (k >= cells.size() && k >= cursor_column)
        break;
    }
    if (i == cursor_row && cursor_column > cells.size()) {
      const auto more = static_cast<int>(cursor_column - cells.size());
      new_column = std::min(column_ + more, columns - 1);
    }
    if (before[i].wraps) continue;
    if (i + 1 == before.size()) break;
    feed();
    column_ = 0, full_ = false;
  }
  row_ = std::min(new_row, lines_.size() - 1);
  column_ = new_column;
  full_ = false;
  // A lower window loses lines below the cursor, empty ones first.
  while (lines_.size() > row_ + 1 && lines_.back().cells.empty()) lines_.pop_back();
  lines_.resize(std::min(lines_.size(), row_ + static_cast<std::size_t>(rows)));
}

std::vector<std::string> ScreenModel::all() const {
  std::vector<std::string> texts;
  for (const auto& line : lines_) {
    std::string text;
    for (const auto& cell : line.cells) text += cell.text;
    text.erase(text.find_last_not_of(' ') + 1);
    texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> ScreenModel::window() const {
  auto texts = all();
  texts.erase(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(top()));
  return texts;
}

}  // namespace pushdown
