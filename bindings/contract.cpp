// pd.stack.check, pd.controller.check and pd.train.check_objective run the contract tests.
#include "bindings/contract.h"

#include "bindings/binder/interrupt.h"
#include "bindings/binder/kinds.h"
#include "bindings/define/definition.h"

namespace pushdown {

namespace {

// The name of the kind and small values of its options, replaced by those that are given.
template <class Row, class Given>
Json subject_of(const char* where, const std::vector<Row>& rows, const Given& given) {
  Json options = Json::object();
  if (const auto* name = std::get_if<std::string>(&given))
    options["kind"] = *name;
  else
    options = std::get<1>(given).options;
  check(options.contains("kind") && options["kind"].is_string(), where,
        "expected a kind or a table with a 'kind', one of {}", quoted_list(row_names(rows)));
  const Row& row = find_row(where, rows, options["kind"].get<std::string>());
  Json own = options;
  own.erase("kind");
  resolve_options(where, row.options, own);
  Json small = small_options(row.name, row.options);
  small.update(options);
  return small;
}

void add(lua_State* L, Contract& contract, const std::vector<ContractCheck>& checks,
         const Json& options, const std::string& of) {
  for (auto& result : run_contract(checks, options, session_kinds(L), interrupt_check(L))) {
    if (!of.empty()) result.promise += ", with " + of;
    contract.results.push_back(std::move(result));
  }
  stop_if_interrupted(L);
}

// Checks a language model, a recognizer, and a language model with further couplings.
std::shared_ptr<Contract> check_model(lua_State* L, std::string subject, const Json& options,
                                      bool no_op) {
  auto contract = std::make_shared<Contract>();
  contract->subject = std::move(subject);
  add(L, *contract, language_model_contract(), options, "");
  add(L, *contract, recognizer_contract(), options, "");
  Json coupled = options;
  coupled["coupling"] = "state";
  if (no_op) coupled["carry_forward"] = "soft";
  add(L, *contract, language_model_contract(), coupled,
      no_op ? "coupling = 'state' and carry_forward = 'soft'" : "coupling = 'state'");
  return contract;
}

std::string contract_line_of(const Contract& contract) {
  const auto broken = contract.broken();
  return broken == 0 ? fmt::format("{}: keeps the contract, {} checks", contract.subject,
                                   contract.results.size())
                     : fmt::format("{}: breaks the contract in {} of {} checks", contract.subject,
                                   broken, contract.results.size());
}

// The text below a check, with indented lines.
std::string indented(std::string text) {
  constexpr auto kIndent = "\n            ";
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    text.replace(at, 1, kIndent);
  return kIndent + text;
}

std::string lines_of(const Contract& contract) {
  constexpr std::size_t kShown = 4;  // complaints that are shown for a check
  std::string text = contract_line_of(contract);
  Complaints told;
  for (const auto& [name, promise, complaints] : contract.results) {
    text += fmt::format("\n  {}  {}", complaints.empty() ? "holds " : "BROKEN", promise);
    // One mistake can break many checks.
    if (complaints == told && !told.empty()) {
      text += indented("the same");
      continue;
    }
    told = complaints;
    for (std::size_t i = 0; i < std::min(complaints.size(), kShown); ++i)
      text += indented(complaints[i]);
    if (complaints.size() > kShown)
      text += indented(fmt::format("and {} more", complaints.size() - kShown));
  }
  return text;
}

Json results_of(const Contract& contract) {
  Json list = Json::array();
  for (const auto& [name, promise, complaints] : contract.results)
    list.push_back({{"name", name},
                    {"promise", promise},
                    {"passed", complaints.empty()},
                    {"complaints", complaints}});
  return list;
}

}  // namespace

std::vector<OptionGroup> stack_groups(lua_State* L) {
  return option_groups(session_kinds(L).stacks);
}
std::vector<OptionGroup> controller_groups(lua_State* L) {
  return option_groups(session_kinds(L).controllers);
}
std::vector<OptionGroup> objective_groups(lua_State* L) {
  return option_groups(session_kinds(L).objectives);
}

std::shared_ptr<Contract> check_stack(lua_State* L, const ContractSubject<&stack_groups>& given) {
  const Json stack = subject_of("stack.check", session_kinds(L).stacks, given);
  // Only a stack that exists tells whether it has the action no_op.
  Random random(7);
  const ModuleContext context{4, at::TensorOptions(at::kDouble), &random};
  const auto made = make_stack(stack, context, session_kinds(L).stacks);
  return check_model(L, fmt::format("stack '{}'", stack["kind"].get<std::string>()),
                     {{"controller", {{"kind", "elman"}, {"hidden", 4}}}, {"stack", stack}},
                     made->no_op(at::zeros({1, 4}, at::kDouble)).has_value());
}

std::shared_ptr<Contract> check_controller(lua_State* L,
                                           const ContractSubject<&controller_groups>& given) {
  const Json controller = subject_of("controller.check", session_kinds(L).controllers, given);
  return check_model(
      L, fmt::format("controller '{}'", controller["kind"].get<std::string>()),
      {{"controller", controller}, {"stack", {{"kind", "superposition"}, {"size", 3}}}}, true);
}

std::shared_ptr<Contract> check_objective(lua_State* L,
                                          const ContractSubject<&objective_groups>& given) {
  const Json objective = subject_of("train.check_objective", session_kinds(L).objectives, given);
  auto contract = std::make_shared<Contract>();
  contract->subject = fmt::format("objective '{}'", objective["kind"].get<std::string>());
  add(L, *contract, objective_contract(), objective, "");
  return contract;
}

void bind_contract(Module& module) {
  Class<Contract>(module, "The result of checking a stack, a controller or an objective.")
      .def<[](const Contract& contract) { return contract.broken() == 0; }>(
          "contract:passed() -> boolean  Returns whether all checks passed.")
      .def<&results_of>(
          "contract:results() -> table  Returns a list of tables, one for each check: name, "
          "promise, passed, and complaints (a list of texts).")
      .def<&contract_line_of>("tostring(contract) -> string  Returns one line about the result.")
      .def<&lines_of>("__show",
                      "show(contract) -> string  Returns the text that the prompt prints: a line "
                      "for each check, followed by its complaints.");
}

}  // namespace pushdown
