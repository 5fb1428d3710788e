// The place where a script defined a kind of a registry.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace pushdown {

// The record that a run keeps of a kind that was defined in a script.
struct Origin {
  std::string registry;   // "stack", "controller", "objective"
  std::string name;       // the kind
  std::string file;       // "" at the prompt
  std::int64_t line = 0;  // of the definition
  std::string source;     // the file's text at the time of the definition
};
using OriginPtr = std::shared_ptr<const Origin>;

}  // namespace pushdown
