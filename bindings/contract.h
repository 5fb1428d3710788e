// The results of the contract tests as Lua values.
#pragma once
#include "analysis/contract.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"

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
inline constexpr auto kClassName<Contract> = "Contract";

std::vector<OptionGroup> stack_groups(lua_State* L);
std::vector<OptionGroup> controller_groups(lua_State* L);
std::vector<OptionGroup> objective_groups(lua_State* L);

// The argument of pd.stack.check and the like: a kind, by its name or with options.
template <auto Groups>
struct Checked {
  Json options;
  static OptionRows rows() { return declare<Checked>({}).open(&Checked::options, "kind", Groups); }
};
template <auto Groups>
using ContractSubject = std::variant<std::string, Checked<Groups>>;
std::shared_ptr<Contract> check_stack(lua_State* L, const ContractSubject<&stack_groups>& given);
std::shared_ptr<Contract> check_controller(lua_State* L,
                                           const ContractSubject<&controller_groups>& given);
std::shared_ptr<Contract> check_objective(lua_State* L,
                                          const ContractSubject<&objective_groups>& given);
// Binds the class of their results.
void bind_contract(Module& module);

}  // namespace pushdown
