// Rule insertion: a pushdown automaton, a part of one, or knowledge of its dead states programmed
// into the weights of a neural state pushdown automaton (Mali et al. 2019, section 5). What is
// programmed is in model/rule_encoding.h; here the strength is chosen, every programmed triple is
// checked, and the numbers are written.
//
// The check. For every programmed triple (state, top, input) and every reading that the network can
// meet with this top (alpha_2 at the top, alpha_3 at any one symbol just popped or at none, alpha_1
// elsewhere, each anywhere in its interval) the pre-activations must lie on the right side of their
// thresholds: v of every state neuron, u of the action neurons that the stack operation asks. The
// pre-activations are linear in the reading, so the extremes are at the ends of the intervals. The
// margin is the distance of the nearest one to its threshold; with a margin above 0 the triple
// holds whatever the reading. Unless the network's weights are never discrete, all of it is checked
// with the discrete weights too, which are used in evaluation.
//
// The strength H. Given (as an option, else by the hint itself), it also becomes the network's
// weight_scale, so that a programmed weight is its own discrete value. Not given, weight_scale
// stays and H is that with the largest smallest margin, of those between 1/4 and 4; where several
// have it, the next larger margin counts, one each for the kinds of thing that can fail: a state
// neuron that must fire or must not, a push, a pop, no action, and a transition still to be learnt
// that fires.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/recognizer.h"
#include "pda/pda.h"

namespace pushdown {

struct RuleOptions {
  std::optional<double> strength = {};      // else the hint's; else chosen
  std::optional<double> weight_scale = {};  // else the strength where that is given; else unchanged
  // What becomes of triples without a transition: "keep" leaves their weights, "trap" leads them
  // into the trap. Default: trap where the hint says what is accepted, since it is whole then.
  std::string missing = {};
  std::string dead =
      "zero";               // "neuron": dead states are a neuron of their own, not the silent trap
  bool inhibition = false;  // large negative weights, see encode()
  bool frozen = false;      // programmed numbers are left alone in training
  bool check = true;        // a triple that does not hold is an error
};

struct RuleLine {
  std::string text;           // "q1, x --a--> q2, push a"
  std::vector<int> from, to;  // neurons (from 0); to is empty: the trap
  bool programmed = false;
  std::string reason;              // why it is not
  double margin = 0;               // the smaller one of both weights
  std::optional<bool> holds = {};  // of those programmed
};

struct RuleReport {
  double strength = 0;
  std::string strength_from;              // "given", "hint", "chosen"
  double margin = 0;                      // the smallest, with the full-precision weights
  std::optional<double> discrete_margin;  // with the discrete ones, where the network has them
  double weight_scale = 0;
  bool holds = false;
  std::vector<std::pair<std::string, std::vector<int>>> neurons;  // of each state, from 0
  int needed = 0, available = 0;                                  // state neurons
  std::vector<RuleLine> transitions;
  std::string missing;      // keep, trap
  bool acceptance = false;  // the end and the output layer are programmed
  std::string acceptance_reason;
  std::int64_t triples = 0;  // programmed and checked, with those of the trap and the end symbol
  std::int64_t numbers = 0;  // programmed
  bool frozen = false;
};

// Changes the parameters, the hinted triples, the masks of frozen numbers and, as said above,
// weight_scale of a recognizer whose network is an 'nspda'. Numbers that are not programmed stay as
// they are. The hinted triples and masks become those of this insertion. Nothing is changed when an
// error is thrown: std::invalid_argument for a network of another kind or with reading = 'action'
// (which does not show the top), an unknown symbol, contradictory transitions, too few state
// neurons, nothing that can be encoded, a strength that does not hold.
RuleReport insert_rules(Recognizer& recognizer, const Pda& pda, const RuleOptions& options = {});

// Several lines for a reader.
std::string to_text(const RuleReport& report);

}  // namespace pushdown
