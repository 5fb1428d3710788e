// The decisions of a recognizer on words of any length in one call.
#pragma once
#include <map>
#include <vector>

#include "model/recognizer.h"

namespace pushdown::testing_support {

inline std::vector<bool> decisions_of(const Recognizer& model, const std::vector<Word>& words) {
  at::NoGradGuard guard;
  std::map<std::size_t, std::vector<std::size_t>> by_length;
  for (std::size_t i = 0; i < words.size(); ++i) by_length[words[i].size()].push_back(i);
  std::vector<bool> result(words.size());
  for (const auto& [length, places] : by_length) {
    std::vector<std::int64_t> ids;
    for (const auto i : places) ids.insert(ids.end(), words[i].begin(), words[i].end());
    const Tensor batch =
        at::tensor(ids, at::kLong)
            .view({static_cast<std::int64_t>(places.size()), static_cast<std::int64_t>(length)});
    const Tensor scores = model.decisions(batch).to(at::kDouble).contiguous();
    for (std::size_t b = 0; b < places.size(); ++b)
      result[places[b]] = scores.data_ptr<double>()[b] > model.threshold();
  }
  return result;
}

}  // namespace pushdown::testing_support
