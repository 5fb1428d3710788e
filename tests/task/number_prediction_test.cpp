#include "task/number_prediction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "support/message.h"
#include "task/number_treebank.h"

namespace pushdown::number_prediction_test {
namespace {

using testing_support::message;

std::string lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return folded;
}

const std::string kWhere = "[task.number_examples] ";

// ---- The published files ----

TEST(NumberPrediction, PublishedFiles) {
  const auto examples = parse_number_lines(
      "\xEF\xBB\xBF"
      "VBZ\tthis proposed remedy , which NNS seek\r\nVBP\t The  keys \r\n",
      "data/numpred.test.2", lower);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_FALSE(examples[0].plural);
  EXPECT_EQ(examples[0].prefix, "this proposed remedy , which nns seek");
  EXPECT_EQ(examples[0].attractors, 2);
  EXPECT_TRUE(examples[0].homogeneous());
  EXPECT_TRUE(examples[1].plural);
  EXPECT_EQ(examples[1].prefix, "the keys");
  EXPECT_EQ(number_lines(examples), "VBZ\tthis proposed remedy , which nns seek\nVBP\tthe keys\n");
  const auto plain = parse_number_lines("VBP\tThe keys\n", "numpred.train");
  EXPECT_EQ(plain[0].prefix, "The keys");
  EXPECT_EQ(plain[0].attractors, -1);
  EXPECT_FALSE(plain[0].homogeneous());
  EXPECT_EQ(attractors_in_name("numpred.test.5"), 5);
  for (const char* name : {"numpred.test", "numpred.test.", "test.x", "5", ""})
    EXPECT_FALSE(attractors_in_name(name)) << name;
}

TEST(NumberPrediction, MalformedLinesAreReportedWithTheirPlace) {
  const auto refusal = [](const std::string& text) {
    return message([&] { parse_number_lines(text, "f"); });
  };
  EXPECT_EQ(refusal("VBP\ta\nVBD\tb\n"), kWhere + "f:2: the verb must be VBZ or VBP, got 'VBD'");
  EXPECT_EQ(refusal("VBP a b\n"), kWhere + "f:1: expected VBZ or VBP, a tab and words");
  EXPECT_EQ(refusal("VBP\ta\n\n"), kWhere + "f:2: expected VBZ or VBP, a tab and words");
  EXPECT_EQ(refusal("VBP\t \n"), kWhere + "f:1: no words precede the verb");
  EXPECT_EQ(refusal("VBP\ta\xC0\n"), kWhere + "f:1: byte 6 (0xc0) is not UTF-8");
  EXPECT_EQ(refusal(std::string("VBP\ta\0", 6)),
            kWhere + "f:1: byte 6 is NUL; the text must be UTF-8");
  EXPECT_EQ(refusal(""), kWhere + "f: the text contains no examples");
}

// ---- The published table ----

const std::string kHead =
    "sentence\torig_sentence\tverb\tverb_pos\tverb_index\tn_intervening\tn_diff_intervening\n";

TEST(NumberPrediction, PublishedTable) {
  const std::string text =
      kHead +
      "\"the NN \"\"quoted\"\" walks\"\tthe cur \"quoted\" walks\twalks\tVBZ\t4\t0\t0\n"
      "dogs of men walk home\tDogs of men walk home\twalk\tVBP\t4\t1\t0\n"
      "keys to the NN are\tkeys to the box are\tare\tVBP\t5\t2\t1\n"
      "it tries\tit tries\ttries\tVBZ\t2\t0\t0\n";
  const auto examples = parse_number_table(text, "t.tsv");
  ASSERT_EQ(examples.size(), 4u);
  EXPECT_EQ(examples[0].prefix, "the NN \"quoted\"");
  EXPECT_EQ(examples[0].verb, "walks");
  EXPECT_EQ(examples[0].other, "walk");
  EXPECT_FALSE(examples[0].plural);
  EXPECT_TRUE(examples[0].homogeneous());
  EXPECT_EQ(examples[1].prefix, "dogs of men");
  EXPECT_EQ(examples[1].other, "walks");
  EXPECT_FALSE(examples[1].homogeneous());
  EXPECT_EQ(examples[2].other, "is");
  EXPECT_EQ(examples[2].attractors, 1);
  EXPECT_EQ(examples[2].intervening, 2);
  EXPECT_EQ(examples[3].other, "");  // no row has try
  EXPECT_EQ(parse_number_table(text, "t", "orig_sentence")[2].prefix, "keys to the box");
  EXPECT_EQ(parse_number_table(text, "t", "orig_sentence", lower)[1].prefix, "dogs of men");
}

TEST(NumberPrediction, MalformedTablesAreReportedWithTheirPlace) {
  const auto refusal = [](const std::string& text) {
    return message([&] { parse_number_table(text, "t.tsv"); });
  };
  EXPECT_EQ(refusal("sentence\tverb_pos\n"),
            kWhere +
                "t.tsv:1: there is no column 'verb_index'; the columns are 'sentence' and "
                "'verb_pos'");
  EXPECT_EQ(refusal(kHead), kWhere + "t.tsv: the text contains no examples");
  EXPECT_EQ(refusal(kHead + "a b\ta b\tb\tVBZ\t2\t0\n"),
            kWhere + "t.tsv:2: expected 7 fields, got 6");
  EXPECT_EQ(refusal(kHead + "a b\ta b\tb\tVBX\t2\t0\t0\n"),
            kWhere + "t.tsv:2: the verb must be VBZ or VBP, got 'VBX'");
  for (const char* index : {"0", "1", "3"})
    EXPECT_EQ(refusal(kHead + "a b\ta b\tb\tVBZ\t" + index + "\t0\t0\n"),
              kWhere +
                  "t.tsv:2: verb_index must be 2 to 2, the number of words of the sentence, "
                  "got " +
                  index);
  EXPECT_EQ(refusal(kHead + "a b\ta b\tb\tVBZ\ttwo\t0\t0\n"),
            kWhere + "t.tsv:2: verb_index must be a whole number, got 'two'");
  EXPECT_EQ(refusal(kHead + "a b\ta b\tb\tVBZ\t2\t0\t1\n"),
            kWhere + "t.tsv:2: n_diff_intervening is 1, above n_intervening, 0");
  EXPECT_EQ(refusal(kHead + "\"a b\ta b\tb\tVBZ\t2\t0\t0\n"),
            kWhere + "t.tsv:2: field 1 has no closing quote");
}

TEST(NumberPrediction, OtherForms) {
  EXPECT_EQ(other_number_of_auxiliary("is", "", false), "are");
  EXPECT_EQ(other_number_of_auxiliary("are", "be", true), "is");
  EXPECT_EQ(other_number_of_auxiliary("have", "", true), "has");
  EXPECT_EQ(other_number_of_auxiliary("does", "do", false), "do");
  EXPECT_EQ(other_number_of_auxiliary("'s", "have", false), "'ve");
  EXPECT_EQ(other_number_of_auxiliary("'s", "be", false), "'re");
  EXPECT_EQ(other_number_of_auxiliary("'s", "", false), "");
  EXPECT_EQ(other_number_of_auxiliary("'re", "", true), "'s");
  EXPECT_EQ(other_number_of_auxiliary("is", "", true), "");
  EXPECT_EQ(other_number_of_auxiliary("walks", "walk", false), "");
  for (const auto& [plural, singular] :
       std::vector<std::pair<const char*, const char*>>{{"walk", "walks"},
                                                        {"try", "tries"},
                                                        {"play", "plays"},
                                                        {"pass", "passes"},
                                                        {"go", "goes"},
                                                        {"woo", "woos"},
                                                        {"fix", "fixes"},
                                                        {"reach", "reaches"},
                                                        {"wish", "wishes"},
                                                        {"buzz", "buzzes"},
                                                        {"use", "uses"},
                                                        {"y", "ys"}})
    EXPECT_EQ(regular_singular(plural), singular);
}

TEST(NumberPrediction, FormatsOfFiles) {
  EXPECT_EQ(number_format("agreement.tsv"), "table");
  EXPECT_EQ(number_format("bank.conllu"), "conllu");
  EXPECT_EQ(number_format("."), "conllu");
  EXPECT_EQ(number_format("numpred.test.2"), "lines");
}

TEST(NumberPrediction, FiltersAndCounts) {
  // prefix, plural, attractors, intervening, verb, other
  const NumberExamples examples{{"a", false, 0, 0, "is", "are"},
                                {"b", true, 2, 2, "run", ""},
                                {"c", true, 2, 3, "are", "is"},
                                {"d", false, -1, -1, "", ""}};
  const auto kept = [&](const NumberFilter& filter) {
    std::string prefixes;
    for (const auto& example : examples_where(examples, filter)) prefixes += example.prefix;
    return prefixes;
  };
  EXPECT_EQ(kept({}), "abcd");
  EXPECT_EQ(kept({.attractors = 2}), "bc");
  EXPECT_EQ(kept({.homogeneous = true}), "ab");
  EXPECT_EQ(kept({.homogeneous = false}), "cd");
  EXPECT_EQ(kept({.both_forms = true}), "ac");
  EXPECT_EQ(kept({.attractors = 2, .both_forms = true, .plural = true}), "c");

  const NumberCounts counts = count_examples(examples);
  EXPECT_EQ(counts.singular, 2);
  EXPECT_EQ(counts.plural, 2);
  EXPECT_EQ(counts.both_forms, 2);
  ASSERT_EQ(counts.by_attractors.size(), 2u);
  EXPECT_EQ(counts.by_attractors.at(2).examples, 2);
  EXPECT_EQ(counts.by_attractors.at(2).homogeneous, 1);
}

TEST(NumberPrediction, SplitsHaveTheirSharesAndEveryExampleOnce) {
  NumberExamples examples;
  for (int i = 0; i < 1000; ++i)
    examples.push_back({.prefix = std::to_string(i), .plural = i % 2 == 0});
  Random random(1, "split");
  const auto parts = split_examples(examples, {9, 1, 90}, random);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].size(), 90u);
  EXPECT_EQ(parts[1].size(), 10u);
  EXPECT_EQ(parts[2].size(), 900u);
  std::set<std::string> all;
  for (const auto& part : parts)
    for (const auto& example : part) all.insert(example.prefix);
  EXPECT_EQ(all.size(), 1000u);
  Random same(1, "split"), other(2, "split");
  EXPECT_EQ(number_lines(split_examples(examples, {9, 1, 90}, same)[0]), number_lines(parts[0]));
  EXPECT_NE(number_lines(split_examples(examples, {9, 1, 90}, other)[0]), number_lines(parts[0]));
  EXPECT_EQ(message([&] {
              split_examples({examples[0]}, {1, 1}, random);
            }),
            kWhere + "1 example cannot be split into 2 nonempty parts");
  EXPECT_EQ(message([&] {
              split_examples(examples, {1, 0}, random);
            }),
            kWhere + "shares must be above 0, got 0");
}

// ---- Treebanks ----

// "form/lemma/upos/xpos/head/relation" for each word; features are the seventh field.
ConlluSentence sentence_of(const std::string& text) {
  std::istringstream words(text);
  ConlluSentence sentence;
  for (std::string entry; words >> entry;) {
    std::vector<std::string> fields;
    std::istringstream parts(entry);
    for (std::string field; std::getline(parts, field, '/');) fields.push_back(field);
    ConlluWord word{fields[0], fields[1], fields[2],           fields[3],
                    "",        fields[5], std::stoi(fields[4])};
    if (fields.size() > 6) word.features = fields[6];
    sentence.words.push_back(word);
  }
  return sentence;
}

NumberExamples found(const std::vector<std::string>& texts, NumberTreebankOptions options = {}) {
  NumberTreebank bank(std::move(options));
  for (const auto& text : texts) bank.add(sentence_of(text));
  return bank.finish();
}

// The keys to the cabinets of John are here
const std::string kCopula =
    "The/the/DET/DT/2/det keys/key/NOUN/NNS/9/nsubj to/to/ADP/IN/5/case the/the/DET/DT/5/det "
    "cabinet/cabinet/NOUN/NN/2/nmod of/of/ADP/IN/7/case John/John/PROPN/NNP/5/nmod "
    "are/be/AUX/VBP/9/cop here/here/ADV/RB/0/root";
const std::string kVerb =
    "A/a/DET/DT/2/det man/man/NOUN/NN/5/nsubj with/with/ADP/IN/4/case dogs/dog/NOUN/NNS/2/nmod "
    "walks/walk/VERB/VBZ/0/root";
const std::string kPlural = "Men/man/NOUN/NNS/2/nsubj walk/walk/VERB/VBP/0/root";

TEST(NumberTreebank, FindsVerbsSubjectsAndAttractors) {
  const auto all = found({kCopula, kVerb, kPlural});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].prefix, "The keys to the cabinet of John");
  EXPECT_TRUE(all[0].plural);
  EXPECT_EQ(all[0].attractors, 1);
  EXPECT_EQ(all[0].intervening, 1);
  EXPECT_EQ(all[0].verb, "are");
  EXPECT_EQ(all[0].other, "is");
  EXPECT_EQ(all[1].prefix, "A man with dogs");
  EXPECT_FALSE(all[1].plural);
  EXPECT_EQ(all[1].attractors, 1);
  EXPECT_EQ(all[1].other, "walk");
  EXPECT_EQ(all[2].prefix, "Men");
  EXPECT_EQ(all[2].attractors, 0);
  EXPECT_EQ(all[2].other, "walks");
  EXPECT_EQ(found({kVerb})[0].other, "");
  NumberTreebankOptions proper;
  proper.proper_nouns = true;
  EXPECT_EQ(found({kCopula}, proper)[0].intervening, 2);
  EXPECT_EQ(found({kCopula}, proper)[0].attractors, 2);
  NumberTreebankOptions bare;
  bare.auxiliaries = false;
  bare.fold = lower;
  const auto main = found({kCopula, kVerb}, bare);
  ASSERT_EQ(main.size(), 1u);
  EXPECT_EQ(main[0].prefix, "a man with dogs");
}

TEST(NumberTreebank, SentencesWithoutAnExample) {
  for (const char* text :
       {// The verb comes first; a pronoun; a proper noun; another number; a modal; the past; no
        // words before; an infinitive.
        "Are/be/AUX/VBP/3/cop keys/key/NOUN/NNS/3/nsubj here/here/ADV/RB/0/root",
        "They/they/PRON/PRP/2/nsubj walk/walk/VERB/VBP/0/root",
        "Mary/Mary/PROPN/NNP/2/nsubj walks/walk/VERB/VBZ/0/root",
        "cat/cat/NOUN/NN/4/nsubj and/and/CCONJ/CC/3/cc dog/dog/NOUN/NN/1/conj "
        "walk/walk/VERB/VBP/0/root",
        "dogs/dog/NOUN/NNS/3/nsubj may/may/AUX/MD/3/aux walk/walk/VERB/VBP/0/root",
        "dogs/dog/NOUN/NNS/3/nsubj did/do/AUX/VBD/3/aux walk/walk/VERB/VBP/0/root",
        "everyone/everyone/PRON/NN/2/nsubj walks/walk/VERB/VBZ/0/root",
        "dogs/dog/NOUN/NNS/2/nsubj walked/walk/VERB/VBD/0/root",
        "dogs/dog/NOUN/NNS/2/obj walk/walk/VERB/VBP/0/root"})
    EXPECT_TRUE(found({text}).empty()) << text;
}

TEST(NumberTreebank, FeaturesReplaceMissingPartsOfSpeech) {
  const auto all =
      found({"Hunde/Hund/NOUN/_/2/nsubj/Number=Plur "
             "laufen/laufen/VERB/_/0/root/Number=Plur|Person=3|Tense=Pres|VerbForm=Fin",
             "Hund/Hund/NOUN/_/2/nsubj/Number=Sing "
             "lief/laufen/VERB/_/0/root/Number=Sing|Tense=Past|VerbForm=Fin",
             "Hund/Hund/NOUN/_/2/nsubj/Number=Sing "
             "läuft/laufen/VERB/_/0/root/Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_TRUE(all[0].plural);
  EXPECT_EQ(all[0].other, "läuft");
  EXPECT_EQ(all[1].other, "laufen");
}

TEST(NumberTreebank, WordsOfTheText) {
  auto sentence = sentence_of(
      "boss/boss/NOUN/NN/3/nmod 's/'s/PART/POS/1/case dogs/dog/NOUN/NNS/6/nsubj "
      "do/do/AUX/VBP/6/aux "
      "n't/not/PART/RB/6/advmod walk/walk/VERB/VB/0/root");
  sentence.ranges = {{1, 2, "boss's"}, {4, 5, "don't"}};
  for (const bool surface : {false, true}) {
    NumberTreebankOptions options;
    options.surface = surface;
    NumberTreebank bank(options);
    bank.add(sentence);
    const auto all = bank.finish();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].prefix, surface ? "boss's dogs" : "boss 's dogs");
    EXPECT_EQ(all[0].verb, surface ? "don't" : "do");
    EXPECT_EQ(all[0].other, surface ? "" : "does");
  }
}

TEST(NumberTreebank, OneForEachSentence) {
  // Dogs that men have walk: two clauses.
  const std::string two =
      "Dogs/dog/NOUN/NNS/5/nsubj that/that/PRON/WDT/4/obj men/man/NOUN/NNS/4/nsubj "
      "have/have/VERB/VBP/1/acl walk/walk/VERB/VBP/0/root";
  EXPECT_EQ(found({two}).size(), 2u);
  EXPECT_EQ(found({two})[0].prefix, "Dogs that men have");
  EXPECT_EQ(found({two})[0].intervening, 1);
  EXPECT_EQ(found({two})[1].prefix, "Dogs that men");
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    NumberTreebankOptions options;
    options.one_for_each_sentence = true;
    options.seed = seed;
    const auto all = found({two}, options);
    ASSERT_EQ(all.size(), 1u);
    drawn.insert(all[0].prefix);
  }
  EXPECT_EQ(drawn.size(), 2u);
}

}  // namespace
}  // namespace pushdown::number_prediction_test
