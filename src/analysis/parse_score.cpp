#include "analysis/parse_score.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "tree.score";

bool same_word(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

void check_same_words(std::size_t number, const PhraseTree& induced, const PhraseTree& gold) {
  const auto word_of = [](const PhraseTree& tree, int i) {
    return i < tree.size() ? "'" + tree.words()[i] + "'" : std::string("nothing");
  };
  for (int i = 0; i < std::max(induced.size(), gold.size()); ++i)
    check(i < induced.size() && i < gold.size() && same_word(induced.words()[i], gold.words()[i]),
          kWhere,
          "sentence {}: the trees have different words; word {} is {} in the induced tree and {} "
          "in the gold tree",
          number + 1, i + 1, word_of(induced, i), word_of(gold, i));
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const char* const kPresets[] = {"none", "htut", "merrill"};

// Adds the preset's values for options that the caller did not give.
Json with_preset(const Json& given) {
  Json all = given.is_null() ? Json::object() : given;
  const std::string preset =
      all.contains("preset") && all["preset"].is_string() ? all["preset"] : Json("none");
  if (preset != "htut" && preset != "merrill") return all;
  const Json values{{"root", preset == "htut"},
                    {"punctuation", "keep"},
                    {"average", "sentence"},
                    {"binarized", "right"}};
  for (const auto& [key, value] : values.items())
    if (!all.contains(key)) all[key] = value;
  return all;
}

// Returns the spans that count, in order.
std::vector<Span> counted(const PhraseTree& tree, bool root) {
  auto list = spans(tree);
  if (!root) std::erase(list, Span{0, tree.size()});
  std::sort(list.begin(), list.end());
  return list;
}

double ratio(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

double harmonic(double a, double b) { return a + b == 0 ? 0.0 : 2 * a * b / (a + b); }

// Computes precision, recall and F1 of sets of spans.
void finish(std::int64_t common, std::int64_t induced, std::int64_t gold, double& precision,
            double& recall, double& f1) {
  precision = induced == 0 && gold == 0 ? 1.0 : ratio(common, induced);
  recall = gold == 0 ? 1.0 : ratio(common, gold);
  f1 = harmonic(precision, recall);
}

}  // namespace

const std::vector<OptionSpec>& score_options() {
  static const std::vector<OptionSpec> specs{
      text_option("preset", "none", "a published protocol; explicit options override its values",
                  {std::begin(kPresets), std::end(kPresets)}),
      boolean_option("root", false, "count the span of the whole sentence"),
      text_option("punctuation", "keep", "what to do with punctuation in both trees",
                  {"keep", "drop"}),
      list_option("punctuation_tags", Json(punctuation_tags()),
                  "parts of speech of the words that punctuation = 'drop' removes"),
      text_option("average", "sentence", "mean over sentences, or over all spans of the corpus",
                  {"sentence", "corpus"}),
      text_option("binarized", "right", "how the gold trees are binarized; none: not at all",
                  {"right", "left", "none"}),
      integer_option("min_length", 1, "minimum number of words of a scored sentence", 1),
      integer_option("max_length", 0, "maximum number of words of a scored sentence; 0: no limit",
                     0)};
  return specs;
}

TreeScore score_trees(const std::vector<const PhraseTree*>& induced,
                      const std::vector<const PhraseTree*>& gold, const Json& given) {
  TreeScore score;
  score.settings = resolve_options(kWhere, score_options(), with_preset(given));
  const auto& settings = score.settings;
  const bool root = settings["root"], drop = settings["punctuation"] == "drop";
  const std::string binarize = settings["binarized"];
  const std::int64_t shortest = settings["min_length"], longest = settings["max_length"];
  std::set<std::string> tags;
  for (const auto& tag : settings["punctuation_tags"]) {
    check(tag.is_string(), kWhere, "punctuation_tags must be texts, got {}", tag.dump());
    tags.insert(tag.get<std::string>());
  }
  check(induced.size() == gold.size(), kWhere,
        "the numbers of induced and gold trees must be equal, got {} and {}", induced.size(),
        gold.size());
  std::int64_t common_sum = 0, induced_sum = 0, gold_sum = 0;
  for (std::size_t s = 0; s < gold.size(); ++s) {
    check_same_words(s, *induced[s], *gold[s]);
    std::optional<PhraseTree> ours(*induced[s]), theirs(*gold[s]);
    if (drop) {
      const auto keep = [&](int i) {
        const auto& tag = gold[s]->tags()[i];
        check(!tag.empty(), kWhere,
              "sentence {}: word {}, '{}', has no part of speech in the gold tree; punctuation = "
              "'drop' needs one for every word",
              s + 1, i + 1, gold[s]->words()[i]);
        return tags.count(tag) == 0;
      };
      ours = restricted(*induced[s], keep);
      theirs = restricted(*gold[s], keep);
    }
    const int words = theirs ? theirs->size() : 0;
    if (words < shortest || (longest > 0 && words > longest)) {
      ++score.left_out;
      continue;
    }
    const auto found = counted(*ours, root);
    const auto wanted =
        binarize == "none"
            ? counted(*theirs, root)
            : counted(binarized(*theirs, binarize == "right" ? Branching::right : Branching::left),
                      root);
    std::vector<Span> common;
    std::set_intersection(found.begin(), found.end(), wanted.begin(), wanted.end(),
                          std::back_inserter(common));
    TreeScore::Sentence row{
        static_cast<std::int64_t>(s), words, static_cast<std::int64_t>(common.size()),
        static_cast<std::int64_t>(found.size()), static_cast<std::int64_t>(wanted.size())};
    finish(row.common, row.induced, row.gold, row.precision, row.recall, row.f1);
    common_sum += row.common;
    induced_sum += row.induced;
    gold_sum += row.gold;
    score.sentences.push_back(row);
    for (const auto& phrase : theirs->phrases()) {
      const Span span{phrase.begin, phrase.end};
      if (phrase.label.empty() || span.second - span.first < 2) continue;
      if (!root && span == Span{0, words}) continue;
      auto& label = score.labels[phrase.label];
      ++label.gold;
      label.found += std::binary_search(found.begin(), found.end(), span);
    }
  }
  check(!score.sentences.empty(), kWhere, "none of the {} sentences can be scored{}", gold.size(),
        gold.empty() ? "" : fmt::format("; min_length = {}, max_length = {}", shortest, longest));
  if (settings["average"] == "corpus") {
    finish(common_sum, induced_sum, gold_sum, score.precision, score.recall, score.f1);
    return score;
  }
  for (const auto& row : score.sentences) {
    score.precision += row.precision;
    score.recall += row.recall;
    score.f1 += row.f1;
  }
  const auto count = static_cast<double>(score.sentences.size());
  score.precision /= count;
  score.recall /= count;
  score.f1 /= count;
  return score;
}

std::string score_text(const TreeScore& score) {
  std::string settings;
  for (const auto& [key, value] : score.settings.items()) {
    if (key == "preset" && value == "none") continue;
    if (key == "max_length" && value == 0) continue;
    if (key == "punctuation_tags") {
      if (score.settings["punctuation"] != "drop" || value == Json(punctuation_tags())) continue;
      std::string list;
      for (const auto& tag : value) list += (list.empty() ? "" : " ") + tag.get<std::string>();
      settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", key, list);
      continue;
    }
    settings += fmt::format("{}{} = {}", settings.empty() ? "" : ", ", key, text_of(value));
  }
  return fmt::format("F1 {:.2f} % of {} sentence{} (precision {:.2f} %, recall {:.2f} %; {})",
                     100 * score.f1, score.sentences.size(), score.sentences.size() == 1 ? "" : "s",
                     100 * score.precision, 100 * score.recall, settings);
}

}  // namespace pushdown
