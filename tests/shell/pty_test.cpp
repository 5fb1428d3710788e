// The prompt as a person at a terminal sees it.
// label: long
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "shell/prompt.h"

namespace pushdown::pty_test {
namespace {

namespace fs = std::filesystem;

// Presses Ctrl-C once, which must not end the program, and again until it ends. A press within half
// a second of the first one does not count.
int status_after_two_presses(Terminal& terminal) {
  terminal.type(kCtrlC);
  if (terminal.wait_exit(0.8) != -1) return -2;
  for (int presses = 0; presses < kPatience; ++presses) {
    terminal.type(kCtrlC);
    const int status = terminal.wait_exit(1);
    if (status != -1) return status;
  }
  return -1;
}

TEST_F(Prompt, PrintsExpressionsAndLeavesAtCtrlD) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"6 * 7\n", "\n42\n"},
      {"pd.tensor{{1, 2}, {3, 4}}\n", "Tensor 2 x 2 float32\n  1 2\n  3 4\n"},
      {"kept = 5;\n'si' .. 'lent';\nkept\n", "\n5\n"},
  }));
  EXPECT_EQ(terminal.screen().find("\nsilent"), std::string::npos);
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, ReadsEntriesOfSeveralLines) {
  auto terminal = start();
  ASSERT_TRUE(terminal.play({
      {"for i = 1, 3 do\n", "... "},
      {"print('line ' .. i)\nend\n", "line 3"},
      {"[[first\n", "... "},
      {"second]]\n", "first\nsecond\n"},
  }));
}

TEST_F(Prompt, CompletesGlobalsFieldsAndMethods) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"collectg\t('count') > 0\n", "\ntrue\n"},
      {"pd.stack.simu\t ~= nil\n", "\ntrue\n"},
      {"t = pd.tensor{1, 2}\nt:\t", "log_softmax"},
      {"to_ta\t()\n", "\n{1, 2}\n"},
      {"s = 'x'\n", "pd> "},
      {"s:up\t()\n", "\nX\n"},
      {"no.such.thing.\t\t", "no.such.thing."},
  }));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  ASSERT_TRUE(terminal.play("1 + 1\n", "\n2\n"));
}

TEST_F(Prompt, CompletesOptionsKindsNamesAndFiles) {
  std::ofstream(home_ + "/strange_name.lua") << "return 7\n";
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      // The controller's kind, one of its options, the model's option, and the stack's kinds.
      {"x = pd.model.language_model{ alphabet = { 'a' }, contr\t{ kind = 'ls\t', hid\t4 },\n",
       "... "},
      {"sta\t{ kind = 'superp\t', si\t3 } }\n", ""},
      {"tostring(x)\n", "superposition"},
      {"pd.grammar.load('dy\t', { bracket_\t3 }):alphabet():size() .. ' symbols'\n", "6 symbols"},
      {"pd.stack.describe 'nondeterministic\t\t", ""},
  }));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  ASSERT_TRUE(terminal.play({
      {"dofile '" + home_ + "/stra\t'\n", "\n7\n"},
      {"pd.train.trainer{ clip_\t\t", "clip_norm"},
  }));
}

TEST_F(Prompt, APastedBlockIsOneEntry) {
  auto terminal = at_prompt();
  ASSERT_TRUE(
      terminal.play("\033[200~local kept = 20\r\nif kept > 1 then\r\n\tkept = kept + "
                    "1\r\nend\r\n\r\nprint('is ' .. kept * 2)\r\n\033[201~",
                    "kept * 2)"));
  EXPECT_EQ(terminal.screen().find("42"), std::string::npos);  // not before Enter
  ASSERT_TRUE(terminal.play("\n", "42"));
  EXPECT_EQ(terminal.screen().find("error"), std::string::npos) << terminal.screen();
  // It is also one entry of the history.
  ASSERT_TRUE(terminal.play(kCtrlP + "\n", "is 42"));
}

TEST_F(Prompt, KeepsTheLastValueTimesAndRunsScripts) {
  std::ofstream(home_ + "/script.lua")
      << "made = arg[1] .. select('#', ...)\nif arg[1] == 'leave' then os.exit(3) end\n";
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"6 * 7\n", "\n42\n"},
      {"_ + 1\n", "\n43\n"},
      {"5;\nnil\n_ * 2\n", "\n10\n"},
      {":time for i = 1, 3 do\n", "... "},
      {"end\n", ", processor "},
      {":run " + home_ + "/script.lua 'two words' b\nmade\n", "\ntwo words2\n"},
      {":run " + home_ + "/script.lua leave\n", "ended with status 3"},
      {":ru\t ns_rn\n", ""},  // :run and :runs
  }));
  EXPECT_TRUE(terminal.expect("here and none in") && terminal.expect("'ns_rnn'?"))
      << terminal.screen();
  ASSERT_TRUE(terminal.play({
      {":tme 5\n",
       "there is no command :tme, did you mean ':time'?; there are :edit, :help, :history"},
      {"?\n", ":run script words"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, SuggestsTheNearestName) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"pritn(3)\n", "did you mean 'print'?"},
      {"stack.kinds()\n", "did you mean 'pd.stack'?"},
      {"pd.stack.simulat{}\n", "there is no pd.stack.simulat, did you mean 'simulate'?"},
      {"math.sqroot(2)\n", "did you mean 'sqrt'?"},
  }));
}

TEST_F(Prompt, DrawsInUnicodeOrAscii) {
  const std::string draw =
      "io.write(pd.plot.text{ series = { { y = { 1, 3, 2 } } }, columns = 40, rows = 6 },\n"
      "pd.plot.bars_text{ categories = { 'bar' }, series = { { y = { 2 } } }, columns = 30 },\n"
      "pd.plot.heat_text{ values = { { 0, 1 } }, y_labels = { 'heat' } },\n"
      "pd.tree.parse('(S (N dogs) (V bark))')[1]:text(), 'drawn', '\\n')\n";
  auto unicode = environment();
  Terminal one({SHELL_BINARY}, unicode);
  ASSERT_TRUE(one.play(draw, "\ndrawn"));
  for (const char* text : {"●", "bar │██", "heat | ", "█|", "─N dogs"})
    EXPECT_NE(one.screen().find(text), std::string::npos) << text << "\n" << one.screen();
  auto ascii = environment();
  ascii["LC_ALL"] = "C";
  Terminal other({SHELL_BINARY}, ascii);
  ASSERT_TRUE(other.play(draw, "\ndrawn"));
  for (const char* text : {"bar |##", "heat | ", "#|", "-N dogs"})
    EXPECT_NE(other.screen().find(text), std::string::npos) << text << "\n" << other.screen();
  for (const char c : other.screen()) EXPECT_GE(c, 0) << other.screen();
}

TEST_F(Prompt, ColoursObeyTheEnvironment) {
  auto terminal = start();
  ASSERT_TRUE(terminal.play("nothing.at_all\n", "error:"));
  auto plain = environment();
  plain["NO_COLOR"] = "1";
  Terminal without({SHELL_BINARY}, plain);
  ASSERT_TRUE(without.play("nothing.at_all\n", "error:"));
  EXPECT_NE(terminal.raw().find("\033[31merror:"), std::string::npos);
  EXPECT_EQ(without.raw().find("\033[31m"), std::string::npos);
  EXPECT_EQ(without.raw().find("\033[1;32m"), std::string::npos);
}

TEST_F(Prompt, CtrlCStopsTheStatementAndKeepsTheSession) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  auto terminal = start();
  ASSERT_TRUE(terminal.play({
      {"count = 0\nwhile true do count = count + 1 if count == 5 then print('rea' .. 'dy') end "
       "end\n",
       "\nready"},
      {kCtrlC, "prompt:1: interrupted"},
      {"count >= 5\n", "\ntrue\n"},
      // Neither pcall in the user's code nor a coroutine can catch it.
      {"print('aga' .. 'in') coroutine.wrap(function() while true do pcall(function() while true "
       "do end end) end end)()\n",
       "\nagain"},
      {kCtrlC, "interrupted"},
      {"count > 0 and 'still here'\n", "\nstill here\n"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, CtrlCClearsTheLineBeingTyped) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("error('never run')", "never run')"));
  ASSERT_TRUE(clear_line(terminal, "^C"));
  ASSERT_TRUE(terminal.play("if true then\n", "... "));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  ASSERT_TRUE(terminal.play("'fresh'\n", "\nfresh\n"));
  EXPECT_EQ(terminal.screen().find("error:"), std::string::npos);
}

// On a slow connection both arrive together.
TEST_F(Prompt, TextRightAfterCtrlCIsANewEntry) {
  auto terminal = at_prompt();
  for (const std::string number : {"11", "22", "33", "44", "55"}) {
    ASSERT_TRUE(terminal.play({
        {"error('" + number + "')", number + "')"},
        {kCtrlC + number + " * 3\n", "^C"},
        {"", "\n" + std::to_string(std::stoi(number) * 3) + "\n"},
    }));
  }
}

// As terminals without bracketed paste send it.
TEST_F(Prompt, PromptsOfLinesAreLeftOut) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("pd> for i = 1, 2 do\n...   print(i * 7)\n... end\n", "\n7\n14\n"));
}

TEST_F(Prompt, SaysThatALocalCannotLiveOn) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"local table, width = 3, 4\n", "'table' keeps its meaning"},
      {"table.concat({ width, 'x' }, '-')\n", "\n4-x\n"},
  }));
}

TEST_F(Prompt, SecondCtrlCEndsUninterruptibleCode) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  auto terminal = start();
  // One call into C whose backtracking practically never ends.
  ASSERT_TRUE(
      terminal.play("local _ = pd print('de' .. 'ep') local a = ('a'):rep(40) string.find(a, "
                    "('a?'):rep(40) .. a .. 'b')\n",
                    "\ndeep"));
  // A Ctrl-C between the two calls would end the statement as usual.
  ASSERT_TRUE(terminal.computes(0.3));
  EXPECT_EQ(status_after_two_presses(terminal), 130);
}

TEST_F(Prompt, ErrorsNameThePromptAndFile) {
  std::ofstream(home_ + "/bad.lua") << "function broken()\n  error('boom')\nend\n";
  auto terminal = start({"-i", home_ + "/bad.lua"});
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"broken()\n", "bad.lua:2: boom"},
      {"", "at prompt:1 in the main chunk"},
      {"pd.tensor.zeros('x')\n",
       "prompt:1: [pd.tensor.zeros] argument 1 (shape): expected an integer"},
      {"", "usage: zeros(shape"},
  }));
}

TEST_F(Prompt, WorksWithoutAHomeOrACapableTerminal) {
  auto no_home = environment();
  no_home["HOME"] = "/proc/no/home";
  Terminal homeless({SHELL_BINARY}, no_home);
  ASSERT_TRUE(homeless.play("1 + 1\n", "\n2\n"));
  EXPECT_EQ(leave_at_prompt(homeless), 0);

  auto dumb = start({}, "dumb");
  ASSERT_TRUE(dumb.play({
      {"", "pd> "},
      {"for i = 1, 1 do\nprint('in a dumb ' .. 'terminal')\nend\n", "in a dumb terminal\n"},
      // A call of the C library, during which the thread sanitizer delivers signals.
      {"io.write('lo', 'op\\n') while true do os.time() end\n", "loop\n"},
      {kCtrlC, "interrupted"},
      {"2 + 2\n", "4\n"},
  }));
  EXPECT_EQ(dumb.screen().find('\033'), std::string::npos);
  EXPECT_EQ(leave_at_prompt(dumb), 0);
}

TEST_F(Prompt, SurvivesInvalidInput) {
  auto terminal = at_prompt();
  for (const char* line : {"%$#@",
                           "pd.nothing",
                           "pd.tensor{{1}, {2, 3}}",
                           "pd.tensor.size(5)",
                           "local x = = 3",
                           "error({code = 5})",
                           "error()",
                           "pd.tensor.zeros(1e15)",
                           "string.rep('x', 1e10)",
                           "(function() local function f() return 1 + f() end f() end)()",
                           "setmetatable({}, {__tostring = function() error('no') end})",
                           "getmetatable(pd.tensor{1}).__gc",
                           "?",
                           "? %$ ]=====]",
                           ";",
                           "=1 =",
                           "debug.getregistry() ~= nil",
                           "help(help)",
                           "os.exit == nil",
                           "print(('x'):rep(200000));"}) {
    terminal.type(std::string(line) + "\n");
    ASSERT_TRUE(terminal.expect("pd> ")) << line << terminal.screen();
  }
  ASSERT_TRUE(terminal.play({
      {"x\xff\xfe y\n", "pd> "},  // bytes that are not characters
      {"'ali' .. 've'\n", "\nalive\n"},
  }));
  EXPECT_EQ(leave_at_prompt(terminal), 0) << terminal.screen();
}

TEST(Script, CtrlCEndsItWithStatus130) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  char pattern[] = "/tmp/pushdown_script_XXXXXX";
  const std::string folder = mkdtemp(pattern);
  const std::string file = folder + "/loop.lua";
  std::ofstream(file)
      << "print('run' .. 'ning')\nlocal n = 0\nwhile true do n = math.max(n, #os.date()) end\n";
  {
    Terminal terminal({SHELL_BINARY, "-j", "off", file}, {{"TERM", "xterm"}});
    ASSERT_TRUE(terminal.expect("running")) << terminal.screen();
    ASSERT_TRUE(terminal.computes(0.1));  // by now it is in the loop
    terminal.type(kCtrlC);
    EXPECT_EQ(terminal.wait_exit(), 130);
    EXPECT_NE(terminal.screen().find("loop.lua:3: interrupted"), std::string::npos)
        << terminal.screen();
  }
  {
    // Compiled loops run no hooks: the second Ctrl-C ends them.
    std::ofstream(file) << "print('run' .. 'ning')\nwhile true do end\n";
    Terminal terminal({SHELL_BINARY, file}, {{"TERM", "xterm"}});
    ASSERT_TRUE(terminal.expect("running")) << terminal.screen();
    ASSERT_TRUE(terminal.computes(0.3));  // by now it is compiled
    EXPECT_EQ(status_after_two_presses(terminal), 130);
  }
  fs::remove_all(folder);
}

TEST_F(Prompt, AltXHasNoEffect) {
  auto terminal = at_prompt();
  for (const char* typed : {"\033x", "'", "\n"}) terminal.type(typed);
  ASSERT_TRUE(clear_line(terminal, "^C\npd> ")) << terminal.screen();
  ASSERT_TRUE(terminal.play("6 * 7\n", "\n42\n"));
}

TEST_F(Prompt, WorksInWindowsOfAnyWidth) {
  auto terminal = at_prompt();
  for (int columns = 1; columns <= 26; ++columns) {
    terminal.resize(columns);
    const auto number = std::to_string(1000 + columns);
    terminal.type("_ = nil\n");  // drawn with the previous width
    ASSERT_TRUE(terminal.expect("pd>")) << columns;
    // The line is longer than the window and is being edited.
    terminal.type("'" + number + "xxxxxxxxxxxxxxxxxx'\x01\x05\x02\x02\x7f:sub(1, 4) .. ' is'\n");
    ASSERT_TRUE(terminal.expect("pd>")) << columns;
    terminal.type("io.write('r', '" + number + "\\n')\n");
    ASSERT_TRUE(terminal.expect("r" + number)) << columns << "\n" << terminal.screen();
    ASSERT_TRUE(terminal.expect("pd>")) << columns;
  }
}

TEST_F(Prompt, TabRunsNoFile) {
  fs::create_directory(home_ + "/grammars");
  std::ofstream(home_ + "/grammars/loop.lua") << "while true do end\n";
  Terminal terminal({"/bin/sh", "-c", "cd " + home_ + " && exec " + SHELL_BINARY}, environment());
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {"'is ' .. #pd.grammar.list()\n", "is 1"},  // the library is loaded
      {"pd.grammar.load 'loo\t", "'loop"},
  }));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  // A file that runs on completion or by its word ends at the limit of steps, or with Ctrl-C.
  ASSERT_TRUE(terminal.play({
      {"pd.grammar.load 'loop'\n", "takes more than 100000000 steps"},
      {"pd.grammar.limits { steps = 1e15 } io.write('r', 'aised\\n') pd.grammar.load 'loop'\n",
       "raised\n"},
      {kCtrlC, "interrupted"},
      {"6 * 7\n", "\n42\n"},
  }));
}

TEST_F(Prompt, NamesSendTheTerminalNoCommands) {
  for (const char* name : {"q\033[41mb", "q\033[41mc"}) std::ofstream(home_ + "/" + name) << "x";
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("dofile '" + home_ + "/q\t\t\t", "q\\027[41mb"));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  ASSERT_TRUE(terminal.play({
      {"error('\\27[41mE')\n", "\\027[41mE"},
      {"'\\27[41mV' .. '\\194\\155W'\n", "\\027[41mV\\155W"},
      {"pd.log.warn('\\27[41mL')\n", "\\027[41mL"},
  }));
  EXPECT_EQ(terminal.raw().find("\033[41m"), std::string::npos);
}

TEST_F(Prompt, SignalsEndItWithTheirStatus) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  for (const auto& [number, status] : {std::pair{SIGTERM, 143}, {SIGHUP, 129}}) {
    auto terminal = at_prompt();
    terminal.signal(number);
    EXPECT_EQ(terminal.wait_exit(), status);
  }
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play("io.write('lo', 'op\\n') while true do pcall(error) end\n", "loop\n"));
  terminal.signal(SIGTERM);
  EXPECT_EQ(terminal.wait_exit(), 143);
  EXPECT_EQ(terminal.screen().find("did not end within"), std::string::npos);
}

}  // namespace
}  // namespace pushdown::pty_test
