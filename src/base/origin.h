// Where a script defined a kind of a registry.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace pushdown {

// What a run keeps of a kind that is not the product's own.
struct Origin {
  std::string registry;   // "stack", "controller", "objective"
  std::string name;       // the kind
  std::string file;       // "" at a prompt
  std::int64_t line = 0;  // of the definition
  std::string source;     // the file's text as it was then
};
using OriginPtr = std::shared_ptr<const Origin>;

}  // namespace pushdown
