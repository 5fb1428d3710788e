// Error reporting. Two kinds of exception leave the core: std::invalid_argument for the caller's
// fault and std::runtime_error for the environment (files, devices). Every message starts with the
// place in brackets and says what was expected and what came:
//   [stack.update] hidden must be B x 20, got 7 x 21
#pragma once
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

namespace pushdown {

// The functions below, with their arguments packed: one copy for all calls.
[[noreturn]] void fail_formatted(std::string_view where, fmt::string_view format,
                                 fmt::format_args args);
[[noreturn]] void fail_environment_formatted(std::string_view where, fmt::string_view format,
                                             fmt::format_args args);

// Throws std::invalid_argument "[where] message".
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  fail_formatted(where, format, fmt::make_format_args(args...));
}

// Throws std::runtime_error "[where] message": the caller did nothing wrong.
template <class... Args>
[[noreturn]] void fail_environment(std::string_view where, fmt::format_string<Args...> format,
                                   Args&&... args) {
  fail_environment_formatted(where, format, fmt::make_format_args(args...));
}

// fail() unless `condition` holds.
template <class... Args>
void check(bool condition, std::string_view where, fmt::format_string<Args...> format,
           Args&&... args) {
  if (!condition) fail(where, format, std::forward<Args>(args)...);
}

}  // namespace pushdown
