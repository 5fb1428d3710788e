// A terminal that draws what programs write to it, for tests. It knows the control sequences that
// the editor and the live view use, and remembers the first one of others.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pushdown {

class ScreenModel {
 public:
  ScreenModel(int columns, int rows) : columns_(columns), rows_(rows) { lines_.resize(1); }

  void write(std::string_view text);
  // Joins the lines that were wrapped and wraps them anew, as most terminals do.
  void resize(int columns, int rows);

  // The lines of the window from the first one, without blanks at their ends.
  std::vector<std::string> window() const;
  // The same, after all lines that have left the window.
  std::vector<std::string> all() const;
  // The place of the cursor; the row counts from the beginning of all().
  std::size_t row() const { return row_; }
  int column() const { return column_; }
  bool full() const { return full_; }               // the next character wraps
  int wraps() const { return wraps_; }              // the characters that have begun another line
  std::string unknown() const { return unknown_; }  // the first control sequence that is not known

 private:
  struct Cell {
    std::string text = " ";
    int width = 1;  // 0 for the second half of a wide character
  };
  struct Line {
    std::vector<Cell> cells;
    bool wraps = false;
  };

  std::size_t top() const;
  void put(std::string_view character, int width);
  void feed();
  void control(const std::string& parameters, char last);
  void erase(Line& line, int from);

  int columns_, rows_;
  std::vector<Line> lines_;
  std::size_t row_ = 0;
  int column_ = 0, wraps_ = 0;
  bool full_ = false;
  std::string rest_;  // of an incomplete sequence or character
  std::string unknown_;
};

}  // namespace pushdown
