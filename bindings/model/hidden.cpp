#include "bindings/model/classes.h"

#include "bindings/model/sequence.h"
#include "model/network_trace.h"

namespace pushdown {
namespace model_hidden {

// words : 1 x m -> L x (m+1) x H on the CPU
Tensor vectors(const SequenceModel& model, const PassRequest& request) {
  return at::stack(layers_of(model.network(), request)).squeeze(1).to(at::kCPU).contiguous();
}

Tensor language_model_hidden(const LanguageModel& model, const Tokens& tokens) {
  return vectors(model, {.words = word_tensor(model, tokens)});
}

// With memory_in_passes = 'moves', every symbol is read once for each pass.
Tensor recognizer_hidden(const Recognizer& model, const Tokens& tokens) {
  const Tensor words = model.input(word_tensor(model, tokens));
  const Refinement& refinement = model.refinement(false);
  if (!model.memory_moves()) return vectors(model, {words, refinement});
  const Tensor all = vectors(model, {repeated_words(words, refinement.passes)});
  return carried_passes(all, Refinement(refinement.passes));
}

Tensor transducer_hidden(const Transducer& model, const Tokens& source, const Tokens& target) {
  const Word from = to_word(model.alphabet(), source),
             to = to_word(model.target_alphabet(), target);
  return vectors(model, {model.joint({from}, {to}).inputs});
}

constexpr NamedDoc kHidden(
    "model:hidden(tokens) -> Tensor  Returns the hidden vectors of every layer before the first "
    "symbol of a string and after each of its m symbols, the end symbol of a recognizer included, "
    "L x (m+1) x H. The vectors of the last layer are those that the output layer reads. Those of "
    "the other layers of a transformer are the normalized vectors that the next layer reads.");

}  // namespace model_hidden

void bind_hidden(Class<LanguageModel>& type) {
  type.def<&model_hidden::language_model_hidden>(model_hidden::kHidden);
}
void bind_hidden(Class<Recognizer>& type) {
  type.def<&model_hidden::recognizer_hidden>(model_hidden::kHidden);
}
void bind_hidden(Class<Transducer>& type) {
  type.def<&model_hidden::transducer_hidden>(
      "model:hidden(source, target) -> Tensor  Returns the hidden vectors of every layer before "
      "and after each of the m symbols that the model reads for a pair: start, source, separator "
      "and target, L x (m+1) x H.");
}

}  // namespace pushdown
