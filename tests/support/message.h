// The message of an action that throws.
#pragma once
#include <exception>
#include <string>

namespace pushdown::testing_support {

// Returns the text of the exception that `action` throws, or "no error".
std::string message(auto&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace pushdown::testing_support

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE(std::string(text).find(part), std::string::npos) << (text)
