// The conversion of values between Lua and C++: Value<T>::get reads an argument or throws
// WrongType. Value<T>::push pushes a result and returns the number of Lua values. See bind.h.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <lua.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "tensor/torch.h"

namespace pushdown {

// The name of a bound class in Lua; null for all other types.
template <class T>
inline constexpr const char* kClassName = nullptr;
template <class T>
concept Bound = kClassName<T>
!= nullptr;
// A function that returns the memory of an object in bytes that the collector cannot see, beyond
// its size.
template <class T>
inline constexpr auto kHeldBytes = [](const T&) { return std::size_t{0}; };
template <class T>
struct Value;
class Module;
template <Bound T>
class Class;

// An argument of the wrong type. `index` is its place on the Lua stack, and `path` the place in it.
struct WrongType : std::exception {
  WrongType(lua_State* L, int index, std::string expected);
  WrongType(int index, std::string expected, std::string got)
      : index(index), expected(std::move(expected)), got(std::move(got)) {}
  const char* what() const noexcept override { return "argument of the wrong type"; }
  int index;
  std::string expected, got, path;
};
struct WrongCount : std::exception {
  explicit WrongCount(int most) : most(most) {}
  const char* what() const noexcept override { return "too many arguments"; }
  int most;
};

// These throw WrongType. They are not inline, because every bound function has several of them.
[[noreturn]] void wrong_type(lua_State* L, int index, const char* expected);
[[noreturn]] void wrong_class(lua_State* L, int index, const char* class_name);
[[noreturn]] void wrong_integer(int index, bool is_unsigned, std::int64_t got);
[[noreturn]] void wrong_size(int index, std::size_t expected, std::size_t got);
// Returns a description of the value at the index for messages: "a string", "a Tensor", "nothing".
std::string type_text(lua_State* L, int index);
// Collects garbage if objects made since the last time hold more than 64 MB, or if the process has
// grown by more than 128 MB. The latter finds memory that no object owns, such as gradient graphs.
void account_bytes(lua_State* L, std::size_t bytes);
struct Any {
  lua_State* state;
  int index;
};
struct Rest {
  lua_State* state;
  int first, count;
};
struct Results {
  int count;
};

template <std::floating_point T>
struct Value<T> {
  static T get(lua_State* L, int i) {
    if (lua_type(L, i) != LUA_TNUMBER) wrong_type(L, i, "a number");
    return static_cast<T>(lua_tonumber(L, i));
  }
  static int push(lua_State* L, T value) { return lua_pushnumber(L, value), 1; }
};

std::int64_t get_integer(lua_State* L, int i);
template <std::integral T>
struct Value<T> {
  static T get(lua_State* L, int i) {
    const auto integer = get_integer(L, i);
    if (!std::in_range<T>(integer)) wrong_integer(i, std::is_unsigned_v<T>, integer);
    return static_cast<T>(integer);
  }
  static int push(lua_State* L, T v) { return lua_pushnumber(L, static_cast<lua_Number>(v)), 1; }
};

template <>
struct Value<bool> {
  static bool get(lua_State* L, int i) {
    if (!lua_isboolean(L, i)) wrong_type(L, i, "true or false");
    return lua_toboolean(L, i) != 0;
  }
  static int push(lua_State* L, bool value) { return lua_pushboolean(L, value), 1; }
};

template <>
struct Value<std::string> {
  static std::string get(lua_State* L, int i) {
    if (lua_type(L, i) != LUA_TSTRING) wrong_type(L, i, "a string");
    std::size_t size = 0;
    const char* text = lua_tolstring(L, i, &size);
    return {text, size};
  }
  static int push(lua_State* L, std::string_view v) {
    return lua_pushlstring(L, v.data(), v.size()), 1;
  }
};

template <class T>
struct Value<std::optional<T>> {
  static std::optional<T> get(lua_State* L, int i) {
    if (lua_isnoneornil(L, i)) return std::nullopt;
    return Value<T>::get(L, i);
  }
  static int push(lua_State* L, const std::optional<T>& v) {
    return v ? Value<T>::push(L, *v) : (lua_pushnil(L), 1);
  }
};

// Value<T> of the element on top of the stack. Errors name element `key` of argument `i`.
template <class T>
T get_element(lua_State* L, int i, const std::string& key) {
  try {
    T value = Value<T>::get(L, lua_gettop(L));
    lua_pop(L, 1);
    return value;
  } catch (WrongType& error) {
    error.index = i;
    error.path = key + error.path;
    throw;
  }
}

template <class T>
struct Value<std::vector<T>> {
  static std::vector<T> get(lua_State* L, int i) {
    if (!lua_istable(L, i)) wrong_type(L, i, "a list");
    luaL_checkstack(L, 3, "nested too deeply");
    std::vector<T> list;
    const int size = static_cast<int>(lua_objlen(L, i));
    for (int k = 1; k <= size; ++k) {
      lua_rawgeti(L, i, k);
      list.push_back(get_element<T>(L, i, "[" + std::to_string(k) + "]"));
    }
    return list;
  }
  static int push(lua_State* L, const std::vector<T>& list) {
    luaL_checkstack(L, 4, "nested too deeply");
    lua_createtable(L, static_cast<int>(list.size()), 0);
    for (std::size_t k = 0; k < list.size(); ++k) {
      Value<T>::push(L, list[k]);
      lua_rawseti(L, -2, static_cast<int>(k) + 1);
    }
    return 1;
  }
};

template <class T, std::size_t N>
struct Value<std::array<T, N>> {
  static std::array<T, N> get(lua_State* L, int i) {
    const auto list = Value<std::vector<T>>::get(L, i);
    if (list.size() != N) wrong_size(i, N, list.size());
    std::array<T, N> values{};
    std::copy(list.begin(), list.end(), values.begin());
    return values;
  }
};

// {name = value}: std::map<std::string, T> in both directions, a vector of pairs only as a result.
template <class T, class Entries>
int push_entries(lua_State* L, const Entries& entries) {
  luaL_checkstack(L, 4, "nested too deeply");
  lua_createtable(L, 0, static_cast<int>(entries.size()));
  for (const auto& [name, value] : entries) {
    Value<std::string>::push(L, name);
    Value<T>::push(L, value);
    lua_rawset(L, -3);
  }
  return 1;
}
template <class T>
struct Value<std::map<std::string, T>> {
  static std::map<std::string, T> get(lua_State* L, int i) {
    if (!lua_istable(L, i)) wrong_type(L, i, "a table");
    luaL_checkstack(L, 4, "nested too deeply");
    std::map<std::string, T> entries;
    for (lua_pushnil(L); lua_next(L, i) != 0;) {
      if (lua_type(L, -2) != LUA_TSTRING)
        throw WrongType(i, "a table with names as keys", "the key " + type_text(L, -2));
      const std::string key = lua_tostring(L, -2);
      entries.emplace(key, get_element<T>(L, i, "." + key));
    }
    return entries;
  }
  static int push(lua_State* L, const std::map<std::string, T>& e) { return push_entries<T>(L, e); }
};
template <class T>
struct Value<std::vector<std::pair<std::string, T>>> {
  static int push(lua_State* L, const std::vector<std::pair<std::string, T>>& entries) {
    return push_entries<T>(L, entries);
  }
};

template <class... T>
struct Value<std::tuple<T...>> {
  static int push(lua_State* L, const std::tuple<T...>& values) {
    return std::apply([L](const T&... v) { return (Value<T>::push(L, v) + ... + 0); }, values);
  }
};

template <class... T>
struct Value<std::variant<T...>> {
  using Variant = std::variant<T...>;
  static Variant get(lua_State* L, int i) {
    std::optional<Variant> found;
    std::optional<WrongType> closest;
    const int top = lua_gettop(L);
    const auto attempt = [&]<class U>(std::type_identity<U>) {
      if (found) return;
      try {
        found.emplace(Value<U>::get(L, i));
      } catch (const WrongType& error) {
        lua_settop(L, top);
        if (!closest || error.path.size() > closest->path.size())
          closest = error;
        else if (closest->path.empty())
          closest->expected += " or " + error.expected;
      }
    };
    (attempt(std::type_identity<T>{}), ...);
    if (!found) throw *closest;
    return *std::move(found);
  }
  static int push(lua_State* L, const Variant& value) {
    return std::visit([L]<class U>(const U& v) { return Value<U>::push(L, v); }, value);
  }
};

// A list, or a single element in its place.
template <class T>
struct OneOrMore {
  std::vector<T> list;
};
template <class T>
struct Value<OneOrMore<T>> {
  static OneOrMore<T> get(lua_State* L, int i) {
    auto given = Value<std::variant<T, std::vector<T>>>::get(L, i);
    if (given.index() == 0) return {{std::get<0>(std::move(given))}};
    return {std::get<1>(std::move(given))};
  }
};

template <>
struct Value<std::monostate> {  // in a variant: the argument may be absent
  static std::monostate get(lua_State* L, int i) {
    if (!lua_isnoneornil(L, i)) wrong_type(L, i, "nothing");
    return {};
  }
};
template <>
struct Value<Any> {
  static Any get(lua_State* L, int i) { return {L, i}; }
  static int push(lua_State* L, const Any& value) { return lua_pushvalue(L, value.index), 1; }
};
template <>
struct Value<Rest> {
  static Rest get(lua_State* L, int i) { return {L, i, std::max(0, lua_gettop(L) - i + 1)}; }
};
template <>
struct Value<lua_State*> {
  static lua_State* get(lua_State* L, int) { return L; }
};
template <>
struct Value<Results> {
  static int push(lua_State*, Results results) { return results.count; }
};

// The address of its key is the name of the class in the registry.
template <Bound T>
inline char metatable_key = 0;
// Pushes the metatable of the bound class, or nil if it is not bound yet.
template <Bound T>
void push_metatable(lua_State* L) {
  lua_pushlightuserdata(L, &metatable_key<T>);
  lua_rawget(L, LUA_REGISTRYINDEX);
}
// Returns the userdata at the index, or nullptr if its metatable is not the one registered under
// `key`.
void* object_at(lua_State* L, int index, void* key);
// Registers the metatable on top of the stack and leaves it there.
template <Bound T>
void set_metatable(lua_State* L) {
  lua_pushlightuserdata(L, &metatable_key<T>);
  lua_pushvalue(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX);
}
template <Bound T>
struct Value<std::shared_ptr<T>> {
  static std::shared_ptr<T>& get(lua_State* L, int i) {
    auto* object = static_cast<std::shared_ptr<T>*>(object_at(L, i, &metatable_key<T>));
    if (object == nullptr || !*object) wrong_class(L, i, kClassName<T>);
    return *object;
  }
  static int push(lua_State* L, std::shared_ptr<T> object) {
    if (!object) return lua_pushnil(L), 1;
    account_bytes(L, sizeof(T) + kHeldBytes<T>(*object));
    new (lua_newuserdata(L, sizeof object)) std::shared_ptr<T>(std::move(object));
    push_metatable<T>(L);
    lua_setmetatable(L, -2);
    return 1;
  }
};
template <Bound T>
struct Value<T> {
  static T& get(lua_State* L, int i) { return *Value<std::shared_ptr<T>>::get(L, i); }
  static int push(lua_State* L, T object) {
    if constexpr (requires { object.defined(); })  // an undefined tensor is nil
      if (!object.defined()) return lua_pushnil(L), 1;
    return Value<std::shared_ptr<T>>::push(L, std::make_shared<T>(std::move(object)));
  }
};

}  // namespace pushdown
