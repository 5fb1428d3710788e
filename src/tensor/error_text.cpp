#include "tensor/error_text.h"

#include <filesystem>
#include <new>
#include <regex>
#include <stdexcept>
#include <system_error>

#include "base/json.h"
#include "tensor/torch.h"

namespace pushdown {
namespace {

// LibTorch counts dimensions and the tensors of a list from 0, users count from 1.
std::string counted_from_one(const std::string& text) {
  static const std::regex place("\\b(dimension|dim|index|entry|tensor number) ([0-9]{1,9})\\b");
  std::string result;
  auto rest = text.begin();
  for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at) {
    result.append(rest, (*at)[2].first);
    result += std::to_string(std::stoll((*at)[2]) + 1);
    rest = (*at)[2].second;
  }
  return result.append(rest, text.end());
}

}  // namespace

std::string error_text(const std::exception& error) {
  if (const auto* torch = dynamic_cast<const c10::Error*>(&error))
    return counted_from_one(torch->what_without_backtrace());
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
