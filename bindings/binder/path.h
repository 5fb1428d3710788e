// The paths of files and folders as arguments of bound functions.
#pragma once
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/path.h"
#include "bindings/binder/text.h"
#include "bindings/binder/value.h"

namespace pushdown {

// A path. The operating system would cut it at a byte 0, and use another file.
struct PathText : std::string {
  operator std::filesystem::path() const { return {begin(), end()}; }  // NOLINT: implicit
};

template <>
struct Value<PathText> {
  static PathText get(lua_State* L, int i) {
    PathText path{Value<std::string>::get(L, i)};
    if (const auto place = path.find('\0'); place != path.npos)
      throw WrongType(i, "a path", "a text with " + describe_byte(path, place));
    return path;
  }
};

// Refuses an option that is not a path.
inline void check_path(std::string_view where, const char* option, const std::string& path) {
  if (const auto place = path.find('\0'); place != path.npos)
    fail(where, "option '{}' must be a path, got a text with {}", option,
         describe_byte(path, place));
}

}  // namespace pushdown
