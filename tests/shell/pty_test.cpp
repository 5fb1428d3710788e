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
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("6 * 7\n");
  EXPECT_TRUE(terminal.expect("\n42\n"));
  terminal.type("pd.tensor{{1, 2}, {3, 4}}\n");
  EXPECT_TRUE(terminal.expect("Tensor 2 x 2 float32\n  1 2\n  3 4\n")) << terminal.screen();
  terminal.type("kept = 5;\n'si' .. 'lent';\nkept\n");
  EXPECT_TRUE(terminal.expect("\n5\n"));
  EXPECT_EQ(terminal.screen().find("\nsilent"), std::string::npos);
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, ReadsEntriesOfSeveralLines) {
  auto terminal = start();
  terminal.type("for i = 1, 3 do\n");
  ASSERT_TRUE(terminal.expect("... ")) << terminal.screen();
  terminal.type("print('line ' .. i)\nend\n");
  EXPECT_TRUE(terminal.expect("line 3")) << terminal.screen();
  terminal.type("[[first\n");
  ASSERT_TRUE(terminal.expect("... "));
  terminal.type("second]]\n");
  EXPECT_TRUE(terminal.expect("first\nsecond\n"));
}

TEST_F(Prompt, CompletesGlobalsFieldsAndMethods) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("collectg\t('count') > 0\n");
  EXPECT_TRUE(terminal.expect("\ntrue\n")) << terminal.screen();
  terminal.type("pd.stack.simu\t ~= nil\n");
  EXPECT_TRUE(terminal.expect("\ntrue\n")) << terminal.screen();
  terminal.type("t = pd.tensor{1, 2}\nt:\t");
  EXPECT_TRUE(terminal.expect("log_softmax")) << terminal.screen();
  terminal.type("to_ta\t()\n");
  EXPECT_TRUE(terminal.expect("\n{1, 2}\n")) << terminal.screen();
  terminal.type("s = 'x'\n");
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("s:up\t()\n");
  EXPECT_TRUE(terminal.expect("\nX\n")) << terminal.screen();
  terminal.type("no.such.thing.\t\t");
  ASSERT_TRUE(terminal.expect("no.such.thing."));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  terminal.type("1 + 1\n");
  EXPECT_TRUE(terminal.expect("\n2\n")) << terminal.screen();
}

TEST_F(Prompt, CompletesOptionsKindsNamesAndFiles) {
  std::ofstream(home_ + "/strange_name.lua") << "return 7\n";
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  // The controller's kind, one of its options, the model's option, and the stack's kinds.
  terminal.type(
      "x = pd.model.language_model{ alphabet = { 'a' }, contr\t{ kind = 'ls\t', hid\t4 },\n");
  ASSERT_TRUE(terminal.expect("... "));
  terminal.type("sta\t{ kind = 'superp\t', si\t3 } }\n");
  terminal.type("tostring(x)\n");
  EXPECT_TRUE(terminal.expect("superposition")) << terminal.screen();
  terminal.type("pd.grammar.load('dy\t', { bracket_\t3 }):alphabet():size() .. ' symbols'\n");
  EXPECT_TRUE(terminal.expect("6 symbols")) << terminal.screen();
  terminal.type("pd.stack.describe 'nondeterministic\t\t");
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  terminal.type("dofile '" + home_ + "/stra\t'\n");
  EXPECT_TRUE(terminal.expect("\n7\n")) << terminal.screen();
  terminal.type("pd.train.trainer{ clip_\t\t");
  EXPECT_TRUE(terminal.expect("clip_norm")) << terminal.screen();
}

TEST_F(Prompt, APastedBlockIsOneEntry) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(
      "\033[200~local kept = 20\r\nif kept > 1 then\r\n\tkept = kept + 1\r\nend\r\n\r\nprint('is ' "
      ".. "
      "kept * 2)\r\n\033[201~");
  ASSERT_TRUE(terminal.expect("kept * 2)"));
  EXPECT_EQ(terminal.screen().find("42"), std::string::npos);  // not before Enter
  terminal.type("\n");
  EXPECT_TRUE(terminal.expect("42")) << terminal.screen();
  EXPECT_EQ(terminal.screen().find("error"), std::string::npos) << terminal.screen();
  // It is also one entry of the history.
  terminal.type(kCtrlP + "\n");
  EXPECT_TRUE(terminal.expect("is 42")) << terminal.screen();
}

TEST_F(Prompt, KeepsTheLastValueTimesAndRunsScripts) {
  std::ofstream(home_ + "/script.lua")
      << "made = arg[1] .. select('#', ...)\nif arg[1] == 'leave' then os.exit(3) end\n";
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("6 * 7\n");
  ASSERT_TRUE(terminal.expect("\n42\n"));
  terminal.type("_ + 1\n");
  EXPECT_TRUE(terminal.expect("\n43\n")) << terminal.screen();
  terminal.type("5;\nnil\n_ * 2\n");
  EXPECT_TRUE(terminal.expect("\n10\n")) << terminal.screen();
  terminal.type(":time for i = 1, 3 do\n");
  ASSERT_TRUE(terminal.expect("... "));
  terminal.type("end\n");
  EXPECT_TRUE(terminal.expect(", processor ")) << terminal.screen();
  terminal.type(":run " + home_ + "/script.lua 'two words' b\nmade\n");
  EXPECT_TRUE(terminal.expect("\ntwo words2\n")) << terminal.screen();
  terminal.type(":run " + home_ + "/script.lua leave\n");
  EXPECT_TRUE(terminal.expect("ended with status 3")) << terminal.screen();
  terminal.type(":ru\t ns_rnn/tran\n");  // :run and :runs
  EXPECT_TRUE(terminal.expect("here and none in") && terminal.expect("'ns_rnn/train'?"))
      << terminal.screen();
  terminal.type(":tme 5\n");
  EXPECT_TRUE(terminal.expect(
      "there is no command :tme, did you mean ':time'?; there are :edit, :help, :history"))
      << terminal.screen();
  terminal.type("?\n");
  EXPECT_TRUE(terminal.expect(":run script words")) << terminal.screen();
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, SuggestsTheNearestName) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("pritn(3)\n");
  EXPECT_TRUE(terminal.expect("did you mean 'print'?")) << terminal.screen();
  terminal.type("stack.kinds()\n");
  EXPECT_TRUE(terminal.expect("did you mean 'pd.stack'?")) << terminal.screen();
  terminal.type("pd.stack.simulat{}\n");
  EXPECT_TRUE(terminal.expect("there is no pd.stack.simulat, did you mean 'simulate'?"))
      << terminal.screen();
  terminal.type("math.sqroot(2)\n");
  EXPECT_TRUE(terminal.expect("did you mean 'sqrt'?")) << terminal.screen();
}

TEST_F(Prompt, DrawsInUnicodeOrAscii) {
  const std::string draw =
      "io.write(pd.plot.text{ series = { { y = { 1, 3, 2 } } }, columns = 40, rows = 6 },\n"
      "pd.plot.bars_text{ categories = { 'bar' }, series = { { y = { 2 } } }, columns = 30 },\n"
      "pd.plot.heat_text{ values = { { 0, 1 } }, y_labels = { 'heat' } },\n"
      "pd.tree.parse('(S (N dogs) (V bark))')[1]:text(), 'drawn', '\\n')\n";
  auto unicode = environment();
  Terminal one({SHELL_BINARY}, unicode);
  one.type(draw);
  ASSERT_TRUE(one.expect("\ndrawn")) << one.screen();
  for (const char* text : {"●", "bar │██", "heat | ", "█|", "─N dogs"})
    EXPECT_NE(one.screen().find(text), std::string::npos) << text << "\n" << one.screen();
  auto ascii = environment();
  ascii["LC_ALL"] = "C";
  Terminal other({SHELL_BINARY}, ascii);
  other.type(draw);
  ASSERT_TRUE(other.expect("\ndrawn")) << other.screen();
  for (const char* text : {"bar |##", "heat | ", "#|", "-N dogs"})
    EXPECT_NE(other.screen().find(text), std::string::npos) << text << "\n" << other.screen();
  for (const char c : other.screen()) EXPECT_GE(c, 0) << other.screen();
}

TEST_F(Prompt, ColoursObeyTheEnvironment) {
  auto terminal = start();
  terminal.type("nothing.at_all\n");
  ASSERT_TRUE(terminal.expect("error:"));
  auto plain = environment();
  plain["NO_COLOR"] = "1";
  Terminal without({SHELL_BINARY}, plain);
  without.type("nothing.at_all\n");
  ASSERT_TRUE(without.expect("error:"));
  EXPECT_NE(terminal.raw().find("\033[31merror:"), std::string::npos);
  EXPECT_EQ(without.raw().find("\033[31m"), std::string::npos);
  EXPECT_EQ(without.raw().find("\033[1;32m"), std::string::npos);
}

TEST_F(Prompt, CtrlCStopsTheStatementAndKeepsTheSession) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  auto terminal = start();
  terminal.type(
      "count = 0\nwhile true do count = count + 1 if count == 5 then print('rea' .. 'dy') end "
      "end\n");
  ASSERT_TRUE(terminal.expect("\nready"));
  terminal.type(kCtrlC);
  ASSERT_TRUE(terminal.expect("prompt:1: interrupted")) << terminal.screen();
  terminal.type("count >= 5\n");
  EXPECT_TRUE(terminal.expect("\ntrue\n")) << terminal.screen();
  // Neither pcall in the user's code nor a coroutine can catch it.
  terminal.type(
      "print('aga' .. 'in') coroutine.wrap(function() while true do pcall(function() while true do "
      "end end) end end)()\n");
  ASSERT_TRUE(terminal.expect("\nagain"));
  terminal.type(kCtrlC);
  EXPECT_TRUE(terminal.expect("interrupted")) << terminal.screen();
  terminal.type("count > 0 and 'still here'\n");
  EXPECT_TRUE(terminal.expect("\nstill here\n"));
  EXPECT_EQ(leave_at_prompt(terminal), 0);
}

TEST_F(Prompt, CtrlCClearsTheLineBeingTyped) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("error('never run')");
  ASSERT_TRUE(terminal.expect("never run')"));
  ASSERT_TRUE(clear_line(terminal, "^C"));
  terminal.type("if true then\n");
  ASSERT_TRUE(terminal.expect("... "));
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  terminal.type("'fresh'\n");
  EXPECT_TRUE(terminal.expect("\nfresh\n"));
  EXPECT_EQ(terminal.screen().find("error:"), std::string::npos);
}

// On a slow connection both arrive together.
TEST_F(Prompt, TextRightAfterCtrlCIsANewEntry) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  for (const std::string number : {"11", "22", "33", "44", "55"}) {
    terminal.type("error('" + number + "')");
    ASSERT_TRUE(terminal.expect(number + "')"));
    terminal.type(kCtrlC + number + " * 3\n");
    EXPECT_TRUE(terminal.expect("^C")) << terminal.screen();
    EXPECT_TRUE(terminal.expect("\n" + std::to_string(std::stoi(number) * 3) + "\n"))
        << terminal.screen();
  }
}

// As terminals without bracketed paste send it.
TEST_F(Prompt, PromptsOfLinesAreLeftOut) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("pd> for i = 1, 2 do\n...   print(i * 7)\n... end\n");
  EXPECT_TRUE(terminal.expect("\n7\n14\n")) << terminal.screen();
}

TEST_F(Prompt, SaysThatALocalCannotLiveOn) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("local table, width = 3, 4\n");
  EXPECT_TRUE(terminal.expect("'table' keeps its meaning")) << terminal.screen();
  terminal.type("table.concat({ width, 'x' }, '-')\n");
  EXPECT_TRUE(terminal.expect("\n4-x\n")) << terminal.screen();
}

TEST_F(Prompt, SecondCtrlCEndsUninterruptibleCode) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  auto terminal = start();
  // One call into C whose backtracking practically never ends.
  terminal.type(
      "local _ = pd print('de' .. 'ep') local a = ('a'):rep(40) string.find(a, ('a?'):rep(40) .. a "
      ".. 'b')\n");
  ASSERT_TRUE(terminal.expect("\ndeep"));
  // A Ctrl-C between the two calls would end the statement as usual.
  ASSERT_TRUE(terminal.computes(0.3));
  EXPECT_EQ(status_after_two_presses(terminal), 130);
}

TEST_F(Prompt, ErrorsNameThePromptAndFile) {
  std::ofstream(home_ + "/bad.lua") << "function broken()\n  error('boom')\nend\n";
  auto terminal = start({"-i", home_ + "/bad.lua"});
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("broken()\n");
  EXPECT_TRUE(terminal.expect("bad.lua:2: boom")) << terminal.screen();
  EXPECT_TRUE(terminal.expect("at prompt:1 in the main chunk")) << terminal.screen();
  terminal.type("pd.tensor.zeros('x')\n");
  EXPECT_TRUE(
      terminal.expect("prompt:1: [pd.tensor.zeros] argument 1 (shape): expected an integer"))
      << terminal.screen();
  EXPECT_TRUE(terminal.expect("usage: zeros(shape"));
}

TEST_F(Prompt, WorksWithoutAHomeOrACapableTerminal) {
  auto no_home = environment();
  no_home["HOME"] = "/proc/no/home";
  Terminal homeless({SHELL_BINARY}, no_home);
  homeless.type("1 + 1\n");
  EXPECT_TRUE(homeless.expect("\n2\n")) << homeless.screen();
  EXPECT_EQ(leave_at_prompt(homeless), 0);

  auto dumb = start({}, "dumb");
  ASSERT_TRUE(dumb.expect("pd> "));
  dumb.type("for i = 1, 1 do\nprint('in a dumb ' .. 'terminal')\nend\n");
  EXPECT_TRUE(dumb.expect("in a dumb terminal\n")) << dumb.screen();
  // A call of the C library, during which the thread sanitizer delivers signals.
  dumb.type("io.write('lo', 'op\\n') while true do os.time() end\n");
  ASSERT_TRUE(dumb.expect("loop\n"));
  dumb.type(kCtrlC);
  EXPECT_TRUE(dumb.expect("interrupted")) << dumb.screen();
  dumb.type("2 + 2\n");
  EXPECT_TRUE(dumb.expect("4\n"));
  EXPECT_EQ(dumb.screen().find('\033'), std::string::npos);
  EXPECT_EQ(leave_at_prompt(dumb), 0);
}

TEST_F(Prompt, SurvivesInvalidInput) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
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
  terminal.type("x\xff\xfe y\n");  // bytes that are not characters
  ASSERT_TRUE(terminal.expect("pd> ")) << terminal.screen();
  terminal.type("'ali' .. 've'\n");
  EXPECT_TRUE(terminal.expect("\nalive\n")) << terminal.screen();
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
    ASSERT_TRUE(terminal.expect("running"));
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
    ASSERT_TRUE(terminal.expect("running"));
    ASSERT_TRUE(terminal.computes(0.3));  // by now it is compiled
    EXPECT_EQ(status_after_two_presses(terminal), 130);
  }
  fs::remove_all(folder);
}

TEST_F(Prompt, AltXHasNoEffect) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  for (const char* typed : {"\033x", "'", "\n"}) terminal.type(typed);
  ASSERT_TRUE(clear_line(terminal, "^C\npd> ")) << terminal.screen();
  terminal.type("6 * 7\n");
  EXPECT_TRUE(terminal.expect("\n42\n")) << terminal.screen();
}

TEST_F(Prompt, WorksInWindowsOfAnyWidth) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
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
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("'is ' .. #pd.grammar.list()\n");  // the library is loaded
  ASSERT_TRUE(terminal.expect("is 1"));
  terminal.type("pd.grammar.load 'loo\t");
  EXPECT_TRUE(terminal.expect("'loop")) << terminal.screen();
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  // A file that runs on completion or by its word ends at the limit of steps, or with Ctrl-C.
  terminal.type("pd.grammar.load 'loop'\n");
  EXPECT_TRUE(terminal.expect("takes more than 100000000 steps")) << terminal.screen();
  terminal.type(
      "pd.grammar.limits { steps = 1e15 } io.write('r', 'aised\\n') pd.grammar.load 'loop'\n");
  ASSERT_TRUE(terminal.expect("raised\n"));
  terminal.type(kCtrlC);
  EXPECT_TRUE(terminal.expect("interrupted")) << terminal.screen();
  terminal.type("6 * 7\n");
  EXPECT_TRUE(terminal.expect("\n42\n")) << terminal.screen();
}

TEST_F(Prompt, NamesSendTheTerminalNoCommands) {
  for (const char* name : {"q\033[41mb", "q\033[41mc"}) std::ofstream(home_ + "/" + name) << "x";
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("dofile '" + home_ + "/q\t\t\t");
  EXPECT_TRUE(terminal.expect("q\\027[41mb")) << terminal.screen();
  ASSERT_TRUE(clear_line(terminal, "^C\npd> "));
  terminal.type("error('\\27[41mE')\n");
  EXPECT_TRUE(terminal.expect("\\027[41mE")) << terminal.screen();
  terminal.type("'\\27[41mV' .. '\\194\\155W'\n");
  EXPECT_TRUE(terminal.expect("\\027[41mV\\155W")) << terminal.screen();
  terminal.type("pd.log.warn('\\27[41mL')\n");
  EXPECT_TRUE(terminal.expect("\\027[41mL")) << terminal.screen();
  EXPECT_EQ(terminal.raw().find("\033[41m"), std::string::npos);
}

TEST_F(Prompt, SignalsEndItWithTheirStatus) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  for (const auto& [number, status] : {std::pair{SIGTERM, 143}, {SIGHUP, 129}}) {
    auto terminal = start();
    ASSERT_TRUE(terminal.expect("pd> "));
    terminal.signal(number);
    EXPECT_EQ(terminal.wait_exit(), status);
  }
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("io.write('lo', 'op\\n') while true do pcall(error) end\n");
  ASSERT_TRUE(terminal.expect("loop\n"));
  terminal.signal(SIGTERM);
  EXPECT_EQ(terminal.wait_exit(), 143);
  EXPECT_EQ(terminal.screen().find("did not end within"), std::string::npos);
}

}  // namespace
}  // namespace pushdown::pty_test
