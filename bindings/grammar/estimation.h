// Grammars from trees and from sentences.
#pragma once
#include "bindings/binder/bind.h"
#include "bindings/grammar/classes.h"

namespace pushdown {

// Binds from_trees of pd.grammar, and fit of the class.
void bind_grammar_estimation(Module& module, Class<Grammar>& grammar);

}  // namespace pushdown
