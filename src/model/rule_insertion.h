// Rule insertion: programs a pushdown automaton, a part of one, or knowledge of its dead states
// into the weights of a neural state pushdown automaton (Mali et al. 2019, section 5).
// model/rule_encoding.h defines the programmed numbers; the functions here choose the strength,
// check every programmed triple, and write the numbers.
//
// The check. It covers every programmed triple (state, top, input) and every reading that the
// network can meet with this top: alpha_2 at the top, alpha_3 at any one symbol just popped or at
// none, alpha_1 elsewhere, each anywhere in its interval. The pre-activations must lie on the right
// side of their thresholds: v of every state neuron, and u of the action neurons that the stack
// operation uses. The pre-activations are linear in the reading, so the extremes are at the ends of
// the intervals. The margin is the distance of the nearest pre-activation to its threshold; with a
// margin above 0, the triple holds for every reading. Unless the network's weights are never
// discrete, the check is repeated with the discrete weights, which are used in evaluation.
//
// The strength H. If it is given (as an option or, failing that, by the hint itself), it also
// becomes the network's weight_scale, so that a programmed weight equals its discrete value. If it
// is not given, weight_scale is unchanged, and H is the value between 1/4 and 4 that maximises the
// smallest margin. Ties are decided by the next larger margin, where there is one margin for each
// kind of condition: a state neuron that must fire or must not, a push, a pop, no action, and a
// transition still to be learned that must be able to fire.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/recognizer.h"
#include "pda/pda.h"

namespace pushdown {

struct RuleOptions {
  std::optional<double> strength = {};      // default: the hint's; if it has none, chosen
  std::optional<double> weight_scale = {};  // default: strength if given, else unchanged
  // Treatment of triples without a transition: "keep" leaves their weights unchanged, "trap" leads
  // them into the trap. Default: trap if the hint names its accepting states, because it is then
  // complete.
  std::string missing = {};
  std::string dead =
      "zero";               // "neuron": dead states are a neuron of their own, not the silent trap
  bool inhibition = false;  // large negative weights, see encode()
  bool frozen = false;      // training does not change programmed numbers
  bool check = true;        // throws if a triple does not hold
};

struct RuleLine {
  std::string text;           // "q1, x --a--> q2, push a"
  std::vector<int> from, to;  // neurons (from 0); if `to` is empty: the trap
  bool programmed = false;
  std::string reason;              // why it is not programmed
  double margin = 0;               // the smaller one, of full-precision and discrete weights
  std::optional<bool> holds = {};  // for programmed transitions
};

struct RuleReport {
  double strength = 0;
  std::string strength_from;              // "given", "hint", "chosen"
  double margin = 0;                      // the smallest, with the full-precision weights
  std::optional<double> discrete_margin;  // with the discrete ones, if the network has them
  double weight_scale = 0;
  bool holds = false;
  std::vector<std::pair<std::string, std::vector<int>>> neurons;  // for each state, from 0
  int needed = 0, available = 0;                                  // state neurons
  std::vector<RuleLine> transitions;
  std::string missing;      // keep, trap
  bool acceptance = false;  // the end and the output layer are programmed
  std::string acceptance_reason;
  std::int64_t triples = 0;  // programmed and checked, including trap and end symbol
  std::int64_t numbers = 0;  // programmed
  bool frozen = false;
};

// Changes the parameters, the hinted triples, the masks of frozen numbers and, as described above,
// weight_scale of a recognizer whose network is an 'nspda'. Numbers that are not programmed are
// unchanged. The hinted triples and masks of this insertion replace earlier ones. Throws
// std::invalid_argument, without changing anything, for a network of another kind or with reading =
// 'action' (which does not show the top), an unknown symbol, contradictory transitions, too few
// state neurons, no encodable transition, or a strength that does not hold.
RuleReport insert_rules(Recognizer& recognizer, const Pda& pda, const RuleOptions& options = {});

// Returns a summary of several lines.
std::string to_text(const RuleReport& report);

}  // namespace pushdown
