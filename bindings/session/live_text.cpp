#include "bindings/session/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "bindings/binder/text.h"
#include "bindings/session/terminal.h"

namespace pushdown {
namespace {

constexpr int kLeastBar = 8, kMostBar = 30;
constexpr int kLeastCurve = 5, kMostCurve = 20;

using Fields = std::vector<std::string>;

std::string cut(const std::string& text, std::size_t columns) {
  std::size_t column = 0, end = 0;
  for (; end < text.size(); ++end)
    if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && column++ == columns) break;
  return text.substr(0, end);
}

std::string joined(const Fields& fields) {
  std::string text;
  for (const auto& field : fields)
    if (!field.empty()) text += (text.empty() ? "" : "  ") + field;
  return text;
}

// The epoch of the row that is furthest behind, among those that train.
std::string epoch_of_all(const std::vector<LiveRow>& rows) {
  const LiveRow* last = nullptr;
  for (const auto& row : rows)
    if (row.state == LiveRow::State::running && (last == nullptr || row.epoch < last->epoch))
      last = &row;
  if (last == nullptr || last->epochs == 0) return "";
  return fmt::format("epoch {} of {}", std::min(last->epoch + 1, last->epochs), last->epochs);
}

// What fits: first without the percentage, then without the bar, then without the epoch.
std::string first_line(const LiveState& state, const std::string& title, int columns) {
  const std::string epoch = epoch_of_all(state.rows);
  const std::string left =
      state.seconds_left ? duration_text(*state.seconds_left) + " left" : std::string();
  const double fraction = std::clamp(state.fraction.value_or(0), 0.0, 1.0);
  const std::string percent = fmt::format("{:.0f} %", 100 * fraction);
  if (!state.fraction) return cut(joined({title, left}), columns);
  for (const auto& [before, after] :
       {std::pair<Fields, Fields>{{title, epoch}, {percent, left}}, {{title, epoch}, {left}}}) {
    const auto used = count_columns(joined(before)) + count_columns(joined(after)) + 4 + 2;
    const int room = std::min(columns - static_cast<int>(used), kMostBar);
    if (room < kLeastBar) continue;
    const auto filled = static_cast<int>(room * fraction);
    const std::string bar = "[" + std::string(filled, '=') + std::string(room - filled, ' ') + "]";
    return joined({joined(before), bar, joined(after)});
  }
  for (const Fields& fields : {Fields{title, epoch, percent, left}, Fields{title, percent, left}})
    if (count_columns(joined(fields)) <= static_cast<std::size_t>(columns)) return joined(fields);
  const std::string end = "  " + (left.empty() ? percent : left);
  const auto room = columns - static_cast<int>(end.size());
  return room > 0 ? cut(title, room) + end : cut(title, columns);
}

// The places of the rows that are shown, in their order: those that train before the others, the
// best ones first.
std::vector<std::size_t> shown_rows(const std::vector<LiveRow>& rows, std::size_t count) {
  std::vector<std::size_t> places(rows.size());
  std::iota(places.begin(), places.end(), 0);
  if (rows.size() <= count) return places;
  std::stable_sort(places.begin(), places.end(), [&](std::size_t a, std::size_t b) {
    const bool first = rows[a].state == LiveRow::State::running;
    const bool second = rows[b].state == LiveRow::State::running;
    if (first != second) return first;
    if (std::isnan(rows[a].value) || std::isnan(rows[b].value))
      return !std::isnan(rows[a].value) && std::isnan(rows[b].value);
    return rows[a].value < rows[b].value;
  });
  places.resize(count);
  std::sort(places.begin(), places.end());
  return places;
}

// The columns of a row: name, epoch, best, speed, curve, note.
enum Column { kName, kEpoch, kBest, kSpeed, kCurve, kNote, kColumns };
using Cells = std::array<std::string, kColumns>;

Cells cells_of(const LiveRow& row, bool alone) {
  Cells cells;
  cells[kName] = alone ? "" : row.name;
  if (!alone && row.epochs > 0) cells[kEpoch] = fmt::format("{}/{}", row.epoch, row.epochs);
  cells[kBest] = alone && !row.best.empty()
                     ? fmt::format("best {} in epoch {}", row.best, row.best_epoch)
                     : row.best;
  cells[kSpeed] = row.state == LiveRow::State::running ? row.speed : "";
  cells[kNote] = row.note;
  return cells;
}

// Lays the rows out as a table, without the columns for which there is no room.
std::vector<LiveLine> row_lines(const std::vector<const LiveRow*>& rows, bool alone, int columns,
                                bool unicode) {
  std::vector<Cells> table;
  std::array<std::size_t, kColumns> widths{};
  std::size_t longest = 0;
  for (const LiveRow* row : rows) {
    table.push_back(cells_of(*row, alone));
    longest = std::max(longest, row->curve.size());
    for (int c = 0; c < kColumns; ++c)
      widths[c] = std::max(widths[c], count_columns(table.back()[c]));
  }
  const auto total = [&] {
    std::size_t sum = 0;
    for (const auto width : widths) sum += width > 0 ? width + 2 : 0;
    return static_cast<int>(sum);
  };
  for (const Column column : {kSpeed, kNote, kEpoch})
    if (total() > columns) widths[column] = 0;
  const int room = std::min(columns - total() - 2, kMostCurve);
  if (unicode && longest > 1 && room >= kLeastCurve) {
    widths[kCurve] = std::min(static_cast<std::size_t>(room), longest);
    for (std::size_t k = 0; k < rows.size(); ++k)
      table[k][kCurve] = sparkline(rows[k]->curve, static_cast<int>(widths[kCurve]));
  }
  std::vector<LiveLine> lines;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::string text;
    for (int c = 0; c < kColumns; ++c) {
      if (widths[c] == 0) continue;
      const std::string padding(widths[c] - count_columns(table[k][c]), ' ');
      text += "  " + (c == kEpoch ? padding + table[k][c] : table[k][c] + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    const bool faint = rows[k]->state == LiveRow::State::left_out;
    if (!text.empty()) lines.push_back({cut(text, columns), faint});
  }
  return lines;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds + 0.5, 0.0, 1e9));
  if (whole >= 3600)
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string sparkline(const std::vector<double>& values, int width) {
  constexpr std::array kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> means;
  const auto parts = std::min(values.size(), static_cast<std::size_t>(std::max(width, 0)));
  for (std::size_t p = 0; p < parts; ++p) {
    const auto begin = p * values.size() / parts, end = (p + 1) * values.size() / parts;
    double sum = 0;
    for (auto k = begin; k < end; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  double low = INFINITY, high = -INFINITY;
  for (const double mean : means)
    if (std::isfinite(mean)) low = std::min(low, mean), high = std::max(high, mean);
  std::string text;
  for (const double mean : means) {
    const double share = high > low && std::isfinite(mean) ? (mean - low) / (high - low) : 0;
    text += kBlocks.at(static_cast<std::size_t>(std::lround(share * (kBlocks.size() - 1))));
  }
  return text;
}

std::vector<LiveLine> live_lines(const LiveState& state, int width, int height, bool unicode) {
  // The last column stays free, because some terminals wrap when it is written.
  const int columns = std::max(width - 1, 1);
  const bool alone = state.rows.size() == 1;
  std::string title = without_controls(state.title, true);
  if (alone && title.empty()) title = state.rows.front().name;
  std::vector<LiveLine> lines{{first_line(state, title, columns), false}};
  auto count = static_cast<std::size_t>(std::max(height - 1, 0));
  const bool all = state.rows.size() <= count;
  if (!all && count > 0) --count;
  std::vector<const LiveRow*> rows;
  for (const auto place : shown_rows(state.rows, count)) rows.push_back(&state.rows[place]);
  for (auto& line : row_lines(rows, alone, columns, unicode)) lines.push_back(std::move(line));
  if (!all && height > 1)
    lines.push_back(
        {cut(fmt::format("  … and {} more", state.rows.size() - rows.size()), columns), true});
  return lines;
}

}  // namespace pushdown
