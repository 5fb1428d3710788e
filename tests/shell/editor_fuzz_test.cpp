// Random keys in the editor. After each one, what it has written to a terminal must look as if the
// entry had been written there plainly.
#include <gtest/gtest.h>
#include <utf8proc.h>

#include <chrono>
#include <climits>
#include <cstdio>
#include <random>

#include "bindings/shell/editor/entry_editor.h"
#include "bindings/shell/editor/screen.h"
#include "shell/screen_model.h"

namespace pushdown::editor_fuzz_test {
namespace {

using Action = EntryEditor::Action;

Completion complete(std::string_view text) {
  if (text.size() % 3 == 0) return {};
  if (text.size() % 3 == 1) return {text.size(), {"one"}, "("};
  return {text.size(), {"first", "first_second"}, ""};
}

bool is_incomplete(const std::string& text) { return text.ends_with("+"); }

// Writes the line to a terminal. Returns where the character at `cursor` is, if it is in the line.
std::pair<std::size_t, int> write_plainly(ScreenModel& model, std::string_view line,
                                          std::size_t cursor, int columns) {
  std::pair<std::size_t, int> place{0, 0};
  bool base = false;     // something that a combining character can belong to
  bool unknown = false;  // "?" for a character that is too wide
  int column = 0;        // for tabs
  for (std::size_t i = 0; i < line.size();) {
    utf8proc_int32_t point = 0;
    const auto size = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(&line[i]),
                                       static_cast<utf8proc_ssize_t>(line.size() - i), &point);
    std::string text(line.substr(i, size > 0 ? static_cast<std::size_t>(size) : 1));
    int width = size > 0 ? utf8proc_charwidth(point) : 0;
    const int usual = width;
    const auto kind = size > 0 ? utf8proc_get_property(point)->boundclass : 0;
    const bool joins =
        width == 0 && (kind == UTF8PROC_BOUNDCLASS_EXTEND || kind == UTF8PROC_BOUNDCLASS_ZWJ);
    if (joins && unknown && i == cursor) place = {model.row(), model.column()};
    if (joins && unknown) {  // belongs to what is not shown
      i += text.size();
      continue;
    }
    const bool combines = joins && base;
    unknown = width > columns;
    char number[16] = "?";
    if (size <= 0) std::snprintf(number, sizeof number, "\\%03d", line[i] & 0xFF);
    if (size > 0 && width == 0 && !combines)
      std::snprintf(number, sizeof number, point < 0xA0 ? "\\%03d" : "\\u{%X}",
                    static_cast<unsigned>(point));
    const auto bytes = text.size();
    if (line[i] == '\t') {
      text.assign(static_cast<std::size_t>(8 - column % 8), ' ');
      width = 1;
    } else if (width > columns || (width == 0 && !combines)) {
      text = number;
      width = 1;
    }
    base = size > 0 && line[i] != '\t' && (combines || text.size() == bytes);
    const bool here = i == cursor;
    model.write(text.substr(0, here && width == 1 && text.size() != bytes ? 1 : text.size()));
    if (here)
      place = {model.row(), model.column() - (model.full() && width > 0 ? width - 1 : width)};
    if (here && width == 1 && text.size() != bytes) model.write(text.substr(1));
    column += usual > 0 ? usual : combines ? 0 : static_cast<int>(text.size());
    if (cursor > i && cursor < i + bytes) place = {model.row(), model.column()};
    i += bytes;
  }
  if (cursor == line.size()) place = {model.row(), model.column()};
  return place;
}

std::string printable(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    char number[8];
    std::snprintf(number, sizeof number, "\\%03o", c & 0xFF);
    result += c < ' ' || c == 127 ? number : std::string(1, c);
  }
  return result + "'";
}

class Fuzz {
 public:
  explicit Fuzz(unsigned seed)
      : random_(seed),
        history_(""),
        editor_({complete, is_incomplete}, history_, true),
        screen_(true),
        columns_(1 + pick(90)),
        rows_(1 + pick(30)),
        model_(columns_, rows_) {
    for (const char* entry : {"print 'a'", "for i = 1, 2 do\n\tf(i)\nend", "x = 漢字 + 1"})
      history_.add(entry);
    for (unsigned i = 0; i < pick(40); ++i) model_.write("above\r\n");
    begin();
  }

  void step() {
    if (pick(50) == 0) return resize();
    const auto bytes = editor_.text().size() > 2000 ? "\003" : random_keys();
    last_ = bytes;
    for (const char byte : bytes)
      for (const auto& key : reader_.take(byte)) take(key);
    if (pick(3) != 0) check();  // as when there is more to read
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

  std::string random_keys() {
    static const char* const kTexts[] = {
        "a",      "b",      "x = 1", " ",     "(",        ")",        "[",   "]",  "{", "'",
        "\"",     "--",     "+",     "print", "é",        "e\u0301",  "漢",  "字", "👍", "👩\u200D🚀",
        "\u0301", "\u200D", "\xff",  "\xc3",  "\xe6\xbc", "function", "end", ".."};
    static const char* const kKeys[] = {
        "\033[A",    "\033[B", "\033[C",  "\033[D",    "\033[H",    "\033[F",
        "\033OA",    "\033OH", "\033[3~", "\033[1;5C", "\033[1;5D", "\033[1;3A",
        "\033[1;5B", "\033b",  "\033f",   "\033d",     "\033\x7f",  "\033\r",
        "\x7f",      "\r",     "\n",      "\033[[A",   "\033[200",  "\033",
        "\033[",     "\x12",   "\x1f",    "\x0b",      "\x15",      "\x19",
        "\x0c",      "\x10",   "\x0e",    "\t",        "\x01",      "\x05"};
    switch (pick(8)) {
      case 0: return std::string(1, static_cast<char>(pick(32)));
      case 1: return std::string(1, static_cast<char>(pick(256)));
      case 2: {
        std::string text = "\033[200~";
        for (unsigned i = pick(12); i > 0; --i)
          text += pick(3) == 0   ? "\r\n"
                  : pick(4) == 0 ? std::string(1, static_cast<char>(pick(32)))
                                 : kTexts[pick(std::size(kTexts))];
        return text + (pick(10) == 0 ? "\003" : "\t1\033[201~");
      }
      case 3:
      case 4: return kKeys[pick(std::size(kKeys))];
      default: return kTexts[pick(std::size(kTexts))];
    }
  }

  void begin() {
    editor_.start();
    anew();
  }

  void anew() {
    begin_ = model_.row();
    model_.write(screen_.draw_anew(frame(), 0));
    check();
  }

  Frame frame() const { return layout(editor_.view(), {columns_, rows_}); }

  void leave(const std::string& ending, int rows) {
    model_.write(screen_.leave(layout(editor_.last_view(), {columns_, rows}), ending));
    ASSERT_EQ(model_.column(), 0);
  }

  void take(const Key& key) {
    switch (editor_.take(key)) {
      case Action::draw: return;
      case Action::submit: {
        leave("", INT_MAX);
        const auto expected = plain(editor_.last_view()).first;
        auto shown = model_.all();
        ASSERT_GE(model_.row(), expected.size());
        const auto end = shown.begin() + static_cast<std::ptrdiff_t>(model_.row());
        shown = {end - static_cast<std::ptrdiff_t>(expected.size()), end};
        ASSERT_EQ(shown, expected);
        if (!editor_.text().empty()) history_.add(editor_.text());
        return begin();
      }
      case Action::interrupt: leave("^C", rows_); return begin();
      case Action::end: leave("", rows_); return begin();
      case Action::suspend: leave("", rows_); return anew();
      case Action::list:
        leave("", rows_);
        model_.write("above\r\n");
        return anew();
      case Action::clear_window: model_.write("\033[H\033[2J"); return anew();
    }
  }

  void resize() {
    check();
    columns_ = static_cast<int>(1 + pick(90));
    rows_ = static_cast<int>(1 + pick(30));
    model_.resize(columns_, rows_);
    const auto next = frame();
    model_.write(screen_.draw_anew(next, next.row));
    begin_ = model_.row() - next.row;
    check();
  }

  // Returns how the rows look, and where the cursor is.
  std::pair<std::vector<std::string>, std::pair<std::size_t, int>> plain(const View& view) const {
    ScreenModel model(columns_, INT_MAX);
    std::pair<std::size_t, int> cursor;
    for (std::size_t begin = 0; begin <= view.text.size();) {
      const auto end = std::min(view.text.find('\n', begin), view.text.size());
      model.write(begin == 0 ? "pd> " : "\r\n... ");
      const bool here = view.cursor >= begin && view.cursor <= end;
      const std::string line(view.text.substr(begin, end - begin));
      const auto place =
          write_plainly(model, line, here ? view.cursor - begin : view.text.npos, columns_);
      if (here) cursor = place;
      begin = end + 1;
    }
    if (!view.suggestion.empty()) {
      const auto place = write_plainly(model, view.suggestion, 0, columns_);
      if (view.cursor == view.text.size()) cursor = place;
    }
    return {model.all(), cursor};
  }

  // Returns the row below the entry, if there is room.
  std::vector<std::string> plain_note(const View& view) const {
    if (view.note.empty() || rows_ == 1) return {};
    ScreenModel model(columns_, INT_MAX);
    write_plainly(model, view.note, view.note.size() + 1, columns_);
    return {model.all()[0]};
  }

  void check() {
    const auto next = frame();
    model_.write(screen_.draw(next));
    const auto view = editor_.view();
    const auto [expected, cursor] = plain(view);
    const auto all = model_.all();
    const auto note = plain_note(view);
    const auto count = std::min(expected.size(), static_cast<std::size_t>(rows_) - note.size());
    const auto about = [&, e = &expected, cursor_row = cursor.first] {
      std::string text = "columns " + std::to_string(columns_) + ", rows " + std::to_string(rows_) +
                         ", cursor " + std::to_string(view.cursor) + " of " + printable(view.text) +
                         ", shown at " + std::to_string(model_.row() - begin_) + ", expected at " +
                         std::to_string(cursor_row) + ", keys " + printable(last_) + "\nshown:\n";
      for (auto i = begin_; i < all.size(); ++i) text += "|" + all[i] + "\n";
      text += "expected:\n";
      for (const auto& line : *e) text += "|" + line + "\n";
      return text;
    };
    ASSERT_EQ(model_.unknown(), "") << about();
    std::size_t first = 0;
    if (expected.size() > count) first = cursor.first - (model_.row() - begin_);
    ASSERT_LE(first, expected.size() - count) << about();
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_LT(begin_ + i, all.size()) << about();
      ASSERT_EQ(all[begin_ + i], expected[first + i]) << "row " << i << about();
    }
    for (auto i = begin_ + count; i < all.size(); ++i)
      ASSERT_EQ(all[i], i - begin_ - count < note.size() ? note[i - begin_ - count] : "")
          << about();
    ASSERT_EQ(model_.row() - begin_, cursor.first - first) << about();
    ASSERT_EQ(model_.column(), cursor.second) << about();
  }

  std::mt19937 random_;
  History history_;
  EntryEditor editor_;
  KeyReader reader_;
  Screen screen_;
  int columns_, rows_;
  ScreenModel model_;
  std::size_t begin_ = 0;  // the row of the entry
  std::string last_;
};

// Returns the number of keys.
long fuzz(double seconds, unsigned seed) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  long keys = 0;
  for (; Clock::now() < end; ++seed) {
    Fuzz one(seed);
    for (int i = 0; i < 300; ++i, ++keys) {
      one.step();
      if (testing::Test::HasFatalFailure()) {
        ADD_FAILURE() << "seed " << seed << ", step " << i;
        return keys;
      }
    }
  }
  return keys;
}

TEST(EditorFuzz, ShowsWhatIsThere) { std::printf("  %ld keys\n", fuzz(3, 1)); }

TEST(EditorFuzzSlow, ShowsWhatIsThereForAMinute) { std::printf("  %ld keys\n", fuzz(60, 1000000)); }

}  // namespace
}  // namespace pushdown::editor_fuzz_test
