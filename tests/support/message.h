// The message of an action that throws.
#pragma once
#include <exception>
#include <string>

namespace pushdown::testing_support {

// Returns the text of the exception of type Error that `action` throws, or "no error".
template <class Error = std::exception>
std::string message(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace pushdown::testing_support

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)
