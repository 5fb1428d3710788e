// Common base of all models over an alphabet: a network created by name (network.h), an output
// layer, and their parameters.
#pragma once
#include <map>

#include "grammar/alphabet.h"
#include "model/kinds.h"
#include "model/network.h"

namespace pushdown {

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;
  SequenceModel(SequenceModel&&) = default;

  virtual std::string kind() const = 0;  // "language_model", "recognizer", "transducer"
  const Alphabet& alphabet() const { return alphabet_; }
  const Json& options() const { return options_; }  // all of them, including defaults
  const Network& network() const { return *network_; }
  // Shared tensors by name: those of the network (controller.*, stack.*), output.*.
  const ParameterList& parameters() const { return parameters_; }
  std::int64_t parameter_count() const;
  bool end_symbol() const { return end_symbol_; }

  // Entries of parameters that training does not change: a bool tensor of the parameter's shape for
  // each name. freeze() replaces the mask of one parameter; throws std::invalid_argument on an
  // unknown name or another shape.
  const std::map<std::string, Tensor>& frozen() const { return frozen_; }
  void freeze(const std::string& parameter, const Tensor& mask);
  // Tensors of the model that are not trained but saved with it: those of the network and the masks
  // as frozen.*. is_buffer() returns whether a name can be a buffer; set_buffer() restores one.
  ParameterList buffers() const;
  bool is_buffer(std::string_view name) const;
  void set_buffer(const std::string& name, const Tensor& value);

 protected:
  // Resolves the options: `architecture`, those of the network, `own`, dtype, device, seed.
  // Messages begin with `where`.
  SequenceModel(Alphabet alphabet, const char* where, const std::vector<OptionSpec>& own,
                const Json& options, const Kinds& kinds);
  // Creates the network for the alphabet and `end_inputs` more symbols, then an output layer with
  // `outputs` rows for vectors of size `output_inputs`; 0: for hidden vectors.
  void build(const Kinds& kinds, std::int64_t end_inputs, std::int64_t outputs,
             std::int64_t output_inputs = 0);
  // Throws std::invalid_argument unless words : B x n are symbol ids (int64) in the alphabet.
  void check_words(const char* where, const Tensor& words) const;

  Alphabet alphabet_;
  const char* where_;
  Json options_;
  bool end_symbol_ = false;
  NetworkPtr network_;
  Tensor output_weight_;  // outputs x H, or x output_inputs
  Tensor output_bias_;    // outputs
  ParameterList parameters_;
  std::map<std::string, Tensor> frozen_;
};
using SequenceModelPtr = std::shared_ptr<SequenceModel>;

// Returns the options of a model with this architecture: `own` between those of the network and
// dtype, device, seed. An option of `own` replaces that of the network with the same name.
std::vector<OptionSpec> sequence_model_options(const char* where, const std::string& architecture,
                                               const std::vector<OptionSpec>& own);

}  // namespace pushdown
