#include "bindings/session/progress.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "bindings/binder/text.h"
#include "bindings/session/live_text.h"
#include "bindings/session/log.h"
#include "bindings/session/terminal.h"

namespace pushdown {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr auto kListenerPause = std::chrono::milliseconds(250);
constexpr auto kPlainLine = std::chrono::seconds(10);
constexpr int kShortestBar = 10, kLongestBar = 40;

// Width of a line for a listener.
constexpr int kListenerWidth = 100;

ProgressListener the_listener = nullptr;

std::string speed_text(const ProgressState& state, std::int64_t first, double seconds,
                       const std::string& unit) {
  const auto items = static_cast<double>(state.done - first);
  if (items <= 0 || seconds <= 0) return "";
  const double rate = items / seconds;
  return fmt::format("{:.{}f}{}/s, {} left", rate, rate < 10 ? 2 : 0, unit,
                     duration_text(static_cast<double>(state.total - state.done) / rate));
}

void write_error(const std::string& text) {
  // A terminal that refuses the line is not worth an error.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

std::string progress_text(const ProgressState& state, std::int64_t first, double seconds,
                          int width) {
  const std::string left = state.title + " ";
  const auto right = fmt::format(" {}/{} {}  {}", state.done, state.total,
                                 speed_text(state, first, seconds, ""), state.note);
  // The last column stays free, because some terminals wrap when it is written.
  const int room = width - 1 - static_cast<int>(left.size() + right.size()) - 2;
  std::string bar;
  if (room >= kShortestBar) {
    const int length = std::min(room, kLongestBar);
    const auto filled =
        state.total > 0 ? static_cast<int>(length * state.done / state.total) : length;
    bar = "[" + std::string(filled, '=') + std::string(length - filled, ' ') + "]";
  }
  return (left + bar + right).substr(0, std::max(width - 1, 0));
}

void set_progress_listener(ProgressListener listener) { the_listener = listener; }
bool has_listener() { return the_listener != nullptr; }
void tell_listener(const std::string& text) { the_listener(text.c_str()); }

bool has_error_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

void tell_progress(const std::string& level, const std::vector<std::string>& texts) {
  if (!the_listener) {
    for (const auto& text : texts) log_message(level, text);
    return;
  }
  for (const auto& text : texts) log_to_files(level, text);
  if (is_logged(level)) the_listener(fmt::format("{}", fmt::join(texts, "\n")).c_str());
}

ProgressLine::ProgressLine(Style style) : style_(style) {
  if (style_ != Style::automatic) return;
  style_ = the_listener ? Style::listener : has_error_terminal() ? Style::terminal : Style::plain;
}

void ProgressLine::show(const ProgressState& state) {
  if (style_ == Style::silent) return;
  const auto now = Clock::now();
  if (state.title != title_) {
    title_ = state.title;
    first_ = state.done;
    start_ = now;
    next_ = now + (style_ == Style::plain ? Clock::duration(kPlainLine) : Clock::duration(kRedraw));
    return;
  }
  if (now < next_) return;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  if (style_ == Style::terminal) {
    next_ = now + kRedraw;
    visible_ = true;
    write_error(
        "\r" +
        without_controls(progress_text(state, first_, seconds, terminal_columns(STDERR_FILENO))) +
        "\x1b[K");
  } else if (style_ == Style::listener) {
    next_ = now + kListenerPause;
    the_listener(progress_text(state, first_, seconds, kListenerWidth).c_str());
  } else {
    next_ = now + kPlainLine;
    log_message("info",
                fmt::format("{}: {} of {} {}, {}, {}", state.title, state.done, state.total,
                            state.unit, speed_text(state, first_, seconds, ""), state.note));
  }
}

void ProgressLine::clear() {
  if (visible_) write_error("\r\x1b[K");
  visible_ = false;
}

}  // namespace pushdown
