// The live view of trainings: the text of the block, and the block in terminals of several sizes.
// label: long
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "bindings/session/live_text.h"
#include "bindings/session/terminal.h"
#include "shell/prompt.h"
#include "shell/screen_model.h"

namespace pushdown::live_test {
namespace {

namespace fs = std::filesystem;

// What a window of this size shows after the text.
struct Shown {
  Shown(int columns, int rows, const std::string& text) : model(columns, rows) {
    model.write(text);
    for (const auto& line : model.window()) lines += line + "\n";
  }
  ScreenModel model;
  std::string lines;
};

LiveState many(int rows) {
  LiveState state;
  state.title = "a search with a long name";
  state.fraction = 0.4;
  state.seconds_left = 4000;
  for (int k = 1; k <= rows; ++k) {
    LiveRow row;
    row.name = "restart " + std::to_string(k);
    row.epoch = 3, row.epochs = 20;
    row.value = k == 7 ? 0.1 : 1.0 + k;
    row.best = "0.3920  +0.0019";
    row.best_epoch = 2;
    row.speed = "1411/s";
    row.curve = {3, 2, 1};
    if (k == 2) row.state = LiveRow::State::left_out, row.note = "left out after epoch 4";
    state.rows.push_back(row);
  }
  return state;
}

TEST(LiveText, FitsWindowsOfEverySize) {
  for (const int rows : {1, 2, 12, 40})
    for (int width = 1; width < 130; ++width)
      for (const int height : {1, 2, 5, 9, 23, 60}) {
        const auto lines = live_lines(many(rows), width, height, true);
        ASSERT_LE(std::ssize(lines), height);
        for (const auto& line : lines)
          ASSERT_LE(static_cast<int>(count_columns(line.text)), std::max(width - 1, 1))
              << line.text;
      }
}

TEST(LiveText, ShowsAllThatFits) {
  const auto lines = live_lines(many(2), 80, 24, true);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].text,
            "a search with a long name  epoch 4 of 20  [======         ]  40 %  1:06:40 left");
  EXPECT_EQ(lines[1].text, "  restart 1  3/20  0.3920  +0.0019  1411/s  █▅▁");
  EXPECT_FALSE(lines[1].faint);
  EXPECT_TRUE(lines[2].faint);
  EXPECT_NE(lines[2].text.find("left out after epoch 4"), std::string::npos);
  const auto alone = live_lines(many(1), 80, 24, false);
  ASSERT_EQ(alone.size(), 2u);
  EXPECT_EQ(alone[1].text, "  best 0.3920  +0.0019 in epoch 2  1411/s");
}

TEST(LiveText, LowWindowsShowTheBestRows) {
  const auto lines = live_lines(many(20), 80, 8, true);
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_NE(lines[6].text.find("restart 7"), std::string::npos) << lines[6].text;
  EXPECT_EQ(lines[7].text, "  … and 14 more");
  for (const auto& line : lines) EXPECT_EQ(line.text.find("restart 2 "), std::string::npos);
}

TEST(LiveText, DrawsCurvesAndDurations) {
  EXPECT_EQ(sparkline({1, 2, 3, 4, 5, 6, 7, 8}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline({1, 1, 9, 9}, 2), "▁█");
  EXPECT_EQ(sparkline({2, 2}, 5), "▁▁");
  EXPECT_EQ(duration_text(8.2), "0:08");
  EXPECT_EQ(duration_text(3723), "1:02:03");
}

class Live : public Prompt {
 protected:
  // A script that trains `count` models for this many epochs.
  std::string script(int count, int epochs, const std::string& then) const {
    const std::string path = home_ + "/live.lua";
    std::ofstream(path)
        << "local s = pd.grammar.load 'marked_reversal':sampler { lengths = { 10, 20 } }\n"
           "local data = s:dataset(40, { seed = 1 })\n"
           "local all = {}\n"
           "for k = 1, "
        << count
        << " do\n"
           "  all[k] = pd.train.trainer { train = data, valid = data, seed = k, epochs = "
        << epochs
        << ", stop_patience = 0, checkpoint_seconds = 0,\n"
           "    model = pd.model.language_model { alphabet = s:grammar():alphabet(), "
           "seed = k }, run_folder = '"
        << home_
        << "/run-' .. k }\n"
           "end\n"
           "local together = pd.train.together(all)\n"
        << then;
    return path;
  }
  Terminal run(const std::string& path, int columns, int rows,
               const std::string& term = "xterm") const {
    auto variables = environment(term);
    variables["PUSHDOWN_REGISTRY"] = "off";
    return Terminal({SHELL_BINARY, "--threads", "1", path}, variables, columns, rows);
  }
};

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

TEST_F(Live, IsOneBlockThatIsRemovedAtTheEnd) {
  const double begin = seconds_now();
  Terminal terminal =
      run(script(3, 40, "local r = together:run()\npd.log.warn 'a warning'\nprint(r)"), 80, 24);
  ASSERT_EQ(terminal.wait_exit(), 0) << terminal.screen();
  const Shown screen(80, 24, terminal.raw());
  const std::string& shown = screen.lines;
  EXPECT_EQ(screen.model.wraps(), 0) << shown;
  EXPECT_EQ(count(shown, " of 40"), 0) << shown;
  EXPECT_EQ(count(shown, "all epochs"), 3) << shown;
  EXPECT_EQ(count(shown, "a warning"), 1) << shown;
  const int drawn = count(terminal.screen(), " of 40 ");
  EXPECT_GE(drawn, 1);
  EXPECT_LE(drawn, 10 * (seconds_now() - begin) + 2) << "at most ten times a second";
  // The messages are in the log of each run.
  std::ifstream log(home_ + "/run-2/log.txt");
  const std::string text{std::istreambuf_iterator<char>(log), {}};
  EXPECT_EQ(count(text, "updates/s, learning rate"), 40);
}

TEST_F(Live, FitsALowAndNarrowWindowAndEndsCleanlyOnCtrlC) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  Terminal terminal = run(script(12, 1000000, "together:run()"), 40, 10);
  ASSERT_TRUE(terminal.expect("and 5 more")) << terminal.screen();
  const Shown before(40, 10, terminal.raw());
  EXPECT_EQ(before.model.wraps(), 0) << before.lines;
  EXPECT_NE(before.lines.find("lstm 1 "), std::string::npos) << before.lines;
  terminal.resize(30, 8);
  ASSERT_TRUE(terminal.expect("and 7 more")) << terminal.screen();
  const auto resized = terminal.raw().size();
  ASSERT_TRUE(terminal.play({
      {"", "and 7 more"},
      {"", "and 7 more"},
  }));
  const Shown after(30, 8, terminal.raw().substr(resized));
  EXPECT_EQ(after.model.wraps(), 0) << after.lines;
  terminal.type(kCtrlC);
  ASSERT_EQ(terminal.wait_exit(), 130) << terminal.screen();
  const Shown end(200, 60, terminal.raw());
  EXPECT_NE(end.lines.find("with the same trainers continues"), std::string::npos)
      << end.lines << testing::PrintToString(terminal.raw().substr(terminal.raw().size() - 900));
  EXPECT_EQ(end.lines.find("more"), std::string::npos) << "the block is gone:\n" << end.lines;
}

TEST_F(Live, ARunContinuesWhereCtrlCStoppedIt) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  Terminal terminal = run(script(1, 1000000, "all[1]:run()"), 80, 24);
  ASSERT_TRUE(terminal.play({
      {"", " in epoch "},
      {kCtrlC, ""},
  }));
  ASSERT_EQ(terminal.wait_exit(), 130) << terminal.screen();
  EXPECT_TRUE(terminal.expect("run-1'):run() continues", 0)) << terminal.screen();
  // Another number of epochs may be given to a run that continues.
  std::ifstream metrics(home_ + "/run-1/metrics.jsonl");
  const auto lines = count({std::istreambuf_iterator<char>(metrics), {}}, "\n");
  Terminal again = run(script(1, lines + 2, "print(all[1]:run())"), 80, 24);
  ASSERT_EQ(again.wait_exit(), 0) << again.screen();
  EXPECT_TRUE(again.expect("run-1' continues after update ", 0)) << again.screen();
  EXPECT_TRUE(again.expect("epochs         " + std::to_string(lines + 2), 0)) << again.screen();
}

TEST_F(Live, DumbTerminalsShowLines) {
  Terminal terminal = run(script(2, 2, "together:run()"), 80, 24, "dumb");
  ASSERT_EQ(terminal.wait_exit(), 0);
  const std::string shown = terminal.screen();
  EXPECT_EQ(terminal.raw().find('\033'), std::string::npos) << shown;
  for (const char* line : {"lstm 1  epoch 1  ", "lstm 2  epoch 1  ", "lstm 2  epoch 2  "})
    EXPECT_EQ(count(shown, line), 1) << shown;
}

TEST_F(Live, ThePromptShowsEpochsAndTrainers) {
  script(1, 2, "");
  Terminal terminal = start({"--threads", "1"});
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"dofile '" + home_ + "/live.lua'; t = pd.train.resume('" + home_ + "/run-1')\n", "pd> "},
      {"t\n", "Trainer: lstm, epoch 0 of 2"},
      {"", "not begun"},
      {"for e in t:epochs() do last = e end\n", "epoch 2  "},
      {"", "/s"},
      {"last\n", "epoch 2  "},
      {"t:run()\n", "2 of 2 epochs are done"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

}  // namespace
}  // namespace pushdown::live_test
