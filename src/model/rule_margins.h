// The safety margins of programmed triples: the worst case over all readings that a neural state
// pushdown automaton can meet (model/rule_insertion.h).
#pragma once
#include <array>
#include <vector>

#include "model/rule_encoding.h"
#include "model/state_pushdown.h"

namespace pushdown {

// The numbers of a network in the order of Programmed::Tensor. The output layer has no effect here.
using Numbers = std::array<std::vector<double>, Programmed::kTensors>;

// W^s -> scale if W > scale / 2, else 0; W^a -> scale, 0, -scale with thresholds +-scale / 2.
Numbers discrete(Numbers numbers, double scale);

// The kinds of conditions that can fail.
enum MarginKind { kFires, kSilent, kPush, kPop, kNothing, kMarginKinds };

struct Margins {
  std::vector<double> rules;               // the smallest margin of each rule
  std::array<double, kMarginKinds> kinds;  // and of each kind; infinity if there is none
  double least() const;
};

// Includes the trap itself, in which no neuron may fire.
Margins margins(const RuleSet& rules, const Encoding& encoding, const NetworkShape& shape,
                const StatePushdown& network, const Numbers& numbers);

}  // namespace pushdown
