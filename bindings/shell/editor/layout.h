// The rows of a window that show an entry.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/editor/style.h"

namespace pushdown {

// What there is to see.
struct View {
  std::string_view text;
  std::size_t cursor = 0;
  std::string suggestion;  // behind the text
  std::string note;        // in the row below, if there is room
};

struct Cell {
  std::string text;
  int width;
  Style style;
  bool operator==(const Cell&) const = default;
};

struct Row {
  std::vector<Cell> cells;
  bool wraps = false;  // its line continues in the next row
  int width() const;
};

struct Frame {
  std::vector<Row> rows;
  std::size_t row = 0;  // of the cursor
  int column = 0;       // that of the last character if the next one will be in another row
  int columns = 0;      // of the window
  bool cut = false;     // the window is too low for all rows
};

struct Size {
  int columns, rows;
  bool operator==(const Size&) const = default;
};

constexpr std::string_view kFirstPrompt = "pd> ", kNextPrompt = "... ";

// Returns the rows around the cursor that fit into the window.
Frame layout(const View& view, Size window);

}  // namespace pushdown
