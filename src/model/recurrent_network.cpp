#include "model/recurrent_network.h"

#include "model/stack_rnn.h"

namespace pushdown {
namespace {

class RecurrentNetwork : public Network {
 public:
  RecurrentNetwork(const Json& options, const ModuleContext& context)
      : symbols_(context.input),
        fused_(options["fused"]),
        dtype_(c10::typeMetaToScalarType(context.tensor_options.dtype())),
        device_(context.tensor_options.device()),
        rnn_(options["controller"], options["stack"], context.input, context.tensor_options,
             *context.random) {
    for (const char* part : {"controller", "stack"}) {
      line_ += line_.empty() ? "" : ", ";
      line_ += options[part]["kind"].get<std::string>() + " " + part;
    }
    parameters_ = rnn_.parameters();
  }

  std::int64_t hidden_size() const override { return rnn_.hidden_size(); }
  std::string line() const override { return line_; }
  const StackRnn* stack_rnn() const override { return &rnn_; }

  Tensor run(const Tensor& words, Random*) const override {
    const Tensor inputs = one_hot(words);
    return fused_ ? rnn_.run(inputs) : rnn_.run_stepwise(inputs);
  }
  Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                           const Tensor& output_bias) const override {
    return fused_ ? rnn_.log_probabilities(targets, output_weight, output_bias) : Tensor();
  }

 private:
  // B x n -> B x n x V
  Tensor one_hot(const Tensor& words) const {
    return at::one_hot(words.to(device_), symbols_).to(dtype_);
  }

  std::int64_t symbols_;
  bool fused_;
  at::ScalarType dtype_;
  at::Device device_;
  StackRnn rnn_;
  std::string line_;
};

}  // namespace

NetworkKind recurrent_network() {
  NetworkKind kind;
  kind.name = "recurrent";
  kind.doc = "A recurrent controller with a stack.";
  kind.options = {
      table_option("controller", Json{{"kind", "lstm"}}, "controller: kind and its options"),
      table_option("stack", Json{{"kind", "none"}}, "stack: kind and its options"),
      boolean_option("fused", true, "run sequences through fused kernels where there are any")};
  kind.make = [](const Json& options, const ModuleContext& context) -> NetworkPtr {
    return std::make_shared<RecurrentNetwork>(options, context);
  };
  kind.complete = [](Json options) {
    const auto fill = [&](const char* key, const auto& rows) {
      Json full{{"kind", options[key].value("kind", Json())}};
      full.update(resolve_kind(key, rows, options[key]).second);
      options[key] = full;
    };
    fill("controller", controller_kinds());
    fill("stack", stack_kinds());
    return options;
  };
  return kind;
}

}  // namespace pushdown
