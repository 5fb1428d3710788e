// What is said of an exception.
#pragma once
#include <exception>
#include <string>

namespace pushdown {

// The message of one of the project's own exceptions as it is. Those of LibTorch, of the standard
// library (memory, files, threads) and of the JSON library in a sentence, without their backtraces
// and without names of C++.
std::string error_text(const std::exception& error);

}  // namespace pushdown
