#include "train/optimizing/common_updates.h"

namespace pushdown {

std::vector<DeviceUpdateSums> CommonUpdates::differentiate(const std::vector<Member>& members,
                                                           std::vector<LikelihoodBatch> batches) {
  if (!rows_ || !rows_->hold()) {
    forget();
    std::vector<Optimizer*> optimizers;
    std::vector<const LanguageModel*> models;
    for (const Member& member : members) {
      optimizers.push_back(member.optimizer);
      models.push_back(member.model);
    }
    rows_.emplace(std::move(optimizers));
    likelihoods_.emplace(std::move(models), rows_->parameters(), engine_);
  }
  std::vector<Tensor> words;
  std::vector<double> shares;
  for (LikelihoodBatch& batch : batches) {
    shares.push_back(batch.weight / static_cast<double>(batch.words.size(0)));
    words.push_back(std::move(batch.words));
  }
  return likelihoods_->differentiate(std::move(words), std::move(shares));
}

void CommonUpdates::forget() {
  likelihoods_.reset();
  rows_.reset();
}

}  // namespace pushdown
