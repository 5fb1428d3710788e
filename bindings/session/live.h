// The live view of the process: what is trained at the moment. On a terminal it is one block of
// lines that is drawn again in place, at most ten times a second, and removed at the end. Elsewhere
// it is a line for each epoch and model. All of it is on stderr, or in a notebook goes to a
// listener that shows one text and replaces it.
#pragma once
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "bindings/binder/registry_keys.h"
#include "bindings/session/live_text.h"

namespace pushdown {

void set_progress_listener(ProgressListener listener);  // null: none
bool has_listener();
void tell_listener(const std::string& text);

// Work that was done while earlier views of the same training were open, from which the time that
// is left is computed.
struct LivePace {
  double epochs = 0, seconds = 0;
};

class LiveView {
 public:
  enum class Style { silent, plain, terminal, listener };

  static LiveView& of_process();

  Style style() const { return style_; }
  // Returns whether the view stays open between the epochs of a training.
  bool stays() const { return staying_ > 0; }
  // Returns whether it is time to draw. Cheap, for calls after every update, from any thread.
  bool due() const { return Clock::now().time_since_epoch().count() >= next_.load(); }
  // Changes the row with this name, which is made if necessary, and draws the view if it is due.
  void change(const std::string& name, const std::function<void(LiveRow&)>& change);
  // Replaces everything that is shown.
  void show(LiveState state);
  // Sets the epochs of all models that the work has at most, instead of the sum over the rows. A
  // view within another one has no plan of its own.
  void plan(double epochs);
  // Notes that all the work is done: in a notebook, what remains of the view says so.
  void finish();
  void draw();
  // Writes a line above the block, or to stderr where no block is shown.
  void say(const std::string& text);
  void hide();

  // Hides the block as long as something else writes to the terminal.
  class Hidden {
   public:
    Hidden();
    ~Hidden();
    Hidden(const Hidden&) = delete;
    Hidden& operator=(const Hidden&) = delete;

   private:
    std::unique_lock<std::recursive_mutex> lock_;
    bool drawn_;
  };

 private:
  friend class LiveScope;
  using Clock = std::chrono::steady_clock;

  void open(bool shown, const std::string& title, LivePace* pace);
  void close();
  double work_done() const;
  void estimate();
  void draw_now();
  std::string erased(int columns) const;

  std::recursive_mutex mutex_;
  std::atomic<Style> style_{Style::silent};
  std::atomic<int> depth_{0}, staying_{0};
  std::atomic<Clock::rep> next_{0};
  LiveState state_;
  std::vector<double> begun_;  // epochs of a row that were done when it was added
  double planned_ = 0;
  bool given_ = false;     // the state is that of show()
  bool finished_ = false;  // all the work is done
  LivePace* pace_ = nullptr;
  Clock::time_point opened_;
  std::vector<std::string> drawn_;  // lines on the terminal
};

// Keeps the view open. Of nested scopes, the outermost one decides. `stays`: also between epochs.
class LiveScope {
 public:
  LiveScope(bool shown, bool stays, const std::string& title = "", LivePace* pace = nullptr);
  ~LiveScope();
  LiveScope(const LiveScope&) = delete;
  LiveScope& operator=(const LiveScope&) = delete;

 private:
  bool stays_;
};

}  // namespace pushdown
