// What language models predict, as methods of their class.
#pragma once
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/grammar/alphabet.h"
#include "bindings/model/classes.h"

namespace pushdown {

// Binds sample, next, surprisal, trees and tree_log_probability.
void bind_predictions(Class<LanguageModel>& type);

}  // namespace pushdown
