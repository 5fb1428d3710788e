// Error reporting. The core throws two kinds of exceptions: std::invalid_argument for a mistake of
// the caller and std::runtime_error for the environment (files, devices). Every message starts with
// the place in brackets, then says what was expected and what was given:
//   [stack.update] hidden must be B x 20, got 7 x 21
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace pushdown {

// Returns the text of a format string checked at compile time. fmt 12 deprecates the conversion
// that fmt 9 and 10 have instead of get().
template <class Format>
constexpr fmt::string_view format_text(const Format& format) {
  if constexpr (requires { format.get(); })
    return format.get();
  else
    return format;
}

// The functions below call this one with packed arguments, so that the code exists only once.
[[noreturn]] void fail_formatted(std::string_view where, fmt::string_view format,
                                 fmt::format_args args);
[[noreturn]] void fail_environment_formatted(std::string_view where, fmt::string_view format,
                                             fmt::format_args args);

// Throws std::invalid_argument "[where] message".
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  fail_formatted(where, format_text(format), fmt::make_format_args(args...));
}

// Throws std::runtime_error "[where] message", for errors that are not the caller's fault.
template <class... Args>
[[noreturn]] void fail_environment(std::string_view where, fmt::format_string<Args...> format,
                                   Args&&... args) {
  fail_environment_formatted(where, format_text(format), fmt::make_format_args(args...));
}

// Calls fail() unless `condition` is true.
template <class... Args>
void check(bool condition, std::string_view where, fmt::format_string<Args...> format,
           Args&&... args) {
  if (!condition) fail(where, format, std::forward<Args>(args)...);
}

}  // namespace pushdown
