// What the contract tests have found, as Lua sees it.
#pragma once
#include "analysis/contract.h"
#include "bindings/bind.h"
#include "bindings/options.h"

namespace pushdown {

struct Contract {
  std::string subject;
  std::vector<ContractResult> results;

  std::int64_t broken() const {
    return std::count_if(results.begin(), results.end(),
                         [](const ContractResult& one) { return !one.complaints.empty(); });
  }
};

template <>
struct ClassName<Contract> {
  static constexpr const char* value = "Contract";
};

// pd.stack.check and the like, of a kind by its name or with options.
using ContractSubject = std::variant<std::string, OptionTable>;
std::shared_ptr<Contract> check_stack(lua_State* L, const ContractSubject& given);
std::shared_ptr<Contract> check_controller(lua_State* L, const ContractSubject& given);
std::shared_ptr<Contract> check_objective(lua_State* L, const ContractSubject& given);
// The class of what they return.
void bind_contract(Module& module);

}  // namespace pushdown
