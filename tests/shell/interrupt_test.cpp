// Ctrl-C in long calls, pressed at the prompt: each must take effect within half a second on an
// idle machine.
// label: long
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "shell/terminal.h"

namespace pushdown::interrupt_test {
namespace {

namespace fs = std::filesystem;

// The promise in seconds, which holds for an idle machine. Without it, the call must end before it
// has used more than kMost seconds of processor time, which is fifty times as much as it needs.
constexpr double kMost = 10;
double promised() {
  const char* given = getenv("PUSHDOWN_INTERRUPT_SECONDS");
  return given != nullptr ? atof(given) : kPatience;
}

class Interrupt : public testing::Test {
 protected:
  Interrupt() {
    char pattern[] = "/tmp/pushdown_interrupt_XXXXXX";
    folder_ = mkdtemp(pattern);
    fs::create_directory(folder_ + "/state");
  }
  ~Interrupt() override { fs::remove_all(folder_); }

  std::map<std::string, std::string> environment() const {
    return {{"TERM", "dumb"},      {"HOME", folder_}, {"XDG_STATE_HOME", folder_ + "/state"},
            {"LC_ALL", "C.UTF-8"}, {"NO_COLOR", "1"}, {"PUSHDOWN_REGISTRY", "off"}};
  }

  // Starts the call, presses Ctrl-C while it runs, and measures the time until the prompt is back.
  void press_in(Terminal& prompt, const std::string& name, const std::string& call) {
    prompt.type("io.write('g', 'o\\n') io.flush() " + call + "\n");
    ASSERT_TRUE(prompt.expect("go\n")) << name << ":\n" << prompt.screen();
    ASSERT_TRUE(prompt.computes(0.3)) << name;
    const double pressed = seconds_now(), used = prompt.used_seconds();
    prompt.type("\x03");
    ASSERT_TRUE(prompt.expect("interrupted")) << name << ":\n" << prompt.screen();
    const double seconds = seconds_now() - pressed;
    EXPECT_LT(prompt.used_seconds() - used, kMost) << name;
    ASSERT_TRUE(prompt.expect("pd> ")) << name;
    EXPECT_LT(seconds, promised()) << name;
    RecordProperty(name, std::to_string(seconds));
    std::printf("  %-28s %.3f s\n", name.c_str(), seconds);
  }

  std::string folder_;
};

struct Call {
  const char *name, *setup, *call;
};

// Every call would take far longer than the test.
const Call kGrammarCalls[] = {
    {"grammar:sample", "g = pd.grammar.load 'dyck'", "g:sample { count = 1e7 }"},
    {"grammar:sampler", "", "g:sampler { lengths = { 1, 400000 } }"},
    {"grammar:sample, one length", "", "g:sample { length = 400000 }"},
    {"sampler:sample", "s = g:sampler { lengths = { 40, 80 } }", "s:sample { count = 1e7 }"},
    {"sampler:dataset", "", "s:dataset(1e7)"},
    {"sampler:estimate_entropy", "", "s:estimate_entropy { strings = 1e9 }"},
    {"sampler:lower_bound", "w = {} for i = 1, 2000 do w[i] = ('( ) '):rep(1000) end",
     "g:sampler({ lengths = { 2000, 2000 } }):lower_bound(w)"},
    {"dataset:lower_bound", "",
     "g:sampler({ lengths = { 1000, 1000 } }):dataset(1000):lower_bound()"},
    {"grammar:log_probability", "x = ('( ) '):rep(4000)", "g:log_probability(x)"},
    {"grammar:contains", "", "g:contains(('( ) '):rep(40000))"},
    {"grammar:parse", "", "g:parse(x)"},
    {"grammar:rule_counts", "", "g:rule_counts(x)"},
    {"task.labelled", "",
     "pd.task.labelled { grammar = g, positives = 1e8, negatives = 1e8, lengths = { 2, 400 } }"},
    {"matched negatives", "",
     "pd.task.labelled { grammar = g, positives = 1e6, negatives = 1e6, lengths = { 20, 60 }, "
     "negative_kind = 'matched' }"},
    {"grammar.parse",
     "r = {} for i = 1, 4000 do r[i] = ('N%d -> N%d N%d [0.7] | %q [0.3]'):format(i, i % 4000 + 1, "
     "(i * 7) % 4000 + 1, 'a') end r = table.concat(r, '\\n'):gsub('\"', \"'\")",
     "pd.grammar.parse(r)"},
    {"grammar:greibach",
     "x = {} for i = 0, 1500 do x[#x + 1] = (\"N%d -> N%d 'a' [0.5] | N%d [0.3] | 'b' [0.2]\"):"
     "format(i, (i * 7 + 1) % 1501, (i * 13 + 5) % 1501) end "
     "left = pd.grammar.parse(table.concat(x, '\\n'))",
     "left:greibach()"},
    {"a grammar file without end",
     "do local f = io.open('FOLDER/loop.lua', 'w') f:write 'while true do end' f:close() end "
     "pd.grammar.limits { steps = 1e15 }",
     "pd.grammar.load 'FOLDER/loop.lua'"},
};

const Call kModelCalls[] = {
    {"tensor product", "a = pd.tensor.rand({ 9000, 9000 })", "a:matmul(a):matmul(a)"},
    {"backward of products", "a = pd.tensor.rand({ 4000, 4000 }, { requires_grad = true })",
     "a:matmul(a):matmul(a):matmul(a):matmul(a):sum():backward()"},
    {"tensor.randn", "", "pd.tensor.randn { 10000, 20000 }"},
    {"log_probability of a model",
     "g = pd.grammar.load 'dyck' m = pd.model.language_model { alphabet = g:alphabet(), "
     "controller = { kind = 'lstm', hidden = 20 }, stack = { kind = 'nondeterministic', states = "
     "3, "
     "symbols = 3 } }",
     "m:log_probability(('( ) '):rep(1000))"},
    {"slow step",
     "t = pd.train.trainer { model = m, train = g:sampler({ lengths = { 600, 600 } }):dataset(40, "
     "{ "
     "batch = 40 }), batch = 40, run_folder = 'FOLDER/slow' }",
     "t:step()"},
    {"slow epoch", "", "for e in t:epochs() do end"},
    {"evaluation", "d = g:sampler({ lengths = { 600, 600 } }):dataset(40)",
     "pd.train.evaluate(m, d)"},
    {"step of a transformer",
     "n = pd.model.language_model { alphabet = g:alphabet(), architecture = 'transformer', hidden "
     "= "
     "256, feedforward = 1024, layers = { 'attention', 'attention', 'attention', 'attention', "
     "'attention', 'attention' } } u = pd.train.trainer { model = n, train = g:sampler({ lengths = "
     "{ "
     "600, 600 } }):dataset(40), batch = 40 }",
     "u:step()"},
    {"step of online learning",
     "r = pd.model.recognizer { alphabet = g:alphabet(), controller = { kind = 'elman', hidden = "
     "60 } "
     "} v = pd.train.trainer { model = r, train = pd.task.labelled { grammar = g, positives = 20, "
     "negatives = 20, lengths = { 300, 400 } }, learning = { kind = 'rtrl' }, batch = 40 }",
     "v:step()"},
    {"passes of neurons",
     "n = pd.model.recognizer { architecture = 'nnpda', alphabet = { 'a', 'b' }, "
     "evaluation_passes = 1e6 }",
     "n:accepts 'a b a b'"},
    {"passes of a recurrent network",
     "n = pd.model.recognizer { alphabet = { 'a', 'b' }, evaluation_passes = 1e6, controller = { "
     "kind = 'lstm', hidden = 4 } }",
     "n:accepts 'a b a b'"},
    {"loading a dataset",
     "do local f = io.open('FOLDER/data.txt', 'w') f:write('# pushdown data set 1\\n# alphabet a "
     "b\\n') local row = '-\\t' .. ('a b '):rep(500) .. 'a\\n' for i = 1, 50000 do f:write(row) "
     "end "
     "f:close() end",
     "pd.task.load_dataset 'FOLDER/data.txt'"},
    {"a loop of Lua", "", "while true do end"},
};

class LongCalls : public Interrupt, public testing::WithParamInterface<int> {};

TEST_P(LongCalls, AreInterruptedWithinHalfASecond) {
  SKIP_IF_SIGNALS_ARE_DELAYED();
  Terminal prompt({SHELL_BINARY, "--threads", "1", "--seed", "1", "--log-level", "error"},
                  environment());
  ASSERT_TRUE(prompt.expect("pd> "));
  const auto run = [&](const auto& calls) {
    for (const Call& one : calls) {
      const auto placed = [&](std::string text) {
        for (auto at = text.find("FOLDER"); at != text.npos; at = text.find("FOLDER"))
          text.replace(at, 6, folder_);
        return text;
      };
      if (*one.setup != '\0') {
        prompt.type(placed(one.setup) + " io.write('set', 'up\\n')\n");
        ASSERT_TRUE(prompt.expect("setup\n")) << one.name << ":\n" << prompt.screen();
      }
      press_in(prompt, one.name, placed(one.call));
      if (HasFatalFailure()) return;
    }
  };
  if (GetParam() == 0)
    run(kGrammarCalls);
  else
    run(kModelCalls);
}

INSTANTIATE_TEST_SUITE_P(All, LongCalls, testing::Values(0, 1));

}  // namespace
}  // namespace pushdown::interrupt_test
