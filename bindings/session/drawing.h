// Methods that draw a value by the library in Lua: value:svg(path), value:dot(path),
// value:latex(path).
#pragma once
#include <algorithm>

#include "bindings/binder/bind.h"
#include "bindings/binder/path.h"

namespace pushdown {

// Calls pushdown.plot[kind]{[field] = object, path =} and pushes the text of the picture.
Results draw(lua_State* L, const char* kind, const char* field, const Any& object,
             const std::optional<PathText>& path);

template <std::size_t N>
struct Literal {
  char text[N];
  consteval Literal(const char (&given)[N]) { std::copy_n(given, N, text); }
};

// The method of a class T: drawn_as<Pda, "state_diagram", "pda">.
template <class T, Literal kind, Literal field>
Results drawn_as(lua_State* L, Any object, const std::optional<PathText>& path) {
  Value<T>::get(L, object.index);
  return draw(L, kind.text, field.text, object, path);
}

}  // namespace pushdown
