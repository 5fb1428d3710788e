// Options tables: Lua table <-> Json, and options that also carry objects.
//
// A Lua table with keys 1..n is a list, one with names is an object, an empty one an empty object.
// Numbers with an integral value are integers. Functions, objects, mixed keys, cycles and text that
// is not UTF-8 are errors that name the path of the key: options.controller.hidden.
#pragma once
#include <set>

#include "base/options.h"
#include "bindings/value.h"

namespace pushdown {

template <>
struct Value<Json> {
  static Json get(lua_State* L, int i);
  static int push(lua_State* L, const Json& value);  // null: nil
};

// An options table as it lies on the stack. Objects (tensors, grammars, data sets, functions) are
// taken out by key; rest() is what remains, as Json for resolve_options. Reads `{}` where the
// argument is absent or nil. Valid during the call only.
//   const auto alphabet = options.require<std::shared_ptr<Alphabet>>("alphabet");
//   const auto seed = options.take<std::uint64_t>("seed");       // std::optional
//   const Json json = options.rest();
class OptionTable {
 public:
  OptionTable(lua_State* L, int index) : L_(L), index_(index) {}

  template <class T>
  std::optional<T> take(const std::string& key) {
    taken_.insert(key);
    if (!push_field(key)) return std::nullopt;
    return get_element<T>(L_, index_, "." + key);
  }
  template <class T>
  T require(const std::string& key) {
    auto value = take<T>(key);
    if (!value) missing(key);
    return *std::move(value);
  }
  // Leaves `value` as it is if the option is not given.
  template <class T>
  void take_into(const std::string& key, T& value) {
    if (auto given = take<T>(key)) value = std::move(*given);
  }
  bool has(const std::string& key) const;
  // Pushes the raw value (nil if absent) and counts it as taken.
  void push(const std::string& key);
  // All keys not yet taken.
  Json rest() const;
  // Refuses keys that were not taken; `where` opens the message, which lists `valid`.
  void finish(std::string_view where, const std::vector<std::string>& valid) const;

 private:
  bool push_field(const std::string& key) const;  // nothing is pushed when the field is nil
  [[noreturn]] void missing(const std::string& key) const;

  lua_State* L_;
  int index_;
  std::set<std::string> taken_;
};

template <>
struct Value<OptionTable> {
  static OptionTable get(lua_State* L, int i) {
    if (!lua_isnoneornil(L, i) && !lua_istable(L, i)) throw WrongType(L, i, "a table of options");
    return {L, i};
  }
};

}  // namespace pushdown
