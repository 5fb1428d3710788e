#include "bindings/shell/editor/layout.h"

#include <algorithm>

#include "bindings/shell/editor/glyph.h"

namespace pushdown {
namespace {

// Writes characters into rows, and keeps the rows from `first` on, at most `most`.
class Pen {
 public:
  Pen(int columns, std::size_t first, std::size_t most)
      : columns_(columns), first_(first), most_(most) {
    frame.columns = columns;
    begin_row();
  }

  // Writes a line with the cursor at this place, if it is in it.
  void write(std::string_view line, Style style, const Style* styles = nullptr,
             std::size_t cursor = std::string_view::npos) {
    int column = 0;
    for (std::size_t i = 0; i < line.size();) {
      auto [end, width, shown] = glyph_at(line, i, column);
      const bool escape = !shown.empty() && line[i] != '\t';
      const auto look = escape ? Style::escape : styles ? styles[i] : style;
      if (width > columns_ && shown.empty()) shown = "?";
      if (i == cursor) reserve(shown.empty() ? width : 1), set_cursor();
      if (shown.empty()) put(line.substr(i, end - i), width, look);
      for (const char c : shown) put({&c, 1}, 1, look);
      if (i < cursor && cursor < end) set_cursor();  // a combining character was already there
      column += width;
      i = end;
    }
    if (cursor == line.size()) set_cursor();
  }

  void end_line() {
    ++row_;
    begin_row();
  }

  std::size_t count() const { return row_ + 1; }
  Frame frame;  // its row counts from the beginning of the entry

 private:
  bool kept() const { return row_ >= first_ && row_ - first_ < most_; }
  void begin_row() {
    column_ = 0;
    if (kept()) frame.rows.emplace_back();
  }
  // Goes to the next row if this one has no room.
  void reserve(int width) {
    if (column_ + width <= columns_) return;
    if (kept()) frame.rows.back().wraps = true;
    end_line();
  }
  void put(std::string_view bytes, int width, Style style) {
    reserve(width);
    if (kept()) frame.rows.back().cells.push_back({std::string(bytes), width, style});
    column_ += width;
  }
  void set_cursor() {
    frame.row = row_;
    frame.column = std::min(column_, columns_ - 1);
  }

  const int columns_;
  const std::size_t first_, most_;
  std::size_t row_ = 0;
  int column_ = 0;
};

void write(Pen& pen, const View& view, const std::vector<Style>& styles) {
  std::string_view prompt = kFirstPrompt;
  for (std::size_t begin = 0; begin <= view.text.size();) {
    const auto end = std::min(view.text.find('\n', begin), view.text.size());
    const bool cursor = view.cursor >= begin && view.cursor <= end;
    pen.write(prompt, Style::prompt);
    pen.write(view.text.substr(begin, end - begin), Style::plain, styles.data() + begin,
              cursor ? view.cursor - begin : view.text.npos);
    if (end < view.text.size()) pen.end_line();
    prompt = kNextPrompt;
    begin = end + 1;
  }
  if (!view.suggestion.empty()) pen.write(view.suggestion, Style::suggestion, nullptr, 0);
}

}  // namespace

int Row::width() const {
  int width = 0;
  for (const auto& cell : cells) width += cell.width;
  return width;
}

Frame layout(const View& view, Size window) {
  const auto styles = styles_of(view.text, view.cursor);
  const bool noted = !view.note.empty() && window.rows > 1;
  const auto height = static_cast<std::size_t>(window.rows - (noted ? 1 : 0));
  Pen all(window.columns, 0, height);
  write(all, view, styles);
  auto frame = std::move(all.frame);
  if (all.count() > height) {
    const auto wanted = frame.row - std::min(frame.row, height / 2);
    const auto first = std::min(wanted, all.count() - height);
    Pen part(window.columns, first, height);
    write(part, view, styles);
    frame = std::move(part.frame);
    frame.row -= first;
    frame.cut = true;
  }
  if (!noted) return frame;
  Pen note(window.columns, 0, 1);
  note.write(view.note, Style::plain);
  frame.rows.push_back(note.frame.rows[0]);
  return frame;
}

}  // namespace pushdown
