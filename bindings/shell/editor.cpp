#include "bindings/shell/editor.h"

#include <fcntl.h>
#include <histedit.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <filesystem>
#include <string_view>
#include <vector>

#include "bindings/binder/text.h"
#include "bindings/session/terminal.h"
#include "bindings/shell/interrupt.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

bool dumb_terminal() {
  const char* term = std::getenv("TERM");
  return !term || *term == '\0' || std::strcmp(term, "dumb") == 0 ||
         std::strcmp(term, "unknown") == 0;
}

// $XDG_STATE_HOME/pushdown/history, made if possible; empty if there is no place for it.
std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  fs::path folder;
  if (state && *state == '/')
    folder = state;
  else if (home && *home == '/')
    folder = fs::path(home) / ".local" / "state";
  else
    return "";
  std::error_code error;
  fs::create_directories(folder / "pushdown", error);
  fs::path file = folder / "pushdown" / "history";
  for (int links = 0; !error && links < 40 && fs::is_symlink(file, error); ++links)
    file = file.parent_path() / fs::read_symlink(file, error);
  const auto type = fs::status(file, error).type();
  // A link to /dev/null, say, asks for no history.
  const bool usable = type == fs::file_type::regular || type == fs::file_type::not_found;
  return usable ? file.string() : "";
}

constexpr int kHistorySize = 5000;

// The history file. Other prompts also add to it, one at a time, each after what the others have
// written. If another process holds the lock, the entries wait for the next one, so that the prompt
// does not. A full disk does not lose earlier entries.
class HistoryFile {
 public:
  void load(History* history_of_prompt) const {
    HistEvent event;
    if (!path_.empty()) history(history_of_prompt, &event, H_LOAD, path_.c_str());
  }

  void add(const std::string& entry) {
    if (path_.empty()) return;
    waiting_.push_back(entry);
    save();
  }

  // Other prompts hold the lock for milliseconds. A process that holds it for longer costs the
  // entries that wait.
  ~HistoryFile() {
    for (int tries = 0; tries < 100 && !waiting_.empty() && !save(); ++tries) ::usleep(10000);
  }

 private:
  // Returns false if another process holds the lock.
  bool save() {
    const int lock = ::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return true;
    // Not every file system has locks.
    const bool busy = ::flock(lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!busy) write();
    ::close(lock);
    return !busy;
  }

  void write() {
    History* all = history_init();
    HistEvent event;
    history(all, &event, H_SETSIZE, kHistorySize);
    history(all, &event, H_SETUNIQUE, 1);
    load(all);
    for (const auto& entry : waiting_) history(all, &event, H_ENTER, entry.c_str());
    waiting_.clear();
    const std::string made = path_ + ".tmp";
    if (std::FILE* file = std::fopen(made.c_str(), "we")) {
      bool whole = ::fchmod(::fileno(file), 0600) == 0 &&
                   history(all, &event, H_SAVE_FP, file) >= 0 && std::ferror(file) == 0;
      whole = std::fclose(file) == 0 && whole;
      if (!whole || std::rename(made.c_str(), path_.c_str()) != 0) ::unlink(made.c_str());
    }
    history_end(all);
  }

  const std::string path_ = history_file();
  std::vector<std::string> waiting_;
};

class PlainEditor : public Editor {
 public:
  PlainEditor() : terminal_(isatty(STDIN_FILENO) != 0) {}

  Reading read(const std::string& prompt) override {
    if (interactive()) std::fputs(prompt.c_str(), stdout);
    std::fflush(stdout);
    for (;;) {
      const auto end = buffer_.find('\n');
      if (end != buffer_.npos) {
        Reading reading{Event::line, buffer_.substr(0, end)};
        buffer_.erase(0, end + 1);
        if (reading.line.ends_with('\r')) reading.line.pop_back();
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

class LibeditEditor : public Editor {
 public:
  explicit LibeditEditor(Completer completer)
      : completer_(std::move(completer)), history_(history_init()) {
    edit_ = el_init("pushdown", stdin, stdout, stderr);
    el_set(edit_, EL_CLIENTDATA, this);
    el_set(edit_, EL_PROMPT_ESC, &LibeditEditor::prompt_of, '\1');
    el_set(edit_, EL_EDITOR, "emacs");
    el_set(edit_, EL_SIGNAL, 0);
    el_set(edit_, EL_GETCFN, &LibeditEditor::next_character);
    el_set(edit_, EL_ADDFN, "complete", "Complete the word", &LibeditEditor::on_tab);
    el_set(edit_, EL_BIND, "^I", "complete", nullptr);
    el_set(edit_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(edit_, EL_ADDFN, "paste", "Insert a pasted block", &LibeditEditor::on_paste);
    el_set(edit_, EL_BIND, "\\e[200~", "paste", nullptr);
    el_set(edit_, EL_BIND, "^@", "ed-ignore", nullptr);
    el_set(edit_, EL_BIND, "\\e[3~", "ed-delete-next-char", nullptr);
    el_set(edit_, EL_BIND, "\\e[H", "ed-move-to-beg", nullptr);
    el_set(edit_, EL_BIND, "\\e[F", "ed-move-to-end", nullptr);
    el_set(edit_, EL_BIND, "\\e[1;5C", "em-next-word", nullptr);
    el_set(edit_, EL_BIND, "\\e[1;5D", "ed-prev-word", nullptr);
    el_source(edit_, nullptr);
    // The command line of libedit must not read this: it crashes on an open quote.
    el_set(edit_, EL_BIND, "\\ex", "ed-unassigned", nullptr);
    el_set(edit_, EL_BIND, "-a", ":", "ed-unassigned", nullptr);
    HistEvent event;
    history(history_, &event, H_SETSIZE, kHistorySize);
    history(history_, &event, H_SETUNIQUE, 1);
    file_.load(history_);
    el_set(edit_, EL_HIST, history, history_);
  }

  ~LibeditEditor() override {
    history_end(history_);
    el_end(edit_);
  }

  Reading read(const std::string& prompt) override {
    if (too_narrow()) return plain_.read(without_colors(prompt));
    prompt_ = prompt;
    set_bracketed_paste(true);
    el_resize(edit_);
    // Before the prompt appears, so that every key has its meaning from then on.
    el_set(edit_, EL_PREP_TERM, 1);
    early_ = 0;
    ::ioctl(STDIN_FILENO, FIONREAD, &early_);
    int count = 0;
    errno = 0;
    const char* text = el_gets(edit_, &count);
    const int error = errno;
    set_bracketed_paste(false);
    if (text && count > 0) {
      std::string line(text, count);
      while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
      return {Event::line, line};
    }
    if (ending_signal() != 0) return {Event::end, ""};
    if (take_interrupt()) {
      std::fputs("^C\n", stdout);
      el_reset(edit_);
      return {Event::interrupted, ""};
    }
    if (text == nullptr && error == EILSEQ) {  // typed bytes that are not characters: drop the line
      std::fputs("\n", stdout);
      std::fputs("the line is not UTF-8\n", stderr);
      el_reset(edit_);
      return {Event::interrupted, ""};
    }
    std::fputs("\n", stdout);
    return {Event::end, ""};
  }

  void remember(const std::string& entry) override {
    HistEvent event;
    history(history_, &event, H_ENTER, entry.c_str());
    file_.add(entry);
  }

  bool interactive() const override { return true; }

 private:
  static constexpr int kNarrowest = 20;  // columns
  static constexpr char kCtrlD = 4;

  // In very narrow windows libedit writes beyond its copy of the screen.
  static bool too_narrow() {
    winsize size = {};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
           size.ws_col < kNarrowest;
  }

  static std::string without_colors(const std::string& prompt) {
    std::string text;
    bool shown = true;
    for (const char c : prompt)
      if (c == '\1')
        shown = !shown;
      else if (shown)
        text += c;
    return text;
  }

  static LibeditEditor* self(EditLine* edit) {
    void* data = nullptr;
    el_get(edit, EL_CLIENTDATA, &data);
    return static_cast<LibeditEditor*>(data);
  }

  // Reads one character in the encoding of the locale. Returns 1, 0 at the end, or -1 with the
  // reason in errno.
  static int next_character(EditLine* edit, wchar_t* character) {
    int& early = self(edit)->early_;
    std::mbstate_t state = {};
    for (;;) {
      char byte = 0;
      if (!wait_for_input(STDIN_FILENO)) {
        errno = EINTR;
        return -1;
      }
      const auto count = ::read(STDIN_FILENO, &byte, 1);
      if (count <= 0) return static_cast<int>(count);
      // A Ctrl-D that was typed while code ran is the end of the terminal's line, which arrives as
      // a zero byte.
      if (early > 0 && (--early, byte == 0)) byte = kCtrlD;
      const auto used = std::mbrtowc(character, &byte, 1, &state);
      if (used == static_cast<std::size_t>(-1)) return -1;  // EILSEQ
      if (used != static_cast<std::size_t>(-2)) return 1;
    }
  }

  static char* prompt_of(EditLine* edit) { return self(edit)->prompt_.data(); }

  static unsigned char on_tab(EditLine* edit, int) {
    const LineInfo* info = el_line(edit);
    const std::string line(info->buffer, info->cursor);
    // At the beginning of a line TAB indents.
    if (line.find_first_not_of(" \t") == line.npos) return el_insertstr(edit, "  "), CC_REFRESH;
    const auto completion = self(edit)->completer_(line);
    if (ending_signal() != 0) return CC_EOF;
    if (completion.candidates.empty()) return CC_REFRESH_BEEP;
    auto start = common_start(completion.candidates);
    if (completion.candidates.size() == 1) start += completion.ending;
    const auto typed = line.size() - completion.start;
    if (start.size() > typed) {
      el_insertstr(edit, start.c_str() + typed);
      return CC_REFRESH;
    }
    if (completion.candidates.size() == 1) return CC_REFRESH_BEEP;
    print_columns(completion.candidates);
    return CC_REDISPLAY;
  }

  // Asks the terminal to mark pasted text, so that a pasted block of lines is one entry.
  static void set_bracketed_paste(bool on) {
    std::fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
    std::fflush(stdout);
  }

  static unsigned char on_paste(EditLine* edit, int) {
    static constexpr std::wstring_view kEnd = L"\033[201~";
    std::wstring text;
    for (wchar_t c = 0; !text.ends_with(kEnd); text += c)
      if (el_wgetc(edit, &c) != 1) return CC_EOF;
    text.resize(text.size() - kEnd.size());
    std::wstring kept;
    for (const wchar_t c : text) {
      if (c == L'\r' || c == L'\n')
        kept += L'\n';
      else if (c >= 32 || c == L'\t')  // a tab may be inside a string
        kept += c;
    }
    while (kept.ends_with(L'\n')) kept.pop_back();
    if (!kept.empty() && el_winsertstr(edit, kept.c_str()) != 0) return CC_REFRESH_BEEP;
    return CC_REFRESH;
  }

  static void print_columns(const std::vector<std::string>& words) {
    const auto width = static_cast<std::size_t>(terminal_columns(STDOUT_FILENO));
    std::size_t longest = 0;
    for (const auto& word : words) longest = std::max(longest, word.size());
    const std::size_t columns = std::max<std::size_t>(1, width / (longest + 2));
    const std::size_t rows = (words.size() + columns - 1) / columns;
    std::fputs("\n", stdout);
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = row; i < words.size(); i += rows)
        std::printf("%-*s", static_cast<int>(longest + 2), without_controls(words[i]).c_str());
      std::fputs("\n", stdout);
    }
  }

  PlainEditor plain_;
  Completer completer_;
  EditLine* edit_;
  History* history_;
  HistoryFile file_;
  std::string prompt_;
  int early_ = 0;  // bytes to read that were typed before the line is edited
};

}  // namespace

bool use_color(int file) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(file) && !dumb_terminal() && !(no_color && *no_color);
}

std::unique_ptr<Editor> make_editor(Editor::Completer completer) {
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || dumb_terminal())
    return std::make_unique<PlainEditor>();
  // Characters of more than one byte need a UTF-8 locale. Numbers have a decimal point in every
  // locale.
  if (!std::setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1) std::setlocale(LC_CTYPE, "C.UTF-8");
  return std::make_unique<LibeditEditor>(std::move(completer));
}

}  // namespace pushdown
