#include "bindings/session/live.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bindings/binder/text.h"
#include "bindings/session/log.h"
#include "bindings/session/terminal.h"

namespace pushdown {
namespace {

constexpr auto kViewRedraw = std::chrono::milliseconds(100);
constexpr auto kViewPause = std::chrono::milliseconds(250);
// Without a terminal, an epoch that takes longer has lines about its progress.
constexpr auto kViewLine = std::chrono::seconds(60);
constexpr int kViewWidth = 100, kViewHeight = 40;

ProgressListener the_listener = nullptr;

void write_view(const std::string& text) {
  // A terminal that refuses the text is not worth an error.
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

// Returns whether stderr is a terminal in which the cursor can be moved.
bool has_error_terminal() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && term != nullptr && std::string_view(term) != "dumb";
}

bool unicode_terminal() {
  static const bool unicode = utf8_locale();
  return unicode;
}

}  // namespace

void set_progress_listener(ProgressListener listener) { the_listener = listener; }
bool has_listener() { return the_listener != nullptr; }
void tell_listener(const std::string& text) { the_listener(text.c_str()); }

LiveView& LiveView::of_process() {
  static LiveView view;
  return view;
}

void LiveView::open(bool shown, const std::string& title, LivePace* pace) {
  const std::lock_guard lock(mutex_);
  if (depth_++ > 0) return;
  style_ = !shown                 ? Style::silent
           : has_listener()       ? Style::listener
           : has_error_terminal() ? Style::terminal
                                  : Style::plain;
  state_ = {title, {}, std::nullopt, std::nullopt};
  begun_.clear();
  planned_ = 0;
  given_ = finished_ = false;
  pace_ = pace;
  opened_ = Clock::now();
  next_ = style_ == Style::silent  ? std::numeric_limits<Clock::rep>::max()
          : style_ == Style::plain ? (opened_ + kViewLine).time_since_epoch().count()
                                   : opened_.time_since_epoch().count();
}

void LiveView::close() {
  const std::lock_guard lock(mutex_);
  if (--depth_ > 0) return;
  hide();
  // The listener keeps what it was shown last.
  if (style_ == Style::listener && finished_) draw();
  if (pace_ != nullptr) {
    double before = 0;
    for (const double epochs : begun_) before += epochs;
    pace_->epochs += work_done() - before;
    pace_->seconds += std::chrono::duration<double>(Clock::now() - opened_).count();
  }
  pace_ = nullptr;
  style_ = Style::silent;
  next_ = std::numeric_limits<Clock::rep>::max();
}

double LiveView::work_done() const {
  double done = 0;
  for (const auto& row : state_.rows) done += static_cast<double>(row.epoch) + row.part;
  return done;
}

// The share of the work that is done, and the time that the rest takes at the speed so far.
void LiveView::estimate() {
  if (given_) return;
  if (finished_) {
    state_.fraction = 1;
    state_.seconds_left.reset();
    return;
  }
  double total = 0, before = 0;
  for (const auto& row : state_.rows)
    total += static_cast<double>(row.state == LiveRow::State::running ? row.epochs : row.epoch);
  for (const double epochs : begun_) before += epochs;
  if (planned_ > 0) total = planned_;
  const double done = work_done();
  if (total <= 0) return;
  state_.fraction = std::min(done / total, 1.0);
  double worked = done - before;
  double seconds = std::chrono::duration<double>(Clock::now() - opened_).count();
  if (pace_ != nullptr) worked += pace_->epochs, seconds += pace_->seconds;
  state_.seconds_left.reset();
  if (worked > 0 && seconds > 0.5)
    state_.seconds_left = std::max(total - done, 0.0) * seconds / worked;
}

void LiveView::change(const std::string& name, const std::function<void(LiveRow&)>& change) {
  if (style_ == Style::silent) return;
  const std::lock_guard lock(mutex_);
  const bool titled = !state_.title.empty() && name.starts_with(state_.title + " ");
  const std::string own =
      without_controls(titled ? name.substr(state_.title.size() + 1) : name, true);
  auto found = std::find_if(state_.rows.begin(), state_.rows.end(),
                            [&](const LiveRow& row) { return row.name == own; });
  const bool is_new = found == state_.rows.end();
  if (is_new) {
    state_.rows.emplace_back().name = own;
    found = state_.rows.end() - 1;
  }
  change(*found);
  if (is_new) begun_.push_back(static_cast<double>(found->epoch) + found->part);
  if (due()) draw();
}

void LiveView::show(LiveState state) {
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  given_ = true;
  if (due()) draw();
}

void LiveView::plan(double epochs) {
  const std::lock_guard lock(mutex_);
  if (depth_ == 1) planned_ = epochs;
}

void LiveView::finish() {
  const std::lock_guard lock(mutex_);
  if (depth_ == 1) finished_ = true;
}

std::string LiveView::erased(int columns) const {
  std::size_t rows = 0;
  // A terminal that became narrower has broken the lines.
  for (const auto& line : drawn_)
    rows += std::max<std::size_t>((count_columns(line) + columns - 1) / columns, 1);
  return rows > 1 ? fmt::format("\r\x1b[{}A", rows - 1) : "\r";
}

void LiveView::draw_now() {
  const int columns = std::max(terminal_columns(STDERR_FILENO), 2);
  const int rows = terminal_rows(STDERR_FILENO);
  const bool colored = std::getenv("NO_COLOR") == nullptr;
  const auto lines = live_lines(state_, columns, (rows > 0 ? rows : 24) - 1, unicode_terminal());
  std::string text = erased(columns);
  drawn_.clear();
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (k > 0) text += "\r\n";
    const bool faint = colored && lines[k].faint;
    text += (faint ? "\x1b[2m" : "") + lines[k].text + (faint ? "\x1b[0m" : "") + "\x1b[K";
    drawn_.push_back(lines[k].text);
  }
  write_view(text + "\x1b[J");
}

void LiveView::draw() {
  const std::lock_guard lock(mutex_);
  if (style_ == Style::silent || (state_.rows.empty() && !given_)) return;
  estimate();
  const auto after = [&](auto pause) { next_ = (Clock::now() + pause).time_since_epoch().count(); };
  if (style_ == Style::terminal) {
    draw_now();
    after(kViewRedraw);
  } else if (style_ == Style::listener) {
    std::vector<std::string> texts;
    for (const auto& line : live_lines(state_, kViewWidth, kViewHeight, true))
      texts.push_back(line.text);
    tell_listener(fmt::format("{}", fmt::join(texts, "\n")));
    after(kViewPause);
  } else {
    say(live_lines(state_, kViewWidth, 1, false).front().text);
  }
}

void LiveView::say(const std::string& text) {
  const std::lock_guard lock(mutex_);
  if (style_ == Style::plain) next_ = (Clock::now() + kViewLine).time_since_epoch().count();
  if (!is_logged("info")) return;
  const Hidden hidden;
  write_view(without_controls(text) + "\n");
}

void LiveView::hide() {
  const std::lock_guard lock(mutex_);
  if (drawn_.empty()) return;
  write_view(erased(std::max(terminal_columns(STDERR_FILENO), 2)) + "\x1b[J");
  drawn_.clear();
}

LiveView::Hidden::Hidden() : lock_(of_process().mutex_), drawn_(!of_process().drawn_.empty()) {
  of_process().hide();
}

LiveView::Hidden::~Hidden() {
  if (drawn_) of_process().draw_now();
}

LiveScope::LiveScope(bool shown, bool stays, const std::string& title, LivePace* pace)
    : stays_(stays) {
  LiveView::of_process().open(shown, title, pace);
  if (stays_) ++LiveView::of_process().staying_;
}

LiveScope::~LiveScope() {
  if (stays_) --LiveView::of_process().staying_;
  LiveView::of_process().close();
}

}  // namespace pushdown
