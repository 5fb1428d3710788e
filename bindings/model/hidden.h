// The hidden vectors of the layers of a model, as a method of models.
#pragma once
#include "bindings/binder/bind.h"
#include "bindings/model/classes.h"

namespace pushdown {

// Bind model:hidden.
void bind_hidden(Class<LanguageModel>& type);
void bind_hidden(Class<Recognizer>& type);
void bind_hidden(Class<Transducer>& type);

}  // namespace pushdown
