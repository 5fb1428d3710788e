// Whether a softmax predicts the sets of symbols that may follow (task/next_symbols.h): the
// outcomes whose probability is above a threshold are the set, after every symbol of the string.
#pragma once
#include "task/next_symbols.h"
#include "tensor/torch.h"

namespace pushdown {

// logits : B x m x O, after `first` .. first + m - 1 symbols of the strings of these numbers; bits
// of the sets from O on do not count. threshold 0: 1 / (2 O), half of what a uniform distribution
// has.
std::vector<bool> predicts_next_symbols(const Tensor& logits,
                                        const std::vector<std::int64_t>& strings,
                                        const NextSymbols& sets, std::int64_t first,
                                        double threshold);

}  // namespace pushdown
