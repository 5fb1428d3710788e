#include "bindings/shell/editor.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "bindings/binder/text.h"
#include "bindings/session/terminal.h"
#include "bindings/shell/editor/screen.h"
#include "bindings/shell/interrupt.h"
#include "bindings/shell/terminal_mode.h"

namespace pushdown {
namespace {

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return !term || *term == '\0' || std::strcmp(term, "dumb") == 0 ||
         std::strcmp(term, "unknown") == 0;
}

class PlainEditor : public Editor {
 public:
  PlainEditor() : terminal_(isatty(STDIN_FILENO) != 0) {}

  Reading read(bool continues) override {
    if (interactive()) std::fputs((continues ? kNextPrompt : kFirstPrompt).data(), stdout);
    std::fflush(stdout);
    for (;;) {
      const auto end = buffer_.find('\n');
      if (end != buffer_.npos) {
        Reading reading{Event::text, buffer_.substr(0, end)};
        buffer_.erase(0, end + 1);
        if (reading.text.ends_with('\r')) reading.text.pop_back();
        return reading;
      }
      char chunk[4096];
      const bool ready = wait_for_input(STDIN_FILENO);
      const auto count = ready ? ::read(STDIN_FILENO, chunk, sizeof chunk) : -1;
      if (count > 0) {
        buffer_.append(chunk, count);
      } else if (!ready || (count < 0 && errno == EINTR)) {
        if (ending_signal() != 0) return {Event::end, ""};
        if (!take_interrupt()) continue;
        buffer_.clear();
        if (terminal_) std::fputs("\n", stdout);
        return {Event::interrupted, ""};
      } else if (buffer_.empty()) {
        if (interactive()) std::fputs("\n", stdout);
        return {Event::end, ""};
      } else {
        buffer_ += '\n';  // the last line lacks its newline
      }
    }
  }

  bool interactive() const override { return terminal_ && isatty(STDOUT_FILENO) != 0; }

 private:
  bool terminal_;
  std::string buffer_;
};

// Returns the words in columns that fill the lines of a window.
std::string in_columns(const std::vector<std::string>& words, int width) {
  std::vector<std::string> shown;
  std::size_t longest = 0;
  for (const auto& word : words) {
    shown.push_back(without_controls(word, true));
    longest = std::max(longest, count_columns(shown.back()) + 2);
  }
  const auto columns = std::max<std::size_t>(1, static_cast<std::size_t>(width) / longest);
  const auto rows = (words.size() + columns - 1) / columns;
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = row; i < words.size(); i += rows) {
      text += shown[i];
      if (i + rows < words.size()) text.append(longest - count_columns(shown[i]), ' ');
    }
    text += "\r\n";
  }
  return text;
}

// Connects the editor of entries with the terminal.
class TerminalEditor : public Editor {
 public:
  explicit TerminalEditor(Helpers helpers)
      : history_(history_path()),
        editor_({[complete = std::move(helpers.complete)](auto text) {
                   // Ctrl-C ends it.
                   set_terminal(TerminalMode::quiet);
                   auto found = complete(text);
                   set_terminal(TerminalMode::editing);
                   return found;
                 },
                 std::move(helpers.is_incomplete)},
                history_, use_color(STDOUT_FILENO)),
        screen_(use_color(STDOUT_FILENO)) {
    keep_terminal();
    set_terminal(TerminalMode::quiet);
    ::ioctl(STDIN_FILENO, FIONREAD, &early_);
    // A function that reads a line must leave the next ones, which may be entries.
    std::setvbuf(stdin, nullptr, _IONBF, 0);
  }
  ~TerminalEditor() override { set_terminal(TerminalMode::found); }

  Reading read(bool) override {
    std::fflush(stdout);
    set_terminal(TerminalMode::editing);
    editor_.start();
    // If there is text in this line, the blanks reach the next one, where the prompt begins.
    draw_anew(std::string(interrupted_ ? 0 : window().columns, ' '));
    interrupted_ = false;
    for (bool drawn = true;;) {
      if (!wait_for_input(STDIN_FILENO)) {
        if (ending_signal() != 0) return leave(Event::end);
        if (take_interrupt()) return leave(Event::interrupted);
        const auto change = take_terminal_change();
        if (change == TerminalChange::resized) draw();
        if (change == TerminalChange::continued) draw_anew();
        continue;
      }
      char bytes[8];
      const auto count = ::read(STDIN_FILENO, bytes, std::min(keys_.missing(), sizeof bytes));
      if (count == 0 || (count < 0 && errno != EINTR)) return leave(Event::end);
      for (ssize_t i = 0; i < count; ++i) {
        for (const auto& key : keys_.take(early(bytes[i]))) {
          drawn = false;
          if (const auto event = take(key)) return leave(*event);
        }
      }
      int waiting = 0;
      if (drawn || (::ioctl(STDIN_FILENO, FIONREAD, &waiting) == 0 && waiting > 0)) continue;
      draw();
      drawn = true;
    }
  }

  void remember(const std::string& entry) override { history_.add(entry); }
  bool interactive() const override { return true; }

 private:
  static Size window() {
    winsize size{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return {known && size.ws_col > 0 ? size.ws_col : 80,
            known && size.ws_row > 0 ? size.ws_row : 24};
  }

  static void show(std::string_view text) {
    while (!text.empty()) {
      const auto count = ::write(STDOUT_FILENO, text.data(), text.size());
      if (count < 0 && errno != EINTR) return;
      text.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    }
  }

  // A Ctrl-D that was typed before the first prompt ended a line of the terminal, and arrives as a
  // zero byte.
  char early(char byte) { return early_ > 0 && (--early_, byte == 0) ? '\4' : byte; }

  // Returns how the entry ends, if this key ends it.
  std::optional<Event> take(const Key& key) {
    using Action = EntryEditor::Action;
    switch (editor_.take(key)) {
      case Action::draw: break;
      case Action::submit: return Event::text;
      case Action::interrupt: return Event::interrupted;
      case Action::end: return Event::end;
      case Action::clear_window: draw_anew("\033[H\033[2J"); break;
      case Action::list:
        show(screen_.leave(layout(editor_.last_view(), window()), ""));
        draw_anew(in_columns(editor_.candidates(), window().columns));
        break;
      case Action::suspend:
        show(screen_.leave(layout(editor_.last_view(), window()), ""));
        ::kill(0, SIGTSTP);
        take_terminal_change();
        draw_anew();
        break;
    }
    return {};
  }

  void draw() {
    const auto size = window();
    const auto frame = layout(editor_.view(), size);
    // In most terminals the rows of a line have joined and wrapped anew, as in the new frame.
    show(size == size_ ? screen_.draw(frame) : screen_.draw_anew(frame, frame.row));
    size_ = size;
  }

  // Draws at the beginning of the line that the cursor is in, after this text.
  void draw_anew(const std::string& before = "") {
    size_ = window();
    show(before + screen_.draw_anew(layout(editor_.view(), size_), 0));
  }

  Reading leave(Event event) {
    interrupted_ = event == Event::interrupted;
    // What was too high for the window is shown whole if it runs.
    const Size size{window().columns, event == Event::text ? INT_MAX : window().rows};
    show(screen_.leave(layout(editor_.last_view(), size), interrupted_ ? "^C" : ""));
    set_terminal(TerminalMode::quiet);
    return {event, event == Event::text ? editor_.text() : ""};
  }

  History history_;
  EntryEditor editor_;
  KeyReader keys_;
  Screen screen_;
  Size size_{};               // of the window when it was drawn
  int early_ = 0;             // bytes to read that were typed before the first prompt
  bool interrupted_ = false;  // so the cursor is at the beginning of a line
};

}  // namespace

bool use_color(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) && !dumb_terminal() && !(no_color && *no_color);
}

std::unique_ptr<Editor> make_editor(Editor::Helpers helpers) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || dumb_terminal())
    return std::make_unique<PlainEditor>();
  return std::make_unique<TerminalEditor>(std::move(helpers));
}

}  // namespace pushdown
