// Error messages for the user.
#pragma once
#include <exception>
#include <string>

namespace pushdown {

// Returns the message of an exception. Messages of the project's own exceptions are returned
// unchanged. Errors of LibTorch, of the standard library (memory, files, threads) and of the JSON
// library become one sentence without a backtrace or C++ names, which
// counts dimensions from 1.
std::string error_text(const std::exception& error);

}  // namespace pushdown
