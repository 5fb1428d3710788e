// Several models in common launches.
#pragma once
#include "model/likelihoods_together.h"
#include "tensor/common_rows.h"

namespace pushdown::testing_support {

class ModelsTogether {
 public:
  ModelsTogether(std::vector<const LanguageModel*> models, const StepEnginePtr& engine)
      : models_(std::move(models)),
        rows_(lists_of(models_)),
        likelihoods_(models_, rows_.all(), engine) {}

  // Returns log p of all strings, M x B, and sets the gradients of the parameters to those of
  // factors[m] times their sum.
  Tensor differentiate(const std::vector<Tensor>& words, const std::vector<double>& factors) {
    std::vector<double> shares;
    for (const double factor : factors) shares.push_back(-factor);
    sums = likelihoods_.differentiate(words, shares);
    const Tensor all = likelihoods_.updates().gradients();
    for (std::size_t m = 0; m < models_.size(); ++m) {
      std::int64_t place = 0;
      for (const auto& [name, parameter] : models_[m]->parameters()) {
        parameter.mutable_grad() = all[static_cast<std::int64_t>(m)]
                                       .narrow(0, place, parameter.numel())
                                       .view(parameter.sizes())
                                       .clone();
        place += parameter.numel();
      }
    }
    return likelihoods_.updates().log_probabilities();
  }

  std::vector<DeviceUpdateSums> sums;  // of the last call

 private:
  static std::vector<std::vector<Tensor>> lists_of(
      const std::vector<const LanguageModel*>& models) {
    std::vector<std::vector<Tensor>> lists;
    for (const LanguageModel* model : models) {
      lists.emplace_back();
      for (const auto& [name, parameter] : model->parameters()) lists.back().push_back(parameter);
    }
    return lists;
  }

  std::vector<const LanguageModel*> models_;
  CommonRows rows_;
  LikelihoodsTogether likelihoods_;
};

}  // namespace pushdown::testing_support
