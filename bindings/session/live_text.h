// The text of a live view: a block of lines for a terminal, from the state of the trainings in it.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pushdown {

struct LiveRow {
  enum class State { running, finished, left_out, failed };

  std::string name;
  std::int64_t epoch = 0, epochs = 0;  // done, and at most; 0: unknown
  double part = 0;                     // of the next epoch
  std::string best;                    // "0.3920  +0.0019"
  std::int64_t best_epoch = 0;
  double value = std::numeric_limits<double>::quiet_NaN();  // of the best epoch; lower is better
  std::string speed;                                        // "1411/s"
  std::vector<double> curve;                                // the value of each epoch
  State state = State::running;
  std::string note;  // "left out after epoch 4"
};

struct LiveState {
  std::string title;
  std::vector<LiveRow> rows;
  std::optional<double> fraction;      // of all the work
  std::optional<double> seconds_left;  // of all the work
};

struct LiveLine {
  std::string text;
  bool faint = false;
};

// Returns at most `height` lines of less than `width` columns: a line for all, and one for each
// row. If the rows are too many, the best ones, and a line with the number of the others.
// `unicode`: whether the terminal shows curves of block characters.
std::vector<LiveLine> live_lines(const LiveState& state, int width, int height, bool unicode);

// Returns the values as block characters, at most `width` of them, each the mean of its part.
std::string sparkline(const std::vector<double>& values, int width);

// Returns "0:08" or "1:02:03".
std::string duration_text(double seconds);

}  // namespace pushdown
