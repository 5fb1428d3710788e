#include "tensor/error_text.h"

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

#include "base/json.h"
#include "tensor/torch.h"

namespace pushdown {

std::string error_text(const std::exception& error) {
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error))
    return torch->what_without_backtrace();
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return "[memory] not enough memory";
  if (dynamic_cast<const std::length_error*>(&error) != nullptr)
    return "[memory] not enough memory: the list is too long";
  if (const auto* json = dynamic_cast<const nlohmann::json::exception*>(&error))
    return "[json] " + json_error(*json);
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return "cannot use '" + file->path1().string() + "': " + file->code().message();
  if (const auto* system = dynamic_cast<const std::system_error*>(&error))
    return "system error: " + system->code().message();
  return error.what();
}

}  // namespace pushdown
