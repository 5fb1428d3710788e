// Entries of the prompt that are more than one expression or statement.
#include <fstream>

#include "shell/prompt.h"

namespace pushdown::entries_test {
namespace {

std::string pasted(const std::string& text) { return "\033[200~" + text + "\033[201~\n"; }

TEST_F(Prompt, ShowsTheLastExpressionOfAPastedBlock) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {pasted("x = 3\rx * 7"), "\n21\n"},
      {"'no' .. 'thing swallowed'\n", "\nnothing swallowed\n"},
      {"y = 4; y + 1\n", "\n5\n"},
      {pasted("local function f(n)\r  return n * 2\rend\rf(50) -- the last one"), "\n100\n"},
      // If the whole text is correct Lua, its meaning does not change.
      {pasted("z = 5\r- 3"), ""},
      {"'z is ' .. z\n", "\nz is 2\n"},
      {pasted("w = 8\rw;"), ""},
      {"'w is ' .. _\n", "\nw is 8\n"},
      // Tabs are inside of strings, too.
      {pasted("\tif true then\r\t\ts = 'a\tb'\r\tend"), ""},
      {"#s .. ' ' .. s:byte(2)\n", "\n3 9\n"},
  }));
}

TEST_F(Prompt, PastesStringsUnchanged) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {pasted("s = [[a\r\nb\rc]]"), ""},
      {"#s .. ' of ' .. s:gsub('\\n', '-')\n", "\n5 of a-b-c\n"},
      {pasted(std::string("s = 'a\0\033\177'", 10)), "s = 'a\\000\\027\\127'"},
      {"table.concat({ s:byte(1, -1) }, ' ')\n", "\n97 0 27 127\n"},
  }));
}

TEST_F(Prompt, TakesSessionsThatWereCopiedWithTheirPrompts) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {pasted("pd> a = 20\rpd> a + 1\r21\rpd> for i = 1, 2 do\r...   a = a + i\r... end\rpd> 'sum "
              "' .. a\rsum 23"),
       "\n21\nsum 23\n"},
      // The first failure ends the entry.
      {pasted("pd> error('first')\rpd> a = 'changed'"), "first"},
      {"'kept ' .. a\n", "\nkept 23\n"},
      {"pd> 'ty' .. 'ped'\n", "\ntyped\n"},
  }));
}

TEST_F(Prompt, KeepsLocals) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"local x, y = 5, 'text'\n", ""},
      {"y .. x\n", "\ntext5\n"},
      {"local function twice(n) return 2 * n end\n", ""},
      {"'is ' .. twice(21)\n", "\nis 42\n"},
      // Also the locals of an entry that fails or is stopped, but not those of its blocks.
      {"local model = 'made' for i = 1, 2 do local inner = i error('stop') end\n", "stop"},
      {"model .. ' ' .. tostring(inner) .. ' ' .. tostring(i)\n", "\nmade nil nil\n"},
      // Locals do not replace the names of Lua and the shell.
      {"local table, pd = 1, 2\n", ""},
      {"table.concat({ 'a', 'b' }) .. type(pd)\n", "\nabtable\n"},
  }));
}

TEST_F(Prompt, RunKeepsTheLocalsOfAScript) {
  std::ofstream(home_ + "/script.lua")
      << "local model = { size = 7 }\nlocal function area(n) return n * model.size end\n"
         "if arg[1] == 'stop' then os.exit(3) end\nif arg[1] == 'fail' then error('failed') end\n"
         "local late = area(2)\n";
  std::ofstream(home_ + "/returns.lua") << "local kept = 'this'\nreturn kept\n";
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {":run " + home_ + "/script.lua\n", ""},
      {"'is ' .. _run.area(3) .. ' ' .. _run.late\n", "\nis 21 14\n"},
  }));
  for (const char* word : {"stop", "fail"}) {
    ASSERT_TRUE(terminal.play({
        {":run " + home_ + "/script.lua " + word + "\n",
         std::string(word) == "stop" ? "ended with status 3" : "failed"},
        {"'now ' .. _run.model.size .. tostring(_run.late)\n", "\nnow 7nil\n"},
    }));
  }
  ASSERT_TRUE(terminal.play({
      {":run " + home_ + "/returns.lua\n", ""},
      {"'and ' .. _run.kept .. tostring(rawget(_G, 'kept'))\n", "\nand thisnil\n"},
  }));
}

TEST_F(Prompt, EditsAndRunsScripts) {
  // An editor that writes what a person would write.
  std::ofstream(home_ + "/editor") << "#!/bin/sh\n[ -e \"$1\" ] && exit 5\n"
                                      "echo \"written = 'by the ' .. arg[1]\" > \"$1\"\n";
  std::filesystem::permissions(home_ + "/editor", std::filesystem::perms::owner_all);
  auto variables = environment();
  variables["VISUAL"] = home_ + "/editor";
  Terminal terminal({SHELL_BINARY}, variables);
  ASSERT_TRUE(terminal.play({
      {"", "pd> "},
      {":edit " + home_ + "/new_script editor\n", ""},
      {"written\n", "\nby the editor\n"},
  }));
  EXPECT_TRUE(std::filesystem::exists(home_ + "/new_script.lua"));
  ASSERT_TRUE(terminal.play({
      {":edit " + home_ + "/new_script.lua\n", "failed, so nothing was run"},
      {":edit\n", ":edit needs a script"},
  }));
}

TEST_F(Prompt, TimesSeveralRuns) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"count = 0\n:time -n 20 count = count + 1\n", " of 20, middle half "},
      {"", " to "},
      {"'counted ' .. count\n", "\ncounted 20\n"},
      {":time -n many count\n", ":time -n needs a count from 1 to 1000000"},
  }));
}

TEST_F(Prompt, HelpAndWordsForLeavingWork) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"help\n", "stack-augmented neural networks"},
      {"quit\n", ""},
  }));
  EXPECT_EQ(terminal.wait_exit(), 0) << terminal.screen();
  for (const char* word : {"exit", "exit()", ":quit"}) {
    auto other = at_prompt();
    other.type(std::string(word) + "\n");
    EXPECT_EQ(other.wait_exit(), 0) << word;
  }
  auto own = at_prompt();
  ASSERT_TRUE(own.play("quit = 'mine'\nquit\n", "\nmine\n"));
}

TEST_F(Prompt, DrawsPicturesAsText) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"pd.plot.lines{ series = { { y = { 1, 3, 2 } } } }\n",
       "(a picture of 640 x 400 pixels, not saved; "},
      {"pd.plot.bars{ categories = { 'one' }, series = { { y = { 2 } } }, path = '" + home_ +
           "/bars.svg' }\n",
       "saved as " + home_ + "/bars.svg)"},
      {"pd.plot.state_diagram{ pda = pd.pda.load 'marked_reversal_pda' }\n", "(a picture of "},
  }));
  const auto screen = terminal.screen();
  EXPECT_NE(screen.find("●"), screen.npos) << screen;
  EXPECT_NE(screen.find("one │██"), screen.npos) << screen;
  EXPECT_EQ(screen.find("<svg"), screen.npos) << screen;
}

TEST_F(Prompt, CompletesLibrariesBeforeTheyAreLoaded) {
  auto terminal = at_prompt();
  ASSERT_TRUE(terminal.play({
      {"'is ' .. type(pd.plo\t.line\t{ x_lab\t'epoch', series = { { y = { 1 } } } })\n",
       "\nis string\n"},
      {"pd.gri\t.poin\t{ rate = 0.5 }\n", "\nrate=0.5\n"},
      {"g = pd.grammar.load 'dyck'\n", "pd> "},
      {"g:sample{ \t\t", "length"},
  }));
  EXPECT_EQ(terminal.screen().find("target_lengths"), std::string::npos) << terminal.screen();
}

TEST_F(Prompt, WrapsLongLinesAtWords) {
  auto terminal = at_prompt();
  terminal.resize(50);
  ASSERT_TRUE(terminal.play({
      {"('word '):rep(30)\n", "word\n"},
      {"", "pd> "},
      {"pd.train.describe_optimizer 'adm'\n", "did you mean"},
      {"pd.log.info(('logged '):rep(20))\n", "logged\n    logged"},
  }));
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
