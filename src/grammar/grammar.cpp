#include "grammar/grammar.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/options.h"
#include "base/stopping.h"
#include "base/utf8.h"
#include "grammar/normal_form.h"
#include "grammar/symbol_text.h"
#include "grammar/useless_symbols.h"

namespace pushdown {

struct Grammar::Data {
  std::string name;
  Alphabet alphabet;
  std::vector<std::string> nonterminals;
  std::vector<Rule> rules;
  int start = 0;
  bool unambiguous = false;
  std::vector<double> termination;
  std::vector<std::string> warnings;
  std::unique_ptr<const NormalForm> normal_form;
};

namespace {

// Provides names and origins for messages.
class Reporter {
 public:
  explicit Reporter(const GrammarSource& source)
      : where_(source.name.empty() ? "grammar" : "grammar " + source.name) {}

  template <class... Args>
  [[noreturn]] void stop(const std::string& origin, fmt::format_string<Args...> format,
                         Args&&... args) const {
    fail(where_, "{}{}", origin.empty() ? "" : origin + ": ",
         fmt::format(format, std::forward<Args>(args)...));
  }

  // A line that begins with the origin or, without one, with the grammar's name.
  template <class... Args>
  std::string text(const std::string& origin, fmt::format_string<Args...> format,
                   Args&&... args) const {
    return (origin.empty() ? where_ : origin) + ": " +
           fmt::format(format, std::forward<Args>(args)...);
  }

 private:
  std::string where_;
};

// Returns the nonterminals in order of first use on a left side.
std::vector<std::string> left_sides(const GrammarSource& source) {
  std::vector<std::string> names;
  std::unordered_map<std::string, int> seen;
  for (const auto& rule : source.rules)
    if (seen.emplace(rule.left, 0).second) names.push_back(rule.left);
  return names;
}

void check_names(const GrammarSource& source, const Reporter& report) {
  for (const auto& rule : source.rules) {
    if (const auto reason = nonterminal_name_error(rule.left); !reason.empty())
      report.stop(rule.origin, "nonterminal {}", reason);
    for (const auto& symbol : rule.right) {
      if (!symbol.terminal) continue;
      const bool spaced = std::any_of(symbol.name.begin(), symbol.name.end(), is_white_space);
      if (symbol.name.empty() || spaced || find_invalid_utf8(symbol.name))
        report.stop(rule.origin,
                    "a terminal must be a non-empty UTF-8 text without white space, got {}",
                    find_invalid_utf8(symbol.name) ? "invalid bytes" : "'" + symbol.name + "'");
    }
  }
}

Alphabet make_alphabet(const GrammarSource& source, const Reporter& report) {
  std::vector<std::string> used;
  std::unordered_map<std::string, int> seen;
  for (const auto& rule : source.rules)
    for (const auto& symbol : rule.right)
      if (symbol.terminal && seen.emplace(symbol.name, 0).second) used.push_back(symbol.name);
  std::vector<std::string> ordered;
  for (const auto& symbol : source.symbols) {
    const auto found = seen.find(symbol);
    if (found == seen.end())
      report.stop("", "no rule uses the symbol '{}' of the alphabet", symbol);
    if (found->second++ > 0) report.stop("", "symbol '{}' of the alphabet is listed twice", symbol);
    ordered.push_back(symbol);
  }
  for (const auto& symbol : used)
    if (seen.at(symbol) == 0) ordered.push_back(symbol);
  return Alphabet(ordered);
}

// Reports all nonterminals without rules at once.
void check_defined(const GrammarSource& source, const Alphabet& alphabet,
                   const std::vector<std::string>& nonterminals, const Reporter& report) {
  const auto undefined = find_useless_symbols(source).undefined;
  if (undefined.empty()) return;
  const auto& [name, origin] = undefined.front();
  if (undefined.size() > 1)
    report.stop(origin, "nonterminals {} have no rules; terminals are written in quotes",
                listed(undefined));
  if (alphabet.find(name))
    report.stop(origin, "nonterminal {} has no rules; the terminal is written {}", name,
                quoted_terminal(name));
  const auto near = nearest_names(name, nonterminals);
  report.stop(origin, "nonterminal {} has no rules{}", name,
              near.empty() ? "" : ", did you mean " + near + "?");
}

std::vector<Rule> number_rules(const GrammarSource& source, const Alphabet& alphabet,
                               const std::vector<std::string>& nonterminals,
                               const Reporter& report) {
  std::unordered_map<std::string, int> ids;
  for (std::size_t i = 0; i < nonterminals.size(); ++i) ids.emplace(nonterminals[i], i);
  std::vector<Rule> rules;
  for (const auto& named : source.rules) {
    Rule rule{ids.at(named.left), {}, named.weight, named.origin};
    if (!std::isfinite(named.weight) || named.weight < 0)
      report.stop(named.origin, "the weight of a rule of {} must be a number of at least 0, got {}",
                  named.left, named.weight);
    for (const auto& symbol : named.right)
      rule.right.push_back(
          {symbol.terminal, symbol.terminal ? alphabet.id(symbol.name) : ids.at(symbol.name)});
    rules.push_back(std::move(rule));
  }
  return rules;
}

// The weights of one left side as written.
struct WrittenWeights {
  double sum = 0, count = 0, largest = 0;
  bool all_or_none = true;  // all are 0 or 1
  std::string origin = {};  // of the first one

  void add(const Rule& rule) {
    if (count == 0) origin = rule.origin;
    sum += rule.weight;
    ++count;
    largest = std::max(largest, rule.weight);
    all_or_none = all_or_none && (rule.weight == 0 || rule.weight == 1);
  }
  // Numbers of at most 1 are meant as probabilities, larger ones as counts. Six printed digits
  // explain a small deviation.
  bool misses_one() const {
    return largest <= 1 && !all_or_none && std::fabs(sum - 1) > 1e-6 * count;
  }
};

// Returns a warning for each left side whose probabilities do not sum to one.
std::vector<std::string> normalise_weights(std::vector<Rule>& rules,
                                           const std::vector<std::string>& nonterminals,
                                           const Reporter& report) {
  std::vector<WrittenWeights> written(nonterminals.size());
  for (const auto& rule : rules) written[rule.left].add(rule);
  std::vector<std::string> warnings;
  std::size_t more = 0;
  for (std::size_t i = 0; i < written.size(); ++i) {
    constexpr std::size_t kMostWarnings = 5;
    const auto& [sum, count, largest, all_or_none, origin] = written[i];
    if (!(sum > 0) || !std::isfinite(sum))
      report.stop(origin, "the weights of nonterminal {} must have a positive finite sum, got {}",
                  nonterminals[i], sum);
    if (!written[i].misses_one()) continue;
    if (warnings.size() == kMostWarnings)
      ++more;
    else
      warnings.push_back(
          report.text(origin,
                      "the weights of nonterminal {} sum to {:.6g}, not 1; each is divided "
                      "by the sum",
                      nonterminals[i], sum));
  }
  if (more > 0)
    warnings.push_back(
        report.text("", "{} more nonterminals have weights that do not sum to 1", more));
  for (auto& rule : rules) {
    // Weights that already sum to one up to rounding are kept as written.
    const auto& [sum, count, largest, all_or_none, origin] = written[rule.left];
    if (std::fabs(sum - 1) > 2.3e-16 * count) rule.weight /= sum;
  }
  return warnings;
}

// Reports all useless symbols at once.
void check_useful(const GrammarSource& source, const std::string& start, const Reporter& report) {
  const auto [undefined, unproductive, unreachable] = find_useless_symbols(source);
  std::string text, origin;
  const auto add = [&](const std::string& part, const std::string& place) {
    if (text.empty()) origin = place;
    text += (text.empty() ? "" : "; ") + part;
  };
  if (!unreachable.empty())
    add(fmt::format("the start symbol {} does not reach {}", start, listed(unreachable)),
        unreachable.front().origin);
  for (const auto& symbol : unproductive)
    if (symbol.name == start)
      report.stop(symbol.origin, "the start symbol {} derives no terminal string", start);
  if (!unproductive.empty())
    add("no terminal string can be derived from " + listed(unproductive),
        unproductive.front().origin);
  if (!text.empty()) report.stop(origin, "{}", text);
}

}  // namespace

Grammar::Grammar(const GrammarSource& source) {
  const Reporter report(source);
  if (source.rules.empty()) report.stop("", "a grammar needs at least one rule");
  check_names(source, report);
  auto data = std::make_shared<Data>();
  data->name = source.name;
  data->unambiguous = source.unambiguous;
  data->nonterminals = left_sides(source);
  data->alphabet = make_alphabet(source, report);
  check_defined(source, data->alphabet, data->nonterminals, report);
  data->rules = number_rules(source, data->alphabet, data->nonterminals, report);
  const auto start = source.start.empty() ? source.rules.front().left : source.start;
  const auto found = std::find(data->nonterminals.begin(), data->nonterminals.end(), start);
  if (found == data->nonterminals.end()) {
    const auto near = nearest_names(start, data->nonterminals);
    report.stop("", "the start symbol {} has no rules{}", start,
                near.empty() ? "" : ", did you mean " + near + "?");
  }
  data->start = static_cast<int>(found - data->nonterminals.begin());
  data->warnings = normalise_weights(data->rules, data->nonterminals, report);
  check_useful(source, start, report);
  auto form = make_normal_form(data->alphabet, data->nonterminals, data->rules, data->start);
  data->termination.assign(form.mass.begin(), form.mass.begin() + data->nonterminals.size());
  if (form.rounding > 1e-9)
    data->warnings.push_back(report.text(
        "",
        "rules with one symbol, beside symbols that may be empty, form loops with a probability "
        "near 1; probabilities of strings have about {:.0f} digits",
        std::max(0.0, std::floor(-std::log10(form.rounding)))));
  data->normal_form = std::make_unique<NormalForm>(std::move(form));
  const double ends = data->termination[data->start];
  if (ends < 1 - 1e-9)
    data->warnings.push_back(fmt::format(
        "grammar{} is supercritical: a derivation from {} ends with probability {:.6g}; "
        "samplers draw only from those that end",
        source.name.empty() ? "" : " " + source.name, start, ends));
  data_ = std::move(data);
}

const std::string& Grammar::name() const { return data_->name; }
const Alphabet& Grammar::alphabet() const { return data_->alphabet; }
const std::vector<std::string>& Grammar::nonterminals() const { return data_->nonterminals; }
const std::vector<Rule>& Grammar::rules() const { return data_->rules; }
int Grammar::start() const { return data_->start; }
bool Grammar::unambiguous() const { return data_->unambiguous; }
double Grammar::termination_probability() const { return data_->termination[data_->start]; }
const std::vector<double>& Grammar::termination_probabilities() const { return data_->termination; }
const std::vector<std::string>& Grammar::warnings() const { return data_->warnings; }
const NormalForm& Grammar::normal_form() const { return *data_->normal_form; }

const std::string& Grammar::symbol_name(Symbol symbol) const {
  return symbol.terminal ? data_->alphabet.symbol(symbol.id) : data_->nonterminals[symbol.id];
}

std::string Grammar::rule_text(const Rule& rule) const {
  std::string text = nonterminal_text(data_->nonterminals[rule.left]) + " ->";
  for (const auto symbol : rule.right)
    text += " " + (symbol.terminal ? quoted_terminal(symbol_name(symbol))
                                   : nonterminal_text(symbol_name(symbol)));
  return text;
}

GrammarSource Grammar::source() const {
  GrammarSource source;
  source.name = data_->name;
  source.start = data_->nonterminals[data_->start];
  source.symbols = data_->alphabet.symbols();
  source.unambiguous = data_->unambiguous;
  for (const auto& rule : data_->rules) {
    NamedRule named{data_->nonterminals[rule.left], {}, rule.weight, rule.origin};
    for (const auto symbol : rule.right)
      named.right.push_back({symbol.terminal, symbol_name(symbol)});
    source.rules.push_back(std::move(named));
  }
  return source;
}

}  // namespace pushdown
