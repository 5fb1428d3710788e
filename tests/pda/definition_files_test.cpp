// The files of grammars, automata and hints: which file a name refers to, and of which kind it is.
#include "pda/definition_files.h"
#include "pda/hint_parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "support/message.h"
#include "support/scratch.h"

namespace pushdown::definition_files_test {
namespace {

using testing_support::message;
using testing_support::Scratch;
using Names = std::vector<std::string>;

class DefinitionFilesTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string error(DefinitionKind kind, const std::string& name) const {
    return message([&] { files().find(kind, name); });
  }
  DefinitionFiles files() const { return DefinitionFiles(folder_.path(), folder_ / "work"); }

  Scratch folder_;
};

TEST_F(DefinitionFilesTest, KindsFollowFromTheWordsOfAFile) {
  write("grammars/brackets.lua", "rule 'S -> a S b'  -- transition");
  write("grammars/reversal.lua", "synchronous { doc = [[transition]] }");
  write("grammars/counter.lua", "transition 'q, x --a--> q, push a'");
  write("grammars/notes.txt", "transition");
  write("work/grammars/own.lua", "rule 'S -> a'");
  EXPECT_EQ(files().grammar_names(false), (Names{"brackets", "own"}));
  EXPECT_EQ(files().grammar_names(true), (Names{"reversal"}));
  EXPECT_EQ(files().names(DefinitionKind::grammar), (Names{"brackets", "own", "reversal"}));
  EXPECT_EQ(files().names(DefinitionKind::automaton), (Names{"counter"}));
}

TEST_F(DefinitionFilesTest, NamesPathsAndHints) {
  write("grammars/brackets.lua", "");
  write("scripts/hints/an_bn/whole.pda", "");
  write("scripts/hints/an_bn/part.lua", "");
  EXPECT_EQ(files().find(DefinitionKind::grammar, "brackets"),
            folder_.path() / "grammars/brackets.lua");
  EXPECT_EQ(files().find(DefinitionKind::grammar, "some/file.pcfg"), "some/file.pcfg");
  EXPECT_EQ(files().find(DefinitionKind::automaton, "an_bn/whole"),
            folder_.path() / "scripts/hints/an_bn/whole.pda");
  EXPECT_EQ(files().hints(), (Names{"an_bn/part", "an_bn/whole"}));
  EXPECT_TRUE(files().is_hint(folder_.path() / "scripts/hints/../hints/an_bn/part.lua"));
  EXPECT_FALSE(files().is_hint(folder_.path() / "grammars/brackets.lua"));
}

TEST_F(DefinitionFilesTest, AFileWithPartsIsSeveralHints) {
  write("scripts/hints/an_bn.lua", "parts()\ntransition 'q, x --a--> q, push a'");
  write("work/hints/mine.lua", "transition 'q, x --a--> q, push a'  -- parts()");
  EXPECT_EQ(files().hints(),
            (Names{"an_bn/dead_states", "an_bn/hint_1", "an_bn/hint_2", "an_bn/whole", "mine"}));
  EXPECT_EQ(files().find(DefinitionKind::automaton, "an_bn/hint_2"),
            folder_.path() / "scripts/hints/an_bn.lua");
  EXPECT_EQ(files().find(DefinitionKind::automaton, "mine"), folder_ / "work/hints/mine.lua");
  EXPECT_CONTAINS(error(DefinitionKind::automaton, "an_bn"),
                  "'an_bn' has several hints: 'an_bn/dead");
  EXPECT_CONTAINS(error(DefinitionKind::automaton, "an_bn/hint_3"), "did you mean 'an_bn/hint_1'");
  EXPECT_CONTAINS(error(DefinitionKind::automaton, "mine/whole"), "no file or hint 'mine/whole'");
}

TEST(HintPartsTest, TransitionsStatesAndAcceptance) {
  PdaSource source;
  source.name = "m";
  source.bottom = "Z";
  source.states = {"q", "r", "dead"};
  source.accepting = {{"r", 1}};
  source.at_bottom = true;
  source.dead = {"dead"};
  source.transitions = {{"q", "Z", "a", "q", StackAction::push, "a"},
                        {"q", "a", "b", "r", StackAction::pop},
                        {"q", "Z", "b", "dead", StackAction::replace, "Z"}};
  const auto made = [&](const char* name) { return part_of(source, *hint_part(name)); };
  EXPECT_EQ(made("m/hint_1").transitions.size(), 1U);
  EXPECT_EQ(made("m/hint_2").transitions.size(), 2U);
  EXPECT_EQ(made("m/dead_states").transitions[0].next, "dead");
  EXPECT_EQ(made("m/dead_states").dead, source.dead);
  EXPECT_EQ(made("m/whole").states, (Names{"q", "r"}));
  EXPECT_TRUE(made("m/whole").dead.empty() && made("m/whole").at_bottom);
  EXPECT_TRUE(made("m/hint_2").accepting.empty() && !made("m/hint_2").at_bottom);
  EXPECT_EQ(made("m/whole").name, "m_whole");
  EXPECT_EQ(hint_part("whole"), nullptr);
}

TEST_F(DefinitionFilesTest, ErrorsNameWhatThereIs) {
  write("grammars/brackets.lua", "");
  write("scripts/hints/an_bn/whole.pda", "");
  EXPECT_CONTAINS(error(DefinitionKind::grammar, "bracket"),
                  "[grammar.load] there is no grammar 'bracket', did you mean 'brackets'?");
  EXPECT_CONTAINS(error(DefinitionKind::automaton, "an_bn/hole"),
                  "there is no file or hint 'an_bn/hole', did you mean 'an_bn/whole'?");
  EXPECT_EQ(error(DefinitionKind::automaton, "an_bn"),
            "[pda.load] 'an_bn' has several hints: 'an_bn/whole'");
  EXPECT_EQ(error(DefinitionKind::automaton, "%bottom x\na, x --s--> a, pop\n"),
            "[pda.load] expected a name or a path, got a text of several lines; pd.pda.parse reads "
            "a text");
}

TEST_F(DefinitionFilesTest, ReadingRefusesTheOtherNotation) {
  write("a.pda", "%bottom x\n");
  EXPECT_EQ(read_definition_file(DefinitionKind::automaton, folder_.path() / "a.pda"),
            "%bottom x\n");
  EXPECT_THROW(read_definition_file(DefinitionKind::grammar, folder_.path() / "a.pda"),
               std::invalid_argument);
  EXPECT_THROW(read_definition_file(DefinitionKind::grammar, folder_.path() / "absent.lua"),
               std::runtime_error);
}

TEST(DefinitionNotation, EndingsThatAreNotWrittenAreNamed) {
  const auto notation = [](const char* path) {
    return notation_to_write("pda.save", DefinitionKind::automaton,
                             {Notation::transitions, Notation::jflap}, path);
  };
  EXPECT_EQ(notation("a/b.pda"), Notation::transitions);
  EXPECT_EQ(notation("b.jff"), Notation::jflap);
  for (const char* path : {"b.lua", "b", "b.jff.txt", ".pda"})
    EXPECT_EQ(
        message([&] { notation(path); }),
        fmt::format("[pda.save] expected the name of a file that ends in .pda or .jff, got '{}'",
                    path));
  EXPECT_EQ(message([&] {
              notation_to_write("grammar.save", DefinitionKind::grammar, {Notation::rules},
                                "g.scfg");
            }),
            "[grammar.save] expected the name of a file that ends in .pcfg, .cfg or .txt, got "
            "'g.scfg'");
  // Every file that is read is one that can be written.
  for (const auto kind : {DefinitionKind::grammar, DefinitionKind::automaton})
    for (const auto& [ending, of] : words_of(kind).endings)
      EXPECT_EQ(notation_of(kind, std::string("x") + ending), of);
}

}  // namespace
}  // namespace pushdown::definition_files_test
