// Options tables: Lua table <-> Json, and the options of bound functions.
//
// A Lua table with keys 1..n becomes a list, a table with names becomes an object, and an empty
// table becomes an empty object. Numbers with an integral value become integers. Functions,
// objects, mixed keys, cycles and text that is not UTF-8 are errors that name the path of the key:
// options.controller.hidden.
//
// A bound function takes its options as a struct that declares them once, as rows. The reading of
// the table, its errors, help(), completion, usage lines, docs/api.md and the editor stubs use
// these rows:
//
//   struct DrawOptions {
//     std::int64_t batch = 10;                // the default
//     std::optional<std::uint64_t> seed;      // may be absent
//     std::shared_ptr<Grammar> grammar;
//     Balance shape = Balance::halves;
//     static OptionRows rows() {
//       return declare<DrawOptions>(
//           {{"grammar", &DrawOptions::grammar, "language of the strings", required},
//            {"batch", &DrawOptions::batch, "strings of one length", at_least(1)},
//            {"shape", &DrawOptions::shape, "form of the tree", {{"halves", Balance::halves},
//            ...}},
//            {"seed", &DrawOptions::seed, "random seed"}});
//     }
//   };
//   Dataset draw(lua_State* L, std::int64_t count, const DrawOptions& options);
//   module.def<&draw>("draw(count, {options}) -> Dataset  Returns random strings.");
//
// `{options}` in a doc string becomes the names of the rows.
#pragma once
#include <set>

#include "base/options.h"
#include "bindings/binder/value.h"

namespace pushdown {

template <>
struct Value<Json> {
  static Json get(lua_State* L, int i);
  static int push(lua_State* L, const Json& value);  // null: nil
};

// An options table on the stack (`{}` if the argument is absent) without the options that have been
// read. It is valid only during the call.
class OptionTable {
 public:
  OptionTable() = default;
  OptionTable(lua_State* L, int index) : L_(L), index_(index) {}

  bool has(const std::string& key) const;
  // Pushes the raw value (nil if absent) and counts it as read.
  void push(const std::string& key);
  // Returns all keys that have not been read yet.
  Json rest() const;
  lua_State* state() const { return L_; }

 private:
  friend void read_options(lua_State* L, int index, const struct OptionRows& rows, void* options);
  bool push_field(const std::string& key) const;  // pushes nothing if the field is nil
  void refuse_unknown(const OptionRows& rows) const;

  lua_State* L_ = nullptr;
  int index_ = 0;
  std::set<std::string> read_;
};

// An option's value as a Lua value: a function, or a value that the bound function reads itself.
struct LuaOption {
  OptionTable table;
  std::string key;
  // Pushes the value, nil if it is absent.
  void push(lua_State* L) { key.empty() ? lua_pushnil(L) : table.push(key); }
};

struct DeclaredOption {
  OptionSpec spec;
  std::string type;  // for readers: "list of integers", "Grammar or SynchronousGrammar"
  // Reads the value on top of the stack, a field of the table at the index, into the struct.
  std::function<void(lua_State* L, int index, void* options)> read = {};
};

// The options of one kind of object that a function makes: "a recognizer", or 'lstm' of option
// `by`.
struct OptionGroup {
  std::string title;
  std::vector<DeclaredOption> options;
};

struct OptionRows {
  std::vector<DeclaredOption> rows;
  // Reads the remaining keys of the table. Without it, remaining keys are errors.
  std::function<void(const OptionTable& table, void* options)> read_rest = {};
  // The keys that may remain, if they depend on the value of the option `by` or on other arguments.
  // The core then refuses unknown keys.
  std::function<std::vector<OptionGroup>(lua_State* L)> groups = {};
  std::string by = {};

  // Adds the rows of a base class.
  template <class X, class Base>
  OptionRows& with();
  // Adds further options of the core, resolved into a member.
  template <class X>
  OptionRows& resolved(Json X::*member, const std::vector<OptionSpec>& specs);
  // Adds them as they are given; the core checks them.
  template <class X>
  OptionRows& raw(Json X::*member, const std::vector<OptionSpec>& specs);
  // Options that depend on the kind of object that is made: a Json or OptionTable with the
  // remaining keys.
  template <class X, class Rest>
  OptionRows& open(Rest X::*member, std::string option,
                   std::function<std::vector<OptionGroup>(lua_State*)> kinds);
};
using RowsFunction = const OptionRows& (*)();

std::vector<DeclaredOption> declared(const std::vector<OptionSpec>& specs);
// Returns {name, type, doc, required, default, choices, minimum, maximum, inside}.
Json told(const DeclaredOption& option);
// Returns "alphabet=, seed=, ...", for usage lines.
std::string names_text(lua_State* L, const OptionRows& rows);
// Returns the name of the running bound function, such as "task.labelled", for messages.
std::string running_function(lua_State* L);
// Notes the options of a bound function under its full name.
void note_options(lua_State* L, const std::string& full_name, RowsFunction rows);
// Returns the options that were noted for the function, or null.
RowsFunction noted_options(lua_State* L, const std::string& full_name);
std::vector<std::string> functions_with_options(lua_State* L);
// Returns a list of {name, type, doc, required, default, choices, minimum, maximum, inside, of,
// by}. `of` lists the groups that have the option if not all do.
std::optional<Json> options_of(lua_State* L, const std::string& full_name);

// ---- Attributes of a row besides name, member and description ----
inline constexpr struct RequiredOption {
} required;
struct Between {
  double low, high;
};
inline Between at_least(double low) { return {low, std::numeric_limits<double>::infinity()}; }
struct OneOf {
  std::vector<std::string> choices;
};
struct TypeText {  // replaces the type text of the member
  const char* text;
};
// An option that is a text in Lua and has this value in C++.
template <class T>
using Named = std::vector<std::pair<const char*, T>>;

template <class T>
struct OptionType;
template <class T>
std::string option_type() {
  if constexpr (Bound<T>)
    return kClassName<T>;
  else if constexpr (requires { typename T::element_type; })
    return option_type<typename T::element_type>();
  else if constexpr (std::is_same_v<T, bool>)
    return "boolean";
  else if constexpr (std::is_integral_v<T>)
    return "integer";
  else if constexpr (std::is_floating_point_v<T>)
    return "number";
  else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>)
    return "text";
  else
    return OptionType<T>::text();
}
template <class T>
struct OptionType {
  static std::string text() { return "table"; }
};
template <class T>
struct OptionType<std::optional<T>> {
  static std::string text() { return option_type<T>(); }
};
template <class T>
struct OptionType<std::vector<T>> {
  static std::string text() { return "list of " + option_type<T>() + "s"; }
};
template <class T>
struct OptionType<OneOrMore<T>> {
  static std::string text() { return option_type<std::variant<T, std::vector<T>>>(); }
};
template <class T, std::size_t N>
struct OptionType<std::array<T, N>> {
  static std::string text() {
    return "list of " + std::to_string(N) + " " + option_type<T>() + "s";
  }
};
template <class... T>
struct OptionType<std::variant<T...>> {
  static std::string text() {
    std::string all;
    ((all += (all.empty() ? "" : " or ") + option_type<T>()), ...);
    return all;
  }
};

// Null if a value has no text, or if none is given.
template <class T>
Json option_default(const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return value;
  else if constexpr (requires { value.has_value(); })
    return value ? option_default(*value) : Json();
  else if constexpr (requires { value.valueless_by_exception(); })
    return std::visit([](const auto& one) { return option_default(one); }, value);
  else if constexpr (std::is_same_v<T, std::string> ||
                     requires { requires std::is_arithmetic_v<typename T::value_type>; } ||
                     std::is_same_v<T, std::vector<std::string>>)
    return value.empty() ? Json() : Json(value);
  else
    return {};
}

template <class T>
void check_option(const std::string& where, const OptionSpec& spec, const T& value) {
  if constexpr (std::is_same_v<T, Json>)
    return;
  else if constexpr (std::is_arithmetic_v<T>)
    check_range(where, spec, static_cast<double>(value));
  else if constexpr (std::is_same_v<T, std::string>)
    check_choice(where, spec, value);
  else if constexpr (requires { value.has_value(); })
    check_option(where, spec, *value);
  else if constexpr (requires {
                       typename T::value_type;
                       value[0];
                     })
    for (const typename T::value_type& one : value) check_option(where, spec, one);
  else if constexpr (requires { value.valueless_by_exception(); })
    std::visit([&](const auto& one) { check_option(where, spec, one); }, value);
}

template <class X>
struct OptionRow : DeclaredOption {
  template <class C, class M, class... More>
  OptionRow(const char* name, M C::*member, const char* doc, More... more) {
    begin(name, doc, more...);
    if (type.empty()) type = option_type<M>();
    if constexpr (std::is_same_v<M, LuaOption>)
      read = [member, name](lua_State* L, int index, void* options) {
        static_cast<X*>(options)->*member = {OptionTable(L, index), name};
        lua_pop(L, 1);
      };
    else {
      spec.default_value = option_default(X().*member);
      read = [member, spec = spec](lua_State* L, int index, void* options) {
        M& value = static_cast<X*>(options)->*member;
        value = get_element<M>(L, index, "." + spec.name);
        check_option(running_function(L), spec, value);
      };
    }
  }
  template <class C, class M, class... More>
  requires(std::is_enum_v<M> || std::is_same_v<M, bool>)
      OptionRow(const char* name, M C::*member, const char* doc, Named<M> names, More... more) {
    begin(name, doc, more...);
    type = "text";
    for (const auto& [text, value] : names) {
      spec.choices.emplace_back(text);
      if (X().*member == value) spec.default_value = text;
    }
    read = [member, names, spec = spec](lua_State* L, int index, void* options) {
      const auto text = get_element<std::string>(L, index, "." + spec.name);
      check_choice(running_function(L), spec, text);
      for (const auto& [name, value] : names)
        if (text == name) static_cast<X*>(options)->*member = value;
    };
  }

 private:
  template <class... More>
  void begin(const char* name, const char* doc, const More&... more) {
    spec.name = name;
    spec.doc = doc;
    (add(more), ...);
  }
  void add(RequiredOption) { spec.required = true; }
  void add(Between range) { spec.between(range.low, range.high); }
  void add(const OneOf& texts) { spec.choices = texts.choices; }
  void add(TypeText text) { type = text.text; }
};

template <class X>
OptionRows declare(std::initializer_list<OptionRow<X>> rows) {
  return {{rows.begin(), rows.end()}};
}

template <class X>
OptionRows& OptionRows::resolved(Json X::*member, const std::vector<OptionSpec>& specs) {
  for (auto& option : declared(specs)) rows.push_back(std::move(option));
  read_rest = [member, specs](const OptionTable& table, void* options) {
    static_cast<X*>(options)->*member =
        resolve_options(running_function(table.state()), specs, table.rest());
  };
  return *this;
}

template <class X>
OptionRows& OptionRows::raw(Json X::*member, const std::vector<OptionSpec>& specs) {
  for (auto& option : declared(specs)) rows.push_back(std::move(option));
  read_rest = [member](const OptionTable& table, void* options) {
    static_cast<X*>(options)->*member = table.rest();
  };
  return *this;
}

template <class X, class Rest>
OptionRows& OptionRows::open(Rest X::*member, std::string option,
                             std::function<std::vector<OptionGroup>(lua_State*)> kinds) {
  by = std::move(option);
  groups = std::move(kinds);
  read_rest = [member](const OptionTable& table, void* options) {
    if constexpr (std::is_same_v<Rest, Json>)
      static_cast<X*>(options)->*member = table.rest();
    else
      static_cast<X*>(options)->*member = table;
  };
  return *this;
}

// The options of a function that has only options of the core, which are not resolved.
template <auto Specs>
struct CoreOptions {
  Json given;
  static OptionRows rows() { return declare<CoreOptions>({}).raw(&CoreOptions::given, Specs()); }
};

template <class T>
concept Declared = requires {
  { T::rows() } -> std::same_as<OptionRows>;
};

template <Declared T>
const OptionRows& rows_of() {
  static const OptionRows rows = T::rows();
  return rows;
}

template <class X, class Base>
OptionRows& OptionRows::with() {
  for (auto row : rows_of<Base>().rows) {
    row.read = [read = row.read](lua_State* L, int index, void* options) {
      read(L, index, static_cast<Base*>(static_cast<X*>(options)));
    };
    rows.push_back(std::move(row));
  }
  return *this;
}

// Reads the table at the index into the struct that the rows belong to.
void read_options(lua_State* L, int index, const OptionRows& rows, void* options);

template <Declared T>
struct Value<T> {
  static T get(lua_State* L, int i) {
    T options;
    read_options(L, i, rows_of<T>(), &options);
    return options;
  }
};

// The rows of the first of several types that declares any, alone or as one alternative of a
// variant; or null.
template <class... T>
constexpr RowsFunction first_rows();
template <class T>
struct RowsIn {
  static constexpr RowsFunction value = nullptr;
};
template <Declared T>
struct RowsIn<T> {
  static constexpr RowsFunction value = &rows_of<T>;
};
template <class... T>
struct RowsIn<std::variant<T...>> {
  static constexpr RowsFunction value = first_rows<T...>();
};
template <class... T>
constexpr RowsFunction first_rows() {
  RowsFunction found = nullptr;
  ((found = found == nullptr ? RowsIn<T>::value : found), ...);
  return found;
}

}  // namespace pushdown
