// Entries of the prompt that are more than one expression or statement.
#include <fstream>

#include "shell/prompt.h"

namespace pushdown::entries_test {
namespace {

std::string pasted(const std::string& text) { return "\033[200~" + text + "\033[201~\n"; }

TEST_F(Prompt, ShowsTheLastExpressionOfAPastedBlock) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(pasted("x = 3\rx * 7"));
  ASSERT_TRUE(terminal.expect("\n21\n")) << terminal.screen();
  terminal.type("'no' .. 'thing swallowed'\n");
  EXPECT_TRUE(terminal.expect("\nnothing swallowed\n")) << terminal.screen();
  terminal.type("y = 4; y + 1\n");
  EXPECT_TRUE(terminal.expect("\n5\n")) << terminal.screen();
  terminal.type(pasted("local function f(n)\r  return n * 2\rend\rf(50) -- the last one"));
  EXPECT_TRUE(terminal.expect("\n100\n")) << terminal.screen();
  // If the whole text is correct Lua, its meaning does not change.
  terminal.type(pasted("z = 5\r- 3"));
  terminal.type("'z is ' .. z\n");
  EXPECT_TRUE(terminal.expect("\nz is 2\n")) << terminal.screen();
  terminal.type(pasted("w = 8\rw;"));
  terminal.type("'w is ' .. _\n");
  EXPECT_TRUE(terminal.expect("\nw is 8\n")) << terminal.screen();
  // Tabs are inside of strings, too.
  terminal.type(pasted("\tif true then\r\t\ts = 'a\tb'\r\tend"));
  terminal.type("#s .. ' ' .. s:byte(2)\n");
  EXPECT_TRUE(terminal.expect("\n3 9\n")) << terminal.screen();
}

TEST_F(Prompt, PastesStringsUnchanged) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(pasted("s = [[a\r\nb\rc]]"));
  terminal.type("#s .. ' of ' .. s:gsub('\\n', '-')\n");
  EXPECT_TRUE(terminal.expect("\n5 of a-b-c\n")) << terminal.screen();
  terminal.type(pasted(std::string("s = 'a\0\033\177'", 10)));
  EXPECT_TRUE(terminal.expect("s = 'a\\000\\027\\127'")) << terminal.screen();
  terminal.type("table.concat({ s:byte(1, -1) }, ' ')\n");
  EXPECT_TRUE(terminal.expect("\n97 0 27 127\n")) << terminal.screen();
}

TEST_F(Prompt, TakesSessionsThatWereCopiedWithTheirPrompts) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(
      pasted("pd> a = 20\rpd> a + 1\r21\rpd> for i = 1, 2 do\r...   a = a + i\r... end\r"
             "pd> 'sum ' .. a\rsum 23"));
  EXPECT_TRUE(terminal.expect("\n21\nsum 23\n")) << terminal.screen();
  // The first failure ends the entry.
  terminal.type(pasted("pd> error('first')\rpd> a = 'changed'"));
  ASSERT_TRUE(terminal.expect("first"));
  terminal.type("'kept ' .. a\n");
  EXPECT_TRUE(terminal.expect("\nkept 23\n")) << terminal.screen();
  terminal.type("pd> 'ty' .. 'ped'\n");
  EXPECT_TRUE(terminal.expect("\ntyped\n")) << terminal.screen();
}

TEST_F(Prompt, KeepsLocals) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("local x, y = 5, 'text'\n");
  terminal.type("y .. x\n");
  EXPECT_TRUE(terminal.expect("\ntext5\n")) << terminal.screen();
  terminal.type("local function twice(n) return 2 * n end\n");
  terminal.type("'is ' .. twice(21)\n");
  EXPECT_TRUE(terminal.expect("\nis 42\n")) << terminal.screen();
  // Also the locals of an entry that fails or is stopped, but not those of its blocks.
  terminal.type("local model = 'made' for i = 1, 2 do local inner = i error('stop') end\n");
  ASSERT_TRUE(terminal.expect("stop"));
  terminal.type("model .. ' ' .. tostring(inner) .. ' ' .. tostring(i)\n");
  EXPECT_TRUE(terminal.expect("\nmade nil nil\n")) << terminal.screen();
  // Locals do not replace the names of Lua and the shell.
  terminal.type("local table, pd = 1, 2\n");
  terminal.type("table.concat({ 'a', 'b' }) .. type(pd)\n");
  EXPECT_TRUE(terminal.expect("\nabtable\n")) << terminal.screen();
}

TEST_F(Prompt, RunKeepsTheLocalsOfAScript) {
  std::ofstream(home_ + "/script.lua")
      << "local model = { size = 7 }\nlocal function area(n) return n * model.size end\n"
         "if arg[1] == 'stop' then os.exit(3) end\nif arg[1] == 'fail' then error('failed') end\n"
         "local late = area(2)\n";
  std::ofstream(home_ + "/returns.lua") << "local kept = 'this'\nreturn kept\n";
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(":run " + home_ + "/script.lua\n");
  terminal.type("'is ' .. _run.area(3) .. ' ' .. _run.late\n");
  EXPECT_TRUE(terminal.expect("\nis 21 14\n")) << terminal.screen();
  for (const char* word : {"stop", "fail"}) {
    terminal.type(":run " + home_ + "/script.lua " + word + "\n");
    ASSERT_TRUE(terminal.expect(std::string(word) == "stop" ? "ended with status 3" : "failed"));
    terminal.type("'now ' .. _run.model.size .. tostring(_run.late)\n");
    EXPECT_TRUE(terminal.expect("\nnow 7nil\n")) << terminal.screen();
  }
  terminal.type(":run " + home_ + "/returns.lua\n");
  terminal.type("'and ' .. _run.kept .. tostring(rawget(_G, 'kept'))\n");
  EXPECT_TRUE(terminal.expect("\nand thisnil\n")) << terminal.screen();
}

TEST_F(Prompt, EditsAndRunsScripts) {
  // An editor that writes what a person would write.
  std::ofstream(home_ + "/editor") << "#!/bin/sh\n[ -e \"$1\" ] && exit 5\n"
                                      "echo \"written = 'by the ' .. arg[1]\" > \"$1\"\n";
  std::filesystem::permissions(home_ + "/editor", std::filesystem::perms::owner_all);
  auto variables = environment();
  variables["VISUAL"] = home_ + "/editor";
  Terminal terminal({SHELL_BINARY}, variables);
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type(":edit " + home_ + "/new_script editor\n");
  terminal.type("written\n");
  EXPECT_TRUE(terminal.expect("\nby the editor\n")) << terminal.screen();
  EXPECT_TRUE(std::filesystem::exists(home_ + "/new_script.lua"));
  terminal.type(":edit " + home_ + "/new_script.lua\n");
  EXPECT_TRUE(terminal.expect("failed, so nothing was run")) << terminal.screen();
  terminal.type(":edit\n");
  EXPECT_TRUE(terminal.expect(":edit needs a script")) << terminal.screen();
}

TEST_F(Prompt, TimesSeveralRuns) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("count = 0\n:time -n 20 count = count + 1\n");
  ASSERT_TRUE(terminal.expect(" of 20, middle half ")) << terminal.screen();
  EXPECT_TRUE(terminal.expect(" to "));
  terminal.type("'counted ' .. count\n");
  EXPECT_TRUE(terminal.expect("\ncounted 20\n")) << terminal.screen();
  terminal.type(":time -n many count\n");
  EXPECT_TRUE(terminal.expect(":time -n needs a count from 1 to 1000000")) << terminal.screen();
}

TEST_F(Prompt, HelpAndWordsForLeavingWork) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("help\n");
  EXPECT_TRUE(terminal.expect("stack-augmented neural networks")) << terminal.screen();
  terminal.type("quit\n");
  EXPECT_EQ(terminal.wait_exit(), 0) << terminal.screen();
  for (const char* word : {"exit", "exit()", ":quit"}) {
    auto other = start();
    ASSERT_TRUE(other.expect("pd> "));
    other.type(std::string(word) + "\n");
    EXPECT_EQ(other.wait_exit(), 0) << word;
  }
  auto own = start();
  ASSERT_TRUE(own.expect("pd> "));
  own.type("quit = 'mine'\nquit\n");
  EXPECT_TRUE(own.expect("\nmine\n")) << own.screen();
}

TEST_F(Prompt, DrawsPicturesAsText) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("pd.plot.lines{ series = { { y = { 1, 3, 2 } } } }\n");
  ASSERT_TRUE(terminal.expect("(a picture of 640 x 400 pixels, not saved; ")) << terminal.screen();
  terminal.type("pd.plot.bars{ categories = { 'one' }, series = { { y = { 2 } } }, path = '" +
                home_ + "/bars.svg' }\n");
  ASSERT_TRUE(terminal.expect("saved as " + home_ + "/bars.svg)")) << terminal.screen();
  terminal.type("pd.plot.state_diagram{ pda = pd.pda.load 'marked_reversal_pda' }\n");
  ASSERT_TRUE(terminal.expect("(a picture of ")) << terminal.screen();
  const auto screen = terminal.screen();
  EXPECT_NE(screen.find("●"), screen.npos) << screen;
  EXPECT_NE(screen.find("one │██"), screen.npos) << screen;
  EXPECT_EQ(screen.find("<svg"), screen.npos) << screen;
}

TEST_F(Prompt, CompletesLibrariesBeforeTheyAreLoaded) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("'is ' .. type(pd.plo\t.line\t{ x_lab\t'epoch', series = { { y = { 1 } } } })\n");
  EXPECT_TRUE(terminal.expect("\nis string\n")) << terminal.screen();
  terminal.type("pd.gri\t.poin\t{ rate = 0.5 }\n");
  EXPECT_TRUE(terminal.expect("\nrate=0.5\n")) << terminal.screen();
  terminal.type("g = pd.grammar.load 'dyck'\n");
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("g:sample{ \t\t");
  EXPECT_TRUE(terminal.expect("length")) << terminal.screen();
  EXPECT_EQ(terminal.screen().find("target_lengths"), std::string::npos) << terminal.screen();
}

TEST_F(Prompt, WrapsLongLinesAtWords) {
  auto terminal = start();
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.resize(50);
  terminal.type("('word '):rep(30)\n");
  ASSERT_TRUE(terminal.expect("word\n"));
  ASSERT_TRUE(terminal.expect("pd> "));
  terminal.type("pd.train.describe_optimizer 'adm'\n");
  ASSERT_TRUE(terminal.expect("did you mean")) << terminal.screen();
  terminal.type("pd.log.info(('logged '):rep(20))\n");
  ASSERT_TRUE(terminal.expect("logged\n    logged")) << terminal.screen();
  const auto screen = terminal.screen();
  std::string line;
  int wrapped = 0;
  for (const char c : screen.substr(screen.find("word word"))) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.find("word word") != line.npos || line.find("logged logged") != line.npos) {
      EXPECT_LE(line.size(), 50u) << line;
      ++wrapped;
    }
    line.clear();
  }
  EXPECT_GE(wrapped, 5);
}

TEST(Program, SuggestsOptions) {
  Terminal terminal({SHELL_BINARY, "--treads", "2"}, {{"TERM", "xterm"}});
  EXPECT_EQ(terminal.wait_exit(), 2);
  EXPECT_NE(terminal.screen().find("did you mean '--threads'?"), std::string::npos)
      << terminal.screen();
  Terminal runs({SHELL_BINARY, "runs", "lst"}, {{"TERM", "xterm"}, {"PUSHDOWN_REGISTRY", "off"}});
  EXPECT_EQ(runs.wait_exit(), 2);
  EXPECT_NE(runs.screen().find("did you mean 'list'?"), std::string::npos) << runs.screen();
}

}  // namespace
}  // namespace pushdown::entries_test
