#include "task/transduction.h"

#include <gtest/gtest.h>

#include <set>

#include "base/parallel.h"
#include "grammar/synchronous_parse.h"
#include "grammar/synchronous_text.h"
#include "support/message.h"
#include "task/pair_list.h"
#include "task/pair_text.h"

namespace pushdown::transduction_test {
namespace {

using testing_support::message;

std::vector<Pair> drawn(const PairSource& source, std::int64_t count, std::uint64_t seed) {
  Random random(seed, "pairs");
  return source.draw(count, random);
}

TEST(Transduction, CopyReversalAndBigramFlipping) {
  const Json lengths = Json::array({3, 8});
  for (const auto& pair : drawn(*make_pairs({{"kind", "copy"}, {"lengths", lengths}}), 200, 1))
    EXPECT_EQ(pair.target, pair.source);
  for (const auto& pair : drawn(*make_pairs({{"kind", "reversal"}, {"lengths", lengths}}), 200, 1))
    EXPECT_EQ(pair.target, Word(pair.source.rbegin(), pair.source.rend()));
  std::set<std::size_t> seen;
  for (const auto& pair :
       drawn(*make_pairs({{"kind", "bigram_flipping"}, {"lengths", lengths}}), 200, 1)) {
    ASSERT_EQ(pair.target.size(), pair.source.size());
    seen.insert(pair.source.size());
    for (std::size_t i = 1; i <= pair.source.size(); ++i)
      EXPECT_EQ(pair.target[i - 1], pair.source[(i % 2 == 1 ? i + 1 : i - 1) - 1]);
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{4, 6, 8}));
}

// Draws until a source is that of the example at the end of the description.
TEST(Transduction, PairsAreLikeTheExampleOfTheirKind) {
  std::size_t examples = 0;
  for (const auto& kind : pair_kinds()) {
    const auto arrow = kind.doc.find(" -> "), comma = kind.doc.rfind(", ");
    if (arrow == std::string::npos) continue;
    const auto pair =
        parse_pairs(kind.doc.substr(comma + 2).replace(arrow - comma - 2, 4, " ||| "), kind.name);
    const auto length = pair->pairs()[0].source.size();
    const auto source = make_pairs({{"kind", kind.name},
                                    {"symbols", pair->source_alphabet().size()},
                                    {"lengths", Json::array({length, length})}});
    std::string found;
    for (const auto& one : drawn(*source, 3000, 1))
      if (one.source == pair->pairs()[0].source) found = pairs_text(*source, {one});
    EXPECT_EQ(found, pairs_text(*pair, pair->pairs())) << kind.name;
    ++examples;
  }
  EXPECT_GE(examples, 3u);
}

TEST(Transduction, LengthsAndSymbolsAreUniform) {
  const auto source =
      make_pairs({{"kind", "copy"}, {"symbols", 5}, {"lengths", Json::array({8, 64})}});
  std::vector<double> lengths(65), symbols(5);
  double count = 0;
  for (const auto& pair : drawn(*source, 20000, 3)) {
    ++lengths.at(pair.source.size());
    for (const int id : pair.source) ++symbols.at(id), ++count;
  }
  double chi_lengths = 0, chi_symbols = 0;
  for (int n = 0; n < 8; ++n) EXPECT_EQ(lengths[n], 0);
  const double expected = 20000.0 / 57;
  for (int n = 8; n <= 64; ++n) chi_lengths += std::pow(lengths[n] - expected, 2) / expected;
  for (const double n : symbols) chi_symbols += std::pow(n - count / 5, 2) / (count / 5);
  EXPECT_LT(chi_lengths, 56 + 5 * std::sqrt(2 * 56.0));
  EXPECT_LT(chi_symbols, 4 + 5 * std::sqrt(2 * 4.0));
}

TEST(Transduction, DefaultsAreThePapers) {
  const auto source = make_pairs({{"kind", "reversal"}});
  EXPECT_EQ(source->name(), "reversal");
  EXPECT_EQ(source->describe(),
            (Json{{"kind", "reversal"}, {"symbols", 128}, {"lengths", Json::array({8, 64})}}));
  EXPECT_EQ(source->source_alphabet().size(), 128);
  EXPECT_EQ(source->target_alphabet(), source->source_alphabet());
  EXPECT_EQ(source->source_alphabet().symbols().back(), "a128");
}

const char* const kSwaps =
    "#% name swaps\nA -> S1 T2 | T2 S1\nS -> 'a' S1 | 'x' S1\nS -> 'a' | 'x'\nT -> 'b' T1 | T1 "
    "'y'\n"
    "T -> 'c' | 'z'";

// Sources of 2 to 20 symbols of every kind.
std::vector<PairSourcePtr> every_kind(const std::string& option = "") {
  std::vector<PairSourcePtr> sources;
  for (const auto& kind : pair_kinds()) {
    const auto has = [&](const auto& spec) { return spec.name == option; };
    if (!option.empty() && std::none_of(kind.options.begin(), kind.options.end(), has)) continue;
    Json options{{"kind", kind.name}, {"lengths", Json::array({2, 20})}};
    if (!option.empty()) options[option] = true;
    if (kind.name == "grammar") options["rules"] = kSwaps;
    sources.push_back(make_pairs(options));
  }
  return sources;
}

TEST(Transduction, PairsOfEveryKindDependOnlyOnTheSeedAndTheDescription) {
  for (const auto& source : every_kind()) {
    SCOPED_TRACE(source->name());
    const auto once = drawn(*source, 50, 7);
    EXPECT_EQ(drawn(*source, 50, 7), once);
    EXPECT_NE(drawn(*source, 50, 8), once);
    const auto more = drawn(*source, 80, 7);
    EXPECT_TRUE(std::equal(once.begin(), once.end(), more.begin()));
    // In groups from one generator, and on several threads at once.
    Random random(7, "pairs");
    auto parts = source->draw(20, random);
    for (auto& pair : source->draw(30, random)) parts.push_back(std::move(pair));
    EXPECT_EQ(parts, once);
    set_thread_count(4);
    std::vector<std::vector<Pair>> at_once(8);
    parallel_for(8, [&](std::int64_t i) { at_once[i] = drawn(*source, 50, 7); });
    set_thread_count(1);
    for (const auto& pairs : at_once) EXPECT_EQ(pairs, once);
    for (const auto& again :
         {make_pairs(source->describe()), parse_pair_source(to_text(*source), "stored")}) {
      EXPECT_EQ(again->describe(), source->describe());
      EXPECT_EQ(again->name(), source->name());
      EXPECT_EQ(drawn(*again, 50, 7), once);
    }
    std::set<std::size_t> lengths;
    for (const Pair& pair : once) {
      lengths.insert(pair.source.size());
      for (const int id : pair.source) EXPECT_LT(id, source->source_alphabet().size());
      for (const int id : pair.target) EXPECT_LT(id, source->target_alphabet().size());
    }
    EXPECT_GE(lengths.size(), 4u);
  }
}

TEST(Transduction, PairsOfOneDrawHaveOneLengthIfAsked) {
  const auto sources = every_kind("one_length");
  EXPECT_EQ(sources.size(), 17u);
  for (const auto& source : sources) {
    SCOPED_TRACE(source->name());
    Random random(4, "pairs");
    std::set<std::size_t> lengths;
    for (int draw = 0; draw < 200; ++draw) {
      const auto pairs = source->draw(5, random);
      for (const Pair& pair : pairs) EXPECT_EQ(pair.source.size(), pairs[0].source.size());
      lengths.insert(pairs[0].source.size());
    }
    // modular_arithmetic has only the odd lengths 1 to 19.
    EXPECT_EQ(lengths.size(), source->name() == "modular_arithmetic" ? 10u : 19u);
  }
}

TEST(Transduction, InvalidOptionsAreRefused) {
  const auto refusal = [](const Json& options) { return message([&] { make_pairs(options); }); };
  EXPECT_NE(refusal({{"kind", "copi"}}).find("unknown kind 'copi', did you mean 'copy'?"),
            std::string::npos);
  EXPECT_NE(refusal({{"kind", "copy"}, {"lenghts", 3}}).find("did you mean 'lengths'?"),
            std::string::npos);
  EXPECT_NE(refusal({{"symbols", 3}}).find("expected a table with a 'kind'"), std::string::npos);
  EXPECT_EQ(refusal({{"kind", "copy"}, {"lengths", Json::array({8})}}),
            "[task.transduction] option 'lengths' must be {lowest, highest}, two integers up to a "
            "million, got [8]");
  EXPECT_EQ(refusal({{"kind", "copy"}, {"lengths", Json::array({0, 5})}}),
            "[task.transduction] option 'lengths' must be {lowest, highest} with 1 <= lowest <= "
            "highest, got {0, 5}");
  EXPECT_NE(refusal({{"kind", "copy"}, {"lengths", Json::array({9, 5})}}), "no error");
  EXPECT_NE(refusal({{"kind", "copy"}, {"lengths", Json::array({1.5, 5})}}), "no error");
  EXPECT_NE(refusal({{"kind", "copy"}, {"symbols", 0}}), "no error");
  EXPECT_EQ(refusal({{"kind", "bigram_flipping"}, {"lengths", Json::array({7, 7})}}),
            "[task.transduction] bigram_flipping has only sources of even length, and {7, 7} "
            "contains no even length");
  EXPECT_NE(message([] { drawn(*make_pairs({{"kind", "copy"}}), -1, 0); }), "no error");
}

TEST(GrammarPairs, AreThoseOfTheGrammar) {
  const SynchronousGrammar grammar(parse_synchronous(kSwaps));
  const auto source = make_pairs({{"kind", "grammar"}, {"lengths", Json::array({1, 6})}}, &grammar);
  EXPECT_EQ(source->name(), "swaps");
  EXPECT_EQ(source->target_alphabet(), grammar.target_alphabet());
  std::map<std::size_t, double> lengths;
  const auto pairs = drawn(*source, 5000, 1);
  for (const auto& pair : pairs) {
    ++lengths[pair.source.size()];
    ASSERT_TRUE(contains(grammar, pair));
  }
  ASSERT_EQ(lengths.size(), 5u);
  for (const auto& [length, n] : lengths) EXPECT_NEAR(n, 1000, 5 * std::sqrt(800.0)) << length;
}

TEST(GrammarPairs, ModeGrammarHasTheGrammarsLengths) {
  // Length l has mass (l - 1) / 2^l.
  const auto source = make_pairs({{"kind", "grammar"},
                                  {"rules", kSwaps},
                                  {"lengths", Json::array({3, 5})},
                                  {"mode", "grammar"}});
  std::map<std::size_t, double> lengths;
  for (const auto& pair : drawn(*source, 11000, 1)) ++lengths[pair.source.size()];
  const double sum = 2 / 8.0 + 3 / 16.0 + 4 / 32.0;
  EXPECT_NEAR(lengths[3], 11000 * 2 / 8.0 / sum, 5 * std::sqrt(11000 / 4.0));
  EXPECT_NEAR(lengths[4], 11000 * 3 / 16.0 / sum, 5 * std::sqrt(11000 / 4.0));
  EXPECT_NEAR(lengths[5], 11000 * 4 / 32.0 / sum, 5 * std::sqrt(11000 / 4.0));
}

TEST(GrammarPairs, AreMadeAgainFromTheirDescription) {
  const SynchronousGrammar grammar(parse_synchronous(kSwaps));
  const auto source = make_pairs(
      {{"kind", "grammar"}, {"target_lengths", Json::array({9, 12})}, {"mode", "grammar"}},
      &grammar);
  EXPECT_EQ(drawn(*make_pairs(source->describe()), 30, 4), drawn(*source, 30, 4));
}

TEST(GrammarPairs, InvalidOptionsAreRefused) {
  const SynchronousGrammar grammar(parse_synchronous(kSwaps));
  const auto refusal = [&](const Json& options, const SynchronousGrammar* given) {
    return message([&] { make_pairs(options, given); });
  };
  EXPECT_EQ(refusal({{"kind", "grammar"}}, nullptr),
            "[task.transduction grammar] option 'grammar' is missing: a synchronous grammar, for "
            "example from pd.grammar.load");
  EXPECT_EQ(refusal({{"kind", "copy"}}, &grammar),
            "[task.transduction] kind 'copy' takes no grammar");
  EXPECT_NE(refusal({{"kind", "grammar"}, {"rules", kSwaps}}, &grammar), "no error");
  EXPECT_NE(refusal({{"kind", "grammar"}, {"rules", "A -> B1 |"}}, nullptr).find("rules:1"),
            std::string::npos);
  EXPECT_NE(refusal({{"kind", "grammar"}, {"mode", "exact"}}, &grammar), "no error");
  EXPECT_EQ(refusal({{"kind", "grammar"}, {"target_lengths", Json::array({2, 5})}}, &grammar),
            "[grammar.synchronous] none of 100000 pairs with sources of length 8 to 64 had a "
            "target of length 2 to 5");
  EXPECT_NE(
      refusal({{"kind", "grammar"}, {"lengths", Json::array({0, 1})}}, &grammar)
          .find("there are no strings of length 0 to 1; the nearest length with strings is 2"),
      std::string::npos);
}

TEST(PairList, ReadsAndWritesThePapersLines) {
  const auto list = parse_pairs(
      "\xEF\xBB\xBF# pairs\nsi1 vi28 oi5 ||| so1 oo5 vo28\r\n\n  si1\tvi1 ||| so1 \n||| so1\n",
      "p.txt");
  ASSERT_EQ(list->pairs().size(), 3u);
  EXPECT_EQ(list->name(), "p.txt");
  EXPECT_EQ(list->source_alphabet().symbols(),
            (std::vector<std::string>{"si1", "vi28", "oi5", "vi1"}));
  EXPECT_EQ(list->target_alphabet().symbols(), (std::vector<std::string>{"so1", "oo5", "vo28"}));
  EXPECT_EQ(list->pairs()[1], (Pair{{0, 3}, {0}}));
  EXPECT_EQ(list->pairs()[2], (Pair{{}, {0}}));
  const auto text = pairs_text(*list, list->pairs());
  EXPECT_EQ(text, "si1 vi28 oi5 ||| so1 oo5 vo28\nsi1 vi1 ||| so1\n||| so1\n");
  EXPECT_EQ(parse_pairs(text, "again")->pairs(), list->pairs());
  // A line with # in front is a pair if it has bars, otherwise a comment.
  const auto marked = parse_pairs("0 # ||| # 0\n# 0 ||| 0 #\n# ||| #\n# 0\n# a|||b\n", "marked");
  EXPECT_EQ(marked->pairs(), (std::vector<Pair>{{{0, 1}, {0, 1}}, {{1, 0}, {1, 0}}, {{1}, {0}}}));
  EXPECT_EQ(parse_pairs(pairs_text(*marked, marked->pairs()), "m")->pairs(), marked->pairs());
  const auto sharp = parse_pairs(" # a ||| b\n", "sharp");
  EXPECT_EQ(parse_pairs(pairs_text(*sharp, sharp->pairs()), "sharp")->pairs(), sharp->pairs());
}

TEST(PairList, DrawsEveryPairEquallyOften) {
  const auto list = parse_pairs("a ||| 1\nb ||| 2\nc ||| 3\n", "p");
  std::vector<double> counts(3);
  for (const auto& pair : drawn(*list, 9000, 2)) {
    EXPECT_EQ(pair.source, pair.target);
    ++counts.at(pair.source[0]);
  }
  for (const double n : counts) EXPECT_NEAR(n, 3000, 5 * std::sqrt(3000 * 2 / 3.0));
}

TEST(PairList, ErrorsNameFileAndLine) {
  const auto refusal = [](const std::string& text, const PairAlphabets& alphabets = {}) {
    return message([&] { parse_pairs(text, "p.txt", alphabets); });
  };
  EXPECT_EQ(refusal("a ||| b\na b\n"),
            "[task.pairs] p.txt:2: expected 'source ||| target' with blanks around the bars, got "
            "'a b'");
  EXPECT_EQ(refusal("a|||b\n"),
            "[task.pairs] p.txt:1: expected 'source ||| target' with blanks around the bars, got "
            "'a|||b'");
  EXPECT_EQ(refusal("\na ||| b ||| c\n"),
            "[task.pairs] p.txt:2: a pair must have one ||| between its sides, got a second one");
  EXPECT_EQ(refusal("\n# nothing\n"), "[task.pairs] p.txt: the text contains no pairs");
  EXPECT_EQ(refusal("a ||| b\n\xFF ||| b\n"), "[task.pairs] p.txt:2: byte 1 (0xff) is not UTF-8");
  EXPECT_EQ(refusal("cat ||| b\n", {Alphabet({"cab", "dog"}), {}}),
            "[task.pairs] p.txt:1: 'cat' is not in the source alphabet, did you mean 'cab'?");
  EXPECT_EQ(refusal("a ||| c\n", {{}, Alphabet({"b"})}),
            "[task.pairs] p.txt:1: 'c' is not in the target alphabet");
  EXPECT_NE(message([] { PairList(Alphabet({"a"}), Alphabet({"b"}), {{{0}, {1}}}); }), "no error");
  EXPECT_EQ(message([] { PairList(Alphabet({"a"}), Alphabet({"b"}), {}); }),
            "[task.pairs] pairs: the text contains no pairs");
}

}  // namespace
}  // namespace pushdown::transduction_test
