// The progress of a long computation. On a terminal it is one line at the bottom, rewritten at most
// ten times a second and cleared at the end. Elsewhere it is a logged line every ten seconds. All
// of it goes to stderr, or in a notebook to a listener that shows one line and replaces it.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace pushdown {

struct ProgressState {
  std::string title;  // "epoch 3 of 200"
  std::int64_t done = 0, total = 0;
  std::string unit;  // "updates"
  std::string note;  // "loss 0.7312"
};

// Receives each new text. May be called from any thread.
using ProgressListener = void (*)(const char* text);
void set_progress_listener(ProgressListener listener);  // null: none
bool has_listener();
void tell_listener(const std::string& text);
// Returns whether stderr is a terminal in which the cursor can be moved.
bool has_error_terminal();

// Logs the results so far, one text per line, or passes them to the listener. Log files receive
// them in both cases.
void tell_progress(const std::string& level, const std::vector<std::string>& texts);

class ProgressLine {
 public:
  enum class Style { automatic, terminal, plain, silent, listener };

  explicit ProgressLine(Style style = Style::automatic);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // Cheap if it is too early to show anything. A new title restarts the clock.
  void show(const ProgressState& state);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Style style_;
  std::string title_;
  std::int64_t first_ = 0;  // items that were done before the clock started
  Clock::time_point start_, next_;
  bool visible_ = false;
};

// Returns "epoch 3 of 200 [====>    ] 345/1000 62.1/s 0:12 left  loss 0.73", at most `width`
// columns long. `seconds` have passed since `first` items were done.
std::string progress_text(const ProgressState& state, std::int64_t first, double seconds,
                          int width);

}  // namespace pushdown
