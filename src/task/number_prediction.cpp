#include "task/number_prediction.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "base/check.h"
#include "base/options.h"
#include "grammar/line_reader.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "task.number_examples";

// Returns the folded words of a text.
std::vector<std::string> words_of(std::string_view text, const Fold& fold) {
  std::vector<std::string> words;
  for (const auto word : words_between_blanks(text))
    words.push_back(fold ? fold(word) : std::string(word));
  return words;
}

// Returns the first `count` words.
std::string joined(const std::vector<std::string>& words, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text.append(i == 0 ? "" : " ").append(words[i]);
  return text;
}

void check_no_nul(std::string_view line, const std::string& place) {
  const auto zero = line.find('\0');
  check(zero == line.npos, kWhere, "{}: byte {} is NUL; the text must be UTF-8", place, zero + 1);
}

bool is_plural(std::string_view tag, const std::string& place) {
  check(tag == "VBZ" || tag == "VBP", kWhere, "{}: the verb must be VBZ or VBP, got '{}'", place,
        tag.substr(0, 40));
  return tag == "VBP";
}

// Splits at tabs. A field that begins with a double quote extends to the next single double quote;
// two double quotes in it stand for one.
std::vector<std::string> fields_of(std::string_view line, const std::string& place) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '"' && fields.back().empty() && (i == 0 || line[i - 1] == '\t')) {
      for (++i;; ++i) {
        check(i < line.size(), kWhere, "{}: field {} has no closing quote", place, fields.size());
        if (line[i] == '"') {
          if (i + 1 == line.size() || line[i + 1] != '"') break;
          ++i;
        }
        fields.back() += line[i];
      }
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

// The columns of a table by name.
class Columns {
 public:
  Columns(std::vector<std::string> names, std::string place) : names_(std::move(names)) {
    place_ = std::move(place);
  }
  std::optional<std::size_t> find(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) return std::nullopt;
    return found - names_.begin();
  }
  std::size_t at(const std::string& name) const {
    const auto found = find(name);
    check(found.has_value(), kWhere, "{}: there is no column '{}'; the columns are {}", place_,
          name, quoted_list(names_));
    return *found;
  }
  std::size_t size() const { return names_.size(); }

 private:
  std::vector<std::string> names_;
  std::string place_;
};

int whole_number(const std::string& text, const char* name, const std::string& place) {
  int value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  check(error == std::errc() && stop == end && value >= 0, kWhere,
        "{}: {} must be a whole number, got '{}'", place, name, text);
  return value;
}

// Fills in the other form of each verb: those of auxiliaries, then regular ones that occur.
void find_other_forms(NumberExamples& examples) {
  std::unordered_set<std::string> singulars;
  std::unordered_map<std::string, std::string> plural_of;
  for (const auto& example : examples)
    if (!example.plural) singulars.insert(example.verb);
  for (const auto& example : examples)
    if (example.plural) plural_of.emplace(regular_singular(example.verb), example.verb);
  for (auto& example : examples) {
    example.other = other_number_of_auxiliary(example.verb, "", example.plural);
    if (!example.other.empty()) continue;
    if (example.plural) {
      const auto singular = regular_singular(example.verb);
      if (singulars.count(singular) > 0) example.other = singular;
    } else if (const auto found = plural_of.find(example.verb); found != plural_of.end()) {
      example.other = found->second;
    }
  }
}

struct AuxiliaryPair {
  std::string_view singular, plural, lemma;
  bool ambiguous = false;  // the singular also belongs to another lemma
};
constexpr AuxiliaryPair kAuxiliaries[] = {{"is", "are", "be"},
                                          {"has", "have", "have"},
                                          {"does", "do", "do"},
                                          {"'s", "'re", "be", true},
                                          {"'s", "'ve", "have", true},
                                          {"\u2019s", "\u2019re", "be", true},
                                          {"\u2019s", "\u2019ve", "have", true}};

}  // namespace

NumberExample parse_number_line(std::string_view line, const std::string& place, const Fold& fold) {
  check_no_nul(line, place);
  const auto tab = line.find('\t');
  check(tab != line.npos, kWhere, "{}: expected VBZ or VBP, a tab and words", place);
  NumberExample example;
  example.plural = is_plural(line.substr(0, tab), place);
  const auto words = words_of(line.substr(tab + 1), fold);
  check(!words.empty(), kWhere, "{}: no words precede the verb", place);
  example.prefix = joined(words, words.size());
  return example;
}

std::optional<int> attractors_in_name(std::string_view file_name) {
  constexpr std::string_view kTest = ".test.";
  if (file_name.size() < kTest.size() + 1) return std::nullopt;
  const char digit = file_name.back();
  file_name.remove_suffix(1);
  if (!file_name.ends_with(kTest) || digit < '0' || digit > '9') return std::nullopt;
  return digit - '0';
}

NumberExamples parse_number_lines(std::string_view text, const std::string& file,
                                  const Fold& fold) {
  NumberExamples examples;
  const auto attractors = attractors_in_name(file);
  read_lines(kWhere, text, file, [&](std::string_view line, const std::string& place) {
    examples.push_back(parse_number_line(line, place, fold));
    if (attractors) examples.back().attractors = examples.back().intervening = *attractors;
  });
  check(!examples.empty(), kWhere, "{}: the text contains no examples", file);
  return examples;
}

std::string number_lines(const NumberExamples& examples) {
  std::string text;
  for (const auto& example : examples)
    text.append(example.plural ? "VBP\t" : "VBZ\t").append(example.prefix).append(1, '\n');
  return text;
}

NumberExamples parse_number_table(std::string_view text, const std::string& file,
                                  const std::string& words, const Fold& fold) {
  NumberExamples examples;
  std::optional<Columns> columns;
  std::size_t sentence = 0, tag = 0, index = 0;
  std::optional<std::size_t> verb, between, different;
  read_lines(kWhere, text, file, [&](std::string_view line, const std::string& place) {
    check_no_nul(line, place);
    auto fields = fields_of(line, place);
    if (!columns) {
      columns.emplace(std::move(fields), place);
      sentence = columns->at(words);
      tag = columns->at("verb_pos");
      index = columns->at("verb_index");
      verb = columns->find("verb");
      between = columns->find("n_intervening");
      different = columns->find("n_diff_intervening");
      return;
    }
    check(fields.size() == columns->size(), kWhere, "{}: expected {} fields, got {}", place,
          columns->size(), fields.size());
    NumberExample example;
    example.plural = is_plural(fields[tag], place);
    const int place_of_verb = whole_number(fields[index], "verb_index", place);
    const auto all = words_of(fields[sentence], fold);
    check(place_of_verb >= 2 && place_of_verb <= static_cast<int>(all.size()), kWhere,
          "{}: verb_index must be 2 to {}, the number of words of the sentence, got {}", place,
          all.size(), place_of_verb);
    example.prefix = joined(all, place_of_verb - 1);
    example.verb = !verb ? all[place_of_verb - 1] : fold ? fold(fields[*verb]) : fields[*verb];
    if (between) example.intervening = whole_number(fields[*between], "n_intervening", place);
    if (different)
      example.attractors = whole_number(fields[*different], "n_diff_intervening", place);
    check(!between || !different || example.attractors <= example.intervening, kWhere,
          "{}: n_diff_intervening is {}, above n_intervening, {}", place, example.attractors,
          example.intervening);
    examples.push_back(std::move(example));
  });
  check(!examples.empty(), kWhere, "{}: the text contains no examples", file);
  find_other_forms(examples);
  return examples;
}

std::string other_number_of_auxiliary(std::string_view verb, std::string_view lemma, bool plural) {
  for (const auto& pair : kAuxiliaries) {
    if (verb != (plural ? pair.plural : pair.singular)) continue;
    const bool fits = lemma.empty() ? plural || !pair.ambiguous : lemma == pair.lemma;
    if (fits) return std::string(plural ? pair.singular : pair.plural);
  }
  return {};
}

std::string regular_singular(std::string_view plural) {
  const std::string verb(plural);
  const auto ends = [&](std::string_view ending) { return verb.ends_with(ending); };
  const auto vowel = [](char c) { return std::string_view("aeiou").find(c) != std::string::npos; };
  if (verb.size() > 1 && ends("y") && !vowel(verb[verb.size() - 2]))
    return verb.substr(0, verb.size() - 1) + "ies";
  if (ends("s") || ends("x") || ends("z") || ends("ch") || ends("sh") ||
      (verb.size() > 1 && ends("o") && !vowel(verb[verb.size() - 2])))
    return verb + "es";
  return verb + "s";
}

std::vector<NumberExamples> split_examples(NumberExamples examples,
                                           const std::vector<double>& shares, Random& random) {
  check(!shares.empty(), kWhere, "a split needs at least one share");
  double sum = 0;
  for (const double share : shares) {
    check(std::isfinite(share) && share > 0, kWhere, "shares must be above 0, got {}", share);
    sum += share;
  }
  random.shuffle(examples);
  std::vector<NumberExamples> parts;
  double share = 0;
  auto begin = examples.begin();
  for (const double next : shares) {
    share += next;
    const auto end =
        examples.begin() + std::lround(static_cast<double>(examples.size()) * share / sum);
    check(end > begin, kWhere, "{} example{} cannot be split into {} nonempty parts",
          examples.size(), examples.size() == 1 ? "" : "s", shares.size());
    parts.emplace_back(std::make_move_iterator(begin), std::make_move_iterator(end));
    begin = end;
  }
  return parts;
}

std::string number_format(const std::string& path) {
  std::error_code ignored;
  if (path.ends_with(".tsv")) return "table";
  if (path.ends_with(".conllu") || std::filesystem::is_directory(path, ignored)) return "conllu";
  return "lines";
}

NumberExamples examples_where(const NumberExamples& examples, const NumberFilter& filter) {
  const auto fits = [&](const NumberExample& example) {
    return (!filter.attractors || example.attractors == *filter.attractors) &&
           (!filter.homogeneous || example.homogeneous() == *filter.homogeneous) &&
           (!filter.both_forms || example.both_forms() == *filter.both_forms) &&
           (!filter.plural || example.plural == *filter.plural);
  };
  NumberExamples part;
  std::copy_if(examples.begin(), examples.end(), std::back_inserter(part), fits);
  return part;
}

NumberCounts count_examples(const NumberExamples& examples) {
  NumberCounts counts;
  for (const auto& example : examples) {
    ++(example.plural ? counts.plural : counts.singular);
    counts.both_forms += example.both_forms();
    if (example.attractors < 0) continue;
    auto& group = counts.by_attractors[example.attractors];
    ++group.examples;
    group.homogeneous += example.homogeneous();
  }
  return counts;
}

}  // namespace pushdown
