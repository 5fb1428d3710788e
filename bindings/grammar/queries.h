// What a grammar says about given strings.
#pragma once
#include "bindings/binder/bind.h"
#include "bindings/grammar/classes.h"

namespace pushdown {

// Binds log_probability, contains, parse, coverage and their relatives.
void bind_grammar_queries(Class<Grammar>& grammar);

}  // namespace pushdown
