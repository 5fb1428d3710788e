// The binder: every C++ function that Lua can call goes through this header. In short:
//
//   void bind_stack(lua_State* L) {                       // the `pd` table is on top of the stack
//     Module stack(L, "stack", "Differentiable stacks."); // pd.stack; popped when `stack` dies
//     stack.def<&kinds>("kinds() -> table  Returns the names of the stacks.");
//     stack.def<&draw>("draw(count, {options}) -> table  ...");  // options.h
//     Class<Sampler>(stack, "Draws strings of chosen lengths.")
//         .def<&Sampler::lower_bound>("sampler:lower_bound(dataset) -> number  ...")
//         .def<&add>("__add", "(a + b) -> Sampler  ...")
//         .def<&describe>("tostring(sampler) -> string  Returns one line.");
//   }
//   template <>                                          // at namespace scope, before its use
//   inline constexpr auto kClassName<Sampler> = "Sampler";
//
// The doc string is required and names the function: `name(args) -> result  One sentence.` with two
// blanks before the sentence, and without `-> result` if nothing is returned. Operators and calls
// of objects have their name beside it. help(), the reference pages and the usage line below the
// message of a wrong call are made from it. pd.docs() lists all doc strings.
//
// A callable is a function pointer, a member function, a member, or a captureless lambda. Members
// may be those of a base class. Value<T>::get reads the parameters, and Value<T>::push writes the
// result. There are values for numbers, integers, booleans, strings, std::optional (the argument
// may be left out), std::vector (list), std::map and vectors of pairs (table by name), std::tuple
// (several results), std::variant (the first type that fits), Json and structs of options
// (options.h), and bound classes as T&, T or std::shared_ptr<T>. Special parameters:
//   lua_State*  the calling state; takes no argument
//   Any         one argument as it lies on the stack
//   Rest        all further arguments
//   Results     (returned) values that are already pushed
// To make an iterator, return an object of a bound class that defines "__call".
//
// A Lua object of class T is a userdata with a std::shared_ptr<T>, so C++ and Lua may both keep it.
// "__index" defined on a class receives only keys that are not strings; unknown method names are
// errors.
// "__show" returns the text, of several lines, that the prompt prints; "__tostring" returns one
// line.
//
// Only guarded() turns C++ exceptions into Lua errors, with the position of the user's own script
// in front. It must not catch (...): Lua's own errors pass through C++ frames as foreign
// exceptions, and destructors run. Never call a Lua function that can fail from a destructor.
#pragma once
#include "bindings/binder/options.h"
#include "bindings/binder/script_call.h"
#include "bindings/binder/value.h"

namespace pushdown {

// A doc string. The compiler checks its form.
struct Doc {
  consteval Doc(const char* doc) : text(doc) {
    const std::string_view view(doc);
    if (view.find("  ") == view.npos || view.find_first_of("({") == view.npos || view.back() != '.')
      throw "a doc string reads: name(args) -> result  One sentence.";
  }
  const char* text;
};
// A doc string that begins with the name of the function, or with an object and the name.
struct NamedDoc : Doc {
  consteval NamedDoc(const char* doc) : Doc(doc), name(doc) {
    name = name.substr(0, name.find_first_of("({"));
    name.remove_prefix(name.find(':') + 1);
    if (name.empty() || name.find(' ') != name.npos)
      throw "a doc string begins with the name of the function";
    if (name == "tostring") name = "__tostring";
  }
  std::string_view name;
};

// Returns "script.lua:12: " for the innermost user code that is running, or "".
std::string user_position(lua_State* L);
// Pushes position, name, message and, for a wrong call, the usage line.
void push_error(lua_State* L, std::string_view message);
void push_error(lua_State* L, const WrongType& error);
void push_error(lua_State* L, const WrongCount& error);
// Registers `doc` under the name, and the name for the function or table on top of the stack.
void add_doc(lua_State* L, const std::string& full_name, const std::string& doc);
// Pushes registry[name], a table that is made on first use.
void push_registry_table(lua_State* L, const char* name, bool weak = false);
// Pushes the docs table: full name -> doc string, class name -> sentence.
void push_docs(lua_State* L);
// Pushes the names table: function, module or metatable -> full name.
void push_names(lua_State* L);

// The number of arguments that a parameter of this type takes.
template <class T>
inline constexpr int kTaken = std::is_same_v<T, lua_State*> ? 0 : 1;

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = std::remove_cvref_t<R>;
  using Arguments = std::tuple<std::remove_cvref_t<A>...>;
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(C&, A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(C&, A...)> {};
// The lambda object itself is not an argument.
template <class F>
struct LambdaSignature;
template <class R, class C, class... A>
struct LambdaSignature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};

// Returns the Lua stack index of parameter i.
template <class Arguments>
constexpr int place_of(std::size_t i) {
  return [i]<std::size_t... I>(std::index_sequence<I...>) {
    return (1 + ... + (I < i ? kTaken<std::tuple_element_t<I, Arguments>> : 0));
  }
  (std::make_index_sequence<std::tuple_size_v<Arguments>>{});
}

// Calls `body` and turns the C++ exceptions that leave it into Lua errors. This is not a template,
// because each of the 600 bound functions would get handlers of its own.
int guarded(lua_State* L, int (*body)(lua_State*));

// The signature of a method of T: a member of a base class takes T.
template <class T, class F>
struct MethodSignature;
template <class T, class M, class C>
struct MethodSignature<T, M C::*> : Signature<M (*)(T&)> {};
template <class T, class R, class C, class... A>
struct MethodSignature<T, R (C::*)(A...)> : Signature<R (*)(T&, A...)> {};
template <class T, class R, class C, class... A>
struct MethodSignature<T, R (C::*)(A...) const> : Signature<R (*)(T&, A...)> {};

template <class S, class F>
int invoke(lua_State* L, F f) {
  using Arguments = typename S::Arguments;
  constexpr std::size_t kCount = std::tuple_size_v<Arguments>;
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr bool kOpen = (std::is_same_v<std::tuple_element_t<I, Arguments>, Rest> || ...);
    if (!kOpen && lua_gettop(L) >= place_of<Arguments>(kCount))
      throw WrongCount(place_of<Arguments>(kCount) - 1);
    // Braces evaluate from left to right, so that the first wrong argument is reported.
    std::tuple<decltype(Value<std::tuple_element_t<I, Arguments>>::get(L, 1))...> arguments{
        Value<std::tuple_element_t<I, Arguments>>::get(L, place_of<Arguments>(I))...};
    const auto call = [&](auto&... a) -> decltype(auto) {
      return std::invoke(f, std::forward<decltype(std::get<I>(arguments))>(a)...);
    };
    if constexpr (std::is_void_v<typename S::Result>)
      return std::apply(call, arguments), 0;
    else
      return Value<typename S::Result>::push(L, std::apply(call, arguments));
  }
  (std::make_index_sequence<kCount>{});
}

template <class F>
struct SignatureOf : Signature<F> {};
template <class F>
requires std::is_class_v<F>
struct SignatureOf<F> : LambdaSignature<decltype(&F::operator())> {
};

template <class T, class F>
requires(!std::is_member_pointer_v<F>) struct MethodSignature<T, F> : SignatureOf<F> {
};

// Upvalues: 1 the full name, 2 the doc string.
template <auto F, class S = SignatureOf<std::remove_cv_t<decltype(F)>>>
int thunk(lua_State* L) {
  return guarded(L, [](lua_State* state) { return invoke<S>(state, F); });
}

// A function in the form that Lua calls, and its options if it has any.
struct BoundFunction {
  lua_CFunction call;
  RowsFunction rows;
};
template <auto F, class S = SignatureOf<std::remove_cv_t<decltype(F)>>>
BoundFunction bound() {
  return {&thunk<F, S>, []<class... A>(std::type_identity<std::tuple<A...>>) {
            return first_rows<A...>();
          }(std::type_identity<typename S::Arguments>{})};
}

// Sets table[key] to the function, for the table at the index, and documents it.
void define(lua_State* L, int table, const std::string& full_name, std::string_view key,
            const BoundFunction& f, Doc doc);

// Notes the texts that an argument of a function can be, see pd.texts().
void note_texts(lua_State* L, int table, const std::string& full_name, const std::string& key,
                lua_CFunction texts, const char* of, const char* option);
// Pushes what was noted: a list in the order of the definitions.
void push_texts(lua_State* L);

// A table of functions. It becomes a field of the table on top of the stack and is popped when the
// object is destroyed.
class Module {
 public:
  // Uses the table on top of the stack itself and leaves it there.
  Module(lua_State* L, std::string name);
  Module(lua_State* L, const char* field, const char* sentence, const char* parent = "pd");
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  template <auto F>
  Module& def(NamedDoc doc) {
    latest_ = doc.name;
    define(L_, table_, name_ + "." + latest_, latest_, bound<F>(), doc);
    return *this;
  }
  // An argument of the function that was defined last is one of the texts that F returns. `of`:
  // what has these names if the function describes it ("a stack"); `option`: the option that takes
  // it.
  template <auto F>
  Module& texts(const char* of = "", const char* option = "") {
    note_texts(L_, table_, name_ + "." + latest_, latest_, &thunk<F>, of, option);
    return *this;
  }
  // Defines the call of the module itself, such as pd.tensor{1, 2}. F does not receive the module.
  template <auto F>
  Module& call(Doc doc) {
    const auto call = [](lua_State* L) { return lua_remove(L, 1), thunk<F>(L); };
    define_call({call, bound<F>().rows}, doc);
    return *this;
  }
  lua_State* state() const { return L_; }
  const std::string& name() const { return name_; }

 private:
  void define_call(const BoundFunction& f, Doc doc);
  lua_State* L_;
  std::string name_;
  int table_;
  bool owned_;
  std::string latest_;
};

// Makes the metatable of a class, pushes it and fills in what every class has.
void make_metatable(lua_State* L, const char* name, const char* sentence, lua_CFunction collect);
// Defines a method of the metatable at the index; names with __ are metamethods.
void define_method(lua_State* L, int metatable, const char* cls, std::string_view name,
                   const BoundFunction& f, Doc doc);

template <Bound T>
class Class {
 public:
  Class(Module& module, const char* sentence) : Class(module.state(), sentence) {}
  Class(lua_State* L, const char* sentence) : L_(L) {
    make_metatable(L, kClassName<T>, sentence, [](lua_State* state) {
      push_metatable<T>(state);
      if (lua_getmetatable(state, 1) && lua_rawequal(state, -1, -2))
        static_cast<std::shared_ptr<T>*>(lua_touserdata(state, 1))->reset();
      return 0;
    });
    set_metatable<T>(L);
    metatable_ = lua_gettop(L);
  }
  ~Class() { lua_pop(L_, 1); }
  Class(const Class&) = delete;
  Class& operator=(const Class&) = delete;

  template <auto F>
  Class& def(NamedDoc doc) {
    return def<F>(doc.name, doc);
  }
  template <auto F>
  Class& def(std::string_view name, Doc doc) {
    using Method = MethodSignature<T, std::remove_cv_t<decltype(F)>>;
    define_method(L_, metatable_, kClassName<T>, name, bound<F, Method>(), doc);
    return *this;
  }

 private:
  lua_State* L_;
  int metatable_ = 0;
};

}  // namespace pushdown
