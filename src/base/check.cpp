#include "base/check.h"

#include <stdexcept>

namespace pushdown {
namespace {

// The message of an exception, which is read up to its first zero byte.
std::string message_of(std::string_view where, const std::string& text) {
  std::string message = where.empty() ? "" : fmt::format("[{}] ", where);
  for (const char c : text) message += c == '\0' ? std::string("\\000") : std::string(1, c);
  return message;
}

}  // namespace

void fail_formatted(std::string_view where, fmt::string_view format, fmt::format_args args) {
  throw std::invalid_argument(message_of(where, fmt::vformat(format, args)));
}

void fail_environment_formatted(std::string_view where, fmt::string_view format,
                                fmt::format_args args) {
  throw std::runtime_error(message_of(where, fmt::vformat(format, args)));
}

}  // namespace pushdown
