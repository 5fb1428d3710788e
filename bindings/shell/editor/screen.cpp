#include "bindings/shell/editor/screen.h"

#include <algorithm>
#include <utility>

namespace pushdown {
namespace {

std::string control(std::size_t count, char last) {
  return count == 0 ? "" : "\033[" + (count == 1 ? "" : std::to_string(count)) + last;
}

int width_of(const Cell* begin, const Cell* end) {
  int width = 0;
  for (; begin < end; ++begin) width += begin->width;
  return width;
}

}  // namespace

std::string Screen::draw(const Frame& frame) {
  for (std::size_t r = 0; r < frame.rows.size(); ++r) draw_row(frame, r);
  if (frame.rows.size() < shown_.size() && frame.rows.size() <= bottom_) {
    move(frame.rows.size(), 0);
    out_ += "\033[J";
  }
  if (row_ != frame.row || std::min(column_, frame.columns - 1) != frame.column)
    move(frame.row, frame.column);
  shown_ = frame.rows;
  cut_ = frame.cut;
  return std::exchange(out_, "");
}

std::string Screen::draw_anew(const Frame& frame, std::size_t rows) {
  out_ = control(rows, 'A') + "\r\033[J";
  forget();
  return draw(frame);
}

std::string Screen::leave(const Frame& whole, const std::string& ending) {
  auto text = cut_ ? draw_anew(whole, row_) : draw(whole);
  move(whole.rows.size() - 1, whole.rows.back().width());
  text += std::exchange(out_, "") + ending + "\r\n";
  forget();
  return text;
}

void Screen::forget() {
  shown_.clear();
  cut_ = false;
  row_ = bottom_ = 0;
  column_ = 0;
}

void Screen::draw_row(const Frame& frame, std::size_t index) {
  static const Row kNone;
  const auto& old = (index < shown_.size() ? shown_[index] : kNone).cells;
  const auto& row = frame.rows[index].cells;
  std::size_t begin = 0, end = row.size(), old_end = old.size();
  while (begin < end && begin < old_end && same(row[begin], old[begin])) ++begin;
  const int width = frame.rows[index].width(),
            old_width = width_of(old.data(), old.data() + old_end);
  while (width == old_width && end > begin && old_end > begin &&
         same(row[end - 1], old[old_end - 1]))
    --end, --old_end;
  if (begin == end && width >= old_width) return;
  // A line that wraps goes on without a movement, so that the terminal knows it as one line.
  const bool wraps = begin == 0 && begin < end && index > 0 && row_ == index - 1 &&
                     column_ == frame.columns && frame.rows[row_].wraps;
  if (wraps) {
    bottom_ = std::max(bottom_, ++row_);
    column_ = 0;
  } else {
    move(index, width_of(row.data(), row.data() + begin));
  }
  write(row.data() + begin, row.data() + end);
  if (width < old_width) out_ += "\033[K";
}

void Screen::write(const Cell* begin, const Cell* end) {
  auto style = Style::plain;
  for (; begin < end; ++begin) {
    if (colors_ && begin->style != style) {
      if (style != Style::plain) out_ += "\033[0m";
      out_ += sequence_of(style = begin->style);
    }
    out_ += begin->text;
    column_ += begin->width;
  }
  if (style != Style::plain) out_ += "\033[0m";
}

void Screen::move(std::size_t row, int column) {
  if (row == row_ && column == column_) return;
  if (row < row_) out_ += control(row_ - row, 'A');
  if (row > row_ && row_ < bottom_) out_ += control(std::min(row, bottom_) - row_, 'B');
  for (; bottom_ < row; ++bottom_) out_ += "\r\n";
  out_ += "\r" + control(static_cast<std::size_t>(column), 'C');
  row_ = row;
  column_ = column;
}

}  // namespace pushdown
