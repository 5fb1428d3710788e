// The part of a terminal that shows an entry.
#pragma once
#include <string>

#include "bindings/shell/editor/layout.h"

namespace pushdown {

// Each function returns what to write to the terminal.
class Screen {
 public:
  explicit Screen(bool colors) : colors_(colors) {}

  // Shows this frame by what differs from the one before.
  std::string draw(const Frame& frame);
  // Shows it when the terminal's cursor is `rows` below the first row and the rest is unknown.
  std::string draw_anew(const Frame& frame, std::size_t rows);
  // Shows a whole entry, also one that is higher than the window, moves behind it and forgets it.
  std::string leave(const Frame& whole, const std::string& ending);

  std::size_t row() const { return row_; }  // of the cursor

 private:
  void forget();
  void draw_row(const Frame& frame, std::size_t index);
  void write(const Cell* begin, const Cell* end);
  void move(std::size_t row, int column);
  bool same(const Cell& a, const Cell& b) const {
    return a.text == b.text && (!colors_ || a.style == b.style);
  }

  const bool colors_;
  std::string out_;
  std::vector<Row> shown_;
  bool cut_ = false;
  std::size_t row_ = 0, bottom_ = 0;  // of the cursor; the last one that the terminal has
  int column_ = 0;                    // the width of the window if the next character will wrap
};

}  // namespace pushdown
