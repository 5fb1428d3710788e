#include "base/check.h"

#include <stdexcept>

namespace pushdown {

void fail_formatted(std::string_view where, fmt::string_view format, fmt::format_args args) {
  const std::string message = fmt::vformat(format, args);
  throw std::invalid_argument(where.empty() ? message : fmt::format("[{}] {}", where, message));
}

void fail_environment_formatted(std::string_view where, fmt::string_view format,
                                fmt::format_args args) {
  throw std::runtime_error(fmt::format("[{}] {}", where, fmt::vformat(format, args)));
}

}  // namespace pushdown
