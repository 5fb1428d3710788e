// The list of controllers.
#include "controller/elman.h"
#include "controller/gru.h"
#include "controller/lstm.h"

namespace pushdown {
namespace {

template <class Cell>
ControllerPtr make(const Json& options, const ModuleContext& context) {
  return std::make_shared<Cell>(options, context);
}

std::vector<OptionSpec> elman_options() {
  auto specs = cell_options();
  specs.push_back(text_option("activation", "tanh", "squashing function", {"tanh", "sigmoid"}));
  return specs;
}

}  // namespace

const std::vector<ControllerKind>& controller_kinds() {
  static const std::vector<ControllerKind> kinds{
      {"elman", "Simple recurrent network (Elman 1990).", elman_options(), make<Elman>},
      {"lstm", "Long short-term memory (Hochreiter and Schmidhuber 1997).", cell_options(),
       make<Lstm>},
      {"gru", "Gated recurrent unit (Cho et al. 2014).", cell_options(), make<Gru>},
  };
  return kinds;
}

ControllerPtr make_controller(const Json& options, const ModuleContext& context) {
  const auto [row, resolved] = resolve_kind("controller", controller_kinds(), options);
  return row.make(resolved, context);
}

}  // namespace pushdown
