#include "analysis/pda_extraction.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/pushdown_control.h"
#include "base/check.h"
#include "base/stopping.h"
#include "pda/deterministic_run.h"
#include "pda/minimisation.h"
#include "pda/reachability.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "model.extract_pda";

enum class Answer { no, yes, open };

class Extractor {
 public:
  Extractor(const Recognizer& recognizer, const ExtractionOptions& options)
      : recognizer_(recognizer), options_(options), control_(recognizer) {
    check(options.limit >= 1, kWhere, "limit must be at least 1, got {}", options.limit);
    const auto& alphabet = recognizer.alphabet();
    symbols_ = alphabet.size();
    bottom_ = free_name("⊥", alphabet.symbols());
    mark_ = free_name("⊣", alphabet.symbols());
  }

  Extraction run() {
    explore();
    const auto pda = automaton();
    Extraction result{minimal(pda, options_.keep_dead)};
    result.controls = static_cast<std::int64_t>(controls_.size());
    result.pairs = static_cast<std::int64_t>(reached_.pairs.size());
    result.end_marks = marks_;
    if (marks_ > 0) result.end_mark = mark_;
    return result;
  }

 private:
  // The step of a control state with this top and one more input.
  struct Step {
    PushdownAction action;
    int next;
  };

  static std::string free_name(std::string name, const std::vector<std::string>& taken) {
    const std::string once = name;
    while (std::find(taken.begin(), taken.end(), name) != taken.end()) name += once;
    return name;
  }

  // Stack symbols of the automaton: 0 the bottom, then those of the alphabet.
  int read_neuron(int top) const { return top == 0 ? symbols_ : top - 1; }

  int number(const PushdownControl::State& state) {
    const auto [entry, is_new] = numbers_.emplace(state, static_cast<int>(controls_.size()));
    if (is_new) {
      check(static_cast<std::int64_t>(controls_.size()) < options_.limit, kWhere,
            "the network has more than {} control states; raise the limit", options_.limit);
      controls_.push_back(state);
    }
    return entry->second;
  }

  void explore() {
    const int inputs = symbols_ + recognizer_.end_symbol();
    number(control_.start());
    reached_ = reachable(
        0,
        [&](int state, int top) {
          std::vector<PushdownMove> moves;
          if (controls_[state].ended) return moves;
          for (int l = 0; l < inputs; ++l) {
            const auto made = control_.step(controls_[state], read_neuron(top), l);
            const Step step{made.action, number(made.state)};
            steps_[{state, top, l}] = step;
            moves.push_back(step.action == PushdownAction::push
                                ? PushdownMove{step.next, StackAction::push, l + 1}
                            : step.action == PushdownAction::pop
                                ? PushdownMove{step.next, StackAction::pop}
                                : PushdownMove{step.next, StackAction::replace, top});
          }
          return moves;
        },
        options_.limit * 100);
    for (const auto& [state, top] : reached_.pairs) tops_[state].push_back(top);
    for (const auto& [state, top] : reached_.pairs)
      if (!controls_[state].ended) answers_[{state, top}] = answer(state, top);
  }

  bool decides(int state, int top) const {
    return control_.accepts(controls_[state], read_neuron(top));
  }

  // Returns the network's answer if the string ends here.
  Answer answer(int state, int top) const {
    const auto said = [](bool yes) { return yes ? Answer::yes : Answer::no; };
    if (!recognizer_.end_symbol()) return said(decides(state, top));
    const auto& end = steps_.at({state, top, symbols_});
    if (end.action != PushdownAction::pop) return said(decides(end.next, top));
    // The uncovered symbol may be any of these; if it does not matter, there is only one answer.
    const auto& uncovered = tops_.at(end.next);
    const bool first = decides(end.next, uncovered[0]);
    for (const int below : uncovered)
      if (decides(end.next, below) != first) return Answer::open;
    return said(first);
  }

  PdaSource base() const {
    PdaSource source;
    source.name = "extracted";
    source.bottom = bottom_;
    source.symbols = recognizer_.alphabet().symbols();
    source.stack_symbols = {bottom_};
    for (const auto& symbol : source.symbols) source.stack_symbols.push_back(symbol);
    for (std::size_t q = 0; q < controls_.size(); ++q)
      if (!controls_[q].ended) source.states.push_back(state_name(static_cast<int>(q)));
    source.start = state_name(0);
    return source;
  }

  static std::string state_name(int state) { return fmt::format("q{}", state); }
  std::string top_name(int top) const {
    return top == 0 ? bottom_ : recognizer_.alphabet().symbol(top - 1);
  }

  TransitionPattern transition(int state, int top, int input, const Step& step) const {
    TransitionPattern t;
    t.state = state_name(state);
    t.top = top_name(top);
    t.symbol = input < symbols_ ? recognizer_.alphabet().symbol(input) : mark_;
    t.next = state_name(step.next);
    t.action = step.action == PushdownAction::push  ? StackAction::push
               : step.action == PushdownAction::pop ? StackAction::pop
                                                    : StackAction::replace;
    if (t.action != StackAction::pop) t.pushed = t.action == StackAction::push ? t.symbol : t.top;
    return t;
  }

  Pda automaton() {
    auto source = base();
    for (const auto& [key, step] : steps_) {
      const auto [state, top, input] = key;
      if (input < symbols_) source.transitions.push_back(transition(state, top, input, step));
    }
    const bool open = std::any_of(answers_.begin(), answers_.end(),
                                  [](const auto& pair) { return pair.second == Answer::open; });
    marks_ = open ? 2 : by_states(source) ? 0 : 1;
    if (marks_ == 0) return Pda(source);
    source.symbols.push_back(mark_);
    const std::string yes = "accepted";
    source.states.push_back(yes);
    source.accepting = {{yes, 1.0}};
    source.at_bottom = false;
    const auto accept = [&](int state, int top) {
      TransitionPattern t = transition(state, top, symbols_, {PushdownAction::none, state});
      t.next = yes;
      source.transitions.push_back(t);
    };
    if (marks_ == 1) {
      for (const auto& [pair, answer] : answers_)
        if (answer == Answer::yes) accept(pair.first, pair.second);
      return Pda(source);
    }
    for (std::size_t q = 0; q < controls_.size(); ++q)
      if (controls_[q].ended) source.states.push_back(state_name(static_cast<int>(q)));
    for (const auto& [key, step] : steps_) {
      const auto [state, top, input] = key;
      if (input == symbols_) source.transitions.push_back(transition(state, top, input, step));
    }
    for (const auto& [state, top] : reached_.pairs)
      if (controls_[state].ended && decides(state, top)) accept(state, top);
    return Pda(source);
  }

  // Represents the answers by accepting states, if that is possible.
  bool by_states(PdaSource& source) const {
    bool by_state = true, bottom_alone = true;
    std::map<int, Answer> of_state;
    for (const auto& [pair, answer] : answers_) {
      const auto [entry, is_new] = of_state.emplace(pair.first, answer);
      by_state = by_state && entry->second == answer;
      bottom_alone = bottom_alone && (pair.second == 0 || answer == Answer::no);
    }
    if (!by_state && !bottom_alone) return false;
    std::set<int> accepting;
    for (const auto& [pair, answer] : answers_)
      if (answer == Answer::yes) accepting.insert(pair.first);
    for (const int state : accepting) source.accepting.emplace_back(state_name(state), 1.0);
    if (accepting.empty()) source.accepting.emplace_back(source.start, 0);
    source.at_bottom = bottom_alone && !accepting.empty();
    return true;
  }

  const Recognizer& recognizer_;
  ExtractionOptions options_;
  PushdownControl control_;
  int symbols_ = 0, marks_ = 0;
  std::string bottom_, mark_;
  std::map<PushdownControl::State, int> numbers_;
  std::vector<PushdownControl::State> controls_;
  std::map<std::tuple<int, int, int>, Step> steps_;  // state, top, input
  Reachable reached_;
  std::map<int, std::vector<int>> tops_;
  std::map<std::pair<int, int>, Answer> answers_;
};

// Returns the word in the form that the extracted automaton reads.
Word marked(const Extraction& extraction, Word word) {
  for (int i = 0; i < extraction.end_marks; ++i)
    word.push_back(extraction.pda.alphabet().id(extraction.end_mark));
  return word;
}

// Returns informative test strings: random ones, ones on which the automaton does not get stuck,
// and those with one to three symbols changed.
std::vector<Word> telling_strings(const Extraction& extraction, int symbols,
                                  const ExtractionOptions& options) {
  Random random(options.seed, "extraction strings");
  const auto symbol = [&] { return static_cast<int>(random.below(symbols)); };
  std::vector<Word> words;
  const StopCheck stop;
  for (std::int64_t n = 0; n < options.strings; ++n) {
    stop();
    const auto length = random.below(static_cast<std::uint64_t>(options.longest) + 1);
    Word word;
    if (n % 3 == 0) {
      while (word.size() < length) word.push_back(symbol());
    } else {
      DeterministicRun run(extraction.pda);
      Word accepted;
      while (word.size() < static_cast<std::size_t>(options.longest)) {
        std::vector<int> ways, endings;
        for (int l = 0; l < symbols; ++l) {
          const auto* transition = run.transition(l);
          if (transition == nullptr) continue;
          ways.push_back(l);
          if (transition->action == StackAction::pop) endings.push_back(l);
        }
        if (ways.empty()) break;
        // From the drawn length on, it empties the stack if possible.
        const auto& from = word.size() >= length / 2 && !endings.empty() ? endings : ways;
        const int next = from[random.below(from.size())];
        if (!run.step(next)) break;
        word.push_back(next);
        if (run.accepts(marked(extraction, word))) accepted = word;
      }
      if (!accepted.empty()) word = accepted;
      if (n % 3 == 2 && !word.empty())
        for (auto edits = 1 + random.below(3); edits > 0; --edits)
          word[random.below(word.size())] = symbol();
    }
    words.push_back(std::move(word));
  }
  return words;
}

void compare(const Recognizer& recognizer, const ExtractionOptions& options, Extraction& result) {
  at::NoGradGuard guard;
  const DeterministicRun run(result.pda);
  std::map<std::size_t, std::vector<Word>> by_length;
  for (auto& word : telling_strings(result, recognizer.alphabet().size(), options))
    by_length[word.size()].push_back(std::move(word));
  for (const auto& [length, words] : by_length) {
    const auto count = static_cast<std::int64_t>(words.size());
    std::vector<std::int64_t> ids;
    for (const auto& word : words) ids.insert(ids.end(), word.begin(), word.end());
    const Tensor batch =
        at::tensor(ids, at::kLong).view({count, static_cast<std::int64_t>(length)});
    const Tensor scores = recognizer.decisions(batch.to(recognizer.output_weight().device()))
                              .to(at::kCPU, at::kDouble);
    for (std::int64_t b = 0; b < count; ++b) {
      const bool network = scores[b].item<double>() > recognizer.threshold();
      const bool automaton = run.accepts(marked(result, words[b]));
      ++result.strings;
      result.accepted += network;
      result.agreed += network == automaton;
      if (network != automaton && result.agreed + 1 == result.strings)
        result.disagreement = recognizer.alphabet().text(words[b]);
    }
  }
}

}  // namespace

Extraction extract_pda(const Recognizer& recognizer, const ExtractionOptions& options) {
  check(options.strings >= 0 && options.longest >= 0, kWhere,
        "the number and length of strings must be at least 0, got {} and {}", options.strings,
        options.longest);
  check(recognizer.decision() == Decision::last, kWhere,
        "extraction needs a model with decision = 'last', got decision = 'mean'");
  auto result = Extractor(recognizer, options).run();
  if (options.strings > 0) compare(recognizer, options, result);
  return result;
}

}  // namespace pushdown
